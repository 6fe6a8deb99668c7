//go:build amd64 || arm64

package bubblewrap_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/internal/leftout"
)

// asker notes the names that commands are asked about.
type asker struct {
	allow bool

	mu    sync.Mutex
	names []string
}

func (a *asker) mayMake(p string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.names = append(a.names, p)
	return a.allow
}

// doAsked runs a text, and returns the names below the workspace that it was asked about.
func doAsked(t testing.TB, env engine.Environment, ws, text string, a *asker) (engine.Exit, []string) {
	t.Helper()
	c, err := env.Prepare(text, ws)
	if err != nil {
		t.Fatal(err)
	}
	c.ID, c.Timeout, c.Output, c.MayMake = "D-names", time.Hour, 1<<16, a.mayMake
	p, err := env.Start(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	x := p.Wait()
	var names []string
	for _, n := range a.names {
		names = append(names, strings.TrimPrefix(n, ws+"/"))
	}
	slices.Sort(names)
	return x, names
}

// A refused name does not come up, by any call. Each text makes it if that is allowed.
func TestNames(t *testing.T) {
	t.Parallel()
	leftout.Command(t, "bwrap")
	for _, tc := range []struct{ text, name string }{
		{"echo x > .envrc", ".envrc"},
		{"touch sub/.envrc", "sub/.envrc"},
		{"cp file .mcp.json", ".mcp.json"},
		{"mv file .envrc", ".envrc"},
		{"ln file .envrc", ".envrc"},
		{"ln -s file .envrc", ".envrc"},
		{"cd sub; echo x > ../.envrc", ".envrc"},
		{"ln -s .envrc link; echo x > link", ".envrc"},
		{"echo x > to-sub/.envrc", "sub/.envrc"},
		{"mkdir .vscode; cp file .vscode/tasks.json", ".vscode/tasks.json"},
		{"mkdir v; cp file v/tasks.json; mv v .vscode", ".vscode/tasks.json"},
		{"mkdir -p v/idea; cp file v/idea/x; mv v/idea .idea", ".idea/x"},
		{"mkdir v; cp file v/tasks.json; ln -s v .vscode", ".vscode"},
		{"echo '{}' > here.code-workspace", "here.code-workspace"},
		{"exec 5> .envrc", ".envrc"},
		{"printf x | tee .envrc", ".envrc"},
		{"(sleep 0.01; setsid bash -c 'echo x > .envrc') & wait", ".envrc"},
	} {
		t.Run(tc.text, func(t *testing.T) {
			t.Parallel()
			for _, allow := range []bool{true, false} {
				ws := t.TempDir()
				err := os.WriteFile(filepath.Join(ws, "file"), []byte("{}"), 0o644)
				if err == nil {
					err = os.Mkdir(filepath.Join(ws, "sub"), 0o755)
				}
				if err == nil {
					err = os.Symlink("sub", filepath.Join(ws, "to-sub"))
				}
				if err != nil {
					t.Fatal(err)
				}
				env := open(t, settings(t), layout(ws))
				x, names := doAsked(t, env, ws, tc.text, &asker{allow: allow})
				if !slices.Equal(names, []string{tc.name}) {
					t.Errorf("asked about %q, want %s", names, tc.name)
				}
				if _, err := os.Lstat(filepath.Join(ws, tc.name)); (err == nil) != allow {
					t.Errorf("allowed %v, and then %v: %s", allow, err, x.Stderr.Text)
				}
				if !allow && !strings.Contains(x.Stderr.Text, "Permission denied") {
					t.Errorf("the command says %q", x.Stderr.Text)
				}
				if err := env.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// These make names that nobody is asked about: none is obeyed on this machine, or it is looked at at the end.
func TestNamesWithoutQuestion(t *testing.T) {
	t.Parallel()
	ws := t.TempDir()
	host(
		t,
		`cd "$WS"; git init -q from; cd from; mkdir .vscode; echo '{}' > .vscode/tasks.json; echo x > .envrc
		git add -A; git commit -qm first`,
		"WS="+ws,
	)
	env := open(t, settings(t), layout(ws))
	defer env.Close()
	for _, text := range []string{
		"echo x > file; mkdir dir; mv file dir; ln -s dir link; ln dir/file file",
		"echo x > ~/.bashrc; echo x > /tmp/.envrc; mkdir /tmp/.vscode; echo > /tmp/.vscode/tasks.json",
		"git init -q made; git -C made config user.name x; echo x > made/.git/hooks/post-commit",
		"git clone -q from clone; ls clone/.envrc clone/.vscode/tasks.json",
		"mkdir new; echo x > new/.envrc; mkdir -p new/a/.vscode; cp new/.envrc new/a/.vscode/tasks.json",
		"mkdir -p p/.idea; echo > p/.idea/x; mv p q; cat q/.idea/x",
		"mkfifo f; (cat f > /dev/null &); echo x > f",
		"echo out > /dev/stdout; echo err > /dev/stderr; echo > /dev/null; echo x > /dev/fd/1",
	} {
		x, names := doAsked(t, env, ws, text, &asker{})
		if len(names) != 0 || x.Code != 0 {
			t.Errorf("%s: status %d, asked about %q: %s", text, x.Code, names, x.Stderr.Text)
		}
	}
	// The next command did not make the directory.
	if _, names := doAsked(t, env, ws, "echo x > q/.envrc", &asker{}); !slices.Equal(
		names,
		[]string{"q/.envrc"},
	) {
		t.Errorf("in a directory of an earlier command: asked about %q", names)
	}
}

// A name is asked about once, also if a command tries again and again; commands at once have their own
// answers.
func TestNamesOfCommands(t *testing.T) {
	t.Parallel()
	ws := t.TempDir()
	env := open(t, settings(t), layout(ws))
	defer env.Close()
	var wg sync.WaitGroup
	for _, allow := range []bool{true, false} {
		wg.Go(func() {
			a := &asker{allow: allow}
			name := map[bool]string{true: "yes", false: "no"}[allow] + ".code-workspace"
			x, names := doAsked(t, env, ws, "for i in {1..50}; do echo $i > "+name+"; done; exit 0", a)
			if !slices.Equal(names, []string{name}) || x.Code != 0 {
				t.Errorf("asked about %q, status %d", names, x.Code)
			}
		})
	}
	wg.Wait()
	got, err := os.ReadDir(ws)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range got {
		names = append(names, e.Name())
	}
	if diff := cmp.Diff([]string{"yes.code-workspace"}, names); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A command is asked about a bounded number of names; the others are refused.
func TestNamesWithoutEnd(t *testing.T) {
	t.Parallel()
	ws := t.TempDir()
	env := open(t, settings(t), layout(ws))
	defer env.Close()
	x, names := doAsked(t, env, ws, "for i in {1..600}; do : > $i.code-workspace; done; ls | wc -l", &asker{})
	if len(names) != 500 || x.Stdout.Text != "0\n" {
		t.Errorf("asked about %d names, and %s were made", len(names), x.Stdout.Text)
	}
}

// Processes that make names and others of their kind without end do not hold up the end of the command, nor
// the next one.
func TestBombOfNames(t *testing.T) {
	t.Parallel()
	o := settings(t)
	o.PIDs = 150
	ws := t.TempDir()
	env := open(t, o, layout(ws))
	defer env.Close()
	limits := env.(interface{ Made() map[string]any }).Made()["limits"].(map[string]any)
	if limits["group_pids"] != true && os.Getuid() == 0 {
		leftout.Skip(t, leftout.Root, "the processes of root are not bounded without a control group")
	}
	c, err := env.Prepare(`f() { : > "x$RANDOM"; : > .envrc; f | f & }; f; sleep 1200`, ws)
	if err != nil {
		t.Fatal(err)
	}
	c.ID, c.Timeout, c.Output, c.MayMake = "D-bomb", 2*time.Second, 1<<16, (&asker{}).mayMake
	p, err := env.Start(context.Background(), c)
	if err != nil {
		t.Fatal(err)
	}
	if x := p.Wait(); !x.TimedOut || x.Survivors != 0 || x.Error != nil {
		t.Errorf("%+v", x)
	}
	if _, err := os.Lstat(filepath.Join(ws, ".envrc")); err == nil {
		t.Error("the refused name is there")
	}
	if x, _ := doAsked(t, env, ws, "echo x > after && cat after", &asker{}); x.Stdout.Text != "x\n" {
		t.Errorf("the next command: %+v", x)
	}
}
