//go:build amd64 || arm64

package bubblewrap_test

import (
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/runners/bubblewrap"
)

// trial opens one that the test closes.
func trial(t testing.TB, o bubblewrap.Options, ws string) engine.Trial {
	t.Helper()
	r, err := bubblewrap.New(o)
	if err != nil {
		t.Fatal(err)
	}
	env, err := r.Try(t.Context(), engine.EnvironmentSpec{Layout: layout(ws)})
	if err != nil {
		t.Fatal(err)
	}
	return env
}

// before is a workspace for trials.
const before = `cd "$WS"; mkdir -p dir/sub tree/deep empty; echo a >a; echo b >dir/b; echo c >dir/sub/c; echo d >tree/deep/d
	ln -s a link; echo run >run.sh; chmod 644 run.sh; echo long >long; ln a hard; find . -exec touch -d @1000000000 {} +`

// Everything that a command does in a trial is in its list, and nothing in the workspace.
func TestTrial(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text string
		want []string // kind, mode and relative path of each change
		lost string
	}{
		"nothing":       {"cat a dir/b", nil, ""},
		"only computed": {"echo $((6*7)); : >/dev/null", nil, ""},
		"create":        {"echo x >new", []string{"created -rw-r--r-- new"}, ""},
		"create below": {"mkdir -p p/q; echo x >p/q/r",
			[]string{"created drwxr-xr-x p", "created drwxr-xr-x p/q", "created -rw-r--r-- p/q/r"}, ""},
		"append":            {"echo x >>dir/sub/c", []string{"changed -rw-r--r-- dir/sub/c"}, ""},
		"same size":         {"printf 'x\\n' >a; touch -d @1000000000 a", []string{"changed -rw-r--r-- a"}, ""},
		"opened only":       {"exec 3>>a", nil, ""},
		"mode":              {"chmod 755 run.sh", []string{"changed -rwxr-xr-x run.sh"}, ""},
		"mode of directory": {"chmod 700 dir", []string{"changed drwx------ dir"}, ""},
		"unreadable": {"umask 0; echo x >n; chmod 0 n; mkdir d; chmod 0 d",
			[]string{"created d--------- d", "created ---------- n"}, ""},
		"times":       {"touch a", []string{"changed -rw-r--r-- a"}, ""},
		"remove":      {"rm dir/b", []string{"removed -rw-r--r-- dir/b"}, ""},
		"remove tree": {"rm -r tree", []string{"removed drwxr-xr-x tree"}, ""},
		"made again": {"rm -r tree; mkdir tree; echo n >tree/n",
			[]string{"removed drwxr-xr-x tree/deep", "created -rw-r--r-- tree/n"}, ""},
		"came and went": {"echo x >n; rm n", nil, ""},
		"rename":        {"mv a z", []string{"removed -rw-r--r-- a", "created -rw-r--r-- z"}, ""},
		"rename over":   {"echo n >n; mv n a", []string{"changed -rw-r--r-- a"}, ""},
		"rename directory": {"mv tree wood", []string{"removed drwxr-xr-x tree", "created drwxr-xr-x wood",
			"created drwxr-xr-x wood/deep", "created -rw-r--r-- wood/deep/d"}, ""},
		"link": {"ln -s /etc/passwd l", []string{"created Lrwxrwxrwx l -> /etc/passwd"}, ""},
		"file for link": {"rm link; echo x >link",
			[]string{"removed Lrwxrwxrwx link", "created -rw-r--r-- link"}, ""},
		"directory to file": {"rm -r tree; echo x >tree",
			[]string{"removed drwxr-xr-x tree", "created -rw-r--r-- tree"}, ""},
		"file to directory": {"rm a; mkdir a; echo x >a/x",
			[]string{"removed -rw-r--r-- a", "created drwxr-xr-x a", "created -rw-r--r-- a/x"}, ""},
		"fifo":         {"mkfifo f", []string{"created prw-r--r-- f"}, ""},
		"left in /tmp": {"echo x >/tmp/x; echo y >~/.y", nil, "/home/agent/.y /tmp/x"},
		"no marks":     {"setfattr -n user.overlay.opaque -v y dir; mknod n c 0 0; true", nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ws := t.TempDir()
			host(t, before, "WS="+ws)
			all := host(t, `cd "$WS"; find . -printf '%p %y %m %s %T@ %C@ %i\n' | sort; cat $(find . -type f | sort)`, "WS="+ws)
			o := settings(t)
			env := trial(t, o, ws)
			if x := run(t, env, "cd "+ws+"; umask 022; "+c.text); x.Code != 0 {
				t.Errorf("status %d: %s", x.Code, x.Stderr.Text)
			}
			during := host(t, `cd "$WS"; find . -printf '%p %y %m %s %T@ %C@ %i\n' | sort; cat $(find . -type f | sort)`, "WS="+ws)
			changes, lost, err := env.End()
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, one := range changes.List {
				rel, _ := filepath.Rel(ws, one.Path)
				line := one.What + " " + one.Mode + " " + rel
				if one.Link != "" {
					line += " -> " + one.Link
				}
				got = append(got, line)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("changes (-want +got):\n%s", diff)
			}
			if strings.Join(lost, " ") != c.lost {
				t.Errorf("lost: %q, want %q", lost, c.lost)
			}
			if conflicts := env.Conflicts(changes); conflicts != nil {
				t.Errorf("conflicts: %q", conflicts)
			}
			if err := env.Close(); err != nil {
				t.Error(err)
			}
			after := host(t, `cd "$WS"; find . -printf '%p %y %m %s %T@ %C@ %i\n' | sort; cat $(find . -type f | sort)`, "WS="+ws)
			if all != during || all != after {
				t.Errorf("the workspace changed:\nbefore\n%s\nduring\n%s\nafter\n%s", all, during, after)
			}
			if left, _ := os.ReadDir(filepath.Join(o.State, "trials")); len(left) != 0 {
				t.Errorf("left in the state directory: %v", left)
			}
		})
	}
}

// What others change during a trial is a conflict where the trial changes it as well.
func TestTrialConflicts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		trial, others string
		want          []string
	}{
		"nothing":          {"echo x >>a; rm dir/b; echo x >n", "echo y >>long", nil},
		"changed":          {"echo x >>a", "echo y >>a", []string{"a"}},
		"mode":             {"echo x >>a", "chmod 600 a", []string{"a"}},
		"replaced":         {"echo x >>a", "cp long z; mv z a", []string{"a"}},
		"removed":          {"echo x >>long", "rm long", []string{"long"}},
		"created":          {"echo x >n", "echo y >n", []string{"n"}},
		"below a removed":  {"rm -r tree", "echo y >>tree/deep/d", []string{"tree"}},
		"added to removed": {"rm -r tree", "echo y >tree/deep/e", []string{"tree"}},
		"renamed":          {"mv a z", "echo y >>long", nil},
		"same directory":   {"echo x >dir/n", "echo y >dir/m", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ws := t.TempDir()
			host(t, before, "WS="+ws)
			env := trial(t, settings(t), ws)
			defer env.Close()
			if x := run(t, env, "cd "+ws+"; "+c.trial); x.Code != 0 {
				t.Fatalf("status %d: %s", x.Code, x.Stderr.Text)
			}
			host(t, `cd "$WS"; `+c.others, "WS="+ws)
			changes, _, err := env.End()
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, p := range env.Conflicts(changes) {
				rel, _ := filepath.Rel(ws, p)
				got = append(got, rel)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("conflicts %q, want %q; changes %+v", got, c.want, changes.List)
			}
		})
	}
}

// A trial reaches no network, not even the machine itself, though the sandbox of other commands does.
func TestTrialHasNoNetwork(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	ws, o := t.TempDir(), settings(t)
	o.Network = "host"
	connect := "exec 3<>/dev/tcp/127.0.0.1/" + strings.TrimPrefix(l.Addr().String(), "127.0.0.1:")
	usual := open(t, o, layout(ws))
	defer usual.Close()
	if x := run(t, usual, connect); x.Code != 0 {
		t.Errorf("the usual sandbox does not connect, so this shows nothing: %s", x.Stderr.Text)
	}
	env := trial(t, o, ws)
	defer env.Close()
	if x := run(t, env, connect); x.Code == 0 {
		t.Error("a trial connects")
	}
}

// A trial is refused, with the reason, where a view would not show all that is in the workspace.
func TestTrialUnavailable(t *testing.T) {
	t.Parallel()
	ws, o := t.TempDir(), settings(t)
	o.State = ""
	r, err := bubblewrap.New(o)
	if err != nil {
		t.Fatal(err)
	}
	if env, err := r.Try(t.Context(), engine.EnvironmentSpec{Layout: layout(ws)}); err == nil {
		t.Errorf("without a state directory: %v", env)
	}
	o.State = t.TempDir()
	if r, err = bubblewrap.New(o); err != nil {
		t.Fatal(err)
	}
	_, err = r.Try(t.Context(), engine.EnvironmentSpec{Layout: layout("/dev")})
	if err == nil || !strings.Contains(err.Error(), "mounted in /dev") {
		t.Errorf("mounts in the workspace: %v", err)
	}
}

// The list of a trial is bounded in number and in bytes, and texts are kept of short text files only.
func TestTrialIsBounded(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ text, fails string }{
		"many": {"seq -f n%g 5001 | xargs touch", "more than 5000"}, "as many": {"seq -f n%g 5000 | xargs touch", ""},
		"large":    {"truncate -s 600M n; truncate -s 600M m", "more than 1 GiB"},
		"as large": {"truncate -s 600M n; truncate -s 400M m", ""},
	} {
		ws := t.TempDir()
		env := trial(t, settings(t), ws)
		if x := run(t, env, "cd "+ws+"; "+c.text); x.Code != 0 && x.Killed == "" {
			t.Errorf("%s: status %d: %s", name, x.Code, x.Stderr.Text)
		}
		_, _, err := env.End()
		if (err == nil) != (c.fails == "") || err != nil && !strings.Contains(err.Error(), c.fails) {
			t.Errorf("%s: %v", name, err)
		}
		if err := env.Close(); err != nil {
			t.Error(err)
		}
	}
	for text, want := range map[string]string{
		"truncate -s 2G n; sleep 1000": "more than 1 GiB", "seq -f n%g 6000 | xargs touch; sleep 1000": "more than 5000",
	} {
		ws := t.TempDir()
		env := trial(t, settings(t), ws)
		if x := run(t, env, "cd "+ws+"; "+text); !strings.Contains(x.Killed, want) {
			t.Errorf("%s runs on: %+v", text, x)
		}
		if err := env.Close(); err != nil {
			t.Error(err)
		}
	}
	ws := t.TempDir()
	host(t, before, "WS="+ws)
	env := trial(t, settings(t), ws)
	defer env.Close()
	run(t, env, "cd "+ws+`; echo x >a; rm dir/b; printf '\0' >bin; printf '\377' >bytes; truncate -s 70000 wide; echo n >n; mkdir d; mkfifo f`)
	changes, _, err := env.End()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]engine.Texts{}
	for _, one := range changes.List {
		if one.Texts != nil {
			got[filepath.Base(one.Path)] = *one.Texts
		}
	}
	want := map[string]engine.Texts{"a": {Before: "a\n", After: "x\n"}, "b": {Before: "b\n"}, "n": {After: "n\n"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("texts (-want +got):\n%s", diff)
	}
}
