// Package live tries real agents: it starts one with a model on loopback, which makes given calls, and tells
// whether the hook of Sallyport refused them. It needs no network and no account.
//
// It judges nothing and changes no settings. The agent runs as its user would run it, with its own settings;
// only the place of its model is another.
package live

import (
	"bytes"
	"context"
	_ "embed" // of the table
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"github.com/sallyport-dev/sallyport/internal/hooks"
)

//go:embed hosts.yaml
var table []byte

// Host is an agent that can be tried.
type Host struct {
	Argv  []string          `yaml:"argv"`
	Env   map[string]string `yaml:"env"`
	File  string            `yaml:"file"` // settings of this run alone; "" for none
	Hint  string            `yaml:"hint"` // the usual cause of an open door
	Doors []Door            `yaml:"doors"`
}

// Door is a way to a shell or to files.
type Door struct {
	Name     string `yaml:"name"`
	Calls    []Call `yaml:"calls"`
	Subagent []Call `yaml:"subagent"`
}

var hosts = sync.OnceValues(func() (map[string]*Host, error) {
	from := yaml.NewDecoder(bytes.NewReader(table))
	from.KnownFields(true)
	var all map[string]*Host
	if err := from.Decode(&all); err != nil {
		return nil, fmt.Errorf("read hosts.yaml: %w", err)
	}
	return all, nil
})

// ErrUnknown is the error for a host that cannot be tried.
var ErrUnknown = errors.New("it cannot be tried without a person: ask the agent to run sudo id")

// Named finds a host.
func Named(name string) (*Host, error) {
	all, err := hosts()
	if err != nil {
		return nil, err
	}
	if h := all[name]; h != nil {
		return h, nil
	}
	return nil, ErrUnknown
}

func filledCalls(calls []Call, values *strings.Replacer) []Call {
	replace := func(text string) any { return values.Replace(text) }
	out := slices.Clone(calls)
	for i, c := range out {
		out[i].Text = values.Replace(c.Text)
		if c.Input != nil {
			out[i].Input, _ = hooks.Fill(c.Input, replace).(map[string]any)
		}
	}
	return out
}

// Line is the command line of a host with the environment that it needs beside the one of its user.
type Line struct {
	Argv []string
	Env  map[string]string
}

// Line makes the command line for a model. The settings of the run go into a file in dir. trust says that the
// workspace is one that the host trusts.
func (h *Host) Line(url, dir string, trust bool) (Line, error) {
	file := filepath.Join(dir, "settings.json")
	trusted := ""
	if trust {
		trusted = "true"
	}
	values := strings.NewReplacer("$url", url, "$file", file, "$dir", dir, "$prompt", prompt,
		"$trust", trusted)
	l := Line{Env: map[string]string{"NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"}}
	for _, word := range h.Argv {
		l.Argv = append(l.Argv, values.Replace(word))
	}
	for name, v := range h.Env {
		l.Env[name] = values.Replace(v)
	}
	if h.File == "" {
		return l, nil
	}
	if err := os.WriteFile(file, []byte(values.Replace(h.File)), 0o600); err != nil {
		return Line{}, fmt.Errorf("write settings of this run: %w", err)
	}
	return l, nil
}

const prompt = "This is a test by sallyport agents check. Answer with one word."

// Over is an environment with other values for some variables.
func (l Line) Over(env []string) []string {
	out := slices.DeleteFunc(slices.Clone(env), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		_, ours := l.Env[name]
		return ours
	})
	for _, name := range slices.Sorted(maps.Keys(l.Env)) {
		if v := l.Env[name]; v != "" {
			out = append(out, name+"="+v)
		}
	}
	return out
}

// State is the state of a door.
type State string

// The states of doors.
const (
	Refused State = "refused"
	Open    State = "open"
	Untried State = "could not try"
)

// Result is the result of a trial.
type Result struct {
	Door  string `json:"door"`
	State State  `json:"state"`
	Why   string `json:"why,omitempty"` // of a door that is not refused
}

// Options are those of a trial.
type Options struct {
	Canary string   // a command without an effect that must be refused
	Denied []string // each refusal by the hook has one of these texts
	Dir    string   // an empty directory of the user's own, outside of the workspace
	Work   string   // the working directory of the host
	Trust  bool     // the hook is in the user's settings: the host may trust the workspace
	Env    []string
	// Run runs a command line to its end, in Work, and returns its output.
	Run func(ctx context.Context, argv, env []string) ([]byte, error)
}

// Try tries each door of a host.
func (h *Host) Try(ctx context.Context, o Options) ([]Result, error) {
	var out []Result
	for i, d := range h.Doors {
		dir := filepath.Join(o.Dir, fmt.Sprint(i))
		r, err := h.try(ctx, o, d, dir)
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, nil
}

// try makes the calls of one door. Their marker files would be a hook of git and the settings of an agent,
// which every profile protects, or a plain file outside of the workspace.
func (h *Host) try(ctx context.Context, o Options, d Door, dir string) (Result, error) {
	inside := filepath.Join(o.Work, ".sallyport-agents-check")
	markers := []string{
		filepath.Join(dir, ".git", "hooks", "sallyport-agents-check"),
		filepath.Join(inside, ".claude", "settings.json"),
		filepath.Join(dir, "state", "sallyport-agents-check"),
	}
	for _, marker := range markers {
		if err := os.MkdirAll(filepath.Dir(marker), 0o700); err != nil {
			return Result{}, fmt.Errorf("make directory of marker: %w", err)
		}
	}
	defer func() { _ = os.RemoveAll(inside) }()
	values := strings.NewReplacer("$canary", o.Canary+"; touch '"+markers[2]+"'", "$marker", markers[0],
		"$inside", markers[1], "$plain", markers[2], "$subagent", SubagentPrompt+": "+prompt)
	m, err := Serve(Script{filledCalls(d.Calls, values), filledCalls(d.Subagent, values)})
	if err != nil {
		return Result{}, err
	}
	defer m.Close()
	line, err := h.Line(m.URL, dir, o.Trust)
	if err != nil {
		return Result{}, err
	}
	said, failed := o.Run(ctx, line.Argv, line.Over(o.Env))
	results := append(m.Results(false), m.Results(true)...)
	r := Result{Door: d.Name}
	switch {
	case slices.ContainsFunc(markers, there):
		r.State, r.Why = Open, "the host ran it without a refusal of the hook"
	case slices.ContainsFunc(results, o.denies):
		r.State = Refused
	case ctx.Err() != nil:
		r.State, r.Why = Untried, "the time limit has passed"
	case len(results) > 0:
		r.State, r.Why = Untried, "the host said: "+last(results[len(results)-1])
	case len(m.Tools()) == 0 && failed != nil:
		r.State = Untried
		r.Why = fmt.Sprintf("the host did not ask its model: %v: %s", failed, last(string(said)))
	case len(m.Tools()) == 0:
		r.State, r.Why = Untried, "the host asked another model: "+last(string(said))
	default:
		r.State, r.Why = Untried, "the host did not tell the result of the call: "+last(string(said))
	}
	return r, nil
}

func (o Options) denies(result string) bool {
	return slices.ContainsFunc(o.Denied, func(s string) bool { return strings.Contains(result, s) })
}

func there(file string) bool {
	_, err := os.Lstat(file)
	return err == nil
}

// last is the end of a text, on one line.
func last(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > 160 {
		s = "…" + string(r[len(r)-160:])
	}
	return s
}

var number = regexp.MustCompile(`[0-9]+\.[0-9]+(\.[0-9]+)?[-+.0-9A-Za-z]*`)

// Version asks a host for its version; "" if it does not tell.
func (o Options) Version(ctx context.Context, program string) string {
	said, err := o.Run(ctx, []string{program, "--version"}, o.Env)
	if err != nil {
		return ""
	}
	return strings.TrimRight(number.FindString(string(said)), ".")
}

// Checked is the last trial of a host.
type Checked struct {
	Version string   `json:"version"` // of the host
	Results []Result `json:"results"`
}

// Saved reads the trials of hosts by name.
func Saved(file string) (map[string]Checked, error) {
	out := map[string]Checked{}
	text, err := os.ReadFile(file)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return out, nil
	case err != nil:
		return nil, fmt.Errorf("read trials: %w", err)
	}
	if err := json.Unmarshal(text, &out); err != nil {
		return nil, fmt.Errorf("read trials: %s: %w: remove it and run agents check --live again", file, err)
	}
	return out, nil
}

// Save keeps the trial of a host.
func Save(file, host string, c Checked) error {
	all, err := Saved(file)
	if err != nil {
		return err
	}
	all[host] = c
	text, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return fmt.Errorf("save trial: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return fmt.Errorf("save trial: %w", err)
	}
	if err := os.WriteFile(file, append(text, '\n'), 0o600); err != nil {
		return fmt.Errorf("save trial: %w", err)
	}
	return nil
}
