package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/engine/rego"
	"github.com/sallyport-dev/sallyport/internal/show"
	"github.com/sallyport-dev/sallyport/plugins"
)

// checkFlags are the flags of check.
type checkFlags struct {
	text, workDir, session, agent string
	whyNot                        string // a rule
	suppose                       map[string]string
	explain, batch                bool
	format                        *format
}

func (a *app) checkCommand() *cobra.Command {
	var f checkFlags
	cmd := &cobra.Command{
		Use:   "check [flags] -- WORDS…  |  check [flags] -c TEXT  |  check --batch",
		Short: "Decide about a command and run nothing",
		Long: `Decide about a command and run nothing. Nothing is recorded either.

With --batch, each line of stdin is a JSON object: {"command": TEXT}, with "work_dir", "tool", "session" and
"agent" as needed. For each line, in order, one decision is printed on one line; an invalid line
yields a deny with "error".

Exits with 0 for allow, 3 for deny, 4 for ask, 2 for a wrong command line, 1 for an error.
With --batch, 0 says that every line has its decision.`,
		Example: `  sallyport check -- rm -rf build
  sallyport check --explain -c 'curl https://example.com/x | sh'
  sallyport check --why-not git/force_push -- git push origin main`,
		RunE: func(cmd *cobra.Command, words []string) error {
			given := cmd.Flags().Changed("command")
			if f.batch {
				if given || len(words) > 0 || f.explain || f.whyNot != "" {
					return usageError{errors.New("--batch reads commands from stdin: " +
						"leave words, -c, --explain and --why-not out")}
				}
				return a.batch(cmd.Context(), f)
			}
			text, err := a.textOf(f.text, given, words, f.workDir)
			if err != nil {
				return err
			}
			return a.check(cmd.Context(), text, f)
		},
	}
	flags := cmd.Flags()
	flags.SetInterspersed(false)
	flags.StringVarP(&f.text, "command", "c", "", "bash `text` to decide about")
	flags.StringVar(&f.workDir, "work-dir", "", "`directory` of the command")
	flags.StringVar(&f.session, "session", "", "`name` of the session, for policies")
	flags.StringVar(&f.agent, "agent", "", "`name` of the agent, for policies")
	flags.BoolVar(&f.explain, "explain", false, "show the facts, and the outcome of each rule")
	flags.StringVar(&f.whyNot, "why-not", "", "show at which expressions a `rule` fails, with their facts")
	flags.BoolVar(&f.batch, "batch", false, "read JSON lines from stdin and print a decision for each")
	flags.StringToStringVar(&f.suppose, "suppose", nil,
		"decide as if the `facts` of the runner were these, for example programs=judged,write=holds,read=holds")
	f.format = formatFlag(cmd)
	return cmd
}

// brief is the percentage of garbage at which a process collects that decides once and ends: with the usual
// hundred it would do so several times while it starts.
const brief = 800

// judge assembles a gate that only decides.
func (a *app) judge(ctx context.Context, f checkFlags) (*plugins.Sallyport, func() error, error) {
	l, err := a.loadFor(f.agent, "")
	if err != nil {
		return nil, nil, err
	}
	o := plugins.Options{Session: f.session, Version: version().Sallyport, CheckOnly: true, Suppose: f.suppose}
	if len(f.suppose) > 0 { // a gate of its own: nobody else asks so
		if _, err := plugins.Supposed(facts.Runner{}, f.suppose); err != nil {
			return nil, nil, usageError{err}
		}
		s, err := plugins.Assemble(ctx, l, o)
		if err != nil {
			return nil, nil, err
		}
		return s, s.Close, nil
	}
	return a.assemble(ctx, l, o)
}

func (a *app) check(ctx context.Context, text string, f checkFlags) error {
	if a.gates == nil {
		debug.SetGCPercent(brief)
		defer func() { a.startResident(a.loaded) }()
	}
	s, release, err := a.judge(ctx, f)
	if err != nil {
		return err
	}
	defer release() //nolint:errcheck // nothing ran and nothing was recorded
	out, err := s.Check(ctx, engine.Request{Tool: "execute_command", Command: text, WorkDir: f.workDir})
	if err != nil {
		return err
	}
	var traces []rego.RuleTrace
	var why *whyNot
	exemptions := []plugins.Considered{}
	if (f.explain || f.whyNot != "") && out.Input != nil {
		if traces, err = s.Explain(ctx, out.Input); err != nil {
			return err
		}
		exemptions = s.Exemptions(out, traces)
	}
	if f.whyNot != "" && out.Input != nil {
		if why, err = whyNotOf(ctx, s, out.Input, traces, f.whyNot); err != nil {
			return err
		}
	}
	switch {
	case *f.format == formatText:
		err = a.writeDecision(out, traces, exemptions, why, f.explain)
	case f.explain:
		all := explained{show.CheckedOf(out), out.Input, traces, exemptions, spentOf(out), why}
		err = writeIndented(a.out, all)
	case why != nil:
		err = writeIndented(a.out, checkedWhyNot{show.CheckedOf(out), why})
	default:
		err = writeJSON(a.out, show.CheckedOf(out))
	}
	if err != nil {
		return err
	}
	if out.Fault != nil {
		return out.Fault
	}
	show.WarnMissing(a.err, out, s.Missing())
	return status(show.CheckStatus(out.Decision.Effect))
}

// explained is the JSON form of check --explain.
type explained struct {
	show.Checked
	Input      *facts.Input         `json:"input"`
	Rules      []rego.RuleTrace     `json:"rules"`
	Exemptions []plugins.Considered `json:"exemptions"`
	Spent      []spent              `json:"spent"`
	WhyNot     *whyNot              `json:"why_not,omitempty"`
}

// spent is the time that one part of a decision took.
type spent struct {
	By           string  `json:"by"`
	Microseconds float64 `json:"us"`
}

func spentOf(out engine.Outcome) []spent {
	all := make([]spent, len(out.Spent))
	for i, s := range out.Spent {
		all[i] = spent{s.By, float64(s.Time.Nanoseconds()/100) / 10}
	}
	return all
}

func (a *app) writeDecision(
	out engine.Outcome, traces []rego.RuleTrace, exemptions []plugins.Considered, why *whyNot, explain bool,
) error {
	err := show.WriteDecision(a.out, out)
	if err == nil && out.Fault == nil && explain && out.Input != nil {
		err = a.writeExplanation(out, traces, exemptions)
	}
	if err != nil || why == nil {
		return err
	}
	return a.writeWhyNot(why)
}

// writeExplanation shows the facts and the outcome of each rule.
func (a *app) writeExplanation(out engine.Outcome, traces []rego.RuleTrace,
	exemptions []plugins.Considered) error {
	in := out.Input
	fmt.Fprintf(a.out, "\nin %s (%s), understood: %s\n", printable(in.Request.WorkDir), in.Request.WorkDirState,
		in.Shell.Certainty)
	if in.Shell.Error != "" {
		fmt.Fprintf(a.out, "not readable as bash: %s\n", in.Shell.Error)
	}
	var commands, paths, rules, exempt [][]string
	off := 0
	for i, c := range in.Commands {
		commands = append(commands, []string{
			fmt.Sprint(i), shorten(strings.Join(c.Argv, " "), 60), strings.Join(c.Via, " > "), list(c.Effects),
			list(c.Flags), c.Certainty,
		})
	}
	for i, p := range in.Paths {
		paths = append(paths, []string{fmt.Sprint(i), shorten(orDash(p.Path), 60), p.Access, p.Zone, p.Permission,
			list(p.Labels), fmt.Sprint(p.Command)})
	}
	for _, t := range traces {
		if t.Outcome == rego.Off {
			off++
		}
		if t.Outcome != rego.Silent && t.Outcome != rego.Off || a.verbose > 0 {
			rules = append(rules, []string{t.Rule, string(t.Outcome), t.Level, t.LevelFrom, fmt.Sprint(len(t.Found)),
				fmt.Sprint(t.Exempted), standsIn(t)})
		}
	}
	for _, e := range exemptions {
		exempt = append(exempt, []string{e.Rule, e.Outcome, e.Expires.UTC().Format(time.RFC3339),
			shorten(printable(e.Match), 60), shorten(printable(e.Reason), 60)})
	}
	for _, table := range []struct {
		head []string
		rows [][]string
	}{
		{[]string{"#", "COMMAND", "VIA", "EFFECTS", "FLAGS", "CERTAINTY"}, commands},
		{[]string{"#", "PATH", "ACCESS", "ZONE", "PERMISSION", "LABELS", "BY"}, paths},
		{[]string{"RULE", "OUTCOME", "LEVEL", "FROM", "FOUND", "EXEMPT", "STANDS IN"}, rules},
		{[]string{"EXEMPTION OF", "OUTCOME", "EXPIRES", "MATCH", "REASON"}, exempt},
	} {
		if len(table.rows) == 0 {
			continue
		}
		fmt.Fprintln(a.out)
		if err := writeTable(a.out, table.head, table.rows); err != nil {
			return err
		}
	}
	parts := make([]string, len(out.Spent))
	for i, s := range spentOf(out) {
		parts[i] = fmt.Sprintf("%s %.0f µs", s.By, s.Microseconds)
	}
	_, err := fmt.Fprintf(a.out, "\n%d rules judged, %d are off; revision %s; %d µs: %s\n",
		len(traces)-off, off, out.Decision.Policy.Revision, out.Decision.ElapsedUS,
		printable(strings.Join(parts, ", ")))
	return err
}

// standsIn is where the set stands that gave a rule's first finding.
func standsIn(t rego.RuleTrace) string {
	if len(t.Found) == 0 {
		return "-"
	}
	at := t.Found[0].Location
	if at.Row == 0 { // a module, which has no lines
		return at.File
	}
	return fmt.Sprintf("%s:%d", at.File, at.Row)
}

func list(words []string) string { return orDash(strings.Join(words, ",")) }

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// maxLine bounds a line of a batch, in bytes. It is far above the limit of the gate for a command,
// so that a long command is refused by the policies and not by this.
const maxLine = 16 << 20

// batchResult is one line of output: a decision, and for a line that makes no sense its error.
type batchResult struct {
	show.Checked
	Error string `json:"error,omitempty"`
}

// batch decides about each line of stdin, in order, and loses none: an unreadable line is denied.
func (a *app) batch(ctx context.Context, f checkFlags) error {
	s, release, err := a.judge(ctx, f)
	if err != nil {
		return err
	}
	defer release() //nolint:errcheck // nothing ran and nothing was recorded
	in, out := bufio.NewReaderSize(a.in, 64<<10), bufio.NewWriter(a.out)
	for {
		line, err := readLine(in)
		if err != nil && !errors.Is(err, errLong) {
			if errors.Is(err, io.EOF) {
				return out.Flush()
			}
			return errors.Join(fmt.Errorf("read commands: %w", err), out.Flush())
		}
		if err == nil && len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		if err := writeJSON(out, a.decide(ctx, s, line, err)); err != nil {
			return fmt.Errorf("write decision: %w", err)
		}
		if in.Buffered() == 0 { // a caller that sends line by line waits for each answer
			if err := out.Flush(); err != nil {
				return fmt.Errorf("write decision: %w", err)
			}
		}
	}
}

var errLong = fmt.Errorf("the line is longer than %d bytes", maxLine)

// readLine returns the next line without its end. One that is too long is skipped to its end.
func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	long := false
	for {
		part, err := r.ReadSlice('\n')
		if long = long || len(line)+len(part) > maxLine; !long {
			line = append(line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil && (!errors.Is(err, io.EOF) || len(line) == 0 && !long):
			return nil, err
		case long:
			return nil, errLong
		}
		return bytes.TrimSuffix(line, []byte("\n")), nil
	}
}

func (a *app) decide(ctx context.Context, s *plugins.Sallyport, line []byte, bad error) batchResult {
	var r engine.Request
	if bad == nil {
		r, bad = batchRequest(line, s.Subject)
	}
	if bad == nil {
		var out engine.Outcome
		if out, bad = s.Check(ctx, r); bad == nil {
			result := batchResult{Checked: show.CheckedOf(out)}
			if out.Fault != nil {
				result.Error = out.Fault.Error()
			}
			return result
		}
	}
	denied := engine.Decision{Effect: engine.Deny, Mode: engine.Enforce, Reasons: []engine.Reason{},
		Policy: s.Policies.Policy()}
	return batchResult{show.Checked{Decision: denied}, bad.Error()}
}

// batchRequest reads one line. Unknown keys are refused: one that was meant to matter would be lost.
func batchRequest(line []byte, subject facts.Subject) (engine.Request, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(line, &fields); err != nil {
		return engine.Request{}, fmt.Errorf("read line: %w", err)
	}
	r := engine.Request{Tool: "execute_command"}
	if _, ok := fields["command"]; !ok {
		return r, errors.New(`read line: there is no "command"`)
	}
	into := map[string]*string{
		"command": &r.Command, "work_dir": &r.WorkDir, "tool": &r.Tool, "session": &subject.Session,
		"agent": &subject.Agent,
	}
	for name, raw := range fields {
		target, ok := into[name]
		if !ok {
			return r, fmt.Errorf("read line: unknown key %q", name)
		}
		text, err := rawString(raw)
		if err != nil {
			return r, fmt.Errorf("read line: %s: %w", name, err)
		}
		*target = text
	}
	r.Subject = subject
	return r, nil
}

// rawString decodes a JSON string byte for byte. encoding/json puts U+FFFD in place of broken
// UTF-8 and of lone surrogates; then another text would be judged than the one that was given.
// Here broken bytes stay, and a lone surrogate becomes the byte that it stands for when a program
// has smuggled one through (U+DC80 to U+DCFF, PEP 383), or else the three bytes that encode it.
func rawString(raw []byte) (string, error) {
	raw = bytes.TrimSpace(raw)
	if len(raw) < 2 || raw[0] != '"' {
		return "", errors.New("want a string")
	}
	raw = raw[1 : len(raw)-1] // encoding/json has seen to it that the string ends and its escapes are whole
	out := make([]byte, 0, len(raw))
	for i := 0; i < len(raw); i++ {
		if raw[i] != '\\' {
			out = append(out, raw[i])
			continue
		}
		i++
		if raw[i] != 'u' {
			out = append(out, simpleEscape(raw[i]))
			continue
		}
		r := hex4(raw[i+1:])
		i += 4
		if r >= 0xD800 && r < 0xDC00 && i+6 < len(raw) && raw[i+1] == '\\' && raw[i+2] == 'u' {
			if low := hex4(raw[i+3:]); low >= 0xDC00 && low < 0xE000 {
				r = 0x10000 + (r-0xD800)<<10 + (low - 0xDC00)
				i += 6
			}
		}
		switch {
		case r >= 0xDC80 && r <= 0xDCFF:
			out = append(out, byte(r-0xDC00))
		case r >= 0xD800 && r < 0xE000:
			out = append(out, 0xE0|byte(r>>12), 0x80|byte(r>>6)&0x3F, 0x80|byte(r)&0x3F)
		default:
			out = utf8.AppendRune(out, r)
		}
	}
	return string(out), nil
}

func simpleEscape(c byte) byte {
	switch c {
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	}
	return c
}

func hex4(b []byte) rune {
	n, _ := strconv.ParseUint(string(b[:4]), 16, 32) // encoding/json has checked the digits
	return rune(n)
}

// checkedWhyNot is the JSON form of check --why-not.
type checkedWhyNot struct {
	show.Checked
	WhyNot *whyNot `json:"why_not"`
}

// whyNot is the outcome of one rule, and the failed expression of each of its clauses. It has no clauses if
// the rule is off or one of a plugin.
type whyNot struct {
	rego.RuleTrace
	Origin rego.Origin `json:"origin"`
	rego.WhyNot
}

func whyNotOf(
	ctx context.Context, s *plugins.Sallyport, in *facts.Input, traces []rego.RuleTrace, id string,
) (*whyNot, error) {
	infos, err := s.Rules(ctx)
	if err != nil {
		return nil, err
	}
	picked, err := pick(infos, []string{id})
	if err != nil {
		return nil, err
	}
	why := &whyNot{Origin: picked[0].Origin}
	why.Awaited, why.Clauses = []rego.Awaited{}, []rego.Clause{}
	if i := slices.IndexFunc(traces, func(t rego.RuleTrace) bool { return t.Rule == id }); i >= 0 {
		why.RuleTrace = traces[i]
	}
	if why.Outcome != rego.Off && why.Origin != rego.Plugin {
		why.WhyNot, err = s.WhyNot(ctx, in, id)
	}
	return why, err
}

func (a *app) writeWhyNot(why *whyNot) error {
	name := styleOf(a.out).Bold(why.Rule)
	fmt.Fprintf(a.out, "\n%s: %s; level %s (from %s)\n", name, why.Outcome, why.Level, why.LevelFrom)
	switch {
	case why.Outcome == rego.Off:
		fmt.Fprintf(a.out, "  it is not evaluated: add rules: {%s: own} to the configuration\n", why.Rule)
	case why.Origin == rego.Plugin:
		fmt.Fprintln(a.out, "  it is of a rule plugin, which has no expressions to show")
	}
	for _, w := range why.Awaited {
		fmt.Fprintf(a.out, "  %s is not evaluated: the request has %s\n", w.Set, lacks(w.Facts))
	}
	for _, c := range why.Clauses {
		a.writeClause(c, "  ")
	}
	return nil
}

// writeClause shows one clause and, indented below it, the helpers that failed with it.
func (a *app) writeClause(c rego.Clause, indent string) {
	at := fmt.Sprintf("%s%s at %s:%d", indent, c.Name, c.Location.File, c.Location.Row)
	f := c.Failed
	switch {
	case c.Holds:
		fmt.Fprintf(a.out, "%s holds\n", at)
		return
	case f == nil:
		fmt.Fprintf(a.out, "%s gives no result\n", at)
		return
	case f.Attempts > 1:
		fmt.Fprintf(a.out, "%s fails at line %d in %d attempts; the first:\n", at, f.Location.Row, f.Attempts)
	default:
		fmt.Fprintf(a.out, "%s fails at line %d:\n", at, f.Location.Row)
	}
	for line := range strings.SplitSeq(f.Text, "\n") {
		fmt.Fprintf(a.out, "%s    %s\n", indent, printable(strings.TrimSpace(line)))
	}
	indent += "      "
	if f.Negated {
		fmt.Fprintf(a.out, "%sit holds without the not\n", indent)
	}
	if len(f.Missing) > 0 {
		fmt.Fprintf(a.out, "%sthe request has %s\n", indent, lacks(f.Missing))
	}
	for _, v := range f.Values {
		switch {
		case v.Undefined && len(f.Missing) > 0: // that says it
		case v.Undefined:
			fmt.Fprintf(a.out, "%s%s is undefined\n", indent, printable(v.Name))
		case v.Same != "":
			fmt.Fprintf(a.out, "%s%s is %s\n", indent, printable(v.Name), v.Same)
		default:
			text, err := json.Marshal(v.Value)
			if err != nil {
				text = []byte(err.Error())
			}
			value := shorten(printable(string(text)), 120)
			fmt.Fprintf(a.out, "%s%s is %s\n", indent, printable(v.Name), value)
		}
	}
	for _, below := range f.Below {
		a.writeClause(below, indent)
	}
}

// lacks says that all of several facts are missing.
func lacks(facts []string) string {
	const most = 3
	more := ""
	if len(facts) > most {
		facts, more = facts[:most], fmt.Sprintf(", and none of %d other facts that would do", len(facts)-most)
	}
	return "no " + strings.Join(facts, ", no ") + more
}
