package commands

import (
	"strings"
	"testing"
)

func TestWith(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		about, name string
		row         Row
		refused     string
	}{
		{"a new command says anything", "deploytool", Row{Does: "network publishes", Operands: []string{"read"},
			Options: map[string]Option{"-n": {Value: "text", Does: "dry_run"}}}, ""},
		{"a new command is like another", "mycat", Row{Like: "cat"}, ""},
		{"it is like nothing", "mycat", Row{Like: "no-such-command"}, "no row"},
		{"an effect and a flag more", "ls", Row{Does: "network uploads"}, ""},
		{"a subcommand more", "git", Row{Subcommands: map[string]Row{"ship": {Does: "network publishes"}}}, ""},
		{"an effect more of a subcommand", "git", Row{Subcommands: map[string]Row{"status": {Does: "network"}}}, ""},
		{"an option without a value more", "rm", Row{Options: map[string]Option{"--shred": {Does: "destroys_data"}}}, ""},
		{"other operands", "rm", Row{Operands: []string{"text"}}, "may add does"},
		{"another style", "rm", Row{Style: "none"}, "may add does"},
		{"what it runs", "rm", Row{Runs: &Runs{Command: true}}, "may add does"},
		{"a flag with which rules are silent", "rm", Row{Does: "dry_run"}, "rules would be silent"},
		{"such a flag of an option", "rm", Row{Options: map[string]Option{"--ask": {Does: "interactive"}}}, "rules would be silent"},
		{"a condition by which it does less", "rm", Row{When: map[string]Change{"-f": {Drops: "delete"}}}, "may add does"},
		{"such a condition of a subcommand", "git", Row{Subcommands: map[string]Row{
			"ship": {When: map[string]Change{"-f": {Drops: "network"}}}}}, "does less"},
		{"an option that swallows an operand", "rm", Row{Options: map[string]Option{"-x": {Value: "text"}}}, "with a value"},
		{"an option of the table", "rm", Row{Options: map[string]Option{"-f": {}}}, "has the option"},
		{"operands of a subcommand of the table", "git",
			Row{Subcommands: map[string]Row{"push": {Operands: []string{"text"}}}}, "has this subcommand"},
		{"a flag with which rules are silent, of a subcommand of the table", "git",
			Row{Subcommands: map[string]Row{"push": {Does: "dry_run"}}}, "rules would be silent"},
	} {
		table, err := Builtin().With(map[string]Row{c.name: c.row})
		switch {
		case c.refused == "" && err != nil:
			t.Errorf("%s: %v", c.about, err)
		case c.refused != "" && (err == nil || !strings.Contains(err.Error(), c.refused)):
			t.Errorf("%s: got %v, want an error with %q", c.about, err, c.refused)
		case c.refused == "":
			rows := table.Find(c.name)
			if _, _, err := rows[len(rows)-1].Row(); err != nil {
				t.Errorf("%s: %v", c.about, err)
			}
			if len(rows) != len(Builtin().Find(c.name))+1 {
				t.Errorf("%s: the row is not there, or in the built-in table, too", c.about)
			}
		}
	}
}
