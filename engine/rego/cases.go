package rego

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/compiled"
	"github.com/sallyport-dev/sallyport/engine/facts"
)

// Case is a command, its surroundings, and the expected decision of all rules together. A file of cases is
// *.cases.yaml beside the policies; docs/writing-policies.md describes it.
type Case struct {
	Name      string            `yaml:"name"`
	Command   string            `yaml:"command"`
	Tool      string            `yaml:"tool"`     // a file tool, in place of a command; or program, with a command
	Touches   []string          `yaml:"touches"`  // paths that it would touch: "read a.txt", "delete* build"
	WorkDir   string            `yaml:"work_dir"` // relative to the workspace
	Agent     string            `yaml:"agent"`
	Session   string            `yaml:"session"`
	User      string            `yaml:"user"`
	Client    string            `yaml:"client"` // the program through which it is asked for
	Time      time.Time         `yaml:"time"`   // RFC 3339; the zero value for now
	Runner    Surroundings      `yaml:"runner"`
	Files     map[string]string `yaml:"files"`     // by name below the workspace or {home}; "-> x" is a link
	Committed map[string]string `yaml:"committed"` // files below the workspace as git holds them
	Seen      map[string]string `yaml:"seen"`      // of the same names, their use by the session: read, created
	Config    map[string]any    `yaml:"config"`    // parts of the operator's configuration
	History   []Past            `yaml:"history"`   // earlier requests of the session, the newest last
	Effect    engine.Effect     `yaml:"effect"`
	Rules     []string          `yaml:"rules"` // must be among the reasons; others may be

	Background bool `yaml:"background"`

	File string `yaml:"-"`
	Row  int    `yaml:"-"`
}

// Text is the command of a case, or its file tool in the notation of facts.ReadTouches.
func (c Case) Text() string {
	if c.Tool == engine.ToolProgram {
		return c.Tool + ": " + c.Command
	}
	if c.Tool != "" {
		return c.Tool + ": " + strings.Join(c.Touches, ", ")
	}
	return c.Command
}

// Past is an earlier request of a case's session: a command or a file tool, and how it went.
type Past struct {
	Command  string        `yaml:"command"`
	Tool     string        `yaml:"tool"`
	Touches  []string      `yaml:"touches"`
	Ago      time.Duration `yaml:"ago"`
	Effect   engine.Effect `yaml:"effect"`   // left out: allow, ask with an approval, none for a state deciding
	State    string        `yaml:"state"`    // left out: refused after a denial, else ended
	Approval string        `yaml:"approval"` // "granted", "refused"
	Exit     int           `yaml:"exit"`
}

// Text is the command of a request, or its file tool in the notation of facts.ReadTouches.
func (p Past) Text() string { return Case{Command: p.Command, Tool: p.Tool, Touches: p.Touches}.Text() }

// complete fills in the missing fields of a case, and reports errors in the others.
func (p *Past) complete() (problem, fix string) {
	if p.State == "" {
		p.State = "ended"
		if p.Effect == engine.Deny || p.Approval == "refused" {
			p.State = "refused"
		}
	}
	if p.Effect == "" && p.State != "deciding" {
		p.Effect = engine.Allow
	}
	if p.Effect == "" && p.Approval != "" || p.Effect == engine.Allow && p.Approval != "" {
		p.Effect = engine.Ask
	}
	switch {
	case (p.Command == "") == (p.Tool == "") || p.Tool != "" && !readable(p.Text()):
		return "is no request", `write a command, or tool: read_file with touches: ["read a.txt"]`
	case p.Ago < 0:
		return fmt.Sprintf("has ago %s", p.Ago), "write a duration such as 30s"
	case !slices.Contains([]engine.Effect{"", engine.Allow, engine.Ask, engine.Deny}, p.Effect):
		return fmt.Sprintf("has the effect %q", p.Effect), "want allow, ask or deny"
	case !slices.Contains([]string{"deciding", "running", "ended", "refused"}, p.State):
		return fmt.Sprintf("has the state %q", p.State), "want deciding, running, ended or refused"
	case !slices.Contains([]string{"", "granted", "refused"}, p.Approval):
		return fmt.Sprintf("has the approval %q", p.Approval), "want granted or refused"
	}
	return "", ""
}

// Surroundings describe the runner of a case; an omitted field is that of the local one.
type Surroundings struct {
	Name      string `yaml:"name"`
	Isolation string `yaml:"isolation"`
	Network   string `yaml:"network"`
	Elevated  bool   `yaml:"elevated"`
	Programs  string `yaml:"programs"`
	// Open are the trials that succeed in it (facts.Confinement): write, read, connect.
	Open  []string           `yaml:"open"`
	Place facts.Surroundings `yaml:"place"`
}

// Facts are the facts about the runner.
func (s Surroundings) Facts() facts.Runner {
	tried := func(what string) string {
		if slices.Contains(s.Open, what) {
			return facts.Open
		}
		return facts.Holds
	}
	return facts.Runner{
		Name: cmp.Or(s.Name, "local"), Isolation: cmp.Or(s.Isolation, "none"),
		Network: cmp.Or(s.Network, "host"), Elevated: s.Elevated, Programs: s.Programs,
		Confinement: facts.Confinement{Write: tried("write"), Read: tried("read"), Connect: tried("connect")},
		Place:       s.Place,
	}
}

// CaseSettings are the parts of a configuration that a case may set.
var CaseSettings = []string{"commands", "exemptions", "labels", "paths", "profile", "rules"}

// Cases reads the case files in directories, in the order of their names. All that is wrong with
// them comes back in one *LoadError.
func Cases(dirs []string) ([]Case, error) {
	s := &fileSet{}
	var all []Case
	for _, dir := range dirs {
		files := os.DirFS(dir)
		err := fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case name != "." && strings.HasPrefix(entry.Name(), "."):
				if entry.IsDir() {
					return fs.SkipDir
				}
			case isCases(name):
				if info, err := fs.Stat(files, name); err != nil || !info.Mode().IsRegular() {
					return err
				}
				text, err := fs.ReadFile(files, name)
				if err != nil {
					return err
				}
				all = append(all, s.readCases(filepath.Join(dir, filepath.FromSlash(name)), text)...)
			}
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("read cases: %w", err)
		}
	}
	return all, s.err()
}

func (s *fileSet) readCases(file string, text []byte) []Case {
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	var document yaml.Node
	if err := decoder.Decode(&document); errors.Is(err, io.EOF) {
		return nil
	} else if err != nil {
		s.problem(file, "read cases: %s", yamlText(err)).as("parse")
		return nil
	}
	c := caseReader{fileSet: s, file: file}
	root := document.Content[0]
	if !c.keys(root, "a file of cases", "cases") {
		return nil
	}
	var cases []Case
	names := map[string]bool{}
	for i := 1; i < len(root.Content); i += 2 {
		if root.Content[i].Kind != yaml.SequenceNode {
			c.fail(root.Content[i], "cases is not a list")
			continue
		}
		for _, n := range root.Content[i].Content {
			one, ok := c.one(n)
			if ok && names[one.Name] {
				c.fail(n, "there are two cases named %q", one.Name)
			}
			names[one.Name] = true
			cases = append(cases, one)
		}
	}
	return cases
}

// caseReader reads one file of cases. A key that is misspelt must not leave something untested.
type caseReader struct {
	*fileSet
	file string
}

func (c caseReader) fail(n *yaml.Node, format string, args ...any) *Problem {
	p := c.problem(c.file, "read cases: "+format, args...).as("case")
	p.Row, p.Col = n.Line, n.Column
	return p
}

// keys holds the keys of a mapping against those that there are.
func (c caseReader) keys(n *yaml.Node, what string, known ...string) bool {
	if n.Kind != yaml.MappingNode {
		c.fail(n, "%s is not keys and values", what)
		return false
	}
	sound := true
	for i := 0; i < len(n.Content); i += 2 {
		key := n.Content[i]
		if slices.Contains(known, key.Value) {
			continue
		}
		sound = false
		p := c.fail(key, "%s has no key %s", what, key.Value)
		if near := nearest(key.Value, known); near != "" {
			p.suggest("did you mean %s?", near)
		} else {
			p.suggest("there are %s", strings.Join(known, ", "))
		}
	}
	return sound
}

func (c caseReader) one(n *yaml.Node) (Case, bool) {
	sound := c.keys(n, "a case", "name", "command", "tool", "touches", "background", "work_dir", "agent",
		"session", "user", "client", "time", "runner", "files", "committed", "seen", "config", "history",
		"effect", "rules")
	if !sound {
		return Case{}, false
	}
	for i := 0; i < len(n.Content); i += 2 {
		switch value := n.Content[i+1]; n.Content[i].Value {
		case "runner":
			sound = c.keys(value, "runner", "name", "isolation", "network", "elevated", "programs", "open", "place") &&
				sound
		case "config":
			sound = c.keys(value, "config", CaseSettings...) && sound
		case "history":
			for _, past := range value.Content {
				sound = c.keys(past, "an entry of history", "command", "tool", "touches", "ago", "effect",
					"state", "approval", "exit") && sound
			}
		}
	}
	one := Case{File: c.file, Row: n.Line}
	if err := n.Decode(&one); err != nil {
		c.fail(n, "%s", yamlText(err))
		return one, false
	}
	for i := range one.History {
		if problem, fix := one.History[i].complete(); problem != "" {
			c.fail(n, "case %q: entry %d of history %s", one.Name, i+1, problem).suggest("%s", fix)
			return one, false
		}
	}
	switch {
	case one.Name == "":
		c.fail(n, "a case without a name").suggest("describe it in a few words")
	case one.Command == "" && one.Tool == "":
		c.fail(n, "case %q has no command", one.Name)
	case slices.ContainsFunc(slices.Collect(maps.Values(one.Seen)),
		func(s string) bool { return s != "read" && s != "created" }):
		c.fail(n, "case %q: seen is not read or created", one.Name)
	case one.Command != "" && one.Tool != "" && one.Tool != engine.ToolProgram:
		c.fail(n, "case %q has a command and a tool", one.Name).suggest("write two cases")
	case one.Tool != "" && one.Tool != engine.ToolProgram && !readable(one.Text()):
		c.fail(n, "case %q: touches is not a list of files and accesses", one.Name).
			suggest(`write touches: ["read a.txt", "write b.txt", "delete* build"]`)
	case !slices.Contains([]engine.Effect{engine.Allow, engine.Ask, engine.Deny}, one.Effect):
		c.fail(n, "case %q has the effect %q", one.Name, one.Effect).suggest("want allow, ask or deny")
	default:
		return one, sound
	}
	return one, false
}

func readable(text string) bool {
	_, _, ok := facts.ReadTouches(text)
	return ok
}

// Agree judges in by the compiled rules and by the reference, and holds one judgement against the other:
// effect, reasons, their texts and their order. Where they differ the error says how. both is false where the
// evaluator has no compiled rules, so that there is nothing to compare.
func (e *Evaluator) Agree(ctx context.Context, in *facts.Input) (both bool, err error) {
	if e.machine == nil {
		return false, nil
	}
	reference, err := e.Reference()
	if err != nil {
		return false, err
	}
	ours, oursErr := e.Evaluate(ctx, in)
	theirs, theirsErr := reference.Evaluate(ctx, in)
	ours.Spent, theirs.Spent = nil, nil
	if (oursErr == nil) == (theirsErr == nil) && reflect.DeepEqual(ours, theirs) {
		return true, nil
	}
	return true, fmt.Errorf("the evaluators disagree about %s: compiled: %s; topdown: %s", inShort(in),
		said(ours, oursErr), said(theirs, theirsErr))
}

// inShort names an input by its request.
func inShort(in *facts.Input) string {
	if in == nil {
		return "no input"
	}
	return fmt.Sprintf("%s %q", in.Request.Tool, compiled.Shorten(in.Request.Command))
}

func said(j engine.Judgement, err error) string {
	if err != nil {
		return "fault: " + err.Error()
	}
	text, err := json.Marshal(j)
	if err != nil {
		return err.Error()
	}
	return string(text)
}
