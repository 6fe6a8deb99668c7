package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/sallyport-dev/sallyport/engine/audit"
	"github.com/sallyport-dev/sallyport/engine/config"
	"github.com/sallyport-dev/sallyport/engine/rego"
	"github.com/sallyport-dev/sallyport/internal/hooks"
	"github.com/sallyport-dev/sallyport/internal/release"
	"github.com/sallyport-dev/sallyport/internal/resident"
	"github.com/sallyport-dev/sallyport/plugins"
)

// finding is one line of the doctor's report.
type finding struct {
	Check  string `json:"check"`
	State  string `json:"state"` // ok, warn, fail
	Detail string `json:"detail"`
	Fix    string `json:"fix"` // the step that solves it; "" for none
}

// doctor gathers findings.
type doctor struct{ findings []finding }

func (d *doctor) add(check, state, detail, fix string) {
	d.findings = append(d.findings, finding{check, state, detail, fix})
}

func (d *doctor) fail(check string, err error, fix string) {
	d.add(check, "fail", err.Error(), fix)
}

func (a *app) doctorCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check this machine and suggest fixes",
		Long: `Check this machine and suggest fixes. Nothing is changed. With the runner docker, a container is started for the
check and removed.

Exits with 0 when sallyport can work, 1 when an error prevents that or the log was tampered with.
Warnings do not change the exit code.`,
		Args: noArgs,
	}
	f := formatFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		findings := a.examine(cmd.Context())
		if *f == formatJSON {
			if err := writeIndented(a.out, findings); err != nil {
				return err
			}
		} else if err := a.writeFindings(findings); err != nil {
			return err
		}
		for _, x := range findings {
			if x.State == "fail" {
				return exitStatus(exitBroken)
			}
		}
		return nil
	}
	return cmd
}

func (a *app) examine(ctx context.Context) []finding {
	d := &doctor{}
	v := version()
	d.add("sallyport", "ok", fmt.Sprintf("%s, %s, OPA %s, %s", v.Sallyport, v.Go, v.OPA, v.Platform), "")
	d.programs(a.front)
	d.agents(a)
	l, err := a.load()
	if err != nil {
		var bad *config.Error
		if errors.As(err, &bad) {
			for _, line := range strings.Split(bad.Error(), "\n") {
				d.add("configuration", "fail", line, "correct it; sallyport config check tells whether it is sound")
			}
		} else {
			d.fail("configuration", err, "")
		}
		return d.findings
	}
	d.configuration(l)
	d.resident(a.front, l)
	d.policies(ctx, l)
	d.plugins(ctx, l)
	d.runner(ctx, l)
	d.audit(l)
	d.terminal()
	return d.findings
}

func (d *doctor) configuration(l *config.Loaded) {
	if l.File == "" {
		d.add("configuration", "ok", "no file, the defaults; workspace "+string(l.Workspace),
			"sallyport setup writes one and connects an agent")
	} else {
		d.add("configuration", "ok", fmt.Sprintf("%s (%s); workspace %s", l.File, l.Source, l.Workspace), "")
	}
	for _, note := range l.Notes {
		d.add("configuration", "warn", note, "")
	}
	for _, w := range l.Warnings() {
		what, fix := apart(errors.New(w))
		state := "warn"
		if w == l.TooWide() {
			state = "fail"
		}
		d.add("configuration", state, what, fix)
	}
}

func (d *doctor) policies(ctx context.Context, l *config.Loaded) {
	start := time.Now()
	e, err := plugins.Policies(ctx, l)
	var infos []rego.RuleInfo
	if err == nil {
		infos, err = e.Rules(ctx)
	}
	if err != nil {
		for _, line := range strings.Split(err.Error(), "\n") {
			d.add("policies", "fail", line, "")
		}
		return
	}
	d.add("policies", "ok", fmt.Sprintf("%d rules, profile %s, revision %s, loaded in %d ms",
		len(infos), l.Profile, e.Policy().Revision, time.Since(start).Milliseconds()), "")
	if by, aside := e.By(); aside == "" {
		d.add("evaluator", "ok", by, "")
	} else {
		d.add(
			"evaluator", "warn", by+": "+aside, "decisions are the same and take longer; fix it, or set evaluator to "+
				"topdown")
	}
	d.served(ctx, l)
}

// lowSpace is when a log that grows is worth a warning, in bytes.
const lowSpace = 64 << 20

func (d *doctor) audit(l *config.Loaded) {
	dir := string(l.Audit.Dir)
	ready, err := audit.Ready(dir)
	if err != nil {
		d.fail("audit log", err, "")
		return
	}
	place := existing(dir)
	if err := writable(place); err != nil {
		d.fail("audit log", fmt.Errorf("%s cannot be written: %w", place, err), "make it writable or set audit.dir")
		return
	}
	switch free, known := freeSpace(place); {
	case known && free < ready.Needs:
		d.add("audit log", "fail", fmt.Sprintf("%d KiB are free for %s, and %d are needed: nothing runs", free>>10,
			dir, ready.Needs>>10), "free space or set audit.dir")
	case known && free < lowSpace:
		d.add("audit log", "warn", fmt.Sprintf("%d MiB are free for %s: when it is full nothing runs", free>>20,
			dir), "free space or set audit.dir")
	}
	if ready.New {
		d.add("audit log", "ok", dir+" is made with the first record", "")
		return
	}
	report, err := audit.Verify(dir, audit.VerifyOptions{})
	switch {
	case err != nil:
		d.fail("audit log", err, "")
		return
	case !report.OK:
		d.add("audit log", "fail", fmt.Sprintf("%s: problems %d, the first: %s", dir, report.ProblemCount,
			firstProblem(report)), "look at sallyport audit verify; keep the log as it is until you know why")
		return
	}
	d.add("audit log", "ok", fmt.Sprintf("%s: %d records, verified", dir, report.Records), "")
	if last, err := time.Parse(time.RFC3339Nano, report.Last); err == nil &&
		time.Now().Before(last.Add(-time.Minute)) {
		d.add("clock", "warn", fmt.Sprintf("it is earlier than the last record, %s", report.Last), "set the clock")
	} else {
		d.add("clock", "ok", time.Now().UTC().Format(time.RFC3339), "")
	}
}

func firstProblem(r audit.Report) string {
	if len(r.Problems) == 0 {
		return "unknown"
	}
	return r.Problems[0].String()
}

// existing returns the directory, or the nearest one above it that there is.
func existing(dir string) string {
	for place := dir; ; place = filepath.Dir(place) {
		if _, err := os.Stat(place); !errors.Is(err, fs.ErrNotExist) || place == filepath.Dir(place) {
			return place
		}
	}
}

func (d *doctor) terminal() {
	if terminal(nil) == nil {
		d.add("approval", "warn", "there is no terminal here: commands that need approval are refused",
			"run sallyport at a terminal, or decide in the configuration under rules")
		return
	}
	d.add("approval", "ok", "approvals are asked at this terminal", "")
}

func (a *app) writeFindings(findings []finding) error {
	s := styleOf(a.out)
	for _, f := range findings {
		state := map[string]func(string) string{"ok": s.Green, "warn": s.Yellow, "fail": s.Red}[f.State](
			fmt.Sprintf("%-4s", f.State))
		line := wrap(fmt.Sprintf("%-4s  %-14s %s\n", f.State, f.Check, printable(f.Detail)), widthOf(a.out), 21)
		if _, err := io.WriteString(a.out, state+line[4:]); err != nil {
			return err
		}
		if f.Fix != "" {
			_, _ = io.WriteString(a.out, wrap(fmt.Sprintf("      %-14s fix: %s\n", "", printable(f.Fix)),
				widthOf(a.out), 0))
		}
	}
	return nil
}

// programs compares the two programs of an installation: sallyport, which has started this one, and
// sallyport-full. A program alone, as the go command installs it, is whole. front is the build that
// sallyport reported; "" for none.
func (d *doctor) programs(front string) {
	self, err := os.Executable()
	if err == nil {
		self, err = filepath.EvalSymlinks(self)
	}
	if err != nil {
		d.fail("programs", fmt.Errorf("find this program: %w", err), "")
		return
	}
	const fix = "install sallyport and sallyport-full of one release together"
	beside := filepath.Join(filepath.Dir(self), "sallyport"+filepath.Ext(self))
	switch own := version().Build(); {
	case front == own:
		d.add("programs", "ok", "sallyport and sallyport-full of one build, in "+filepath.Dir(self), "")
	case front != "":
		d.add("programs", "fail", fmt.Sprintf("sallyport is %s, and %s is %s", front, self, own), fix)
	case strings.HasPrefix(filepath.Base(self), release.Whole):
		d.add("programs", "warn", self+" was started by itself, and "+beside+" was not compared with it",
			"run sallyport doctor")
	default:
		d.add("programs", "ok", self+" is the whole program, without sallyport-full beside it", "")
	}
}

// resident tells whether the process runs that answers hooks and checks at once.
func (d *doctor) resident(front string, l *config.Loaded) {
	dir, view, _, err := residence(l.StateDir())
	if err != nil || front == "" {
		return // nobody would ask it
	}
	switch said, err := tell(l, askState); {
	case err == nil:
		d.add("resident", "ok", said, "")
	case resident.Served(dir, view):
		d.add("resident", "warn", "it does not answer, so hooks and checks take longer: "+err.Error(),
			"end it: pkill -f 'sallyport-full serve'")
	case l.Resident.Start == "never":
		d.add("resident", "ok", "it does not run: resident.start is never", "")
	default:
		d.add("resident", "ok", "it does not run; the first hook or check starts it", "")
	}
}

// runner checks the place where commands would run: first its requirements, then an environment itself.
func (d *doctor) runner(ctx context.Context, l *config.Loaded) {
	if !d.engine(ctx, l) {
		return
	}
	tried, err := plugins.Trial(ctx, l)
	if err != nil {
		what, fix := apart(err)
		d.add("runner", "fail", what, fix)
		return
	}
	d.add("runner", "ok", fmt.Sprintf("%s: isolation %s, network %s", tried.Name, tried.Isolation,
		tried.Network), "")
	d.supervisor(tried)
	if tool, ok := tried.Made["sandbox"].(string); ok {
		d.add("sandbox", "ok", fmt.Sprintf("%s: its promises were tried and hold; protected repositories: %v",
			tool, tried.Made["repositories"]), "")
	}
	switch mode := l.Programs.Mode; {
	case mode == "unseen":
	case tried.Judges && tried.Elevated:
		d.add("starts", "warn", "the programs that commands start are judged, but for those of elevated commands",
			"use runner: docker where no command needs sudo (docs/programs.md)")
	case tried.Judges:
		d.add("starts", "ok", "each program that a command starts is judged", "")
	case mode == "require":
		d.add("starts", "fail", "the programs that commands start cannot be judged, so nothing runs",
			"set programs.mode to judged, or use Linux 5.19 or newer and a supervisor of this release")
	default:
		d.add("starts", "warn", "the programs that commands start are not judged",
			"use Linux 5.19 or newer and a supervisor of this release (docs/programs.md)")
	}
	for _, w := range tried.Wanting {
		what, fix := apart(errors.New(w))
		d.add("runner", "warn", what, fix)
	}
	d.container(l, tried)
	if tried.Isolation == "none" {
		d.add("confinement", "warn", "commands that are allowed run as you, not confined",
			"use runner: docker, or a sandbox (docs/environments.md), or run agents as a user of their own")
	}
}

// engine looks at the engine and the image, and reports whether a container can be made.
func (d *doctor) engine(ctx context.Context, l *config.Loaded) bool {
	e, err := plugins.LookAtEngine(ctx, l)
	if err != nil {
		what, fix := apart(err)
		d.add("engine", "fail", what, fix)
		return false
	}
	if e == nil {
		return true
	}
	d.add("engine", "ok", fmt.Sprintf("Docker %s, API %s, at %s (%s); %s/%s, cgroup v%s, runtimes %s",
		e.Version, e.API, e.Host, e.From, e.OS, e.Arch, e.Cgroup, strings.Join(e.Runtimes, " ")), "")
	switch {
	case e.Rootless:
		d.add("engine", "ok", "rootless: root in a container is an ordinary user of this machine", "")
	case e.UserNS:
		d.add("engine", "ok", "users are mapped: root in a container is nobody on this machine", "")
	}
	if !e.Seccomp {
		d.add("engine", "warn", "it filters no system calls",
			"start the engine with its default seccomp profile, on a kernel that has seccomp")
	}
	if !e.ImagePresent {
		state := "fail"
		fix := e.HowToGet
		if l.Docker.Pull == "missing" {
			state, fix = "warn", "the first command pulls it; or get it now: docker pull "+e.Image.Ref
		}
		d.add("image", state, e.Image.Ref+" is not there", fix)
		return false
	}
	d.add("image", "ok", fmt.Sprintf("%s, %s, made %.10s, %d MB", e.Image.Ref, e.Image.ID, e.ImageCreated,
		e.ImageSize/1e6), "")
	return true
}

// supervisor reports the supervisor that answered, if one did.
func (d *doctor) supervisor(tried plugins.Tried) {
	if tried.Place == "" {
		return
	}
	if own := version().Sallyport; tried.Supervisor != own {
		d.add("supervisor", "warn", fmt.Sprintf("%s; this sallyport is %s", tried.Place, own),
			"bring the supervisor of this release there (docs/runners.md)")
		return
	}
	d.add("supervisor", "ok", tried.Place, "")
}

// container reports the bounds of a live container, and the limits that are not set.
func (d *doctor) container(l *config.Loaded, tried plugins.Tried) {
	for _, c := range tried.Bounds {
		if c.OK {
			d.add("container", "ok", c.Name+": "+c.Detail, "")
		} else {
			d.add("container", "fail", c.Name+": "+c.Detail, c.Mend)
		}
	}
	if tried.Isolation != "container" || len(tried.Bounds) == 0 {
		return
	}
	if l.Docker.Memory == 0 {
		d.add("limits", "warn", "memory is not limited: one command can use up that of the machine",
			"set docker.memory, such as 2g")
	}
	if l.Docker.CPUs == 0 {
		d.add("limits", "warn", "processors are not limited", "set docker.cpus, such as 2")
	}
	if l.Docker.Network == "host" {
		d.add("network", "warn", "commands have the network of this machine, and reach services on loopback",
			"use docker.network: bridge, or none")
	}
	if l.Docker.Credentials.PassAll {
		d.add("credentials", "warn", "commands get all variables of sallyport's own environment, secrets "+
			"included", "name those that are needed under docker.credentials.env")
	}
}

// apart divides a message into the problem and its fix, which follows the last colon outside of parentheses.
// An error of the system that stands there is no fix.
func apart(err error) (problem, fix string) {
	text, depth := err.Error(), 0
	var system syscall.Errno
	if errors.As(err, &system) && strings.HasSuffix(text, system.Error()) {
		return text, ""
	}
	for i := len(text) - 1; i > 0; i-- {
		switch {
		case text[i] == ')':
			depth++
		case text[i] == '(':
			depth--
		case depth == 0 && text[i-1:i+1] == ": ":
			return text[:i-1], text[i+1:]
		}
	}
	return text, ""
}

// served reports the bundles of policy servers, which it asks.
func (d *doctor) served(ctx context.Context, l *config.Loaded) {
	bundles, err := plugins.Served(ctx, l)
	if err != nil {
		d.fail("policies", err, "")
		return
	}
	for _, b := range bundles {
		what := fmt.Sprintf("%s: revision %s", b.Place, b.Revision)
		if b.Serial > 0 {
			what += fmt.Sprintf(", serial %d", b.Serial)
		}
		if b.Trouble != nil {
			d.add("policies", "warn", fmt.Sprintf("%s, confirmed at %s, is in force: %v", what,
				b.Asked.UTC().Format(time.RFC3339), b.Trouble),
				"check the server: this bundle stays in force until the server has a valid one")
			continue
		}
		d.add("policies", "ok", what+", current at the server", "")
	}
}

// agents examines the settings of the agents that are connected with sallyport.
func (d *doctor) agents(a *app) {
	r := &agentsRun{setupRun: setupRun{app: a}, scope: "user"}
	if err := r.prepare(); err != nil {
		d.fail("agents", err, "")
		return
	}
	for _, name := range hooks.Names() {
		h, err := hooks.Named(name)
		if err != nil {
			d.fail("agents", err, "")
			return
		}
		problems, connected := h.Look(r.here)
		if connected && len(problems) == 0 {
			d.add("agents", "ok", name+": its settings name this program", "")
		}
		for _, p := range problems {
			state := "warn"
			if p.Open {
				state = "fail"
			}
			d.add("agents", state, name+": "+p.Text, p.Fix)
		}
	}
}
