package plugins

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/audit"
	"github.com/sallyport-dev/sallyport/engine/compiled"
	"github.com/sallyport-dev/sallyport/engine/config"
	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/engine/ledger"
	"github.com/sallyport-dev/sallyport/engine/redact"
	"github.com/sallyport-dev/sallyport/engine/wasm"
	"github.com/sallyport-dev/sallyport/policies"
	"github.com/sallyport-dev/sallyport/runners/bubblewrap"
	"github.com/sallyport-dev/sallyport/runners/local"
	"github.com/sallyport-dev/sallyport/runners/undo"
)

// startBody is the first record of a gate.
func startBody(l *config.Loaded, subject facts.Subject, version string) (engine.StartBody, error) {
	effective, err := l.YAML()
	if err != nil {
		return engine.StartBody{}, fmt.Errorf("hash configuration: %w", err)
	}
	return engine.StartBody{
		Version: version, PID: os.Getpid(), Config: l.File,
		Digest:  fmt.Sprintf("%x", sha256.Sum256(effective)),
		Profile: l.Profile, Subject: subject,
	}, nil
}

// logOptions are the options of the audit log that follow from the configuration alone.
func logOptions(l *config.Loaded, version string) audit.Options {
	patterns := make([]*regexp.Regexp, len(l.Audit.Redact))
	for i, p := range l.Audit.Redact {
		patterns[i] = regexp.MustCompile(string(p)) // config has compiled it already
	}
	return audit.Options{
		Dir: string(l.Audit.Dir), Agent: l.Agent, Version: version,
		Redact: redact.Extra{Patterns: patterns}, CheckpointEvery: time.Duration(l.Audit.Checkpoint.Every),
	}
}

// UserName names the operating system user: by the system, not by a variable that anybody may set.
func UserName() string {
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return fmt.Sprintf("uid %d", os.Getuid())
}

// openLocal makes the runner of this machine.
func openLocal(l *config.Loaded) (Opened, error) {
	e := l.Environment
	r, err := local.New(local.Options{
		Venv: e.Venv, Prefix: e.Prefix, EnvFile: string(e.EnvFile), EnvFileNames: e.EnvFileNames, Env: e.Env,
		PassAll: e.PassAll,
		Host:    l.Environ(), Apart: Supervisor(l), Programs: starterOf(l),
	})
	if err != nil {
		return Opened{}, err
	}
	opened := Opened{Runner: r, POSIX: r.Shell().POSIX}
	if l.Local.Sandbox != "none" {
		opened.Runner, err = openSandbox(l, r)
	}
	return opened, err
}

// starterOf is the program that begins commands of the runner local without a sandbox, if their programs are
// judged; "" for none.
func starterOf(l *config.Loaded) string {
	if l.Programs.Mode == "unseen" {
		return ""
	}
	return Supervisor(l)
}

// Supervisor is the program sallyport-supervisor of a configuration.
func Supervisor(l *config.Loaded) string {
	if l.Supervisor != "" {
		return string(l.Supervisor)
	}
	return filepath.Join(beside(), "sallyport-supervisor")
}

// missing reports that a runner cannot confine commands here and runs none, and the reason; nil if it can.
func missing(r engine.Runner) error {
	if m, ok := r.(interface{ Missing() error }); ok {
		return m.Missing()
	}
	return nil
}

// openSandbox makes the runner that confines the commands of bare.
func openSandbox(l *config.Loaded, bare *local.Runner) (engine.Runner, error) {
	o := bubblewrap.Options{
		Supervisor: string(l.Supervisor), Beside: beside(), Network: l.Local.Network,
		Required: l.Local.Sandbox == "bubblewrap", UnixSockets: l.Local.UnixSockets,
		Programs: l.Programs.Mode != "unseen",
		Scratch:  int64(l.Local.Scratch), PIDs: int64(l.Local.PIDs), Memory: int64(l.Local.Memory),
		State: l.SandboxDir(), Copies: l.Copies(), Files: l.Files(),
		Environ: bare.Environ(), Venv: l.Environment.Venv, Prefix: l.Environment.Prefix,
		Otherwise: bare,
	}
	if l.Undo.Enabled {
		o.Undo = undoOptions(l)
	}
	return bubblewrap.New(o)
}

// undoOptions say where the files are kept that commands change.
func undoOptions(l *config.Loaded) undo.Options {
	return undo.Options{Dir: l.UndoDir(), Most: int64(l.Undo.Size), Keep: time.Duration(l.Undo.Keep)}
}

// beside is the directory in which a supervisor that belongs to this sallyport lies; "" when that is not
// known.
func beside() string {
	exe, err := os.Executable()
	if err != nil {
		return ""
	}
	return filepath.Dir(exe)
}

// forgetAfter is how long a session that nobody uses is remembered.
const forgetAfter = 30 * 24 * time.Hour

// openLedger opens the memory of a session; without a session it lasts as long as the process.
func openLedger(l *config.Loaded, name string) (*ledger.Ledger, error) {
	if name == "" {
		return ledger.Open("", "")
	}
	if _, err := ledger.Prune(l.SessionsDir(), time.Now().Add(-forgetAfter)); err != nil {
		return nil, err
	}
	return ledger.Open(l.SessionsDir(), l.Agent+"/"+name)
}

// session is a ledger as the gate uses it.
type session struct{ *ledger.Ledger }

// Begin notes the effects of a request before it runs.
func (s session) Begin(in *facts.Input, fs facts.FS) func(facts.FS, int) error {
	return s.Ledger.Begin(in, fs).End
}

// bundleOf is the compiled built-in bundle, on the machine that a configuration asks for.
func bundleOf(l *config.Loaded, timeout time.Duration) compiled.Bundle {
	module, rules := policies.Compiled()
	return compiled.Bundle{Module: module, Rules: rules,
		Open: func(ctx context.Context, module, data []byte) (compiled.Machine, error) {
			m, err := wasm.OpenPolicies(ctx, wasm.PoliciesOptions{
				Module: module, Data: data, Cache: l.CompiledDir(), Time: timeout, Native: l.Evaluator == "auto",
			})
			if err != nil {
				return nil, err
			}
			return m, nil
		}}
}

// policyConfig is the part of a configuration that policies see.
func policyConfig(l *config.Loaded) compiled.Config {
	var exemptions []compiled.Exemption
	for _, e := range l.Exemptions {
		if !ofPlugin(e.Rule) {
			exemptions = append(exemptions, compiled.Exemption{Rule: e.Rule})
		}
	}
	levels := make(map[string]string, len(l.Rules))
	for id, level := range l.Rules {
		if !ofPlugin(id) {
			levels[id] = level
		}
	}
	workspace, err := filepath.EvalSymlinks(string(l.Workspace))
	if err != nil { // rules that read it then find nothing in it, and no path lies in a missing place
		workspace = ""
	}
	return compiled.Config{
		Profile:    l.Profile,
		Workspace:  workspace,
		Levels:     levels,
		Filters:    compiled.Filters{Allow: len(l.Commands.Allow), Deny: len(l.Commands.Deny)},
		Exemptions: exemptions,
	}
}

// pluginRules is how the ids of all rules of rule plugins begin: "plugin/<name>/<rule>".
const pluginRules = "plugin/"

// ofPlugin reports whether a rule is one of a plugin.
func ofPlugin(id string) bool { return strings.HasPrefix(id, pluginRules) }
