package journal_test

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/engine/redact"
	"github.com/sallyport-dev/sallyport/internal/await"
	"github.com/sallyport-dev/sallyport/internal/leftout"
	"github.com/sallyport-dev/sallyport/runners/journal"
	"github.com/sallyport-dev/sallyport/runners/local"
	"github.com/sallyport-dev/sallyport/runners/runnertest"
)

func localRunner(t testing.TB) engine.Runner {
	t.Helper()
	r, err := local.New(local.Options{Host: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir()}})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// open opens an environment of an agent called coder.
func open(t testing.TB, r engine.Runner) engine.Environment {
	t.Helper()
	env, err := r.Open(context.Background(), engine.EnvironmentSpec{
		Agent: "coder", Session: "a/b c", Layout: facts.Layout{Workspace: "/srv/ws", Roots: []facts.Root{{Path: "/srv/ws", Write: true, Protected: []string{"/srv/ws/x"}}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return env
}

// start starts a text as the gate does.
func start(t testing.TB, env engine.Environment, id, text string, vars ...string) engine.Process {
	t.Helper()
	c, err := env.Prepare(text, os.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	c.ID, c.Timeout, c.Grace, c.Output = id, time.Hour, time.Hour, 1<<20
	c.Env = append(c.Env, vars...)
	p, err := env.Start(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// only returns the one environment that there is.
func only(t testing.TB, dir string) journal.Environment {
	t.Helper()
	all, err := journal.List(dir)
	if err != nil || len(all) != 1 {
		t.Fatalf("%d environments, %v: %+v", len(all), err, all)
	}
	return all[0]
}

func events(dir, name string) (out []journal.Event) {
	for e := range journal.Read(dir, name) {
		out = append(out, e)
	}
	return out
}

// TestConformance holds that being logged changes nothing about an environment.
func TestConformance(t *testing.T) {
	r := journal.Wrap(localRunner(t), journal.Options{Dir: t.TempDir()})
	// The tests of each runner show how processes end.
	o := runnertest.Options{Parts: []string{"status", "streams", "refusals", "output", "ends", "signals", "terminal", "leaks"}}
	runnertest.RunIn(t, o, func(t *testing.T) engine.Environment { return open(t, r) })
}

func TestLifeOfAnEnvironment(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	env := open(t, journal.Wrap(localRunner(t), journal.Options{Dir: dir}))
	if x := start(t, env, "D-1", "echo out; echo err >&2; exit 3").Wait(); x.Code != 3 {
		t.Fatalf("%+v", x)
	}
	p := start(t, env, "D-2", "sleep 60")
	p.Kill("enough")
	p.Wait()
	p.Wait() // twice is one end
	e := only(t, dir)
	if e.State != journal.Running || e.Agent != "coder" || e.Session != "a/b c" || e.Workspace != "/srv/ws" || e.Runner != "local" {
		t.Errorf("while it is open: %+v", e)
	}
	if err := env.Close(); err != nil {
		t.Fatal(err)
	}
	if err := env.Close(); err != nil {
		t.Fatal(err)
	}
	if e := only(t, dir); e.State != journal.Gone {
		t.Errorf("after it was closed: %s", e.State)
	}
	var told []string
	for _, e := range events(dir, e.Name) {
		line := strings.TrimSpace(fmt.Sprintf("%s %s %s", e.Event, e.Decision, e.Text))
		if e.Code != nil {
			line += fmt.Sprintf(" %d %s", *e.Code, e.Killed)
		}
		for _, o := range []*journal.Output{e.Stdout, e.Stderr} {
			if o != nil {
				line += fmt.Sprintf(" %d %q", o.Bytes, o.Head)
			}
		}
		told = append(told, line)
		if e.Gateway != os.Getpid() || e.Time.IsZero() {
			t.Errorf("%+v", e)
		}
	}
	want := []string{
		"environment", "opening", "opened", "command D-1 echo out; echo err >&2; exit 3", `exit D-1 3  4 "out\n" 4 "err\n"`,
		"command D-2 sleep 60", "exit D-2 143 enough", "closed",
	}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Errorf("told (-want +got):\n%s", diff)
	}
	opening := events(dir, e.Name)[1].Details
	if diff := cmp.Diff([]any{"write /srv/ws but /srv/ws/x"}, opening["roots"]); diff != "" {
		t.Errorf("opening (-want +got):\n%s", diff)
	}
}

func TestPlacesAreForTheOwnerAlone(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		leftout.Skip(t, leftout.Platform, "there are no modes")
	}
	dir := filepath.Join(t.TempDir(), "state", "environments")
	env := open(t, journal.Wrap(localRunner(t), journal.Options{Dir: dir}))
	defer env.Close()
	e := only(t, dir)
	for path, want := range map[string]fs.FileMode{dir: 0o700, filepath.Dir(e.Log): 0o700, e.Log: 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", path, info.Mode(), err)
		}
	}
}

// TestNoSecretIsKept looks for secrets in the whole file, in all that a command can put there.
func TestNoSecretIsKept(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	token := "gh" + "p_" + strings.Repeat("k3Jq9ZtR", 4) + "abcd"
	plain := "correct-horse-battery-9"
	pem := "-----BEGIN OPENSSH PRIVATE KEY-----\n" + strings.Repeat(strings.Repeat("Zm9v", 16)+"\n", 60) + "-----END OPENSSH PRIVATE KEY-----\n"
	redactor := redact.New([]byte("key"), redact.Extra{})
	env := open(t, journal.Wrap(localRunner(t), journal.Options{Dir: dir, Redact: redactor.Together}))
	for i, text := range []string{
		"echo " + token,
		`echo "$GITHUB_TOKEN"; echo "$DB_PASSWORD" >&2`,
		`cd "$DB_PASSWORD"`,
		// The key begins before what is kept of the tail.
		`head -c 20000 /dev/zero | tr '\0' x; echo; printf %s "$KEY_FILE"; for i in $(seq 40); do echo line; done`,
		`printf %s "$KEY_FILE"; head -c 20000 /dev/zero | tr '\0' x`,
	} {
		start(t, env, fmt.Sprint("D-", i), text, "GITHUB_TOKEN="+token, "DB_PASSWORD="+plain, "KEY_FILE="+pem).Wait()
	}
	env.Close()
	e := only(t, dir)
	b, err := os.ReadFile(e.Log)
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{token, plain, "Zm9vZm9v"} {
		if strings.Contains(string(b), secret) {
			t.Errorf("the log holds %q", secret)
		}
	}
	if !strings.Contains(string(b), "GITHUB_TOKEN") || !strings.Contains(string(b), "[redacted:") {
		t.Errorf("neither names nor tags:\n%s", b)
	}
}

// TestFloodIsKeptFromHeadAndTail holds that a log stays bounded, whatever commands write.
func TestFloodIsKeptFromHeadAndTail(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	env := open(t, journal.Wrap(localRunner(t), journal.Options{Dir: dir, MaxBytes: 64 << 10}))
	for i := range 40 {
		start(t, env, fmt.Sprint("D-", i), `echo first; head -c 300000 /dev/zero | tr '\0' x; echo; echo last`).Wait()
	}
	env.Close()
	e := only(t, dir)
	total := int64(0)
	for _, name := range []string{e.Log, e.Log + ".1"} {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		total += info.Size()
	}
	if total > 128<<10 {
		t.Errorf("the log has %d bytes", total)
	}
	all := events(dir, e.Name)
	if all[0].Identity == nil || all[0].Agent != "coder" {
		t.Errorf("the log does not begin with whose it is: %+v", all[0])
	}
	last := all[len(all)-2]
	if last.Decision != "D-39" || !strings.HasPrefix(last.Stdout.Head, "first\n") || !strings.HasSuffix(last.Stdout.Tail, "\nlast\n") || last.Stdout.Bytes != 300012 {
		t.Errorf("the last exit: %+v", last)
	}
}

// TestWhileItRuns holds that the output of a command that takes long is told before its end.
func TestWhileItRuns(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	env := open(t, journal.Wrap(localRunner(t), journal.Options{Dir: dir}))
	defer env.Close()
	name := only(t, dir).Name
	followed := journal.Follow(await.Context(t), dir, name)
	p := start(t, env, "D-1", "echo begun; sleep 60")
	seen := []journal.Kind{}
	for e := range followed {
		seen = append(seen, e.Event)
		if e.Event == journal.KindOutput && e.Stdout.Head == "begun\n" {
			p.Kill("seen")
			p.Wait()
		}
		if e.Event == journal.KindExit {
			break
		}
	}
	if want := []journal.Kind{journal.KindCommand, journal.KindOutput, journal.KindExit}; !slices.Equal(want, seen) {
		t.Errorf("seen %v, want %v", seen, want)
	}
}

// TestFollowAcrossTurns follows a log that is turned while it is read: nothing is missing and nothing comes twice.
func TestFollowAcrossTurns(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	o, id := journal.Options{Dir: dir, MaxBytes: 16 << 10}, journal.Identity{Runner: "r", Agent: "a"}
	journal.Tell(o, id.Name(), id, "before", nil)
	followed := journal.Follow(await.Context(t), dir, id.Name())
	const lines = 400
	// What was turned twice since it was looked at is gone, so the writer is never a whole file ahead.
	ahead := make(chan struct{}, 60)
	go func() {
		for n := range lines {
			ahead <- struct{}{}
			journal.Tell(o, id.Name(), id, "step", map[string]any{"n": n})
		}
	}()
	next, turns := 0, 0
	for e := range followed {
		switch {
		case e.Event == journal.KindEnvironment:
			turns++
		case e.Step != "step":
			t.Errorf("from before: %+v", e)
		case int(e.Details["n"].(float64)) != next:
			t.Fatalf("line %v where %d is expected", e.Details["n"], next)
		default:
			next++
			<-ahead
		}
		if next == lines {
			break
		}
	}
	if next != lines || turns < 2 {
		t.Errorf("%d lines, %d turns", next, turns)
	}
}

// BenchmarkLogged is a short command with and without a log.
func BenchmarkLogged(b *testing.B) {
	for _, logged := range []bool{false, true} {
		b.Run(fmt.Sprintf("log=%v", logged), func(b *testing.B) {
			r := localRunner(b)
			if logged {
				redactor := redact.New([]byte("key"), redact.Extra{})
				r = journal.Wrap(r, journal.Options{Dir: b.TempDir(), Redact: redactor.Together})
			}
			env := open(b, r)
			defer env.Close()
			for b.Loop() {
				start(b, env, "D", "echo hello").Wait()
			}
		})
	}
}
