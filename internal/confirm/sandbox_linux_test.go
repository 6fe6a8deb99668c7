package confirm

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/sallyport-dev/sallyport/internal/confirm/frame"
	"github.com/sallyport-dev/sallyport/internal/leftout"
	"github.com/sallyport-dev/sallyport/internal/testprogram"
)

// genuine names the commands that are recorded and then run. All others are recorded and end.
const genuine = `bash sh dash cat head tail tr sed basename dirname seq sort uniq cut rev base64 xxd tac nl wc paste fold
	expr printf echo test [ true false env xargs find nice nohup timeout setsid stdbuf time mkdir touch rm rmdir cp mv
	ln tee mktemp chmod realpath readlink stat ls grep egrep fgrep awk mawk gawk perl python3 date pwd yes od
	comm join tsort truncate dd install split csplit ionice chrt taskset hostname id whoami uname printenv busybox
	getopt iconv gzip gunzip zcat bzip2 md5sum sha1sum sha256sum cksum numfmt shuf expand unexpand column`

// names are commands of texts beside those of this machine.
const names = `tool say say1 say2 say3 git docker kubectl npm node cargo go make pip pytest terraform aws gcc curl wget sudo
	rsync ssh jq cmake yarn python php ruby lua psql sqlite3 helm vim`

// host is the sandbox's directory of commands on this machine.
type host struct{ dir string }

func newHost(t testing.TB) *host {
	t.Helper()
	leftout.Command(t, "go")
	leftout.Command(t, "bwrap")
	leftout.Command(t, "bash")
	leftout.Command(t, "dash")
	dir, err := os.MkdirTemp("", "confirm-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	h := &host{dir}
	if err := testprogram.Build(dir, "internal/confirm/stub"); err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{"bin", "real"} {
		if err := os.Mkdir(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, place := range []string{"/usr/bin", "/usr/sbin"} {
		entries, _ := os.ReadDir(place)
		for _, e := range entries {
			h.stub(t, e.Name())
		}
	}
	for _, n := range strings.Fields(names) {
		h.stub(t, n)
	}
	for _, n := range strings.Fields(genuine) {
		h.stub(t, n)
		at, err := exec.LookPath(n)
		if err != nil {
			continue
		}
		if at, err = filepath.EvalSymlinks(at); err != nil || !binary(at) {
			continue
		}
		if err := os.Symlink("/host"+at, filepath.Join(dir, "real", n)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return h
}

func binary(file string) bool {
	f, err := os.Open(file)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }()
	b := make([]byte, 4)
	_, err = io.ReadFull(f, b)
	return err == nil && string(b) == "\x7fELF"
}

// stub makes a command of that name.
func (h *host) stub(t testing.TB, name string) {
	t.Helper()
	if name == "" || strings.ContainsAny(name, "/\x00") || name == "." || name == ".." {
		return
	}
	err := os.Link(filepath.Join(h.dir, "stub"), filepath.Join(h.dir, "bin", name))
	if err != nil && !os.IsExist(err) && len(name) < 200 {
		t.Fatal(err)
	}
}

// sandbox runs programs one after another: no network, no file of this machine but its libraries and commands, and
// the rights of a user who owns nothing.
type sandbox struct {
	host   *host
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	errors bytes.Buffer
}

func (h *host) sandbox(t testing.TB) *sandbox {
	t.Helper()
	// Of the users that a text may name, root is the one whom each machine has.
	if err := os.WriteFile(filepath.Join(h.dir, "passwd"), []byte("root:x:0:0::/root:/bin/sh\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	args := []string{"--unshare-all", "--uid", "1000", "--gid", "1000", "--hostname", "sandbox",
		"--die-with-parent",
		"--as-pid-1", "--new-session", "--clearenv", "--setenv", "GOMAXPROCS", "2"}
	for _, lib := range []string{"/usr/lib", "/usr/lib64", "/usr/lib32", "/usr/libexec",
		"/usr/share/perl", "/lib", "/lib64"} {
		st, err := os.Lstat(lib)
		switch {
		case err != nil:
		case st.Mode()&os.ModeSymlink != 0:
			target, _ := os.Readlink(lib)
			args = append(args, "--symlink", target, lib)
		default:
			args = append(args, "--ro-bind", lib, lib)
		}
	}
	args = append(args, "--ro-bind", "/usr/bin", "/host/usr/bin", "--ro-bind", h.dir+"/bin", "/usr/bin",
		"--ro-bind", h.dir+"/real", "/real", "--symlink", "usr/bin", "/bin", "--symlink", "usr/bin", "/sbin",
		"--dev", "/dev", "--proc", "/proc", "--size", "67108864", "--tmpfs", "/home", "--size",
		"67108864", "--tmpfs", "/tmp",
		"--ro-bind", h.dir+"/passwd", "/etc/passwd", "--ro-bind", h.dir+"/stub", "/driver", "--remount-ro", "/dev", "--remount-ro", "/", "--chdir", "/", "/driver")
	s := &sandbox{host: h, cmd: exec.Command("bwrap", args...)}
	if os.Geteuid() == 0 {
		s.cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
	s.cmd.Dir, s.cmd.Stderr = "/", &s.errors
	var err error
	if s.in, err = s.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	s.out = bufio.NewReader(out)
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.close() })
	var files, env []string
	for _, n := range fixture() {
		files = append(files, n.path, n.kind, n.content)
	}
	for k, v := range Environment() {
		env = append(env, k+"="+v)
	}
	slices.Sort(env)
	if _, err := s.in.Write(frame.Append(frame.Append(nil, files), env)); err != nil {
		t.Fatal(err)
	}
	if got := s.run(Program{Text: "/usr/bin/tool begin"}); len(got.Records) != 1 {
		leftout.Skip(t, leftout.Bubblewrap, "a user without rights makes no sandbox: "+s.errors.String())
	}
	return s
}

func (s *sandbox) close() {
	_ = s.in.Close()
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait()
}

// run runs one program in a fresh fixture.
func (s *sandbox) run(p Program) Run {
	shell := "bash"
	if p.Sh {
		shell = "sh"
	}
	if _, err := s.in.Write(frame.Append(nil, []string{shell, p.Text, strconv.Itoa(p.Mode)})); err != nil {
		return Run{Ended: "lost: " + err.Error()}
	}
	got, err := frame.Read(s.out)
	if err != nil || len(got) < 2 {
		return Run{Ended: "lost"}
	}
	r := Run{Ended: got[0]}
	for _, f := range got[2:] {
		if f[0] == '+' {
			r.Changed = append(r.Changed, f[1:])
		} else {
			r.Gone = append(r.Gone, f[1:])
		}
	}
	for log := strings.NewReader(got[1]); ; {
		f, err := frame.Read(log)
		if err != nil || len(f) < 6 {
			return r
		}
		r.Records = append(r.Records, Record{f[0], f[1], f[2], f[3], f[4], f[5:]})
	}
}
