package show

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// here is this process.
var here = Place{Path: os.Getenv("PATH")}

// TestWordsReachTheProgramExactly asks a real bash what it makes of quoted words.
func TestWordsReachTheProgramExactly(t *testing.T) {
	t.Parallel()
	for _, words := range [][]string{
		{"printf"}, {"a b", "", "'", `"`, `\`, "$HOME", "`id`", "$(id)", "*", "~", "{a,b}", "!x", "#c", "a=b", "x;y", "|", "&", "é\u3000", "-"},
		{"line\nbreak", "tab\tbell\a", "carriage\rreturn", "esc\x1b1", "\xff\xfe", "\xff9", "it's\n", "back\\slash\n"},
		{"if", "FOO=bar", "time", "{", "}", "[[", "!"},
	} {
		text, err := TextOf("", false, append([]string{"printf", `%s\0`}, words...), here)
		if err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command("bash", "-c", text).Output()
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		got := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
		if !slices.Equal(got, words) {
			t.Errorf("%q became %q by way of %s", words, got, text)
		}
	}
}

// TestFirstWordIsAProgram: a word that means something to bash at the beginning of a command is
// still the name of a program, and here of one that does not exist.
func TestFirstWordIsAProgram(t *testing.T) {
	t.Parallel()
	for _, word := range []string{"if", "time", "!", "{", "function"} {
		text, err := TextOf("", false, []string{word, "x"}, here)
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("bash", "-c", text)
		if err := cmd.Run(); cmd.ProcessState.ExitCode() != 127 {
			t.Errorf("%s: %v, want not found", text, err)
		}
	}
}

func TestTextOf(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		text  string
		given bool
		words []string
		want  string
		bad   bool
	}{
		{"ls | wc", true, nil, "ls | wc", false},
		{"", true, nil, "", false},
		{"", false, []string{"git", "commit", "-m", "a b"}, "git commit -m 'a b'", false},
		{"", false, nil, "", true},
		{"x", true, []string{"y"}, "", true},
		{"", false, []string{"ls\nid"}, "", true},
		{"", false, []string{"ls\tx"}, "", true},
		{"", false, []string{"ls\nid", "x"}, "", true},
		{"", false, []string{"ls", "\nid"}, `ls $'\nid'`, false},
		{"", false, []string{"A=1", "ls"}, "", true},
		{"", false, []string{"a[1]+=2"}, "", true},
		{"", false, []string{"env", "A=1", "ls"}, "env 'A=1' ls", false},
		{"", false, []string{"1=A", "ls"}, "'1=A' ls", false},
	} {
		got, err := TextOf(test.text, test.given, test.words, here)
		if got != test.want || (err != nil) != test.bad {
			t.Errorf("TextOf(%q, %v, %q) = %q, %v", test.text, test.given, test.words, got, err)
		}
	}
}
