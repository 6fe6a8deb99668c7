package call

import (
	"maps"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/sallyport-dev/sallyport/engine/commands"
	"github.com/sallyport-dev/sallyport/engine/facts/disk"
	"github.com/sallyport-dev/sallyport/engine/facts/term"
	"github.com/sallyport-dev/sallyport/engine/shell"
	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

// variables are the rows of variables.yaml: lists of names by flags, by accesses to the file that a variable
// names, and by other keys; and lists for one variable.
type variables struct {
	flags       map[term.Flag]string
	files       map[term.Access]string
	names       map[string]string
	loads, runs map[string][]string
	options     map[string][]string
}

var variableRows = sync.OnceValue(func() *variables {
	v := &variables{map[term.Flag]string{}, map[term.Access]string{}, map[string]string{}, nil, nil, nil}
	for key, list := range commands.Variables() {
		v.names[key] = strings.Join(list, " ")
		if i := slices.Index(term.FlagNames, key); i >= 0 {
			v.flags[term.Flag(i)] = v.names[key]
		} else if i := slices.Index(term.AccessNames[:], key); i >= 0 {
			v.files[1<<i] = v.names[key]
		}
	}
	v.flags[term.FlagHookEnv] += " " + v.names["command"]
	of := func(key string) map[string][]string {
		out := map[string][]string{}
		for _, row := range commands.Variables()[key] {
			words := strings.Fields(row)
			out[words[0]] = words[1:]
		}
		return out
	}
	v.loads, v.runs, v.options = of("loads"), of("runs"), of("options")
	return v
})

// scriptShells are harmless values of a setting for the shell of scripts.
const scriptShells = " sh bash dash zsh /bin/sh /bin/bash /usr/bin/bash "

// Environment adds the flags of the variables that a command sets. shared tells of a directory whether
// anybody may put files there.
func (c *Call) Environment(shared func(dir string) bool) {
	rows := variableRows()
	for _, a := range slices.Concat(c.Cmd.Assigns, c.stored(), c.given()) {
		for f, names := range rows.flags {
			if !Listed(names, a.Name) || f == term.FlagHookEnv && quiet(a.Name, a.Value) || f == term.FlagLoaderEnv && c.loadsNothing(a, shared) ||
				a.Name == "GOOSE_MODE" && a.Value.Certainty == value.Exact && a.Value.Text != "auto" {
				continue
			}
			c.Flags.Add(f)
		}
		for access, names := range rows.files {
			if Listed(names, a.Name) && strings.Contains(a.Value.Text, "/") {
				c.path(a.Value, access)
				c.Effects |= term.Effect(access)
			}
		}
		for _, program := range rows.options[a.Name] {
			c.writesOf(append([]value.Word{Exact(program)}, fields(a.Value, 0)...))
		}
		if Listed(rows.names["search"], a.Name) && opens(a.Value, shared, a.Name == "PATH") {
			c.Flags.Add(term.FlagOpenPath)
		}
	}
}

// writesOf adds the files that a command with those words writes or removes.
func (c *Call) writesOf(words []value.Word) {
	cmd := *c.Cmd
	cmd.Name, cmd.Words, cmd.Assigns, cmd.Redirects, cmd.Code = words[0].Text, words, nil, nil, shell.Code{}
	for _, t := range New(c.Table, &cmd, Source{}).Touches {
		if a := t.Access & (term.Writes | term.Deletes); a != 0 {
			t.Access = a
			c.Touches = append(c.Touches, t)
			c.Effects |= term.Effect(a)
		}
	}
}

// given are the operands by which a command sets variables for the programs that it starts: make NAME=VALUE.
func (c *Call) given() (list []value.Assign) {
	if c.Spec == nil {
		return nil
	}
	for i, w := range c.Operands {
		name, val, found := strings.Cut(w.Text, "=")
		if found && c.RoleOf(i, false).Word == "assignment" {
			list = append(list, value.Assign{Name: name, Value: Cut(w, len(w.Text)-len(val))})
		}
	}
	return list
}

// Guarded reports Sallyport, or an agent that the table knows: one that an option frees of its approvals. A
// question about the program itself starts neither hooks nor commands.
func (c *Call) Guarded() bool {
	if c.Base == nil || Informs(c.Cmd, c.Base) {
		return false
	}
	own := strings.HasPrefix(c.Cmd.Name, "sallyport")
	return own || c.Base.freesAgent() || c.Spec != nil && c.Spec.freesAgent()
}

func (s *spec) freesAgent() bool {
	frees := func(o *option) bool { return o != nil && o.flags.Has(term.FlagFreesAgent) }
	for _, names := range []map[string]*option{s.long, s.words} {
		if slices.ContainsFunc(slices.Collect(maps.Values(names)), frees) {
			return true
		}
	}
	return slices.ContainsFunc(slices.Collect(maps.Values(s.short)), frees)
}

// stored are the settings that a command stores and by which a program starts another one, as environment
// variables of the same meaning.
func (c *Call) stored() (list []value.Assign) {
	row := c.Table.Rows.Command(c.Cmd.Name)
	if row == nil || row.Stores == nil || len(c.Cmd.Words) < 2 {
		return nil
	}
	words := c.Cmd.Words[1:]
	plain := " " + strings.Join(Texts(slices.DeleteFunc(slices.Clone(words), IsOption)), " ") + " "
	stores := func(verb string) bool {
		option := func(w value.Word) bool {
			return IsOption(w) && (w.Text == verb || strings.HasPrefix(w.Text, verb+"="))
		}
		return strings.HasPrefix(plain, " "+verb+" ") || slices.ContainsFunc(words, option)
	}
	_, all := row.Stores.Settings["*"] // as which any variable is set
	anywhere := func(verb string) bool { return strings.Contains(plain, " "+verb+" ") }
	if !slices.ContainsFunc(row.Stores.Verbs, stores) && !(all && slices.ContainsFunc(row.Stores.Verbs, anywhere)) {
		return nil
	}
	for i, w := range words {
		text := strings.TrimPrefix(w.Text, "--config=")
		name, val, attached := strings.Cut(strings.TrimLeft(text, "-"), "=")
		set := Cut(w, len(w.Text)-len(val))
		if !attached && i+1 < len(words) {
			set = words[i+1]
		}
		for setting, variable := range row.Stores.Settings {
			set.Text = strings.Trim(set.Text, `"' `)
			if setting == "*" {
				setting, variable = name, name
			}
			usual := strings.HasSuffix(variable, "SCRIPT_SHELL") &&
				strings.Contains(scriptShells, " "+set.Text+" ")
			if names(strings.TrimSpace(name), setting) && !usual && (attached || i+1 < len(words)) {
				list = append(list, value.Assign{Name: variable, Value: set})
			}
		}
	}
	return list
}

// loadsNothing reports whether a loader's variable is set to something that loads no other code than
// the program's own: options that name none, or library directories of the project. A file that
// the value names is executed.
func (c *Call) loadsNothing(a value.Assign, shared func(string) bool) bool {
	if a.Value.Certainty != value.Exact {
		return false
	}
	if strings.HasSuffix(a.Name, "LIBRARY_PATH") {
		return !opens(a.Value, shared, true)
	}
	options, ok := variableRows().loads[a.Name]
	if !ok {
		return strings.TrimSpace(a.Value.Text) == ""
	}
	quiet, words := true, strings.Fields(a.Value.Text)
	for i, word := range words {
		for _, o := range options {
			file, found := strings.CutPrefix(word, o)
			if !found {
				continue
			}
			quiet = false
			if file = strings.TrimLeft(file, "=:"); file == "" && i+1 < len(words) {
				file = words[i+1]
			}
			if strings.Contains(file, "/") && !strings.HasPrefix(file, "-") {
				c.path(Exact(file), term.Executes)
			}
			break
		}
	}
	return quiet
}

// opens reports whether a list of directories, as PATH holds one, names a directory into which
// others can put files: a temporary one or, if here counts, any directory in which a program is started.
func opens(v value.Word, shared func(dir string) bool, here bool) bool {
	if v.Text == "" {
		return false
	}
	return slices.ContainsFunc(strings.Split(v.Text, ":"), func(dir string) bool {
		return here && (dir == "" || dir == ".") || disk.IsAbs(dir) && shared(path.Clean(dir))
	})
}

// Listed reports whether a list has a name, with a star for any end.
func Listed(names, name string) bool {
	for _, n := range strings.Fields(names) {
		if prefix, ok := strings.CutSuffix(n, "*"); n == name || ok && strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// quiet reports whether a variable that can run a program is set to one of the usual, or to
// nothing. GIT_CONFIG_GLOBAL and the like name files, so they are quiet when these are empty.
func quiet(name string, v value.Word) bool {
	if v.Certainty != value.Exact {
		return false
	}
	if strings.HasPrefix(name, "GIT_CONFIG_") {
		return v.Text == "/dev/null" || name == "GIT_CONFIG_NOSYSTEM" || name == "GIT_CONFIG_COUNT"
	}
	fields := strings.Fields(v.Text)
	if len(fields) == 0 {
		return true
	}
	if parts := variableRows().runs[name]; parts != nil {
		return !slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(v.Text, part) })
	}
	if strings.ContainsAny(v.Text, ";|&$`<>()!\n") || name == "BASH_ENV" || name == "ENV" {
		return false
	}
	if strings.HasPrefix(fields[0], "-") || name == "SHELLOPTS" || name == "BASHOPTS" {
		return true // options of a pager, or names that run nothing by themselves
	}
	for _, f := range fields[1:] {
		if strings.Contains(strings.ToLower(f), "command=") {
			return false // ssh -o ProxyCommand=…
		}
	}
	return Listed(variableRows().names["quiet"], path.Base(fields[0]))
}

// GivesSecrets reports a command that runs another one with secrets in its environment.
func (c *Call) GivesSecrets() bool {
	row := c.Table.Rows.Command(c.Cmd.Name)
	return row != nil && row.Runs != nil && row.Runs.Secrets
}

// ShellWords adds the effects of shell builtins that set variables by their words.
func (c *Call) ShellWords() {
	if len(c.Cmd.Words) == 0 {
		return
	}
	switch c.Cmd.Name {
	case "export", "declare", "typeset", "readonly":
		if len(c.Cmd.Words) == 1 || len(c.Cmd.Words) == 2 && strings.HasPrefix(c.Cmd.Words[1].Text, "-") && strings.Contains(c.Cmd.Words[1].Text, "p") {
			c.Flags.Add(term.FlagDumpsEnv)
		}
	case "set":
		if len(c.Cmd.Words) == 1 {
			c.Flags.Add(term.FlagDumpsEnv)
		}
	case "echo", "printf":
		if c.spellsByNumbers() {
			c.Flags.Add(term.FlagDecodes)
		}
	}
	if c.Cmd.Certainty == value.Unknown && value.Masks(c.Cmd.Words[0].Text) {
		c.Flags.Add(term.FlagMasked)
	}
}

// spellsByNumbers reports an echo or printf that writes letters which its words give as numbers.
func (c *Call) spellsByNumbers() bool {
	words := Texts(c.Cmd.Words[1:])
	reads := c.Cmd.Name == "printf" // escapes in its words
	for len(words) > 0 && strings.HasPrefix(words[0], "-") {
		option := words[0]
		words = words[1:]
		switch {
		case c.Cmd.Name == "echo":
			reads = reads || strings.Contains(option, "e")
		case option == "-v" && len(words) > 0:
			words = words[1:]
		}
	}
	if c.Cmd.Name == "printf" && len(words) > 0 && !strings.Contains(words[0], "%b") {
		words = words[:1] // the others are data
	}
	return reads && slices.ContainsFunc(words, value.Numbered)
}
