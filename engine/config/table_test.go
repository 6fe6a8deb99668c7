package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTableOfTheOperator(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ about, rows, want string }{
		{"rows of new commands", "deploytool:\n  does: network publishes\n  operands: [read]\n", ""},
		{"an empty file", "", ""},
		{"an unknown field", "deploytool: {reads: all}\n", "field reads not found"},
		{"an unknown flag", "deploytool: {does: publish}\n", "no such effect or flag"},
		{"an unknown kind", "deploytool: {operands: [red]}\n", "no such kind"},
		{"a looser row", "rm: {operands: [text]}\n", "may add does"},
	} {
		dir := t.TempDir()
		file := filepath.Join(dir, "rows.yaml")
		if err := os.WriteFile(file, []byte(c.rows), 0o600); err != nil {
			t.Fatal(err)
		}
		l, err := Parse("version: 1\ncommands: {table: [rows.yaml]}\n", filepath.Join(dir, "sallyport.yaml"), "--config", Host{Dir: dir, Home: dir, Getenv: func(string) string { return "" }})
		switch {
		case c.want != "":
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: got %v, want an error with %q", c.about, err, c.want)
			}
		case err != nil:
			t.Errorf("%s: %v", c.about, err)
		case l.Layout().Table == nil:
			t.Errorf("%s: the layout has no table", c.about)
		}
	}
}
