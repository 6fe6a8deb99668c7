//go:build amd64 || arm64

package undo_test

import (
	"context"
	crand "crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/internal/leftout"
	"github.com/sallyport-dev/sallyport/runners/local"
	"github.com/sallyport-dev/sallyport/runners/undo"
)

// place is a workspace whose changes are recorded.
type place struct {
	t     testing.TB
	ws    string
	dir   string // of stores
	store *undo.Store
	env   engine.Environment
	s     undo.Session
	id    string // ends the numbers of its decisions, by which supervisors of one process tell their own apart
}

func newPlace(t testing.TB, most int64) *place {
	t.Helper()
	p := &place{t: t, ws: t.TempDir(), dir: filepath.Join(t.TempDir(), "undo"), id: "-" + crand.Text()}
	var err error
	s := undo.Session{Workspace: p.ws, Roots: []string{p.ws}}
	if p.store, err = undo.Begin(undo.Options{Dir: p.dir, Most: most, Keep: time.Hour}, s); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.store.Close)
	o := local.Options{
		Watched: []string{p.ws}, Undo: &undo.RecorderOptions{Dir: p.store.Kept(), Most: p.store.Most()},
	}
	r, err := local.New(o)
	if err != nil {
		t.Fatal(err)
	}
	var spec engine.EnvironmentSpec
	spec.Layout.Workspace = p.ws
	if p.env, err = r.Open(context.Background(), spec); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.env.Close() })
	t.Cleanup(func() { removable(t, p.ws) })
	for _, lack := range p.env.(*local.Environment).Shortcomings() {
		leftout.Skip(t, leftout.Platform, lack)
	}
	p.s = p.sessions()[0]
	return p
}

// removable lets the owner of a directory remove all that lies in it.
func removable(t testing.TB, dir string) {
	t.Helper()
	if out, err := exec.Command("chmod", "-R", "u+rwX", dir).CombinedOutput(); err != nil {
		t.Errorf("%v: %s", err, out)
	}
}

func (p *place) sessions() []undo.Session {
	p.t.Helper()
	all, err := undo.List(p.dir)
	if err != nil {
		p.t.Fatal(err)
	}
	return all
}

// run runs a text as a decision.
func (p *place) run(decision, text string) string {
	p.t.Helper()
	out := p.begin(decision, text).Wait()
	if err := p.store.Ended(decision + p.id); err != nil {
		p.t.Fatal(err)
	}
	if out.Error != nil || out.Signal != "" {
		p.t.Fatalf("%s: %+v", text, out)
	}
	return out.Stdout.Text + out.Stderr.Text
}

func (p *place) begin(decision, text string) engine.Process {
	p.t.Helper()
	c, err := p.env.Prepare(text, p.ws)
	if err != nil {
		p.t.Fatal(err)
	}
	c.ID, c.Timeout, c.Output = decision+p.id, time.Hour, 1<<16
	proc, err := p.env.Start(context.Background(), c)
	if err != nil {
		p.t.Fatal(err)
	}
	return proc
}

// undo undoes decisions, and returns the results but for the files that are back.
func (p *place) undo(force bool, decisions ...string) []string {
	p.t.Helper()
	ids := slices.Clone(decisions)
	for i := range ids {
		ids[i] += p.id
	}
	all, err := undo.Undo(p.dir, p.s, ids, force)
	if err != nil {
		p.t.Fatal(err)
	}
	out := []string{}
	for _, r := range all {
		if r.Left() {
			out = append(out, strings.TrimPrefix(r.Path, p.ws+"/")+": "+r.Result+": "+r.Message)
		}
	}
	return out
}

// host runs a text without recording.
func (p *place) host(text string) {
	p.t.Helper()
	r, err := local.New(local.Options{})
	if err != nil {
		p.t.Fatal(err)
	}
	env, err := r.Open(context.Background(), engine.EnvironmentSpec{})
	if err != nil {
		p.t.Fatal(err)
	}
	q := *p
	q.env = env
	x := q.begin("host", text).Wait()
	if err := env.Close(); err != nil || x.Code != 0 {
		p.t.Fatalf("%s: %+v, %v", text, x, err)
	}
}

// files describes all files: kind, mode, content, and the names that are the same file.
func (p *place) files() map[string]string {
	p.t.Helper()
	all, names := map[string]string{}, map[uint64]string{}
	err := filepath.WalkDir(p.ws, func(at string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		name := strings.TrimPrefix(at, p.ws)
		text := info.Mode().String()
		switch {
		case info.Mode().IsRegular():
			content, err := os.ReadFile(at)
			if errors.Is(err, fs.ErrPermission) && info.Mode().Perm()&0o400 == 0 {
				content, err = []byte("not for its owner"), nil
			}
			if err != nil {
				return err
			}
			if len(content) > 1<<10 {
				content = fmt.Appendf(nil, "%d bytes %x", len(content), sha256.Sum256(content))
			}
			text += fmt.Sprintf(" %q", content)
			if !strings.HasPrefix(name, "/.git/") { // git sets times alone
				text += fmt.Sprint(" ", info.ModTime().UnixNano())
			}
			st := info.Sys().(*syscall.Stat_t)
			if first := names[st.Ino]; first != "" {
				text += " is " + first
			} else if st.Nlink > 1 {
				names[st.Ino] = name
			}
		case info.Mode()&fs.ModeSymlink != 0:
			target, err := os.Readlink(at)
			if err != nil {
				return err
			}
			text = "link " + target
		}
		all[name] = text
		return nil
	})
	if err != nil {
		p.t.Fatal(err)
	}
	return all
}

func (p *place) same(what string, want map[string]string) {
	p.t.Helper()
	if diff := cmp.Diff(want, p.files()); diff != "" {
		p.t.Errorf("%s (-before +after):\n%s", what, diff)
	}
}

// ground makes files of all kinds.
const ground = `mkdir -p d/e d/empty src; echo one > f; echo two > d/g; printf three > d/e/h; chmod 600 d/g; echo i > i
ln i i2; ln -s f l; echo '#!/bin/sh' > src/run; chmod 755 src/run; : > void; head -c 3000000 /dev/zero > big
printf 'a\nb\nc\n' > lines; mkdir "odd $(printf '\303\050')"; echo x > "odd $(printf '\303\050')/y
z"`

// programs are kinds of changes.
var programs = []string{
	`echo more >> f`,
	`echo new > f`,
	`sed -i s/b/B/ lines`,
	`rm -rf d`,
	`rm f l i; rmdir d/empty`,
	`echo n > n; mv n f`,
	`mv f d/g`,
	`mv d/g .`,
	`mv d dd; echo x > dd/e/h; rm dd/g`,
	`mv d src/; mv src s2; echo y >> s2/d/e/h; mkdir src; echo z > src/run`,
	`cp lines f`,
	`cp -a d d2; rm -r d; mv d2 d; echo x >> d/g`,
	`truncate -s 3 lines; truncate -s 0 d/g; truncate -s 100 f`,
	`printf X | dd of=lines bs=1 seek=2 conv=notrunc status=none`,
	`python3 -c '
import mmap, os
f = open("lines", "r+b"); m = mmap.mmap(f.fileno(), 0); f.close(); m[0:1] = b"Z"; m.flush()
open("n", "w").write("x"); os.replace("n", "d/g"); os.truncate("f", 1)
fd = os.open("i", os.O_RDONLY); os.fchmod(fd, 0o640); open("/proc/self/fd/%d" % fd, "r+").write("J")
os.open("void", os.O_RDONLY | os.O_TRUNC); os.open("big", os.O_RDONLY | os.O_TRUNC)'`,
	`perl -pi -e s/a/A/ lines`,
	`install -m 700 lines f; install lines src/run`,
	`ln -f lines f; ln -sf d l; ln f another`,
	`git init -q; git add -A .; git -c user.name=x -c user.email=x@x commit -qm x; rm -rf d f; git checkout -q .
		git mv f ff; git gc -q`,
	`tar cf a.tar d f i i2; rm -rf d f i i2; tar xf a.tar; rm a.tar`,
	`chmod -R a-w d; chmod 0 f; chmod 700 lines; chmod 500 src`,
	`echo x > i; echo y >> i2`,
	`rm i; echo n > i`,
	`rm i i2`,
	`cat lines > l; rm l; mkfifo l; rm l; mkdir l`,
	`for i in 1 2 3 4 5; do echo $i > t; mv t f; done; rm f; mkdir f; echo in > f/x`,
	`rm -r d; echo x > d`,
	`mv big big2; echo x >> big2; mv big2 big3`,
	`echo x | tee -a f lines d/* > /dev/null; (echo y >> f; setsid bash -c 'echo z >> lines') & wait`,
	`echo x > d/../d/e/../g; echo y > l; cd d/e; echo w > ../../lines; cd /proc/self/cwd; echo v >> h`,
	`exec 5<> lines; echo q >&5; exec 5>&-; exec 6>> f; echo r > /dev/fd/6`,
	`python3 -c '
import ctypes, os
c = ctypes.CDLL(None); c.renameat2(-100, b"f", -100, b"lines", 2); c.renameat2(-100, b"d", -100, b"src", 2)
open("d/run", "a").write("x")'`,
	`mv -n f lines; mkdir d; rmdir d; rm d; rm src; cp nothing f; mv nothing f; ln f i; ln f lines`,
	`rm "odd "*/*; rmdir odd*`,
	`touch -d 2001-01-01 f; touch made; rm -f made void; touch void`,
}

// Each program changes something, and everything is as before after it is undone.
func TestPrograms(t *testing.T) {
	t.Parallel()
	for _, program := range []string{"python3", "perl", "git"} {
		leftout.Command(t, program)
	}
	for _, text := range programs {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t, 1<<30)
			p.host(ground)
			before := p.files()
			said := p.run("D-1", text)
			if cmp.Equal(before, p.files()) && !strings.HasPrefix(text, "mv -n") {
				t.Fatalf("nothing was changed: %s", said)
			}
			if left := p.undo(false, "D-1"); len(left) != 0 {
				t.Errorf("left: %q", left)
			}
			p.same(said, before)
		})
	}
}

// Sequences of programs are undone to each decision, in steps or at once.
func TestSequences(t *testing.T) {
	t.Parallel()
	for n := range 12 {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			t.Parallel()
			seed := uint64(time.Now().UnixNano())
			t.Logf("seed %d", seed)
			random := rand.New(rand.NewPCG(seed, 0))
			p := newPlace(t, 1<<30)
			p.host(ground)
			var states []map[string]string
			var decisions, texts []string
			// Each once: git gives files of its earlier run another time, which is not recorded.
			order := random.Perm(len(programs))
			for i := range 6 {
				states = append(states, p.files())
				decisions = append(decisions, fmt.Sprintf("D-%d", i))
				text := programs[order[i]]
				if os.Geteuid() != 0 {
					// Without root's rights, a file that its owner may not read is not kept before it is
					// removed, and touch gives it another time alone, which is not recorded.
					text = strings.ReplaceAll(text, "chmod 0 f; ", "")
				}
				texts = append(texts, text)
				p.run(decisions[i], texts[i])
			}
			for end := len(decisions); end > 0; {
				begin := random.IntN(end)
				if left := p.undo(false, decisions[begin:end]...); len(left) != 0 {
					t.Errorf("left: %q", left)
				}
				p.same(strings.Join(texts[begin:end], "\n---\n"), states[begin])
				if end = begin; t.Failed() {
					return
				}
			}
		})
	}
}

// A bit by which a program gets rights goes with the command that set it, and does not come back.
func TestRights(t *testing.T) {
	t.Parallel()
	p := newPlace(t, 1<<30)
	p.host("echo one > f; echo two > g; chmod 2755 g")
	before := p.files()
	p.run("D-1", "chmod 4755 f; chmod 755 g; echo x >> g")
	if p.files()["/f"] == before["/f"] {
		t.Fatal("nothing was changed")
	}
	if left := p.undo(false, "D-1"); len(left) != 0 {
		t.Errorf("left: %q", left)
	}
	before["/g"] = strings.Replace(before["/g"], "grwxr-xr-x", "-rwxr-xr-x", 1)
	p.same("without g+s", before)
}

// Somebody's later changes are left and reported.
func TestConflicts(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ text, since, want string }{
		{"echo x > f", "echo mine > f", "f: conflict: it was changed since"},
		{"sed -i s/a/A/ lines", "echo mine >> lines", "lines: conflict: it was changed since"},
		{"echo x > f", "rm f", "f: conflict: it was removed since"},
		{"rm f", "echo mine > f", "f: conflict: it was made since"},
		{"echo x > new", "echo mine > new", "new: conflict: it was changed since"},
		{"mkdir n; echo x > n/x", "echo mine > n/mine", "n: conflict: it holds other files"},
		{"mv f moved", "echo mine > f", "moved: conflict: another file is at WS/f"},
		{"mv d moved", "mkdir d; echo mine > d/g", "moved: conflict: another file is at WS/d"},
		{"mv d moved; rm moved/g", "echo mine > moved/g", "moved/g: conflict: it was made since"},
		{"rm -r d", "ln -s /etc d", "d: conflict: it was made since"},
		{"chmod 600 f", "chmod 640 f", "f: conflict: it was changed since"},
		{"echo x > d/g", "mv d elsewhere; ln -s elsewhere d", "d/g: conflict: it was removed since"},
	} {
		t.Run(tc.text+" / "+tc.since, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t, 1<<30)
			p.host(ground)
			p.run("D-1", tc.text)
			p.host(tc.since)
			left := p.undo(false, "D-1")
			want := strings.ReplaceAll(tc.want, "WS", p.ws)
			if !slices.Contains(left, want) {
				t.Errorf("got %q, want %s", left, want)
			}
			found := false
			for _, text := range p.files() {
				found = found || strings.Contains(text, "mine") || strings.HasPrefix(text, "-rw-r-----")
			}
			if strings.Contains(tc.since, "mine") && !found {
				t.Error("the change is gone")
			}
		})
	}
}

// A change without pre-image is reported, and the others are taken back.
func TestLost(t *testing.T) {
	t.Parallel()
	p := newPlace(t, 2<<20)
	p.host(ground)
	p.run("D-1", "echo x >> big; echo x > f")
	if left := p.undo(false, "D-1"); !slices.Equal(left, []string{"big: lost: the store is full"}) {
		t.Errorf("got %q", left)
	}
	if text := p.files()["/f"]; !strings.Contains(text, "one") {
		t.Errorf("f is %s", text)
	}
	p = newPlace(t, 1<<30)
	p.host("truncate -s 65M long; echo one > f")
	p.run("D-1", "rm long")
	if left := p.undo(false, "D-1"); !slices.Equal(left, []string{"long: lost: the file is too long to copy"}) {
		t.Errorf("got %q", left) // on a file system that cannot clone
	}
}

// The journal is bounded, and Undo tells that it is not whole.
func TestEndless(t *testing.T) {
	t.Parallel()
	leftout.Command(t, "perl")
	p := newPlace(t, 1<<20)
	p.host(ground)
	p.run("D-1", `echo x > f; perl -e 'for (1..3000) { mkdir "n"; rmdir "n" }'`)
	info, err := os.Stat(filepath.Join(p.store.Kept(), "journal"))
	if err != nil || info.Size() > 1<<20/4+1<<10 {
		t.Errorf("%v, %v", info.Size(), err)
	}
	if left := p.undo(false, "D-1"); !slices.Contains(left,
		": lost: some changes of this session could not be recorded") {
		t.Errorf("got %q", left)
	}
	if text := p.files()["/f"]; !strings.Contains(text, "one") {
		t.Errorf("f is %s", text)
	}
}

// A damaged pre-image is not put in place.
func TestDamaged(t *testing.T) {
	t.Parallel()
	p := newPlace(t, 1<<30)
	p.host(ground)
	p.run("D-1", "echo x > f")
	objects, err := filepath.Glob(filepath.Join(p.store.Kept(), "objects", "*"))
	if err != nil || len(objects) != 1 {
		t.Fatalf("%q, %v", objects, err)
	}
	if err := os.WriteFile(objects[0], []byte("two"), 0o600); err != nil {
		t.Fatal(err)
	}
	if left := p.undo(false, "D-1"); !slices.Equal(left, []string{"f: lost: its pre-image is damaged"}) {
		t.Errorf("got %q", left)
	}
	if text := p.files()["/f"]; !strings.Contains(text, `"x\n"`) {
		t.Errorf("f is %s", text)
	}
}

// A journal that lies reaches nothing outside of the places where commands write, and no protected place.
func TestForeignPaths(t *testing.T) {
	t.Parallel()
	for _, at := range []string{
		"WS/other", "OUT/mine", "WS/../out/mine", "WS/link/mine", "WS/protected/mine", "WS/other\x00", "mine", "",
	} {
		p := newPlace(t, 1<<30)
		outside := filepath.Join(filepath.Dir(p.ws), "out")
		mine := filepath.Join(outside, "mine")
		p.host("mkdir " + outside + " protected; cd " + outside +
			"; echo mine > mine; chmod 600 mine; ln -s " + outside +
			" " + p.ws + "/link; ln mine " + p.ws + "/other; ln mine " + p.ws + "/protected/mine")
		p.s.ReadOnly = []string{filepath.Join(p.ws, "protected")}
		var st unix.Statx_t
		if err := unix.Statx(unix.AT_FDCWD, mine, 0, unix.STATX_BTIME|unix.STATX_INO, &st); err != nil {
			t.Fatal(err)
		}
		path := strings.NewReplacer("WS", p.ws, "OUT", outside).Replace(at)
		file := fmt.Sprintf(`{"k":"file","m":511,"i":%d,"b":%d}`, st.Ino, st.Btime.Sec*1e9+int64(st.Btime.Nsec))
		lines := ""
		for _, op := range []string{"make", "mode"} {
			name := base64.StdEncoding.EncodeToString([]byte(path))
			lines += fmt.Sprintf(`{"d":"%s","op":"%s","p":"%s","f":%s}`+"\n", "D-1"+p.id, op, name, file)
		}
		if err := os.WriteFile(filepath.Join(p.store.Kept(), "journal"), []byte(lines), 0o600); err != nil {
			t.Fatal(err)
		}
		p.undo(true, "D-1")
		info, err := os.Stat(mine)
		if err != nil {
			t.Fatalf("%q: %v", at, err)
		}
		_, err = os.Stat(filepath.Join(p.ws, "other"))
		reached := info.Mode() != 0o600 && err != nil
		untouched := info.Mode() == 0o600 && err == nil && info.Sys().(*syscall.Stat_t).Nlink == 3
		if at == "WS/other" && !reached || at != "WS/other" && !untouched {
			t.Errorf("%q: mode %v, other: %v", at, info.Mode(), err)
		}
		if err := os.RemoveAll(outside); err != nil {
			t.Fatal(err)
		}
	}
}
