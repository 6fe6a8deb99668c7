package endtoend

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/internal/leftout"
)

// tried is the output of exec --format json about a trial.
type tried struct {
	Effect engine.Effect
	Ran    bool
	Status int
	Error  string
	Stdout struct{ Text string }
	Trial  *struct {
		Changes  engine.Changes
		Lost     []string
		Decision *engine.Decision
		Applied  bool
		Error    string
	}
}

// trying is a workspace for trials, and its user.
type trying struct {
	t         *testing.T
	workspace string
	env, as   []string
}

// unknown is a text of which a reader sees that it evaluates something, and not the commands.
const unknown = `eval "$(rev code)"`

func newTrying(t *testing.T) trying {
	t.Helper()
	for _, name := range []string{"bwrap", "rev", "git"} {
		leftout.Command(t, name)
	}
	w := trying{t: t}
	w.workspace, w.env = home(t)
	h := filepath.Dir(w.workspace)
	w.host("git init -q . && mkdir build tracked notes && echo n >notes/n && echo in >build/in && echo a >tracked/a && git add tracked && " +
		"git -c user.name=a -c user.email=a@example.com commit -qm first")
	if err := os.WriteFile(filepath.Join(w.workspace, "Makefile"), []byte("harmless:\n\techo 42\n"),
		0o644); err != nil {
		t.Fatal(err)
	}
	if os.Getuid() == 0 { // what works for an ordinary user works for root
		setpriv := leftout.Command(t, "setpriv")
		w.as = []string{setpriv, "--reuid=65534", "--regid=65534", "--clear-groups"}
		w.host("chown -R 65534:65534 " + filepath.Dir(h))
	}
	return w
}

func (w trying) host(text string, vars ...string) string {
	w.t.Helper()
	c := exec.Command("bash", "-ec", text)
	c.Dir, c.Env = w.workspace, append(os.Environ(), vars...)
	out, err := c.CombinedOutput()
	if err != nil {
		w.t.Fatalf("%s: %v: %s", text, err, out)
	}
	return string(out)
}

// files are the names, modes, times and contents of the workspace.
func (w trying) files() string {
	w.t.Helper()
	return w.host(`find . -path ./.git -prune -o -mindepth 1 ! -name code -printf '%p %y %m %s %T@ %C@\n' | sort; cat $(find . -path ./.git -prune -o -type f ! -name code -print | sort)`)
}

func (w trying) sallyport(args ...string) result {
	w.t.Helper()
	return run(w.t, w.workspace, w.env, append(append(append([]string{}, w.as...), program), args...)...)
}

// exec runs commands that no reader of the text sees.
func (w trying) exec(flag, text string) (out tried) {
	w.t.Helper()
	code := []rune(text)
	slices.Reverse(code)
	if err := os.WriteFile(filepath.Join(w.workspace, "code"), []byte(string(code)), 0o644); err != nil {
		w.t.Fatal(err)
	}
	r := w.sallyport("exec", flag, "--format", "json", "-c", unknown)
	if err := json.Unmarshal([]byte(r.stdout), &out); err != nil {
		w.t.Fatalf("%s: %v: %s%s", text, err, r.stdout, r.stderr)
	}
	if out.Status != r.code {
		w.t.Errorf("%s: exit %d, and says %d", text, r.code, out.Status)
	}
	return out
}

// mode changes modes, and makes what has one.
const mode = "chmod 755 build/in; mkdir -m 700 build/own; ln -s in build/link"

// TestDryRun: the changes are listed and judged, and nothing of them is left.
func TestDryRun(t *testing.T) {
	t.Parallel()
	w := newTrying(t)
	before := w.files()
	for text, want := range map[string]struct {
		status  int
		changes string
		effect  engine.Effect
		lost    string
	}{
		"echo x >build/out; echo 42":              {0, "created build/out", engine.Allow, ""},
		"echo x >build/out; exit 3":               {3, "created build/out", engine.Allow, ""},
		"echo true >.envrc":                       {0, "created .envrc", engine.Ask, ""},
		"rm -rf notes":                            {0, "removed notes", engine.Deny, ""},
		"rm -rf build":                            {0, "removed build", engine.Allow, ""},
		"rm -rf tracked":                          {0, "removed tracked", engine.Allow, ""},
		"echo x >$HOME/there; echo x >/tmp/there": {0, "", "", "there there"},
		mode:       {0, "changed build/in created build/link created build/own", engine.Allow, ""},
		"ls build": {0, "", "", ""},
	} {
		got := w.exec("--dry-run", text)
		if !got.Ran || got.Trial == nil {
			t.Errorf("%s: %+v", text, got)
			continue
		}
		var changes, lost []string
		for _, c := range got.Trial.Changes.List {
			rel, _ := filepath.Rel(w.workspace, c.Path)
			changes = append(changes, c.What+" "+rel)
		}
		for _, p := range got.Trial.Lost {
			lost = append(lost, filepath.Base(p))
		}
		var effect engine.Effect
		if d := got.Trial.Decision; d != nil {
			effect = d.Effect
		}
		if got.Status != want.status || strings.Join(changes, " ") != want.changes || effect != want.effect ||
			strings.Join(lost, " ") != want.lost || got.Trial.Applied || got.Trial.Error != "" {
			t.Errorf("%s: %+v, %+v", text, got, got.Trial)
		}
	}
	if after := w.files(); after != before {
		t.Errorf("the workspace changed:\n%s\nafter\n%s", before, after)
	}
	if r := w.sallyport("exec", "-c", "echo x >build/out; exit 3"); r.code != 3 || w.files() == before {
		t.Errorf("nothing changes without a trial, so this shows nothing: %+v", r)
	}
	w.exec("--dry-run", "echo true >.envrc")
	r := w.sallyport("exec", "--dry-run", "-c", unknown)
	for _, line := range []string{"trial: 1 changes, not applied", "created  -rw-r--r--", "would ask",
		"system/startup_files"} {
		if r.code != 0 || !strings.Contains(r.stderr, line) {
			t.Errorf("status %d, without %q: %s", r.code, line, r.stderr)
		}
	}
	if r := w.sallyport("exec", "--dry-run", "-c", "rm -rf .git"); r.code != 126 ||
		strings.Contains(r.stderr, "trial") {
		t.Errorf("a denied command ran: %+v", r)
	}
	w.verified()
}

// TestApply: what the policies allow is applied as the command did it, and nothing else.
func TestApply(t *testing.T) {
	t.Parallel()
	w := newTrying(t)
	if got := w.exec("--apply", mode); got.Status != 0 || !got.Trial.Applied {
		t.Errorf("%+v, %+v", got, got.Trial)
	}
	if got := w.host("stat -c '%a %n' build/in build/own; readlink build/link"); got != "755 build/in\n700 build/own\nin\n" {
		t.Errorf("applied: %s", got)
	}
	before := w.files()
	for text, effect := range map[string]engine.Effect{"echo true >.envrc": engine.Ask,
		"rm -rf notes": engine.Deny} {
		got := w.exec("--apply", text)
		if got.Status != 126 || got.Trial.Applied || got.Trial.Decision.Effect != effect || w.files() != before {
			t.Errorf("%s: %+v, %+v", text, got, got.Trial)
		}
	}
	if got := w.exec("--apply", "echo x >build/out; exit 3"); got.Status != 3 || !got.Trial.Applied {
		t.Errorf("%+v, %+v", got, got.Trial)
	}
	if got := w.host("cat build/out"); got != "x\n" {
		t.Errorf("applied: %q", got)
	}
	w.verified()
}

// TestApplyConflict: somebody else changes a file meanwhile.
func TestApplyConflict(t *testing.T) {
	t.Parallel()
	w := newTrying(t)
	done := make(chan tried)
	go func() { done <- w.exec("--apply", "echo new >build/new; echo mine >build/in; sleep 0.5") }()
	var got tried
	for over := false; !over; {
		select {
		case got = <-done:
			over = true
		default: // somebody who saves all the time
			w.host("echo theirs >build/in")
		}
	}
	if got.Status != 125 || got.Trial.Applied || !strings.Contains(got.Trial.Error, "changed by others") {
		t.Errorf("%+v, %+v", got, got.Trial)
	}
	if left := w.host("cat build/in; ls build"); left != "theirs\nin\n" {
		t.Errorf("applied in part: %s", left)
	}
}

// TestUnknownTexts: a text that only computes, or changes its own build, is no question any more; a harmful
// one is. Only texts that change their build leave something behind, so all others have several workspaces.
func TestUnknownTexts(t *testing.T) {
	t.Parallel()
	texts := unknownTexts(t)
	t.Run("computes", func(t *testing.T) {
		t.Parallel()
		w := newUnknown(t)
		w.harmless(texts, false)
		w.secret()
	})
	t.Run("changes its build", func(t *testing.T) {
		t.Parallel()
		newUnknown(t).harmless(texts, true)
	})
	const parts = 3
	for part := range parts {
		t.Run(fmt.Sprintf("harmful %d of %d", part+1, parts), func(t *testing.T) {
			t.Parallel()
			newUnknown(t).harmful(texts, part, parts)
		})
	}
}

// newUnknown is a workspace where unknown texts are tried in place of questions, with secrets and recipes.
func newUnknown(t *testing.T) trying {
	t.Helper()
	w := newTrying(t)
	w.host(`mkdir -p $H/.config/sallyport; printf 'version: 1\napprovals: {trial: true}\n' >$H/.config/sallyport/config.yaml
		echo "TOKEN=s3cret" >.env; mkdir conf; echo "key = s3cret" >conf/.env.local
		printf 'all:\n\techo app >build/app\nclean:\n\trm -f build/app\nevil:\n\trm -rf notes\nenvrc:\n\techo x >.envrc\n' >>Makefile
		printf 'at=${1:-build/tool}; mkdir -p $at/bin; echo "echo hello" >$at/bin/hello; chmod +x $at/bin/hello\n' >installer.sh
		printf 'sh installer.sh build/tool3; rm -rf "$1"; echo x >"$1"\n' >bad.sh
		chown -R --reference=Makefile .`, "H="+filepath.Dir(w.workspace))
	return w
}

// harmless tries the harmless texts that change something, or the others, in their order.
func (w trying) harmless(texts []unknownText, changes bool) {
	w.t.Helper()
	for _, c := range texts {
		if !c.harmless || (c.after != "") != changes {
			continue
		}
		got := w.exec("--agent=a", c.text)
		if !got.Ran || got.Status != 0 || got.Effect != engine.Ask || got.Trial == nil || got.Trial.Error != "" {
			w.t.Errorf("harmless: %s: %+v, %+v", c.text, got, got.Trial)
			continue
		}
		if c.after != "" {
			w.host("test -n \"$(" + c.after + ")\" && " + c.after)
		} else if len(got.Trial.Changes.List) > 0 {
			w.t.Errorf("harmless: %s: it changes %+v", c.text, got.Trial.Changes.List)
		}
	}
	w.verified()
}

// secret tries texts that would show a secret.
func (w trying) secret() {
	w.t.Helper()
	for _, text := range []string{"source ./.env; echo $TOKEN", "tar c .env | cat",
		"cat conf/.env.local || true"} {
		if got := w.exec("--agent=a", text); strings.Contains(got.Stdout.Text, "s3cret") {
			w.t.Errorf("%s: it shows a secret: %+v", text, got)
		}
	}
	w.verified()
}

// harmful tries one part of the harmful texts, beside a file that a harmless one has made.
func (w trying) harmful(texts []unknownText, part, parts int) {
	w.t.Helper()
	if got := w.exec("--agent=a", "echo new >made.txt"); got.Status != 0 || !got.Trial.Applied {
		w.t.Fatalf("no file is made: %+v, %+v", got, got.Trial)
	}
	for i, c := range slices.DeleteFunc(slices.Clone(texts), func(c unknownText) bool { return c.harmless }) {
		if i%parts != part {
			continue
		}
		before := w.files() + w.host("git config -l; ls .git/hooks")
		got := w.exec("--agent=a", c.text)
		if got.Status != 126 && got.Status != 125 || got.Trial != nil && got.Trial.Applied {
			w.t.Errorf("harmful: %s: %+v, %+v", c.text, got, got.Trial)
		}
		if strings.Contains(got.Stdout.Text, "s3cret") {
			w.t.Errorf("harmful: %s: it shows a secret", c.text)
		}
		if w.files()+w.host("git config -l; ls .git/hooks") != before {
			w.t.Fatalf("harmful: %s: the workspace changed", c.text)
		}
	}
	w.verified()
}

// verified checks the log.
func (w trying) verified() {
	w.t.Helper()
	if r := w.sallyport("audit", "verify"); r.code != 0 || !strings.Contains(r.stdout, "orphans 0") {
		w.t.Errorf("records: %+v", r)
	}
}

// unknownTexts are the lines of testdata/trials.txt that this machine has the programs for.
func unknownTexts(t *testing.T) (list []unknownText) {
	t.Helper()
	all, err := os.ReadFile("testdata/trials.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(all)) {
		fate, text, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if fate == "#" {
			continue
		}
		text, after, _ := strings.Cut(text, " => ")
		program, _, _ := strings.Cut(text, " ")
		if _, err := exec.LookPath(program); err != nil && slices.Contains(others, program) {
			t.Logf("%s is not there: %s is left out", program, text)
			continue
		}
		list = append(list, unknownText{text: text, after: after, harmless: fate == "+"})
	}
	return list
}

// others are the programs that a machine need not have.
var others = strings.Fields("perl tclsh node bc jq sqlite3 make gcc")

// unknownText is a text, and for harmless ones a command that shows its effect; "" for none.
type unknownText struct {
	text, after string
	harmless    bool
}
