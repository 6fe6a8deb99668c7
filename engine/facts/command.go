package facts

import (
	"io/fs"
	"slices"
	"strings"

	"github.com/sallyport-dev/sallyport/engine/shell"
	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

// markFlags gives the flags of the structural marks of the shell walk.
var markFlags = map[shell.Mark]flag{
	shell.MarkForkBomb:    flagForkBomb,
	shell.MarkSocketShell: flagSocketShell,
	shell.MarkSocket:      flagSocket,
	shell.MarkDynamicCode: flagDynamicCode,
	shell.MarkShadow:      flagShadow,
	shell.MarkHistory:     flagHistory,
	shell.MarkNeverCalled: flagNeverCalled,
}

// program adds the commands of a text, in order, so that each sees what the earlier ones write.
// All are read before, because the output of a command may reach one that stands before it.
func (w *build) program(prog *shell.Program) {
	w.inputs = closure(prog.Commands)
	w.calls = make([]*call, len(prog.Commands))
	w.in.Commands = make([]Command, 0, len(prog.Commands))
	var carriers []int // by depth, the command that carries the next
	var latest [][]int // by depth, the last commands there
	for i := range prog.Commands {
		cmd := &prog.Commands[i]
		c := w.configured(newCall(w.table, cmd, source{w: w, cmds: prog.Commands, at: i}))
		depth := len(cmd.Via)
		if depth > 0 && depth <= len(carriers) {
			carriers[depth-1] = carrierOf(prog.Commands, latest[depth-1], i)
			c.inCode = !isShell(prog.Commands[carriers[depth-1]].Code.Language)
			c.carriers = slices.Clone(carriers[:depth])
		}
		at := min(depth, len(carriers))
		carriers = append(carriers[:at], i)
		if latest = latest[:min(at+1, len(latest))]; len(latest) == at {
			latest = append(latest, nil)
		}
		latest[at] = append(latest[at], i)
		for _, m := range cmd.Marks {
			if f, ok := markFlags[m]; ok {
				c.flags.add(f)
			}
		}
		if words := texts(cmd.Words); cmd.Name == "shopt" {
			w.dotglob = w.dotglob || slices.Contains(words, "dotglob")
			w.globstar = w.globstar || slices.Contains(words, "globstar")
		}
		c.environment(w.shared)
		c.shellWords()
		if c.checksOnly() {
			c.flags.remove(flagDynamicCode)
		}
		c.packageSource()
		c.packages = c.packageFacts()
		c.emptiesData()
		c.exhausts()
		w.calls[i] = c
	}
	for i := range prog.Commands {
		w.command(prog, i)
	}
	w.git()
}

// carrierOf returns the last of some commands around command i. Between a carrier and its command stand the
// commands of its own substitutions: find "$(pwd)" -exec cat {} +.
func carrierOf(cmds []shell.Command, list []int, i int) int {
	for _, k := range slices.Backward(list[max(0, len(list)-maxSources):]) {
		if cmds[k].Start <= cmds[i].Start && cmds[i].End <= cmds[k].End {
			return k
		}
	}
	return list[len(list)-1]
}

// isShell reports whether a language is that of a shell; "" is what carriers without code have.
func isShell(language string) bool {
	switch language {
	case "", "sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "fish", "csh", "tcsh":
		return true
	}
	return false
}

func (w *build) command(prog *shell.Program, i int) {
	cmd, c, inputs := &prog.Commands[i], w.calls[i], w.inputs[i]
	w.in.Commands = append(w.in.Commands, Command{
		Name: cmd.Name, Subcommand: strings.Join(c.sub, " "), Known: c.known || len(cmd.Words) == 0,
		Argv: texts(cmd.Words), Env: assigned(cmd.Assigns), Certainty: cmd.Certainty.String(),
		Via: fill(cmd.Via), Script: cmd.Script, Elevated: cmd.Elevated, Background: cmd.Background,
		Pipeline: Pipeline(cmd.Pipeline), Inputs: inputs, Paths: []int{}, Span: Span{cmd.Start, cmd.End},
	})
	out := &w.in.Commands[i]
	if len(cmd.Words) > 0 {
		out.Program = cmd.Words[0].Text
	}
	if cmd.Dir.Known {
		out.Dir = cmd.Dir.Path
	}
	w.entries(i, c)
	w.paths(i, c)
	w.untracked(i, c)
	out.Code = w.code(cmd, c, inputs)
	w.downloads(i, c)
	w.runsFed(i, c)
	out.Effects, out.Flags = c.effects.list(), c.flags.list(flagNames)
	out.Hosts, out.Options, out.Operands = fill(c.hosts), c.optionValues(), c.operandFacts()
	out.Kube = w.kubeFacts(i, c)
	out.Packages, out.Variables, out.Targets = c.packages, variables(cmd.Assigns), w.targetFacts(i, c)
	out.Matches = w.layout.matches(texts(cmd.Words), cmd.Name, cmd.Certainty == value.Unknown, w.in.Request.Time)
}

// paths adds every path of a command: of its words, its program, its script and its redirects.
func (w *build) paths(i int, c *call) {
	var made, gone []*spot
	var linked []touch
	source := "argument"
	if c.inCode {
		source = "code"
	}
	if words := c.cmd.Words; len(words) > 0 && strings.Contains(words[0].Text, "/") && words[0].Certainty != value.Unknown {
		w.run(i, c, words[0], source)
	}
	for _, t := range c.touches {
		if t.source == "argument" {
			t.source = source
		}
		if home := strings.HasPrefix(t.word.Text, "~/"); c.inCode && (home || t.word.Text == "~") {
			t.word, t.atHome = cut(t.word, min(2, len(t.word.Text))), true
			if t.word.Text == "" {
				t.word = exact(".")
			}
		}
		if t.word.Certainty == value.Exact && t.word.Text == "" {
			continue // no file has an empty name
		}
		s := w.place(t, i)
		if t.ifFile && !s.node.exists {
			continue // a word of no known role that is no file
		}
		if t.found != 0 {
			c.flags.add(t.found)
		}
		c.effects |= effectOf(s, t.access)
		if t.access&writes != 0 && !t.recursive {
			made = append(made, s)
		}
		if t.moved {
			gone = append(gone, s)
		}
		if t.access == reads {
			linked = append(linked, t)
		}
	}
	to := made
	if f := c.cmd.Code.File; c.cmd.Code.From == shell.CodeFile && f.Text != "" && !isProcessSubstitution(f) {
		w.run(i, c, f, "script")
		w.place(touch{word: f, access: reads, source: "script", dir: c.cmd.Dir}, i)
	}
	for _, r := range c.cmd.Redirects {
		if s := w.redirect(i, c, r); s != nil {
			made = append(made, s)
		}
	}
	for _, s := range made {
		w.note(i, c, s) // not before: a command does not see what it is about to write
	}
	if len(w.layout.Labels) > 0 {
		w.in.Commands[i].Flags = c.flags.list(flagNames)
		w.carries(i)
	}
	switch c.cmd.Name {
	case "mv", "gmv":
		w.moves(gone, to)
	case "ln", "gln", "link":
		w.links(c, linked, to)
	case "cp", "gcp", "rsync":
		if w.copies(c, linked, to); c.cmd.Name != "rsync" && c.has("s", "symbolic-link", "l", "link") {
			w.links(c, linked, to)
		}
	case "mkdir":
		for _, s := range to {
			if s.certainty == value.Exact && !s.glob && s.real != "" && !s.node.exists {
				w.view.make(s.real, node{exists: true, mode: fs.ModeDir | 0o755})
			}
		}
	}
}

// run adds a file that the command executes.
func (w *build) run(i int, c *call, word value.Word, source string) {
	s := w.place(touch{word: word, access: executes, source: source, dir: c.cmd.Dir}, i)
	c.effects |= doesExecute
	if s.labels.has(labelDownloaded) {
		c.flags.add(flagRunsDownloaded)
	}
}

var redirectAccess = map[shell.RedirectMode]access{
	shell.RedirectRead:      reads,
	shell.RedirectWrite:     writes,
	shell.RedirectAppend:    writes,
	shell.RedirectReadWrite: reads | writes,
}

// redirect adds the target of a redirection. It returns the spot if that is written.
func (w *build) redirect(i int, c *call, r shell.Redirect) *spot {
	a := redirectAccess[r.Mode]
	if a == 0 || isProcessSubstitution(r.Target) {
		return nil
	}
	if net, ok := strings.CutPrefix(r.Target.Text, "/dev/"); ok && (strings.HasPrefix(net, "tcp/") || strings.HasPrefix(net, "udp/")) {
		host, _, _ := strings.Cut(net[4:], "/")
		c.hosts = appendHost(c.hosts, canonicalHost(host))
		c.effects |= doesNetwork
		reading := func(t touch) bool { return t.access&reads != 0 }
		fed := func(r shell.Redirect) bool {
			none := r.Target.Text == "/dev/null" || strings.HasPrefix(r.Target.Text, "/dev/tcp/")
			return r.Mode == shell.RedirectRead && !none
		}
		if a&writes != 0 && (c.cmd.Pipeline.Index > 0 || slices.ContainsFunc(c.touches, reading) ||
			slices.ContainsFunc(c.cmd.Redirects, fed)) {
			c.flags.add(flagUploads)
		}
		return nil
	}
	s := w.place(touch{word: r.Target, access: a, source: "redirect", dir: c.cmd.Dir}, i)
	c.effects |= effectOf(s, a)
	if a&writes == 0 {
		return nil
	}
	return s
}

// effectOf turns an access into effects. The null device and the standard streams are nowhere.
func effectOf(s *spot, a access) effect {
	if s.labels.has(labelNullDevice) || s.labels.has(labelStdDevice) {
		return 0
	}
	return effect(a) // the bits of both are in the same order
}

// note remembers what a command writes: later commands of the text see files that were
// made here, and those whose content came from the network.
func (w *build) note(i int, c *call, s *spot) {
	if s.certainty != value.Exact || s.glob || s.real == "" {
		return
	}
	w.written[s.real] = true
	if c.flags.has(flagDownloads) || w.fromNetwork(w.inputs[i]) || c.passesOn(w) {
		w.fetched[s.real] = true
	}
}

// passesOn reports whether a copy or a move has a downloaded file as its source.
func (c *call) passesOn(w *build) bool {
	if c.base == nil || !c.flags.has(flagMoves) && c.cmd.Name != "cp" && c.cmd.Name != "install" && c.cmd.Name != "ln" {
		return false
	}
	for _, word := range c.operands {
		if abs := absolute(word.Text, c.dir); abs != "" && word.Certainty == value.Exact {
			if real, _ := w.view.real(abs, false); w.fetched[real] {
				return true
			}
		}
	}
	return false
}

func texts(words []value.Word) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = w.Text
	}
	return out
}

func assigned(as []value.Assign) []string {
	out := make([]string, 0, len(as))
	for _, a := range as {
		if !slices.Contains(out, a.Name) {
			out = append(out, a.Name)
		}
	}
	return out
}

// variables are assignments with their values.
func variables(as []value.Assign) []Option {
	list := make([]Option, 0, len(as))
	for _, a := range as {
		text, certainty := shown(a.Value)
		list = append(list, Option{Name: a.Name, Value: text, Certainty: certainty})
	}
	return list
}

// fill makes an empty list of none: every field of the input is present.
func fill(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}
