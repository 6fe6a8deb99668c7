package command

import (
	"path"
	"slices"
	"strings"
)

// makefiles reads Makefiles, for the recipes of a target: its own, and those of the targets that it needs.
// Functions, and variables with more than one possible value, are unknown parts of recipes.
type makefiles struct {
	tasks
	start    Start
	vars     map[string]string // as written
	fixed    map[string]bool   // variables that the command line sets
	rules    []makeRule
	goals    []string   // those that make may choose, where the command line names none
	within   makeBranch // the part of the file that is read
	outer    []makeBranch
	defines  bool // within define
	included int
	depth    int // targets that are followed, each needed by the one before
	steps    int // variables expanded, files included and targets looked for
}

// makeBranch is a branch of a condition, or the file outside of all conditions.
type makeBranch struct {
	goal   bool // make chooses its goal here at the latest, if it reads this branch
	others bool // so it does in the branches before
	last   bool // one of the branches is read
}

type makeRule struct {
	targets string // as written
	needs   string
	recipe  []string
	makes   []string // the targets, expanded
	busy    bool     // a pattern that is followed; make uses each once in a chain
}

// Bounds of the work for a Makefile: its steps, the bytes of a target, and the targets that need each other.
const (
	maxSteps = 20_000
	maxGoal  = 4096
	maxChain = 100
)

// step counts work, and reports whether the bound is kept.
func (m *makefiles) step() bool {
	m.steps++
	m.open = m.open || m.steps > maxSteps
	return m.steps <= maxSteps
}

// makeTasks are the recipes that make starts.
func makeTasks(content string, s Start) tasks {
	m := makefiles{start: s, vars: map[string]string{
		"MAKE": s.Name, "CURDIR": s.Dir, "SHELL": "/bin/sh",
		"RM": "rm -f", "CC": "cc", "CXX": "g++", "AR": "ar",
	}, fixed: map[string]bool{}}
	options, operands, behind := s.line()
	if s.dry(options) {
		return tasks{}
	}
	var goals []string
	for _, a := range slices.Concat(operands, behind) {
		name, _, found := strings.Cut(a.Prefix, "=")
		if name = strings.TrimRight(name, ":?+"); found {
			at := strings.IndexByte(a.Prefix, '=') + 1
			m.vars[name], m.fixed[name] = textOf(a.Cut(at, a.Text[at:])), true
		} else {
			goals = append(goals, textOf(a))
		}
	}
	m.read(content, 0)
	for i, r := range m.rules {
		m.rules[i].makes = strings.Fields(m.expand(r.targets, nil, 0))
	}
	if len(goals) == 0 {
		goals = m.goals
	}
	seen := map[string]bool{}
	for _, goal := range goals {
		m.make(goal, seen)
	}
	if m.open && s.All {
		m.all()
	}
	m.open = m.open || !IsShell(path.Base(m.vars["SHELL"])) || m.vars[".RECIPEPREFIX"] != ""
	return m.tasks
}

// allRecipes are the recipes of all rules in a text.
func allRecipes(content string, _ []string) (list []string) {
	none := func(string) (string, bool) { return "", false }
	m := makefiles{start: Start{Env: none, Read: none}, vars: map[string]string{}}
	m.read(content, 0)
	m.all()
	for _, text := range m.texts {
		list = append(list, text.Text())
	}
	return list
}

func (m *makefiles) all() {
	for _, r := range m.rules {
		for _, line := range r.recipe {
			m.add(m.expand(line, nil, 0))
		}
	}
}

// shells adds the commands of $(shell …) in a text that make expands as it reads.
func (m *makefiles) shells(text string) {
	for _, after := range strings.Split(text, "$(shell ")[1:] {
		m.add(m.expand(balanced(after), nil, 0))
	}
}

// read takes the rules and the variables of a Makefile.
func (m *makefiles) read(content string, depth int) {
	recipe := false
	for line := range strings.SplitSeq(strings.ReplaceAll(content, "\\\n", " "), "\n") {
		if text, ok := strings.CutPrefix(line, "\t"); ok && recipe {
			r := &m.rules[len(m.rules)-1]
			r.recipe = append(r.recipe, text)
			continue
		}
		line, _, _ = strings.Cut(line, "#")
		line = strings.TrimSpace(line)
		word, rest, _ := strings.Cut(line, " ")
		switch word {
		case "":
			continue
		case "define", "endef":
			m.defines = word == "define"
			continue
		case "ifeq", "ifneq", "ifdef", "ifndef":
			m.shells(line)
			m.outer = append(m.outer, m.within)
			m.within = makeBranch{others: true}
			continue
		case "else":
			m.within = makeBranch{others: m.within.others && m.within.goal, last: rest == ""}
			continue
		case "endif":
			m.leave()
			continue
		case "include", "-include", "sinclude":
			for name := range strings.FieldsSeq(m.expand(rest, nil, 0)) {
				if !m.step() || depth > maxNested || m.included >= maxTexts {
					m.open = true
					break
				}
				m.included++
				text, ok := m.start.Read(name)
				m.open = m.open || !ok && word == "include"
				if text == Unread || !ok && word == "include" { // its first target is the goal
					m.choose(unknown)
					continue
				}
				m.read(text, depth+1)
			}
			continue
		case "export", "override", "private":
			line = strings.TrimSpace(rest)
		}
		if !m.defines {
			recipe = m.statement(line) || recipe && strings.HasPrefix(line, "$(")
		}
	}
}

// statement takes an assignment or the head of a rule, and reports the latter.
func (m *makefiles) statement(line string) bool {
	at := outside(line, "=:")
	if at < 0 {
		m.shells(line)
		m.open = m.open || strings.Contains(line, "$(") // eval, call: it may make rules
		return false
	}
	if op := strings.TrimLeft(line[at:], ":"); strings.HasPrefix(op, "=") {
		m.set(line[:at], line[at:len(line)-len(op)]+line[max(0, at-1):at], op[1:])
		return false
	}
	targets, needs := strings.TrimRight(line[:at], " &"), strings.TrimLeft(line[at:], ":")
	if at := outside(needs, "=;"); at >= 0 && needs[at] == '=' { // a variable of these targets
		name := strings.TrimRight(needs[:at], " :?+")
		m.outer = append(m.outer, m.within)
		m.set(strings.TrimPrefix(strings.TrimSpace(name), "export "), "", needs[at+1:])
		m.outer = m.outer[:len(m.outer)-1]
		return false
	}
	needs, first, found := strings.Cut(needs, ";")
	if at := outside(needs, ":"); at >= 0 { // the targets of a static pattern
		needs = needs[at+1:]
	}
	m.shells(targets + needs)
	r := makeRule{targets: targets, needs: strings.ReplaceAll(needs, "|", " ")}
	if found {
		r.recipe = []string{first}
	}
	m.rules = append(m.rules, r)
	name, _, _ := strings.Cut(targets, " ")
	if !strings.HasPrefix(name, ".") && !strings.Contains(targets, "%") {
		m.choose(m.expand(name, nil, 0))
	}
	return true
}

// choose notes a goal that make may choose: the first of the file, if make reads the branch in which it stands.
func (m *makefiles) choose(goal string) {
	chosen := func(b makeBranch) bool { return b.goal }
	if !m.within.goal && !slices.ContainsFunc(m.outer, chosen) {
		m.goals = append(m.goals, goal)
		m.within.goal = true
	}
}

// leave ends a condition. Make has its goal behind it, if each of the branches has one.
func (m *makefiles) leave() {
	if n := len(m.outer); n > 0 {
		whole := m.within.goal && m.within.others && m.within.last
		m.within, m.outer = m.outer[n-1], m.outer[:n-1]
		m.within.goal = m.within.goal || whole
	}
}

// outside is the first of chars that stands in no brackets, -1 for none.
func outside(text, chars string) int {
	depth := 0
	for i, c := range text {
		switch {
		case c == '(' || c == '{':
			depth++
		case c == ')' || c == '}':
			depth--
		case depth == 0 && strings.ContainsRune(chars, c):
			return i
		}
	}
	return -1
}

// set assigns a variable. A variable of a condition may have another value.
func (m *makefiles) set(name, op, text string) {
	name, text = strings.TrimRight(strings.TrimSpace(name), " :?+!"), strings.TrimSpace(text)
	old, was := m.vars[name]
	switch {
	case m.fixed[name]:
	case name == ".DEFAULT_GOAL":
		if len(m.outer) == 0 {
			m.goals = nil
		}
		m.goals, m.within.goal = append(m.goals, m.expand(text, nil, 0)), true
	case strings.Contains(op, "!"):
		m.add(m.expand(text, nil, 0))
		m.vars[name] = "$(shell " + text + ")"
	case strings.Contains(op, "+"):
		m.vars[name] = strings.TrimSpace(old + " " + text)
	case strings.Contains(op, "?") && (was || m.inherited(name)):
	case len(m.outer) > 0 && was && old != text:
		m.vars[name] = unknown
	case strings.Contains(op, ":"):
		m.shells(text)
		m.vars[name] = strings.ReplaceAll(m.expand(text, nil, 0), "$", "$$")
	default:
		m.vars[name] = text
	}
}

// inherited reports a variable that the environment may set.
func (m *makefiles) inherited(name string) bool {
	text, known := m.start.Env(name)
	return !known || text != ""
}

// make adds the recipes of a target, after those of the targets that it needs.
func (m *makefiles) make(goal string, seen map[string]bool) {
	m.open = m.open || strings.ContainsAny(goal, unknown+"$") || m.depth > maxChain || len(goal) > maxGoal
	if seen[goal] || goal == "" || m.depth > maxChain || len(goal) > maxGoal {
		return
	}
	seen[goal] = true
	m.depth++
	defer func() { m.depth-- }()
	for _, patterns := range []bool{false, true} {
		found := false
		for i := range m.rules {
			r := &m.rules[i]
			for _, target := range r.makes {
				if !m.step() {
					return
				}
				m.open = m.open || strings.Contains(target, unknown)
				stem, ok := matches(target, goal)
				if ok && strings.Contains(target, "%") == patterns && !r.busy {
					r.busy = patterns
					found = m.follow(r, goal, stem, seen) || found
					r.busy = false
				}
			}
		}
		if found {
			return
		}
	}
}

// matches reports a target, or a pattern of targets, that makes goal, and the part of goal for its %.
func matches(target, goal string) (stem string, ok bool) {
	before, after, pattern := strings.Cut(target, "%")
	stem, starts := strings.CutPrefix(goal, before)
	stem, ends := strings.CutSuffix(stem, after)
	return stem, starts && ends && (pattern || stem == "")
}

// follow adds the recipe of a rule after those of the targets that it needs, and reports one.
func (m *makefiles) follow(r *makeRule, goal, stem string, seen map[string]bool) bool {
	needs := strings.Fields(m.expand(r.needs, nil, 0))
	for i, need := range needs {
		needs[i] = strings.Replace(need, "%", stem, 1)
		m.make(needs[i], seen)
	}
	all := strings.Join(needs, " ")
	first, _, _ := strings.Cut(all, " ")
	auto := map[string]string{"@": goal, "*": stem, "^": all, "+": all, "<": first}
	for _, line := range r.recipe {
		m.add(m.expand(line, auto, 0))
	}
	return len(r.recipe) > 0
}

// expand puts the values of variables into a text.
func (m *makefiles) expand(text string, auto map[string]string, depth int) string {
	var b strings.Builder
	for before, rest, found := strings.Cut(text, "$"); ; before, rest, found = strings.Cut(rest, "$") {
		b.WriteString(before)
		if !found || rest == "" || b.Len() > maxText {
			break
		}
		name := rest[:1]
		rest = rest[1:]
		switch name {
		case "$":
			b.WriteByte('$')
			continue
		case "(":
			name = balanced(rest)
			rest = rest[min(len(name)+1, len(rest)):]
		case "{":
			name, rest, _ = strings.Cut(rest, "}")
		}
		b.WriteString(m.value(name, auto, depth+1))
	}
	return b.String()
}

// value is the value of a variable, unknown where it is not known. $(shell …) becomes a substitution of the
// shell.
func (m *makefiles) value(name string, auto map[string]string, depth int) string {
	if text, ok := auto[name]; ok {
		return text
	}
	if text, ok := strings.CutPrefix(name, "shell "); ok && depth <= maxNested {
		return "$(" + m.expand(text, auto, depth) + ")"
	}
	text, ok := m.vars[name]
	switch {
	case !m.step():
	case ok && depth <= maxNested:
		if text = m.expand(text, auto, depth); !strings.Contains(text, unknown) {
			return text
		}
	case !ok && name != "" && !strings.ContainsAny(name, "$ ,:@<^+*?%|"):
		if text, ok = m.start.Env(name); ok {
			return text
		}
	}
	m.open = true
	return unknown
}
