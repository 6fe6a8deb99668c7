package show

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// TextOf is the bash text of a request: -c TEXT as it is, or words that are quoted so that the
// program gets exactly these arguments.
func TextOf(text string, given bool, words []string, at Place) (string, error) {
	switch {
	case given && len(words) > 0:
		return "", errors.New("want either -c TEXT or words, not both")
	case given:
		return text, nil
	case len(words) == 0:
		return "", errors.New("no command: give words after --, or -c TEXT")
	case strings.ContainsAny(words[0], " \t\r\n|&;<>()`$") && !at.isProgram(words[0]):
		first := ""
		if len(words) > 1 {
			first = "put options first and "
		}
		return "", fmt.Errorf("this is bash text, and no program has that name: %suse -c %s",
			first, Printable(quote(Shorten(words[0], 60), false)))
	case assigns(words[0]) && !at.isProgram(words[0]):
		return "", fmt.Errorf(
			"%s is an assignment, and no program has that name: put env before it, or use -c TEXT",
			Printable(Shorten(words[0], 60)))
	}
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = quote(w, i == 0)
	}
	return strings.Join(quoted, " "), nil
}

// assigns reports whether bash takes a word at the beginning of a command for an assignment. Taken exactly,
// it would be judged as the name of an unknown program, and the command behind it as that program's
// arguments.
func assigns(word string) bool {
	name, _, ok := strings.Cut(word, "=")
	name, _, _ = strings.Cut(strings.TrimSuffix(name, "+"), "[")
	other := func(c rune) bool {
		return c != '_' && (c > unicode.MaxASCII || !unicode.IsLetter(c) && !unicode.IsDigit(c))
	}
	return ok && name != "" && !unicode.IsDigit(rune(name[0])) && !strings.ContainsFunc(name, other)
}

// Place is where the programs of a command line are found.
type Place struct {
	Path    string // $PATH
	Dir     string // working directory of the command line
	WorkDir string // that of the command, relative to Dir or absolute; "" for Dir
}

// isProgram reports whether a file has the name of a word that could as well be bash text.
func (p Place) isProgram(word string) bool {
	dirs := filepath.SplitList(p.Path)
	if strings.Contains(word, "/") {
		dirs = []string{p.Dir, p.WorkDir}
		if !filepath.IsAbs(p.WorkDir) {
			dirs[1] = filepath.Join(p.Dir, p.WorkDir)
		}
		if filepath.IsAbs(word) {
			dirs = []string{""}
		}
	}
	return slices.ContainsFunc(dirs, func(in string) bool {
		info, err := os.Stat(filepath.Join(in, word))
		return err == nil && !info.IsDir()
	})
}

// Quote writes an argument of a command as bash reads it back.
func Quote(word string) string { return quote(word, false) }

// quote writes a word as bash reads it back. What is plain stays as it is; control characters
// and broken UTF-8, which could not be told apart in a text, are written as $'\x1b'.
func quote(word string, program bool) string {
	switch {
	case strings.ContainsFunc(word, unicode.IsControl) || !utf8.ValidString(word):
		return ansiC(word)
	case word != "" && plain(word) && !(program && slices.Contains(reserved(), word)):
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// plain reports whether bash takes a word as it is, wherever it stands. "=" is not plain: at the
// beginning of a command it would make an assignment of it.
func plain(word string) bool {
	for _, c := range []byte(word) {
		letter := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
		if !letter && !strings.ContainsRune("_-+./:,@", rune(c)) {
			return false
		}
	}
	return true
}

// reserved are bash(1)'s reserved words that are made of plain characters.
func reserved() []string {
	return strings.Fields(
		"case coproc do done elif else esac fi for function if in select then time until while")
}

func ansiC(word string) string {
	var b strings.Builder
	b.WriteString("$'")
	for i := 0; i < len(word); {
		r, size := utf8.DecodeRuneInString(word[i:])
		switch {
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\'' || r == '\\':
			b.WriteString(`\` + string(r))
		case r == utf8.RuneError && size == 1, unicode.IsControl(r):
			for _, c := range []byte(word[i : i+size]) {
				// Octal: it ends after three digits, where \x would swallow what follows.
				fmt.Fprintf(&b, `\%03o`, c)
			}
		default:
			b.WriteRune(r)
		}
		i += size
	}
	b.WriteString("'")
	return b.String()
}
