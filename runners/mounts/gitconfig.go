package mounts

import (
	"os"
	"path/filepath"
	"strings"
)

// gitSettings are the keys of git-config(1) that name programs or further configuration files.
type gitSettings struct {
	hooks    string   // core.hooksPath, as it is written
	worktree string   // core.worktree
	includes []string // include.path and includeIf.*.path
	perTree  bool     // extensions.worktreeConfig: each worktree has a configuration of its own
}

// maxConfig bounds a configuration that is read, and maxIncludes how deep one includes another.
const (
	maxConfig   = 1 << 20
	maxIncludes = 10
)

// parseGitConfig reads a configuration as git does, and leniently: it skips lines that it cannot read, for
// git itself refuses to work then.
func parseGitConfig(text string) gitSettings {
	var s gitSettings
	section := ""
	text = strings.ReplaceAll(strings.TrimPrefix(text, "\uFEFF"), "\r\n", "\n")
	text = strings.ReplaceAll(text, "\\\n", "") // a line goes on
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			end := strings.LastIndex(line, "]")
			if end < 0 {
				continue
			}
			section, _, _ = strings.Cut(strings.ToLower(line[1:end]), " ")
			section, _, _ = strings.Cut(section, ".") // the old form of subsections
			line = strings.TrimSpace(line[end+1:])    // a setting may follow at once
		}
		key, value, given := strings.Cut(line, "=")
		key = strings.ToLower(strings.TrimSpace(key))
		value = gitValue(value)
		switch section + "." + key {
		case "core.hookspath":
			s.hooks = value
		case "core.worktree":
			s.worktree = value
		case "include.path", "includeif.path":
			s.includes = append(s.includes, value)
		case "extensions.worktreeconfig":
			s.perTree = !given || isTrue(value)
		}
	}
	return s
}

func isTrue(value string) bool {
	switch strings.ToLower(value) {
	case "", "false", "no", "off", "0":
		return false
	}
	return true
}

// gitValue takes quotes, escapes and a comment out of a value.
func gitValue(s string) string {
	var out strings.Builder
	quoted, kept := false, 0 // spaces at the end count only in quotes
	s = strings.TrimSpace(s)
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"':
			quoted = !quoted
			kept = out.Len()
			continue
		case c == '\\' && i+1 < len(s):
			i++
			out.WriteByte(unescaped(s[i]))
		case (c == '#' || c == ';') && !quoted:
			return strings.TrimRight(out.String()[:max(kept, out.Len())], " \t")
		default:
			out.WriteByte(c)
			if !quoted && (c == ' ' || c == '\t') {
				continue
			}
		}
		kept = out.Len()
	}
	return out.String()[:kept]
}

func unescaped(c byte) byte {
	switch c {
	case 'n':
		return '\n'
	case 't':
		return '\t'
	case 'b':
		return '\b'
	}
	return c
}

// gitConfig is a configuration with all its includes, and the files that it is read from.
type gitConfig struct {
	gitSettings
	home  string
	files []string // those that were included; they need not be there
}

// readGitConfig reads a configuration; one that is not there says nothing.
func readGitConfig(file, home string) gitConfig {
	c := gitConfig{home: home}
	c.read(file, maxIncludes)
	return c
}

func (c *gitConfig) read(file string, deeper int) {
	info, err := os.Stat(file)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxConfig {
		return
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return
	}
	s := parseGitConfig(string(text))
	if s.hooks != "" {
		c.hooks = s.hooks
	}
	if s.worktree != "" {
		c.worktree = s.worktree
	}
	c.perTree = c.perTree || s.perTree
	for _, name := range s.includes {
		p := expanded(name, c.home, filepath.Dir(file))
		c.files = append(c.files, p)
		if deeper > 0 && len(c.files) < 100 {
			c.read(p, deeper-1)
		}
	}
}

// expanded makes a path of git's absolute.
func expanded(p, home, base string) string {
	switch {
	case p == "~" || strings.HasPrefix(p, "~/"):
		p = filepath.Join(home, p[1:])
	case !filepath.IsAbs(p):
		p = filepath.Join(base, p)
	}
	return filepath.Clean(p)
}
