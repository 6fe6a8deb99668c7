package plugins

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/config"
	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/engine/facts/repo"
	"github.com/sallyport-dev/sallyport/engine/rego"
)

// Example is a command of a rule's metadata, and whether the rule found it as stated.
type Example struct {
	Rule    string `json:"rule"`
	Command string `json:"command"`
	Want    bool   `json:"want"` // true for an example, false for a look-alike
	Found   bool   `json:"found"`
	Both    bool   `json:"both"`             // it was judged by both evaluators
	Differ  string `json:"differ,omitempty"` // how they disagree
}

// Holds reports whether the rule behaved as its metadata says, in both evaluators.
func (e Example) Holds() bool { return e.Want == e.Found && e.Differ == "" }

// Examples lets every rule judge the examples and look-alikes of its own metadata, under the profile
// and settings that these are meant for and with nothing relaxed, in a workspace and home of their own
// that are removed again. Nothing runs.
func Examples(ctx context.Context, l *config.Loaded, rules []rego.RuleInfo) (_ []Example, err error) {
	l = byBoth(l)
	scratch, err := os.MkdirTemp("", "sallyport-examples-")
	if err != nil {
		return nil, fmt.Errorf("make workspace for examples: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()
	worlds := map[string]*world{}
	defer func() {
		for _, w := range worlds {
			err = errors.Join(err, w.gate.Close())
		}
	}()
	var out []Example
	for _, rule := range rules {
		settings, err := json.Marshal(rule.Config)
		if err != nil {
			return nil, fmt.Errorf("read settings for examples of %s: %w", rule.ID, err)
		}
		key := rule.Profile + string(settings)
		w := worlds[key]
		if w == nil {
			dir := filepath.Join(scratch, strconv.Itoa(len(worlds)))
			if w, err = exampleWorld(ctx, l, dir, rule); err != nil {
				return nil, fmt.Errorf("set up examples of %s: %w", rule.ID, err)
			}
			worlds[key] = w
		}
		for i, command := range slices.Concat(rule.Examples, rule.Lookalikes) {
			effect, in, err := w.gate.effect(ctx, rule.ID, w.place.Replace(command))
			if err != nil {
				return nil, fmt.Errorf("judge example %q of %s: %w", command, rule.ID, err)
			}
			differ := ""
			both, err := agree(ctx, w.gate, in)
			if err != nil {
				differ = err.Error()
			}
			want := i < len(rule.Examples)
			// A rule that also warns of the milder case may do so of a look-alike.
			found := effect != "" && (want || effect != engine.Warn || len(rule.Effects) == 1)
			out = append(out, Example{Rule: rule.ID, Command: command, Want: want, Found: found, Both: both,
				Differ: differ})
		}
	}
	return out, nil
}

// world is a home and workspace for the examples of rules that want the same settings.
type world struct {
	gate  *Sallyport
	place *strings.Replacer // fills in {home} and {workspace}
}

// exampleWorld is the world that a rule's custom.config describes.
func exampleWorld(ctx context.Context, l *config.Loaded, dir string, rule rego.RuleInfo) (*world, error) {
	settings := maps.Clone(rule.Config)
	files, err := texts(settings["files"])
	if err != nil {
		return nil, err
	}
	committed, err := texts(settings["committed"])
	if err != nil {
		return nil, err
	}
	delete(settings, "files")
	delete(settings, "committed")
	if files, err = withIndex(files, committed); err != nil {
		return nil, err
	}
	return newWorld(ctx, l, dir, setting{rule.Profile, settings, files}, Options{CheckOnly: true})
}

// withIndex adds the index of a repository that holds some contents.
func withIndex(files, committed map[string]string) (map[string]string, error) {
	if len(committed) == 0 {
		return files, nil
	}
	all, err := repo.RepositoryOf(committed)
	if err != nil {
		return nil, fmt.Errorf("make the index of a repository: %w", err)
	}
	maps.Copy(all, files)
	return all, nil
}

// texts are the files of custom.config, whose form is unchecked.
func texts(files any) (map[string]string, error) {
	if files == nil {
		return nil, nil
	}
	contents, ok := files.(map[string]any)
	if !ok {
		return nil, errors.New("custom.config.files is not names and texts")
	}
	out := make(map[string]string, len(contents))
	for name, content := range contents {
		if out[name], ok = content.(string); !ok {
			return nil, fmt.Errorf("the content of %s in custom.config.files is not a text", name)
		}
	}
	return out, nil
}

// setting is the configuration of a world.
type setting struct {
	profile string
	config  map[string]any    // parts of the operator's configuration
	files   map[string]string // by name below the workspace or {home}
}

// newWorld makes the places and files of a setting in the new directory dir, and a gate for them.
func newWorld(ctx context.Context, l *config.Loaded, dir string, s setting, o Options) (*world, error) {
	home := filepath.Join(dir, "home", "user")
	workspace := filepath.Join(home, "project")
	if err := os.MkdirAll(workspace, 0o700); err != nil {
		return nil, err
	}
	var err error
	w := &world{place: strings.NewReplacer("{home}", filepath.ToSlash(home), "{workspace}",
		filepath.ToSlash(workspace))}
	if err := w.files(dir, workspace, s.files); err != nil {
		return nil, err
	}
	var more string
	if len(s.config) > 0 {
		settings := maps.Clone(s.config)
		settings["version"] = 1
		text, err := json.Marshal(settings) // JSON is YAML
		if err != nil {
			return nil, err
		}
		more = w.place.Replace(string(text))
	}
	here := *l // its relative paths are relative to the workspace
	here.Policies = slices.Clone(l.Policies)
	for i, p := range here.Policies {
		if here.Policies[i], err = filepath.Abs(p); err != nil {
			return nil, err
		}
	}
	trial, err := here.Trial(home, workspace, s.profile, more)
	if err != nil {
		return nil, err
	}
	trial.Local.Sandbox = "none" // nothing runs: the files of a case are seen alike on every machine
	w.gate, err = Assemble(ctx, trial, o)
	return w, err
}

// files writes files by name below the workspace or {home}. A rule may come from anywhere: nothing is
// written outside dir.
func (w *world) files(dir, workspace string, files map[string]string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }() // it was only a place to write from
	for name, text := range files {
		full := filepath.FromSlash(w.place.Replace(name))
		if !filepath.IsAbs(full) {
			full = filepath.Join(workspace, full)
		}
		below, err := filepath.Rel(dir, full)
		if err != nil {
			return err
		}
		if err := root.MkdirAll(filepath.Dir(below), 0o700); err != nil {
			return fmt.Errorf("write %s for a rule: %w", name, err)
		}
		write := func() error { return root.WriteFile(below, []byte(text), 0o600) }
		if target, link := strings.CutPrefix(text, "-> "); link { // as in the cases of the built-in rules
			write = func() error { return root.Symlink(w.place.Replace(target), below) }
		}
		if err := write(); err != nil {
			return fmt.Errorf("write %s for a rule: %w", name, err)
		}
	}
	return nil
}

// effect returns the strictest effect that one rule has on an example, "" for none, and the judged input.
func (s *Sallyport) effect(ctx context.Context, rule, command string) (engine.Effect, *facts.Input, error) {
	out, err := s.Check(ctx, asked(command))
	if err != nil {
		return "", nil, err
	}
	if out.Fault != nil {
		return "", nil, out.Fault
	}
	for _, r := range out.Decision.Reasons {
		if r.Rule == rule { // the strictest reasons come first
			return r.Effect, out.Input, nil
		}
	}
	return "", out.Input, nil
}
