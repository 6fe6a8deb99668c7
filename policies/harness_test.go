package policies_test

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/config"
	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/engine/facts/build"
	"github.com/sallyport-dev/sallyport/engine/facts/repo"
	"github.com/sallyport-dev/sallyport/engine/rego"
	"github.com/sallyport-dev/sallyport/internal/await"
	"github.com/sallyport-dev/sallyport/policies"
)

// The world of the cases: a machine with one user and one project, made of nothing but memory.
const (
	home      = "/home/dev"
	workspace = home + "/project"
)

// world lists the files that every case finds; a case may add more below its workspace.
var world = map[string]string{
	"/etc/passwd":                               "root:x:0:0::/root:/bin/sh\n",
	"/etc/shadow":                               "root:*:1::::::\n",
	"/etc/hosts":                                "127.0.0.1 localhost\n",
	"/etc/sudoers":                              "root ALL=(ALL) ALL\n",
	"/etc/crontab":                              "",
	"/etc/systemd/system/app.service":           "",
	"/usr/bin/ls":                               "\x7fELF",
	"/usr/local/bin/sallyport":                  "\x7fELF",
	"/usr/share/doc/README":                     "",
	"/opt/vendor/lib.so":                        "",
	"/srv/site/index.html":                      "",
	"/var/log/syslog":                           "",
	"/var/log/nginx/error.log":                  "",
	"/proc/cpuinfo":                             "",
	"/tmp/scratch/a.txt":                        "",
	home + "/.bashrc":                           "",
	home + "/.bash_history":                     "",
	home + "/.netrc":                            "",
	home + "/.ssh/id_rsa":                       "",
	home + "/.ssh/id_rsa.pub":                   "",
	home + "/.ssh/authorized_keys":              "",
	home + "/.aws/credentials":                  "",
	home + "/notes.txt":                         "",
	home + "/other/main.go":                     "",
	home + "/.config/sallyport/config.yaml":     "version: 1\n",
	home + "/.config/sallyport/rules/x.rego":    "",
	home + "/.local/state/sallyport/audit/1.jl": "",
	workspace + "/.git/HEAD":                    "ref: refs/heads/main\n",
	workspace + "/.git/config":                  "",
	workspace + "/.git/index.lock":              "",
	workspace + "/README.md":                    "read me\n",
	workspace + "/Makefile":                     "all:\n\techo all\n",
	workspace + "/src/main.go":                  "package main\n",
	workspace + "/src/util/util.go":             "package util\n",
	workspace + "/build/app.o":                  "",
	workspace + "/node_modules/m/index.js":      "",
	workspace + "/debug.log":                    "",
	workspace + "/run.sh":                       "#!/bin/sh\necho run\n",
	workspace + "/.env.example":                 "",
}

// memory is a facts.FS without a disk.
type memory struct{ files fstest.MapFS }

func newMemory(extra map[string]string, dirs ...string) memory {
	m := memory{fstest.MapFS{}}
	for _, files := range []map[string]string{world, extra} {
		for name, content := range files {
			mode := fs.FileMode(0o644)
			if target, ok := strings.CutPrefix(content, "-> "); ok {
				mode, content = mode|fs.ModeSymlink, place(target)
			}
			m.files[m.name(name)] = &fstest.MapFile{Data: []byte(content), Mode: mode}
		}
	}
	for _, dir := range dirs {
		m.files[m.name(dir)] = &fstest.MapFile{Mode: fs.ModeDir | 0o755}
	}
	return m
}

// name is what io/fs calls an absolute path.
func (memory) name(p string) string { return cmp.Or(strings.TrimPrefix(path.Clean(p), "/"), ".") }

func (m memory) Lstat(p string) (fs.FileInfo, error)     { return m.files.Lstat(m.name(p)) }
func (m memory) ReadLink(p string) (string, error)       { return m.files.ReadLink(m.name(p)) }
func (m memory) ReadDir(p string) ([]fs.DirEntry, error) { return m.files.ReadDir(m.name(p)) }
func (m memory) ReadFile(p string, limit int) ([]byte, bool, error) {
	f, err := m.files.Open(m.name(p))
	if err != nil {
		return nil, false, err
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, int64(limit)+1))
	return content[:min(len(content), limit)], len(content) <= limit, err
}

// settings are the parts of a configuration that a case may set. Paths may hold the placeholders.
type settings struct {
	Profile  string            `yaml:"profile"`
	Rules    map[string]string `yaml:"rules"`
	Elevated bool              `yaml:"elevated"`
	Commands struct {
		Allow []string `yaml:"allow"`
		Deny  []string `yaml:"deny"`
	} `yaml:"commands"`
	Paths []struct {
		Path      string   `yaml:"path"`
		Access    string   `yaml:"access"`
		Protected []string `yaml:"protected"` // relative to Path
	} `yaml:"paths"`
	Exemptions []struct {
		Rule  string `yaml:"rule"`
		Match string `yaml:"match"`
	} `yaml:"exemptions"`
}

// place fills in the placeholders of a text.
func place(text string) string {
	return strings.NewReplacer("{home}", home, "{workspace}", workspace).Replace(text)
}

// layout is what the configuration loader would make of the settings.
func (s settings) layout(files memory) facts.Layout {
	l := facts.Layout{
		Workspace: workspace,
		Home:      home,
		Roots:     []facts.Root{{Path: workspace, Write: true, Zone: "workspace"}},
		Temporary: []string{"/tmp", "/var/tmp"},
		Self: []facts.Place{
			{Path: "/usr/local/bin/sallyport", Label: "self_binary"},
			{Path: home + "/.config/sallyport/config.yaml", Label: "self_config"},
			{Path: home + "/.config/sallyport/rules", Label: "self_policy"},
			{Path: home + "/.local/state/sallyport/audit", Label: "self_audit"},
			{Path: home + "/.local/state/sallyport/resident", Label: "self_socket"},
		},
		YAML:      yaml.Unmarshal,
		Generated: config.Defaults(config.Host{Getenv: func(string) string { return "" }}).Generated,
	}
	for _, p := range s.Paths {
		root := facts.Root{Path: place(p.Path), Write: p.Access == "write", Zone: "context"}
		for _, name := range p.Protected {
			root.Protected = append(root.Protected, path.Join(root.Path, name))
		}
		if root.Path == workspace {
			l.Roots[0].Protected = root.Protected
			continue
		}
		if info, err := files.Lstat(root.Path); err == nil {
			root.File = info.Mode().IsRegular()
		}
		l.Roots = append(l.Roots, root)
	}
	for _, p := range s.Commands.Allow {
		l.Allow = append(l.Allow, regexp.MustCompile(`^(?:`+p+`)$`))
	}
	for _, p := range s.Commands.Deny {
		l.Deny = append(l.Deny, regexp.MustCompile(`^(?:`+p+`)`))
	}
	for _, e := range s.Exemptions {
		l.Exemptions = append(l.Exemptions, facts.Exemption{Match: regexp.MustCompile(`^(?:` + e.Match + `)$`), Expires: time.Now().Add(time.Hour)})
	}
	return l
}

func (s settings) config() rego.Config {
	c := rego.Config{
		Profile: s.Profile,
		Levels:  s.Rules,
		Filters: rego.Filters{Allow: len(s.Commands.Allow), Deny: len(s.Commands.Deny)},
	}
	for _, e := range s.Exemptions {
		c.Exemptions = append(c.Exemptions, rego.Exemption{Rule: e.Rule})
	}
	return c
}

// evaluators keeps one evaluator for each configuration: making one takes longer than a hundred decisions.
// Each judges by the compiled rules, and every judgement is held against that of topdown. All tests share
// them.
type evaluators struct {
	mu   sync.Mutex
	made map[string]func() (*rego.Evaluator, error)
}

var shared = sync.OnceValue(func() *evaluators {
	return &evaluators{made: map[string]func() (*rego.Evaluator, error){}}
})

func (e *evaluators) of(t *testing.T, c rego.Config) *rego.Evaluator {
	t.Helper()
	key, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	e.mu.Lock()
	if e.made[string(key)] == nil {
		e.made[string(key)] = sync.OnceValues(func() (*rego.Evaluator, error) {
			return rego.New(context.Background(), rego.Options{
				Bundle: policies.FS(), Tested: true, Revision: policies.Revision(), Config: c, Compiled: compiled(),
				Timeout: await.Guard,
			})
		})
	}
	get := e.made[string(key)]
	e.mu.Unlock()
	evaluator, err := get()
	if err != nil {
		t.Fatal(err)
	}
	return evaluator
}

// question is a command, or the request of a file tool, in a world.
type question struct {
	command, workDir string
	tool             string // "" for a command
	touches          []facts.Touch
	files            map[string]string // below the workspace, or absolute
	committed        map[string]string // files below the workspace as git holds them
	seen             map[string]string // what the session has read or created, likewise
	approved         []string          // earlier commands of the session that a person approved
	runner           rego.Surroundings
	settings         settings
}

// ask makes a question of a text: that of a command, or of a file tool in the notation of facts.ReadTouches.
func (q question) ask(text string) question {
	q.command = place(text)
	if tool, touches, ok := facts.ReadTouches(q.command); ok {
		q.command, q.tool, q.touches = "", tool, touches
	}
	return q
}

// history is what a session has done so far.
type history map[string]string

func (h history) Seen(p string) string   { return cmp.Or(h[p], "none") }
func (history) Downloaded(_ string) bool { return false }

func (history) Labels(string, bool) []string { return nil }

// below are the keys of a map as absolute paths in the world.
func below(names map[string]string) map[string]string {
	out := map[string]string{}
	for name, value := range names {
		if name = place(name); !path.IsAbs(name) {
			name = path.Join(workspace, name)
		}
		out[name] = value
	}
	return out
}

// input is what policies see of a question.
func (q question) input() *facts.Input {
	runner := q.runner.Facts()
	if q.settings.Elevated {
		runner = facts.Runner{Name: "docker-sudo", Isolation: "container", Network: "none", Elevated: true}
	}
	extra := below(q.files)
	if len(q.committed) > 0 {
		repository, err := repo.RepositoryOf(q.committed)
		if err != nil {
			panic(err)
		}
		for name, content := range repository {
			extra[workspace+"/"+name] = content
		}
	}
	files := newMemory(extra, "/tmp", "/var/tmp", "/root")
	in := build.NewBuilder(q.settings.layout(files), files, history(below(q.seen))).Build(facts.Ask{
		Touches: q.touches,
		Request: facts.Request{ID: "test", Tool: cmp.Or(q.tool, "execute_command"), Command: q.command, WorkDir: q.workDir, TimeoutSeconds: 60},
		Subject: facts.Subject{Agent: "test", Session: "test", User: "dev"},
		Runner:  runner,
		Env:     map[string]string{"HOME": home, "PATH": "/usr/local/bin:/usr/bin:/bin", "USER": "dev", "SHELL": "/bin/bash"},
	})
	for _, command := range q.approved {
		earlier := q
		earlier.command, earlier.approved = place(command), nil
		in.Session.Approved = append(in.Session.Approved, facts.ApprovalOf(earlier.input())...)
	}
	return in
}

// answer judges a question as the gate would: facts first, then rules.
func (e *evaluators) answer(t *testing.T, q question) engine.Judgement {
	t.Helper()
	input := q.input()
	evaluator := e.of(t, q.settings.config())
	judgement, err := evaluator.Evaluate(t.Context(), input)
	if err != nil {
		t.Fatalf("evaluate %q %v: %v", q.command, q.touches, err)
	}
	if both, err := evaluator.Agree(t.Context(), input); err != nil || !both {
		t.Errorf("compared %v: %v", both, err)
	}
	return judgement
}

func rules(j engine.Judgement) []string {
	var ids []string
	for _, r := range j.Reasons {
		ids = append(ids, r.Rule)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

func reasons(j engine.Judgement) string {
	var b strings.Builder
	for _, r := range j.Reasons {
		b.WriteString("\n\t" + string(r.Effect) + " " + r.Rule + ": " + r.Message)
	}
	return cmp.Or(b.String(), " none")
}
