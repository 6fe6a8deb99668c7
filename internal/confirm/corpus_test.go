package confirm

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// corpus is every text of the tables of this module: one group of lines with "$ ", or one command.
func corpus(t testing.TB) []Program {
	t.Helper()
	var list []Program
	seen := map[string]bool{}
	add := func(text, from string) {
		if !seen[text] && !strings.ContainsRune(text, 0) {
			seen[text] = true
			list = append(list, Program{Text: text, From: from})
		}
	}
	tables, _ := filepath.Glob("../../engine/shell/walk/testdata/*.txt")
	for _, file := range tables {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var text []string
		for _, line := range append(strings.Split(string(b), "\n"), "") {
			if rest, ok := strings.CutPrefix(line, "$"); ok {
				text = append(text, strings.TrimPrefix(rest, " "))
			} else if text != nil {
				add(here(strings.Join(text, "\n")), filepath.Base(file))
				text = nil
			}
		}
	}
	cases, _ := filepath.Glob("../../testdata/cases/*.yaml")
	for _, file := range cases {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(b)) {
			if _, rest, ok := strings.Cut(line, "command: "); ok {
				add(here(scalar(rest)), filepath.Base(file))
			}
		}
	}
	if len(tables) == 0 || len(cases) == 0 {
		t.Fatal("no tables found")
	}
	return list
}

// here puts the places of the tables into the fixture.
func here(text string) string {
	return strings.NewReplacer("{home}", Home, "{workspace}", Dir, "/home/u/", Home+"/").Replace(text)
}

// scalar is the YAML scalar at the start of s, in one of the styles of the tables.
func scalar(s string) string {
	switch s[0] {
	case '\'':
		if end := strings.Index(strings.ReplaceAll(s[1:], "''", "\x00\x00"), "'"); end >= 0 {
			return strings.ReplaceAll(s[1:1+end], "''", "'")
		}
	case '"':
		var v string
		_ = json.NewDecoder(strings.NewReader(s)).Decode(&v)
		return v
	}
	text, _, _ := strings.Cut(s, ", effect:")
	return strings.TrimRight(text, "}\n")
}

// listed reads programs from a file of JSON lines with "command" or "text", or with "ops" of an earlier run.
func listed(t testing.TB, file string) []Program {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	var list []Program
	s := bufio.NewScanner(f)
	s.Buffer(nil, 1<<22)
	for s.Scan() {
		var v struct{ Command, Text string }
		if json.Unmarshal(s.Bytes(),
			&v) == nil && v.Command+v.Text != "" && !strings.Contains(v.Command+v.Text, "\x00") {
			list = append(list, Program{Text: v.Command + v.Text, From: filepath.Base(file)})
		}
	}
	return list
}

// seeds are the commands that the mutator spells.
func seeds() [][]string {
	return [][]string{
		{"tool", "build"}, {"tool", Home + "/precious"}, {"rm", "-rf", Home + "/precious"}, {"tool",
			"../precious", "x"},
		{"git", "reset", "--hard"}, {"tool", "a b", "c"}, {"rm", "-rf", "build"}, {"cat", Home +
			"/.ssh/id_rsa"},
		{"tool", "--flag=v", "-x"}, {"cp", Home + "/.ssh/id_rsa", "build/key"}, {"tool", "src/main.py"},
		{"rm", "README.md"},
		{"git", "push", "--force", "origin", "main"}, {"mv", Home + "/precious", "/tmp/x"}, {"tool",
			"it's", "$HOME", "*"},
		{"chmod", "-R", "777", Home + "/precious"}, {"docker", "run", "--privileged", "alpine", "id"},
		{"tool", "build/../../precious"},
		{"npm", "run", "build"}, {"find", Home + "/precious", "-delete"}, {"kubectl", "delete", "ns",
			"prod"}, {"tool", "Abc.TXT", "x,y:z"},
	}
}
