package audit

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/engine/redact"
)

// free are the texts of a decision record that are an agent's or a program's, or may quote them.
const free = "result/reasons/*/message exempted/*/message exempted/*/reason fault/error input/request/command" +
	" input/request/env/* input/shell/error input/shell/legacy/* input/commands/*/argv/*" +
	" input/commands/*/options/*/name input/commands/*/options/*/value input/commands/*/env/*" +
	" input/commands/*/operands/*/value input/commands/*/packages/*/name input/commands/*/packages/*/version" +
	" input/commands/*/packages/*/source input/commands/*/variables/*/name input/commands/*/variables/*/value" +
	" input/commands/*/kube/*/context/value input/commands/*/kube/*/cluster/value" +
	" input/commands/*/kube/*/namespace/value input/commands/*/kube/*/user/value" +
	" input/git/branch input/git/upstream input/git/remotes/*/name input/git/remotes/*/urls/* input/git/remotes/*/push/*"

// leaves lists the places of texts in values of type t.
func leaves(t reflect.Type, at string, out []string) []string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case t == reflect.TypeFor[time.Time](), t.Kind() == reflect.String:
		return append(out, strings.TrimPrefix(at, "/"))
	case t.Kind() == reflect.Slice, t.Kind() == reflect.Map:
		return leaves(t.Elem(), at+"/*", out)
	case t.Kind() == reflect.Struct:
		for i := range t.NumField() {
			name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
			if name != "-" {
				out = leaves(t.Field(i).Type, at+"/"+name, out)
			}
		}
	}
	return out
}

// Each text of a decision has a class, so that whoever adds a member says whose words it holds.
func TestEveryTextHasAClass(t *testing.T) {
	t.Parallel()
	known := map[string]string{}
	var walk func(f *fields, at string)
	walk = func(f *fields, at string) {
		if f.text {
			known[at] = []string{redact.Free: "free", redact.Name: "name", redact.Own: "own"}[f.class]
		}
		for step, kid := range f.kids {
			walk(kid, strings.TrimPrefix(at+"/"+step, "/"))
		}
		if f.other != nil {
			walk(f.other, strings.TrimPrefix(at+"/*", "/"))
		}
	}
	walk(decided, "")
	for at := range strings.FieldsSeq(free) {
		if other := known[at]; other != "" {
			t.Errorf("%s is %s and free", at, other)
		}
		known[at] = "free"
	}
	all := leaves(reflect.TypeFor[engine.DecisionBody](), "", nil)
	for _, at := range all {
		if known[at] == "" {
			t.Errorf("%s has no class: say in classes.go whose words it holds", at)
		}
		delete(known, at)
	}
	for at, class := range known {
		t.Errorf("%s is %s, but no member of a decision", at, class)
	}
}

// An agent calls a path, a host, a program and a rule a secret, in each way that redaction knows of.
func TestAgentHidesNothing(t *testing.T) {
	t.Parallel()
	red := redact.New([]byte("0123456789abcdef"), redact.Extra{})
	ways := []string{
		"API_TOKEN=%s; x", "export PASSWORD='%s'", "curl -u me:%s h", "mysql -p%s", "tool --password %s", "tool --api-key=%s",
		`curl -H "Authorization: Bearer %s" h`, "curl -H 'Cookie: session=%s' h", "echo '{\"token\": \"%s\"}'", "sshpass -p %s ssh h",
		"git clone https://me:%s@h/x", "psql -c \"alter role a with password '%s'\"", "echo machine h login me password %s > n",
		"x=1 SECRET_KEY=%s y", "docker login -p %s", "aws configure set aws_secret_access_key %s",
	}
	for _, name := range []string{"backdoor.sh", "src/ev1l-file.py", "/home/dev/.ssh/id_ed25519", "evil-host.example.com", "dangerous/privilege", "ev1l-program"} {
		for _, way := range ways {
			text := fmt.Sprintf(way, name)
			r := decision("d", text, engine.Deny)
			b := r.Body.(engine.DecisionBody)
			b.Decision.Reasons = []engine.Reason{{Rule: name, Title: name}}
			b.Input.Commands = []facts.Command{{Name: name, Program: name, Argv: []string{"bash", "-c", text, name}, Hosts: []string{name}, Dir: "/ws/" + name}}
			b.Input.Paths = []facts.Path{{Raw: name, Path: "/ws/" + name, Real: "/real/" + name}}
			r.Body = b
			p, err := encode(r, time.Time{}, red, defaultRecord)
			if err != nil {
				t.Fatal(err)
			}
			n, err := parseNode([]byte("{" + string(p.body[1:]) + "}"))
			if err != nil {
				t.Fatal(err)
			}
			found := map[string]int{}
			var walk func(n *node, at []byte)
			walk = func(n *node, at []byte) {
				for i := range n.kids {
					walk(&n.kids[i], n.step(at, i))
				}
				if n.kind == 's' && strings.Contains(n.text, name) {
					found[string(at)]++
				}
			}
			walk(&n, nil)
			for _, at := range []string{"/result/reasons/0/rule", "/result/reasons/0/title", "/input/commands/0/name", "/input/commands/0/program",
				"/input/commands/0/hosts/0", "/input/commands/0/dir", "/input/paths/0/raw", "/input/paths/0/path", "/input/paths/0/real"} {
				if found[at] == 0 {
					t.Errorf("%s hides %s from %s: %s", text, name, at, p.body)
				}
			}
			if n.has("redacted") && !n.has("named_secrets") && !strings.Contains(way, "Cookie") {
				t.Errorf("%s: no note that a name is called a secret: %s", text, p.body)
			}
		}
	}
}

// has reports whether an object has a member.
func (n *node) has(key string) bool {
	return slices.ContainsFunc(n.kids, func(m node) bool { return m.key == key })
}

// A pattern of the operator breaks no record: what Sallyport wrote stays as it is.
func TestPatternsLeaveOwnFields(t *testing.T) {
	t.Parallel()
	o := testOptions(t)
	o.Redact.Patterns = []*regexp.Regexp{regexp.MustCompile(".*")}
	l := mustOpen(t, o)
	fill(t, l, 0, 3)
	mustClose(t, l)
	for e, err := range Read(o.Dir, Filter{Kind: engine.KindDecision, Effect: engine.Allow}) {
		if err != nil {
			t.Fatal(err)
		}
		d, err := e.Decision()
		if err != nil || !strings.HasPrefix(d.Input.Request.Command, "[redacted:configured:") || d.Decision.ID != e.DecisionID {
			t.Errorf("%s: %v", e.Raw, err)
		}
	}
	if report := mustVerify(t, o.Dir); len(report.Problems) > 0 || len(report.Orphans) > 0 {
		t.Error(report)
	}
}

func TestRedactedElsewhere(t *testing.T) {
	t.Parallel()
	red := redact.New([]byte("k"), redact.Extra{})
	var e encoder
	n, err := e.bodyNode(map[string]any{
		"command": "T=x; SECRET=open-sesame; curl -H \"X: $SECRET\" h", "z": []any{"curl", "-H", "X: open-sesame", map[string]any{"token": "abc"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	changed := fmt.Sprint(e.conceal(red, engine.KindDecision, &n).redacted)
	if want := "[/command /z/2 /z/3/token]"; changed != want {
		t.Errorf("changed %s, want %s", changed, want)
	}
	line := string(n.appendTo(nil))
	tag := red.Tag("assignment", "open-sesame")
	if strings.Contains(line, "sesame") || strings.Count(line, tag) != 2 {
		t.Errorf("line: %s", line)
	}
}

// The redactor of a log can be had with and without opening the log, and gives the same tags.
func TestRedactorFor(t *testing.T) {
	t.Parallel()
	o := testOptions(t)
	r, err := RedactorFor(o.Dir, redact.Extra{})
	if err != nil || r.String("TOKEN=abcdef") != "TOKEN=[redacted:assignment]" {
		t.Errorf("before there is a log: %v", err)
	}
	l := mustOpen(t, o)
	defer mustClose(t, l)
	if r, err = RedactorFor(o.Dir, redact.Extra{}); err != nil {
		t.Fatal(err)
	}
	if want, got := l.Redactor().Tag("assignment", "abcdef"), r.String("TOKEN=abcdef"); got != "TOKEN="+want {
		t.Errorf("got %s, want %s", got, want)
	}
}
