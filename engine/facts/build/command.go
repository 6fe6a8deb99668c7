package build

import (
	"io/fs"
	"slices"
	"strings"

	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/engine/facts/call"
	"github.com/sallyport-dev/sallyport/engine/facts/disk"
	"github.com/sallyport-dev/sallyport/engine/facts/term"
	"github.com/sallyport-dev/sallyport/engine/shell"
	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

// markFlags gives the flags of the structural marks of the shell walk.
var markFlags = map[shell.Mark]term.Flag{
	shell.MarkForkBomb:    term.FlagForkBomb,
	shell.MarkSocketShell: term.FlagSocketShell,
	shell.MarkSocket:      term.FlagSocket,
	shell.MarkDynamicCode: term.FlagDynamicCode,
	shell.MarkShadow:      term.FlagShadow,

	shell.MarkDynamicProgram: term.FlagDynamicProgram,
	shell.MarkHistory:        term.FlagHistory,
	shell.MarkNeverCalled:    term.FlagNeverCalled,
}

// program adds the commands of a text, in order, so that each sees the files that earlier ones write.
// All are read before, because the output of a command may reach one that stands before it.
func (w *build) program(prog *shell.Program) {
	w.inputs = closure(prog.Commands)
	w.calls = make([]*call.Call, len(prog.Commands))
	w.in.Commands = make([]facts.Command, 0, len(prog.Commands))
	var carriers []int // by depth, the command that carries the next
	var latest [][]int // by depth, the last commands there
	for i := range prog.Commands {
		cmd := &prog.Commands[i]
		from := call.Source{Files: w.Files, Request: w.in.Request.Command, Inputs: w.inputs, Cmds: prog.Commands, At: i}
		c := call.New(w.table, cmd, from).Configured()
		depth := len(cmd.Via)
		if depth > 0 && depth <= len(carriers) {
			carriers[depth-1] = carrierOf(prog.Commands, latest[depth-1], i)
			c.InCode = !isShell(prog.Commands[carriers[depth-1]].Code.Language)
			c.Carriers = slices.Clone(carriers[:depth])
		}
		at := min(depth, len(carriers))
		carriers = append(carriers[:at], i)
		if latest = latest[:min(at+1, len(latest))]; len(latest) == at {
			latest = append(latest, nil)
		}
		latest[at] = append(latest[at], i)
		for _, m := range cmd.Marks {
			if f, ok := markFlags[m]; ok {
				c.Flags.Add(f)
			}
		}
		if words := call.Texts(cmd.Words); cmd.Name == "shopt" {
			w.dotglob = w.dotglob || slices.Contains(words, "dotglob")
			w.globstar = w.globstar || slices.Contains(words, "globstar")
		}
		c.Environment(w.Shared)
		w.steered(c)
		c.ShellWords()
		secret := func(carrier int) bool { return w.calls[carrier].GivesSecrets() }
		if c.Flags.Has(term.FlagDumpsEnv) && slices.ContainsFunc(c.Carriers, secret) {
			c.Flags.Add(term.FlagPrintsSecret)
		}
		if c.ChecksOnly() {
			c.Flags.Remove(term.FlagDynamicCode)
			c.Flags.Remove(term.FlagDynamicProgram)
		}
		c.PackageSource()
		c.Packages = c.PackageFacts()
		c.EmptiesData()
		c.Exhausts()
		w.calls[i] = c
	}
	for i := range prog.Commands {
		w.command(prog, i)
	}
	w.decoded()
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

// isShell reports whether a language is that of a shell; "" stands for carriers without code.
func isShell(language string) bool {
	switch language {
	case "", "sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "fish", "csh", "tcsh":
		return true
	}
	return false
}

func (w *build) command(prog *shell.Program, i int) {
	cmd, c, inputs := &prog.Commands[i], w.calls[i], w.inputs[i]
	w.in.Commands = append(w.in.Commands, facts.Command{
		Name: cmd.Name, Subcommand: strings.Join(c.Sub, " "), Known: c.Known || len(cmd.Words) == 0,
		Argv: call.Texts(cmd.Words), Env: assigned(cmd.Assigns), Certainty: cmd.Certainty.String(),
		Via: fill(cmd.Via), Script: cmd.Script, Elevated: cmd.Elevated, Background: cmd.Background,
		Pipeline: facts.Pipeline(cmd.Pipeline), Inputs: inputs, Paths: []int{}, Span: facts.Span{Start: cmd.Start, End: cmd.End},
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
	out.Effects, out.Flags = c.Effects.List(), c.Flags.List(term.FlagNames)
	out.Hosts, out.Options, out.Operands = fill(c.Hosts), c.OptionValues(), c.OperandFacts()
	out.Kube = w.kubeFacts(i, c)
	out.Packages, out.Variables, out.Targets = c.Packages, variables(cmd.Assigns), w.targetFacts(i, c)
	out.Matches = w.Layout.Matches(call.Texts(cmd.Words), cmd.Name, cmd.Certainty == value.Unknown, w.in.Request.Time)
}

// paths adds every path of a command: of its words, its program, its script and its redirects.
func (w *build) paths(i int, c *call.Call) {
	var made, gone []*spot
	var linked []call.Touch
	source := "argument"
	if c.InCode {
		source = "code"
	}
	if words := c.Cmd.Words; len(words) > 0 && strings.Contains(words[0].Text, "/") && words[0].Certainty != value.Unknown {
		w.run(i, c, words[0], source)
	}
	for _, t := range c.Touches {
		if t.Source == "argument" {
			t.Source = source
		}
		if home := strings.HasPrefix(t.Word.Text, "~/"); c.InCode && (home || t.Word.Text == "~") {
			t.Word, t.AtHome = call.Cut(t.Word, min(2, len(t.Word.Text))), true
			if t.Word.Text == "" {
				t.Word = call.Exact(".")
			}
		}
		if t.Word.Certainty == value.Exact && t.Word.Text == "" {
			continue // no file has an empty name
		}
		s := w.place(t, i)
		if t.IfFile && !s.node.Exists {
			continue // a word of no known role that is no file
		}
		if t.Found != 0 {
			c.Flags.Add(t.Found)
		}
		c.Effects |= effectOf(s, t.Access)
		if t.Access&term.Writes != 0 && !t.Recursive {
			made = append(made, s)
		}
		if t.Moved {
			gone = append(gone, s)
		}
		if t.Access == term.Reads {
			linked = append(linked, t)
		}
	}
	to := made
	f := c.Cmd.Code.File
	if c.Cmd.Code.From == shell.CodeFile && f.Text != "" && !call.IsProcessSubstitution(f) {
		w.run(i, c, f, "script")
		w.place(call.Touch{Word: f, Access: term.Reads, Source: "script", Dir: c.Cmd.Dir}, i)
	}
	for _, r := range c.Cmd.Redirects {
		if s := w.redirect(i, c, r); s != nil {
			made = append(made, s)
		}
	}
	for _, s := range made {
		w.note(i, c, s) // not before: a command does not see its own coming writes
	}
	if len(w.Layout.Labels) > 0 {
		w.in.Commands[i].Flags = c.Flags.List(term.FlagNames)
		facts.Carry(w.in, i, w.carried)
	}
	switch c.Cmd.Name {
	case "mv", "gmv":
		w.moves(gone, to)
	case "ln", "gln", "link":
		w.links(c, linked, to)
	case "cp", "gcp", "rsync":
		if w.copies(c, linked, to); c.Cmd.Name != "rsync" && c.Has("s", "symbolic-link", "l", "link") {
			w.links(c, linked, to)
		}
	case "mkdir":
		for _, s := range to {
			if s.certainty == value.Exact && !s.glob && s.real != "" && !s.node.Exists {
				w.view.Make(s.real, disk.Node{Exists: true, Mode: fs.ModeDir | 0o755})
			}
		}
	}
}

// run adds a file that the command executes.
func (w *build) run(i int, c *call.Call, word value.Word, source string) {
	s := w.place(call.Touch{Word: word, Access: term.Executes, Source: source, Dir: c.Cmd.Dir}, i)
	c.Effects |= term.Execute
	if s.labels.Has(term.LabelDownloaded) {
		c.Flags.Add(term.FlagRunsDownloaded)
	}
}

var redirectAccess = map[shell.RedirectMode]term.Access{
	shell.RedirectRead:      term.Reads,
	shell.RedirectWrite:     term.Writes,
	shell.RedirectAppend:    term.Writes,
	shell.RedirectReadWrite: term.Reads | term.Writes,
}

// redirect adds the target of a redirection. It returns the spot if that is written.
func (w *build) redirect(i int, c *call.Call, r shell.Redirect) *spot {
	a := redirectAccess[r.Mode]
	reading := func(t call.Touch) bool { return t.Access&term.Reads != 0 }
	feeds := c.Cmd.Pipeline.Index > 0 || slices.ContainsFunc(c.Touches, reading)
	if r.Mode == shell.RedirectDup && r.FD == 1 && feeds && slices.Contains(c.Cmd.Marks, shell.MarkSocket) {
		c.Flags.Add(term.FlagUploads)
	}
	if a == 0 || call.IsProcessSubstitution(r.Target) {
		return nil
	}
	if net, ok := strings.CutPrefix(r.Target.Text, "/dev/"); ok && (strings.HasPrefix(net, "tcp/") || strings.HasPrefix(net, "udp/")) {
		host, _, _ := strings.Cut(net[4:], "/")
		c.Hosts = call.AppendHost(c.Hosts, call.CanonicalHost(host))
		c.Effects |= term.Network
		fed := func(r shell.Redirect) bool {
			none := r.Target.Text == "/dev/null" || strings.HasPrefix(r.Target.Text, "/dev/tcp/")
			return r.Mode == shell.RedirectRead && !none
		}
		if a&term.Writes != 0 && (feeds || slices.ContainsFunc(c.Cmd.Redirects, fed)) {
			c.Flags.Add(term.FlagUploads)
		}
		return nil
	}
	s := w.place(call.Touch{Word: r.Target, Access: a, Source: "redirect", Dir: c.Cmd.OpenedIn(r)}, i)
	c.Effects |= effectOf(s, a)
	if a&term.Writes == 0 {
		return nil
	}
	return s
}

// effectOf turns an access into effects. The null device and the standard streams are nowhere.
func effectOf(s *spot, a term.Access) term.Effect {
	if s.labels.Has(term.LabelNullDevice) || s.labels.Has(term.LabelStdDevice) {
		return 0
	}
	return term.Effect(a) // the bits of both are in the same order
}

// note remembers the files that a command writes: later commands of the text see files that were
// made here, and those whose content came from the network.
func (w *build) note(i int, c *call.Call, s *spot) {
	if s.certainty != value.Exact || s.glob || s.real == "" {
		return
	}
	w.written[s.real] = true
	if c.Flags.Has(term.FlagDownloads) || w.fromNetwork(w.inputs[i]) || w.copiesFetched(c) {
		w.fetched[s.real] = true
	}
}

// copiesFetched reports whether a copy or a move has a downloaded file as its source.
func (w *build) copiesFetched(c *call.Call) bool {
	if c.Base == nil || !c.Flags.Has(term.FlagMoves) && c.Cmd.Name != "cp" && c.Cmd.Name != "install" && c.Cmd.Name != "ln" {
		return false
	}
	return slices.ContainsFunc(c.Operands, func(word value.Word) bool { return w.isFetched(word, c.Dir) })
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
func variables(as []value.Assign) []facts.Option {
	list := make([]facts.Option, 0, len(as))
	for _, a := range as {
		text, certainty := call.Shown(a.Value)
		list = append(list, facts.Option{Name: a.Name, Value: text, Certainty: certainty})
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
