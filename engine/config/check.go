package config

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/sallyport-dev/sallyport/engine/lazyregexp"
)

// checker looks at a decoded configuration as a whole.
type checker struct {
	*decoder
	l *Loaded
}

func check(l *Loaded, d *decoder) {
	c := checker{d, l}
	c.names()
	c.runners()
	c.times()
	c.sizes()
	c.workspace()
	c.grants()
	c.rules()
	c.generated()
	c.labels()
	c.policies()
	c.table()
	c.environment()
	c.local()
	c.programs()
	c.docker()
	c.audit()
}

func (c checker) problem(key, format string, args ...any) {
	c.problems = append(c.problems, problemAt(c.where, key, fmt.Sprintf(format, args...)))
}

// problemAt gives a key that the file does not have the place of its nearest parent.
func problemAt(where map[string]position, key, text string) Problem {
	for at := key; ; at = at[:max(strings.LastIndexAny(at, ".["), 0)] {
		if pos, ok := where[at]; ok || at == "" {
			return Problem{Line: pos.line, Column: pos.column, Key: key, Text: text}
		}
	}
}

// bad reports whether the decoder has already refused the value at key, so that one mistake is not reported
// twice.
func (c checker) bad(key string) bool {
	return slices.ContainsFunc(c.problems, func(p Problem) bool { return p.Key == key })
}

var (
	agentName  = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$`)
	ruleID     = lazyregexp.New(`^[a-z][a-z0-9_]*(/[a-z][a-z0-9_]*)+$`)
	runnerName = lazyregexp.New(`^[a-z][a-z0-9_-]{0,63}$`)
	dockerUser = lazyregexp.New(`^[1-9][0-9]{0,8}(:[1-9][0-9]{0,8})?$`)
	envName    = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*$`)
)

// BuiltinRunners are the names of runners that need no entry under runners.
func BuiltinRunners() []string { return []string{"local", "docker", "docker-sudo"} }

// ValidAgent reports whether a name can be that of an agent.
func ValidAgent(name string) bool { return agentName.MatchString(name) }

func (c checker) names() {
	if !ValidAgent(c.l.Agent) {
		c.problem("agent", "%q is not a name: letters, digits, \".\", \"_\" and \"-\", at most 64", c.l.Agent)
	}
}

func (c checker) times() {
	for _, t := range []struct {
		key   string
		value Duration
	}{
		{"timeout", c.l.Timeout}, {"limits.max_timeout", c.l.Limits.MaxTimeout},
		{"limits.grace", c.l.Limits.Grace}, {"limits.approval", c.l.Limits.Approval},
		{"undo.keep", c.l.Undo.Keep},
		{"audit.checkpoint.every", c.l.Audit.Checkpoint.Every}, {"hooks.timeout", c.l.Hooks.Timeout},
		{"resident.idle", c.l.Resident.Idle},
	} {
		if t.value <= 0 {
			c.problem(t.key, "must be greater than zero")
		}
	}
	if c.l.Hooks.Timeout > Duration(20*time.Second) {
		c.problem("hooks.timeout", "%s is more than 20s: agents let calls run whose hooks are late",
			text(c.l.Hooks.Timeout))
	}
	if c.l.Timeout > c.l.Limits.MaxTimeout && c.l.Limits.MaxTimeout > 0 {
		c.problem("timeout", "%s is more than limits.max_timeout, which is %s", text(c.l.Timeout),
			text(c.l.Limits.MaxTimeout))
	}
}

func (c checker) sizes() {
	for _, n := range []struct {
		key              string
		value, low, high int64
	}{
		{"limits.output", int64(c.l.Limits.Output), 1 << 10, 1 << 30},
		{"limits.result", int64(c.l.Limits.Result), 1 << 10, 1 << 30},
		{"limits.background", int64(c.l.Limits.Background), 0, 1000},
		{"limits.ring_lines", int64(c.l.Limits.RingLines), 1, 10_000_000},
		{"undo.size", int64(c.l.Undo.Size), 1 << 20, 1 << 50},
		{"local.scratch", int64(c.l.Local.Scratch), 1 << 20, 1 << 50},
		{"local.pids", int64(c.l.Local.PIDs), 64, 1 << 22}, // some are the supervisor's own
	} {
		if n.value < n.low || n.value > n.high {
			c.problem(n.key, "%d is out of range: from %d to %d", n.value, n.low, n.high)
		}
	}
}

func (c checker) environment() {
	e := &c.l.Environment
	c.variables("environment.env", e.Env)
	c.variables("environment.env_file_names", e.EnvFileNames)
	if strings.ContainsAny(e.Prefix, "\x00\n\r") {
		c.problem("environment.prefix", "it must be one line")
	}
	if e.EnvFile != "" {
		c.exists("environment.env_file", string(e.EnvFile))
	} else if len(e.EnvFileNames) > 0 {
		c.problem("environment.env_file_names", "there is no env_file to take them from")
	}
	switch e.Venv {
	case "auto", "none":
	case "":
		c.problem("environment.venv", "want auto, none or a directory")
	default:
		full, err := absolute(e.Venv, c.base, c.home)
		if err != nil {
			c.problem("environment.venv", "%s", err)
			return
		}
		if _, elsewhere := c.l.Elsewhere(); !elsewhere {
			c.exists("environment.venv", full)
		}
		e.Venv = full
	}
}

func (c checker) variables(key string, names []string) {
	for i, name := range names {
		if !envName.MatchString(name) {
			c.problem(fmt.Sprintf("%s[%d]", key, i), "%q is not the name of a variable", name)
		}
	}
}

func (c checker) local() {
	k := &c.l.Local
	if k.Sandbox == "none" && k.Network == "none" {
		c.problem("local.network", "no network needs a sandbox: take local.sandbox: none away")
	}
	if k.Memory != 0 && k.Memory < 64<<20 {
		c.problem("local.memory", "%s is too little: at least 64MiB", text(k.Memory))
	}
	if c.l.Supervisor != "" {
		c.exists("supervisor", string(c.l.Supervisor))
	}
}

func (c checker) programs() {
	if c.l.Programs.Mode == "require" && c.l.Runner == "docker-sudo" {
		c.problem("programs.mode", "the programs of elevated commands are not seen: use judged, or another runner")
	}
}

func (c checker) docker() {
	k := &c.l.Docker
	if k.CPUs < 0 || k.CPUs > 1024 {
		c.problem("docker.cpus", "%v is out of range: from 0 to 1024", k.CPUs)
	}
	if k.Memory != 0 && k.Memory < 6<<20 {
		c.problem("docker.memory", "%s is too little: the daemon takes at least 6MiB", text(k.Memory))
	}
	for _, n := range []struct {
		key              string
		value, low, high int64
	}{
		{"docker.pids", int64(k.PIDs), 100, 1 << 22}, // some sixty are the supervisors' own
		{"docker.open_files", int64(k.OpenFiles), 64, 1 << 20},
		{"docker.tmp", int64(k.Tmp), 1 << 20, 1 << 50},
	} {
		if n.value < n.low || n.value > n.high {
			c.problem(n.key, "%d is out of range: from %d to %d", n.value, n.low, n.high)
		}
	}
	if k.User != "" && !dockerUser.MatchString(k.User) {
		c.problem("docker.user", "%q: write it in numbers, as 1000 or 1000:1000, and never root's", k.User)
	}
	c.variables("docker.credentials.env", k.Credentials.Env)
	c.variables("docker.credentials.env_file_names", k.Credentials.EnvFileNames)
	if k.Credentials.EnvFile != "" {
		c.exists("docker.credentials.env_file", string(k.Credentials.EnvFile))
	} else if len(k.Credentials.EnvFileNames) > 0 {
		c.problem("docker.credentials.env_file_names", "there is no env_file to take them from")
	}
	c.packages()
	for i := range k.Mounts {
		key, m := fmt.Sprintf("docker.mounts[%d]", i), &k.Mounts[i]
		if m.Access == "" {
			m.Access = defaultAccess
		}
		if m.Target == "" {
			m.Target = string(m.Source)
		}
		if m.Source != "" {
			c.exists(key+".source", string(m.Source))
		}
		if !path.IsAbs(m.Target) && !c.bad(key) {
			c.problem(key+".target", "%q is not an absolute path", m.Target)
		}
	}
}

func (c checker) audit() {
	if c.l.Audit.Dir == "" {
		c.problem("audit.dir", "there is neither $XDG_STATE_HOME nor a home directory: name the directory")
	}
	for i, p := range c.l.Audit.Checkpoint.Publish {
		key := fmt.Sprintf("audit.checkpoint.publish[%d]", i)
		if strings.Contains(p, ":") && !filepath.IsAbs(p) {
			continue // no file: the publisher checks it
		}
		full, err := absolute(p, c.base, c.home)
		if err != nil || p == "" {
			c.problem(key, "%q is not a path", p)
		}
		c.l.Audit.Checkpoint.Publish[i] = full
	}
}

// text writes a value as it is written in a file.
func text(v interface{ MarshalText() ([]byte, error) }) string {
	b, _ := v.MarshalText() // of Duration and Size: never an error
	return string(b)
}
