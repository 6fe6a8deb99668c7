package plain

import (
	"context"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"strings"
	"time"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/compiled"
	"github.com/sallyport-dev/sallyport/engine/config"
	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/engine/ledger"
	"github.com/sallyport-dev/sallyport/engine/wasm"
	"github.com/sallyport-dev/sallyport/policies"
	"github.com/sallyport-dev/sallyport/runners/bubblewrap"
	"github.com/sallyport-dev/sallyport/runners/local"
)

// GateOptions are the options of a gate that follow from the configuration alone.
func GateOptions(l *config.Loaded, session, version string) engine.Options {
	return engine.Options{
		Layout: l.Layout(),
		Mode:   engine.Mode(l.Mode),
		Limits: engine.Limits{
			Timeout: time.Duration(l.Timeout), MaxTimeout: time.Duration(l.Limits.MaxTimeout),
			Grace: time.Duration(l.Limits.Grace), Approve: time.Duration(l.Limits.Approval), Output: int(l.Limits.Output),
		},
		Subject: facts.Subject{Agent: l.Agent, Session: session, User: UserName(), Client: facts.Client{Name: "sallyport", Version: version}},
	}
}

// UserName names the operating system user: by the system, not by a variable that anybody may set.
func UserName() string {
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return fmt.Sprintf("uid %d", os.Getuid())
}

// OpenLocal makes the runner of this machine, and reports whether its shell is not bash.
func OpenLocal(l *config.Loaded) (_ engine.Runner, posix bool, err error) {
	e := l.Environment
	r, err := local.New(local.Options{
		Venv: e.Venv, Prefix: e.Prefix, EnvFile: string(e.EnvFile), EnvFileNames: e.EnvFileNames, Env: e.Env, PassAll: e.PassAll,
		Host: l.Environ(), Apart: true,
	})
	if err != nil {
		return nil, false, err
	}
	if l.Local.Sandbox == "none" {
		return r, r.Shell().POSIX, nil
	}
	sandbox, err := openSandbox(l, r)
	return sandbox, r.Shell().POSIX, err
}

// Unconfined reports that the commands of a runner have lost the sandbox of the configuration, and the reason; nil if
// they have not.
func Unconfined(r engine.Runner) error {
	if u, ok := r.(interface{ Unconfined() error }); ok {
		return u.Unconfined()
	}
	return nil
}

// openSandbox makes the runner that confines the commands of bare.
func openSandbox(l *config.Loaded, bare *local.Runner) (engine.Runner, error) {
	o := bubblewrap.Options{
		Supervisor: string(l.Supervisor), Beside: Beside(), Network: l.Local.Network, UnixSockets: l.Local.UnixSockets,
		Scratch: int64(l.Local.Scratch), PIDs: int64(l.Local.PIDs), Memory: int64(l.Local.Memory), State: l.SandboxDir(),
		Environ: bare.Environ(), Venv: l.Environment.Venv, Prefix: l.Environment.Prefix,
	}
	if l.Local.Sandbox == "auto" {
		o.Otherwise = bare
	}
	return bubblewrap.New(o)
}

// Beside is the directory in which a supervisor that belongs to this sallyport lies; "" when that is not known.
func Beside() string {
	exe, err := os.Executable()
	if err != nil {
		return ""
	}
	return filepath.Dir(exe)
}

// ForgetAfter is how long a session that nobody uses is remembered.
const ForgetAfter = 30 * 24 * time.Hour

// OpenLedger opens the memory of a session; without a session it lasts as long as the process.
func OpenLedger(l *config.Loaded, name string) (*ledger.Ledger, error) {
	if name == "" {
		return ledger.Open("", "")
	}
	if _, err := ledger.Prune(l.SessionsDir(), time.Now().Add(-ForgetAfter)); err != nil {
		return nil, err
	}
	return ledger.Open(l.SessionsDir(), l.Agent+"/"+name)
}

// Session is a ledger as the gate uses it.
type Session struct{ *ledger.Ledger }

// Begin notes the effects of a request before it runs.
func (s Session) Begin(in *facts.Input, fs facts.FS) func(facts.FS, int) error {
	return s.Ledger.Begin(in, fs).End
}

// Bundle is the compiled built-in bundle, on the machine that a configuration asks for.
func Bundle(l *config.Loaded, timeout time.Duration) compiled.Bundle {
	module, rules := policies.Compiled()
	return compiled.Bundle{Module: module, Rules: rules, Open: func(ctx context.Context, module, data []byte) (compiled.Machine, error) {
		m, err := wasm.OpenPolicies(ctx, wasm.PoliciesOptions{
			Module: module, Data: data, Cache: l.CompiledDir(), Time: timeout, Native: l.Evaluator == "auto",
		})
		if err != nil {
			return nil, err
		}
		return m, nil
	}}
}

// PolicyConfig is the part of a configuration that policies see.
func PolicyConfig(l *config.Loaded) compiled.Config {
	var exemptions []compiled.Exemption
	for _, e := range l.Exemptions {
		if !OfPlugin(e.Rule) {
			exemptions = append(exemptions, compiled.Exemption{Rule: e.Rule})
		}
	}
	levels := make(map[string]string, len(l.Rules))
	for id, level := range l.Rules {
		if !OfPlugin(id) {
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

// PluginRules is how the ids of all rules of rule plugins begin: "plugin/<name>/<rule>".
const PluginRules = "plugin/"

// OfPlugin reports whether a rule is one of a plugin.
func OfPlugin(id string) bool { return strings.HasPrefix(id, PluginRules) }
