// Package setup connects an agent to Sallyport: it plans the changes of the agent's own settings and of
// Sallyport's configuration, makes them, and takes them back.
//
// It changes named keys and leaves the rest of a file as it is. A file that it cannot parse, or whose form it
// does not know, it refuses to change. It judges nothing and is no gate: a person runs it at a terminal,
// outside of any agent, and sees each change before it is made.
package setup

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/rogpeppe/go-internal/diff"
)

// Change is the change of one file.
type Change struct {
	File          string // with its real path: a link stays one
	Before, After []byte // nil: there is no file
	reverse       []edit
	format        format
}

// Diff shows the change in the unified format.
func (c Change) Diff() string {
	old, new := c.File, c.File
	if c.Before == nil {
		old = "/dev/null"
	}
	if c.After == nil {
		new = "/dev/null"
	}
	text := string(diff.Diff(old, c.Before, new, c.After))
	if _, rest, ok := bytes.Cut([]byte(text), []byte("\n")); ok { // without the line that begins with "diff"
		return string(rest)
	}
	return text
}

// Server is how an agent starts sallyport.
type Server struct {
	Command string
	Args    []string
}

// place is a file of an agent and its wanted keys.
type place struct {
	file   string
	format format
	edits  []edit
}

// Agent is a program whose settings are known.
type Agent struct {
	Name, Title string
	// Loses names the tools of its own that the agent loses.
	Loses string
	files func(env func(string) string, home string, s Server) []place
}

// Agents lists the agents whose settings are known.
func Agents() []Agent {
	return []Agent{
		{"claude-code", "Claude Code", "its Bash, Write and Edit tools, in all projects", claude},
		{"codex", "Codex", "its shell, and writing with apply_patch, in all projects", codex},
		{"gemini", "Gemini CLI", "its shell and its tools that write files, in all projects", gemini},
	}
}

// Named finds an agent by name.
func Named(name string) (Agent, bool) {
	all := Agents()
	i := slices.IndexFunc(all, func(a Agent) bool { return a.Name == name })
	if i < 0 {
		return Agent{}, false
	}
	return all[i], true
}

// claude follows https://code.claude.com/docs/en/settings and /mcp: servers for all projects of a user are in
// .claude.json, permissions in settings.json.
func claude(env func(string) string, home string, s Server) []place {
	servers, settings := filepath.Join(home, ".claude.json"), filepath.Join(home, ".claude", "settings.json")
	if dir := env("CLAUDE_CONFIG_DIR"); filepath.IsAbs(dir) {
		servers, settings = filepath.Join(dir, ".claude.json"), filepath.Join(dir, "settings.json")
	}
	return []place{
		{servers, formatJSON, []edit{{
			Path:  []string{"mcpServers", "sallyport"},
			Value: map[string]any{"type": "stdio", "command": s.Command, "args": s.Args, "alwaysLoad": true},
		}}},
		{settings, formatJSON, []edit{
			{Path: []string{"permissions", "allow"}, Among: true, Value: []string{"mcp__sallyport"}},
			{Path: []string{"permissions", "deny"}, Among: true, Value: []string{
				"Bash", "BashOutput", "KillShell", "Write", "Edit", "NotebookEdit",
			}},
		}},
	}
}

// codex follows https://developers.openai.com/codex/config-reference.
func codex(env func(string) string, home string, s Server) []place {
	dir := env("CODEX_HOME")
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(home, ".codex")
	}
	return []place{{filepath.Join(dir, "config.toml"), formatTOML, []edit{
		{Path: []string{"sandbox_mode"}, Value: "read-only"},
		{Path: []string{"mcp_servers", "sallyport", "command"}, Value: s.Command},
		{Path: []string{"mcp_servers", "sallyport", "args"}, Value: s.Args},
		{Path: []string{"mcp_servers", "sallyport", "startup_timeout_sec"}, Value: 60},
		{Path: []string{"mcp_servers", "sallyport", "tool_timeout_sec"}, Value: 3600},
		{Path: []string{"mcp_servers", "sallyport", "default_tools_approval_mode"}, Value: "approve"},
		{Path: []string{"features", "shell_tool"}, Value: false},
		{Path: []string{"features", "unified_exec"}, Value: false},
	}}}
}

// gemini follows https://geminicli.com/docs/reference/configuration.
func gemini(_ func(string) string, home string, s Server) []place {
	return []place{{filepath.Join(home, ".gemini", "settings.json"), formatJSON, []edit{
		{
			Path:  []string{"mcpServers", "sallyport"},
			Value: map[string]any{"command": s.Command, "args": s.Args, "timeout": 3600000, "trust": true},
		},
		{Path: []string{"tools", "exclude"}, Among: true,
			Value: []string{"run_shell_command", "write_file", "replace"}},
	}}}
}

// Connect plans the changes of an agent's settings; none if they are as wanted.
func (a Agent) Connect(env func(string) string, home string, s Server) ([]Change, error) {
	if home == "" {
		return nil, errors.New("there is no home directory: set HOME")
	}
	var out []Change
	for _, p := range a.files(env, home, s) {
		c, err := plan(p, nil)
		if err != nil {
			return nil, err
		}
		if c != nil {
			out = append(out, *c)
		}
	}
	return out, nil
}

// Configure plans a change of Sallyport's configuration: keys at its top with the values that they get. A
// file that is not there begins as sample.
func Configure(file string, sample []byte, keys map[string]string) (*Change, error) {
	p := place{file: file, format: formatYAML}
	for _, key := range []string{"workspace", "runner"} {
		if value, ok := keys[key]; ok {
			p.edits = append(p.edits, edit{Path: []string{key}, Value: value})
		}
	}
	return plan(p, sample)
}

// plan makes the change that gives a file its wanted keys; nil if it has them.
func plan(p place, sample []byte) (*Change, error) {
	file, before, err := read(p.file)
	if err != nil {
		return nil, err
	}
	from := before
	if before == nil {
		from = sample
	}
	after, err := apply(p.format, from, p.edits)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if before != nil && bytes.Equal(before, after) {
		return nil, nil
	}
	was, err := decode(p.format, before)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	c := Change{File: file, Before: before, After: after, format: p.format}
	for _, e := range p.edits {
		c.reverse = append(c.reverse, e.reverse(was))
	}
	return &c, nil
}

// largest is how much of a file is read, in bytes.
const largest = 16 << 20

// read returns the real path of a file, and its content; nil if there is none.
func read(file string) (string, []byte, error) {
	real, err := filepath.EvalSymlinks(file)
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Lstat(file); err == nil {
			return "", nil, fmt.Errorf("%s is a link to a file that is not there: remove it or make the file", file)
		}
		return file, nil, nil
	}
	if err != nil {
		return "", nil, fmt.Errorf("read %s: %w", file, err)
	}
	f, err := os.Open(real)
	if err != nil {
		return "", nil, fmt.Errorf("read %s: %w", file, err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, largest+1))
	if err != nil {
		return "", nil, fmt.Errorf("read %s: %w", file, err)
	}
	if len(text) > largest {
		return "", nil, fmt.Errorf("%s is larger than %d bytes: no settings are", file, largest)
	}
	if text == nil {
		text = []byte{}
	}
	return real, text, nil
}
