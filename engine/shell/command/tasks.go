package command

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/sallyport-dev/sallyport/engine/commands"
	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

// Start is a command line that starts tasks of a project: targets of a Makefile, scripts of a package.json.
type Start struct {
	Table *commands.Table
	Name  string                           // the program
	Args  []value.Arg                      // its words
	Dir   string                           // the directory of the task file
	Env   func(name string) (string, bool) // the environment; false for a variable whose value is not known
	Read  func(name string) (string, bool) // other files, by names relative to Dir
	All   bool                             // where not all is known, all tasks count as started
}

// Bounds of one task file: the texts that it starts, the bytes of each, and the depth of nested tasks,
// variables and included files.
const (
	maxTexts  = 200
	maxText   = 1 << 16
	maxNested = 12
)

// unknown stands for a part of a task that is not known before it runs.
const unknown = "\x00"

// Unread is the content, for Start.Read, of a file that is there and cannot be read.
const Unread = unknown

// line reads the command line: the options, the operands, and the words behind "--".
func (s Start) line() (options map[string]value.Arg, operands, behind []value.Arg) {
	args, row := s.Args, orBuiltin(s.Table).Command(s.Name)
	if i := slices.IndexFunc(args, func(a value.Arg) bool { return a.Text == "--" }); i >= 0 {
		args, behind = args[:i], args[i+1:]
	}
	options = map[string]value.Arg{}
	for len(args) > 0 && row != nil {
		given, rest := getopt(args, row.Style, row.Arity)
		maps.Copy(options, given)
		operands = append(operands, rest[:min(1, len(rest))]...)
		args = rest[min(1, len(rest)):]
	}
	return options, operands, behind
}

// Place returns the directory and the file of tasks that options of s name, with Unknown certainty where
// there is none.
func (s Start) Place() (dir, file value.Arg) {
	options, _, _ := s.line()
	row := orBuiltin(s.Table).Command(s.Name)
	for name, a := range options {
		switch full, o, _ := row.Find(name); {
		case o.Kind() == "directory":
			dir = a
		case o.Kind() == "read" && (strings.HasSuffix(full, "file") || full == "-f" || full == "-t"):
			file = a
		}
	}
	for i, a := range s.Args {
		if strings.HasPrefix(a.Text, "--file=") {
			file = a.Cut(len("--file="), a.Text[len("--file="):])
		} else if (a.Text == "-f" || a.Text == "--file") && i+1 < len(s.Args) &&
			(slices.Contains(s.texts()[:i], "compose") || strings.HasSuffix(s.Name, "-compose")) {
			file = s.Args[i+1]
		}
	}
	return dir, file
}

// dry reports options by which s shows its tasks and runs none.
func (s Start) dry(options map[string]value.Arg) bool {
	row := orBuiltin(s.Table).Command(s.Name)
	for name := range options {
		if _, o, ok := row.Find(name); ok && slices.Contains(strings.Fields(o.Does), "dry_run") {
			return true
		}
	}
	return false
}

// textOf is the text of a word, unknown where not all of it is known.
func textOf(a value.Arg) string {
	if text, ok := a.Val.Exact(); ok {
		return text
	}
	return unknown
}

// tasks are the shell texts that a task file starts, as far as they are known.
type tasks struct {
	texts []value.Value
	open  bool // there may be more
}

func (t *tasks) add(text string, more ...value.Piece) {
	text = strings.TrimLeft(text, "@-+ \t")
	if len(t.texts) >= maxTexts || len(text) > maxText {
		t.open = true
		return
	}
	var v value.Value
	for i, known := range strings.Split(text, unknown) {
		if i > 0 {
			v = append(v, value.Opaque("$(…)", nil)...)
		}
		if known != "" {
			v = append(v, value.Known(known)...)
		}
	}
	if len(v) > 0 {
		t.texts = append(t.texts, append(v, more...))
	}
}

// scriptTasks are the scripts of a package.json that npm and its like start.
func scriptTasks(content string, s Start) tasks {
	var t tasks
	var file struct {
		Scripts map[string]json.RawMessage `json:"scripts"`
	}
	if json.Unmarshal([]byte(content), &file) != nil {
		return tasks{open: true}
	}
	_, operands, behind := s.line()
	verb := ""
	if len(operands) > 0 {
		verb, operands = operands[0].Text, operands[1:]
	}
	names := []string{verb}
	switch {
	case strings.HasPrefix(verb, "run") && len(operands) > 0:
		names[0], operands = textOf(operands[0]), operands[1:]
	case slices.Contains([]string{"run-s", "run-p", "npm-run-all"}, s.Name):
		for _, a := range operands {
			names = append(names, textOf(a))
		}
		operands = nil
	}
	more := value.Quote(slices.Concat(operands, behind))
	if s.All && slices.ContainsFunc(names, func(n string) bool { return strings.Contains(n, unknown) }) {
		names = slices.Sorted(maps.Keys(file.Scripts))
	}
	for _, name := range names {
		t.open = t.open || strings.Contains(name, unknown) || strings.ContainsAny(name, "*{")
		for _, started := range startedScripts([]string{name}) {
			var list []string
			if raw := file.Scripts[started]; raw != nil && json.Unmarshal(raw, &list) != nil {
				list = []string{""}
				t.open = json.Unmarshal(raw, &list[0]) != nil || t.open
			}
			for _, text := range list {
				if started == name {
					t.add(text, more...)
				} else {
					t.add(text)
				}
			}
		}
	}
	return t
}

// recipe is a task of a justfile or a Taskfile.
type recipe struct{ needs, lines []string }

// recipes are the tasks of a file by their names, its variables, and the task that runs without a name.
type recipes struct {
	tasks
	all   map[string]recipe
	vars  map[string]string
	first string
}

// run adds the lines of the recipes of these names, and of those that they need.
func (t *recipes) run(names []string, seen map[string]bool) {
	for _, name := range names {
		if name = t.fill(name); seen[name] {
			continue
		}
		seen[name] = true
		t.run(t.all[name].needs, seen)
		for _, line := range t.all[name].lines {
			if other, ok := strings.CutPrefix(line, "task: "); ok {
				t.run([]string{other}, seen)
			} else {
				t.add(t.fill(line))
			}
		}
	}
}

// fill puts the values of names into {{name}}. Those of a Taskfile have a dot in front.
func (t *recipes) fill(line string) string {
	var b strings.Builder
	for before, rest, found := strings.Cut(line, "{{"); ; before, rest, found = strings.Cut(rest, "{{") {
		b.WriteString(before)
		if !found || b.Len() > maxText {
			break
		}
		var name string
		name, rest, _ = strings.Cut(rest, "}}")
		text, ok := t.vars[strings.TrimLeft(name, ". ")]
		if !ok {
			text, t.open = unknown, true
		}
		b.WriteString(text)
	}
	return b.String()
}

// start runs the tasks that the operands name.
func (t *recipes) start(s Start) tasks {
	options, operands, behind := s.line()
	if s.dry(options) {
		return tasks{}
	}
	t.vars["CLI_ARGS"] = value.Quote(behind).Text()
	names := []string{}
	for _, a := range operands {
		if name, _, ok := strings.Cut(a.Prefix, "="); ok {
			t.vars[name] = textOf(a.Cut(len(name)+1, strings.TrimPrefix(a.Text, name+"=")))
		} else {
			names = append(names, textOf(a))
		}
	}
	if len(names) == 0 {
		names = []string{t.first}
	}
	t.open = t.open || slices.ContainsFunc(names, func(n string) bool { return strings.Contains(n, unknown) })
	seen := map[string]bool{}
	t.run(names, seen)
	if s.All && t.open {
		t.run(slices.Sorted(maps.Keys(t.all)), seen)
	}
	return t.tasks
}

// justTasks are the recipes of a justfile that just starts. Their parameters count as unknown.
func justTasks(content string, s Start) tasks {
	t := recipes{all: map[string]recipe{}, vars: map[string]string{}}
	last := ""
	for line := range strings.Lines(strings.ReplaceAll(content, "\\\n", " ")) {
		text := strings.TrimSpace(line)
		word, rest, _ := strings.Cut(text, " ")
		head, needs, isHead := strings.Cut(text, ":")
		switch name := strings.Fields(strings.TrimPrefix(head, "@")); {
		case text == "" || text[0] == '[' || text[0] == '#' && line[0] == '#':
		case line[0] == ' ' || line[0] == '\t':
			t.open = t.open || strings.HasPrefix(text, "#!")
			r := t.all[last]
			t.all[last] = recipe{r.needs, append(r.lines, text)}
		case word == "import" || word == "mod" || word == "set":
			t.open = t.open || word != "set" || strings.Contains(rest, "shell")
		case strings.HasPrefix(needs, "=") && len(name) > 0:
			text = strings.TrimSpace(needs[1:])
			if quoted := strings.Trim(text, `"'`); word == "alias" {
				t.all[name[len(name)-1]] = recipe{needs: []string{text}}
			} else if len(quoted) == len(text)-2 {
				t.vars[name[len(name)-1]] = quoted
			}
		case isHead && len(name) > 0:
			last = name[0]
			t.first = cmp.Or(t.first, last)
			separates := func(r rune) bool { return strings.ContainsRune(" ()&", r) }
			t.all[last] = recipe{needs: strings.FieldsFunc(needs, separates)}
		}
	}
	return t.start(s)
}

// taskTasks are the tasks of a Taskfile that task starts.
func taskTasks(content string, s Start) tasks {
	t := recipes{all: map[string]recipe{}, vars: map[string]string{}, first: "default"}
	section, last, key, indent, block := "", "", "", 0, -1
	for line := range strings.Lines(content) {
		text := strings.TrimSpace(line)
		at := len(line) - len(strings.TrimLeft(line, " "))
		name, rest, _ := strings.Cut(text, ":")
		rest = strings.TrimSpace(rest)
		if at > 0 && indent == 0 {
			indent = at
		}
		r := t.all[last]
		item, isItem := strings.CutPrefix(text, "- ")
		within := block >= 0 && (at > block || text == "") // a text of several lines
		if !within {
			block = -1
			if strings.HasSuffix(strings.TrimRight(strings.ReplaceAll(text, ">", "|"), "-+"), "|") {
				block = at
			}
		}
		switch {
		case within && section == "tasks":
			r.lines = append(r.lines, text)
		case within || text == "" || text[0] == '#':
			continue
		case at == 0:
			section, last = name, ""
			t.open = t.open || name == "includes" || name == "dotenv"
			continue
		case section == "vars" || section == "env":
			t.vars[name] = strings.Trim(rest, `"'`)
			continue
		case section != "tasks":
			continue
		case at == indent:
			last, key, r = strings.Trim(name, `"'`), "cmds", recipe{}
			if rest != "" {
				r.lines = []string{strings.Trim(rest, `"'`)}
			}
		case !isItem && slices.Contains([]string{"cmds", "cmd", "deps"}, name):
			key = name
			list := []string{rest}
			if strings.HasPrefix(rest, "[") {
				list = strings.Split(strings.Trim(rest, "[]"), ",")
			}
			for _, word := range list {
				r = r.with(key, word)
			}
		case !isItem && (name == "vars" || name == "for" || name == "matrix"):
			t.open = true
		case isItem:
			r = r.with(key, item)
		}
		t.all[last] = r
	}
	return t.start(s)
}

// with adds an item of a list in a Taskfile: a command, or a task that is needed.
func (r recipe) with(key, item string) recipe {
	item = strings.Trim(strings.TrimSpace(item), `"'`)
	switch item = strings.TrimPrefix(item, "cmd: "); {
	case strings.Trim(item, "|>-+") == "":
	case key == "deps":
		r.needs = append(r.needs, strings.TrimPrefix(item, "task: "))
	default:
		r.lines = append(r.lines, item)
	}
	return r
}
