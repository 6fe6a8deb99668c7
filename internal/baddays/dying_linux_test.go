package baddays

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/internal/await"
	"github.com/sallyport-dev/sallyport/internal/leftout"
	"github.com/sallyport-dev/sallyport/runners/docker"
	"github.com/sallyport-dev/sallyport/runners/runnertest"
	"github.com/sallyport-dev/sallyport/runners/wire"
)

// dyingEngine is an engine of one test, which may die.
type dyingEngine struct {
	t    *testing.T
	dir  string
	data string
	cmd  *exec.Cmd
	said bytes.Buffer
}

// newDyingEngine starts an engine with the little of the tests' image in it that is needed. data is its place for
// images and containers; "" for one below a directory of its own.
func newDyingEngine(t *testing.T, data string) *dyingEngine {
	t.Helper()
	leftout.Command(t, "dockerd")
	ref := image(t)
	dir, err := os.MkdirTemp("", "sp-engine-") // short: it holds sockets
	must(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	m := &dyingEngine{t: t, dir: dir, data: data}
	if data == "" {
		m.data = filepath.Join(dir, "data")
	}
	m.start()
	t.Cleanup(m.end)
	pack := exec.Command("docker", "run", "--rm", "--network", "none", "--entrypoint", "sh", ref, "-c", packed)
	load := exec.Command("docker", "-H", m.host(), "import", "-", packedImage)
	load.Stdin, err = pack.StdoutPipe()
	must(t, err)
	must(t, pack.Start())
	if out, err := load.CombinedOutput(); err != nil {
		t.Fatalf("bring the image: %v: %s", err, out)
	}
	must(t, pack.Wait())
	return m
}

// packed makes an archive of what these tests run of an image. To bring all of it takes minutes on a slow
// disk.
const (
	packedImage = "sallyport-test/packed:latest"
	packed      = `cd / && { printf '%s\n' etc/passwd etc/group tmp var/tmp opt home
for p in sh bash head rm sleep setsid; do at=$(command -v $p); echo "$at"; echo "/bin/$p"; ldd "$at" | grep -o '/[^ ]*'; done; } |
sort -u | tar -chf - --no-recursion --ignore-failed-read -T - 2>/dev/null`
)

func (m *dyingEngine) host() string { return "unix://" + m.dir + "/docker.sock" }

func (m *dyingEngine) start() {
	m.t.Helper()
	m.cmd = exec.Command("dockerd", "--data-root", m.data, "--exec-root", m.dir+"/exec", "--pidfile", m.dir+"/pid", "-H", m.host(),
		"--bridge=none", "--iptables=false", "--ip-forward=false", "--ip-masq=false")
	m.cmd.Stdout, m.cmd.Stderr = &m.said, &m.said
	// In the network of the machine it would take away the bridge of the engine that is there.
	m.cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET}
	must(m.t, m.cmd.Start())
	if !await.Holds(func() bool { return exec.Command("docker", "-H", m.host(), "version").Run() == nil }) {
		m.t.Fatalf("the engine does not start: %s", m.tail())
	}
}

func (m *dyingEngine) tail() string {
	lines := strings.Split(m.said.String(), "\n")
	return strings.Join(lines[max(0, len(lines)-10):], "\n")
}

// die ends the engine as a crash does. Its containers go on.
func (m *dyingEngine) die() {
	m.t.Helper()
	must(m.t, m.cmd.Process.Kill())
	_ = m.cmd.Wait()
	// A crash leaves these, and the numbers in them may be somebody else's by now, or those of zombies.
	_ = os.Remove(m.dir + "/pid")
	_ = os.Remove(m.dir + "/exec/containerd/containerd.pid")
}

// end takes everything away that the engine started.
func (m *dyingEngine) end() {
	_ = m.cmd.Process.Signal(syscall.SIGTERM)
	_ = m.cmd.Process.Signal(syscall.SIGCONT) // a failed test may have left it stopped
	_ = m.cmd.Wait()                          // it gives its containers 15 seconds
	for _, pid := range m.own() {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	mounts, _ := os.ReadFile("/proc/self/mounts")
	for _, line := range strings.Split(string(mounts), "\n") {
		if f := strings.Fields(line); len(f) > 1 && (strings.HasPrefix(f[1], m.dir+"/") || strings.HasPrefix(f[1], m.data+"/")) {
			_ = syscall.Unmount(f[1], syscall.MNT_DETACH)
		}
	}
}

// own are the processes that name the engine's directory: its containerd and the shims.
func (m *dyingEngine) own() (pids []int) {
	entries, _ := os.ReadDir("/proc")
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if b, rerr := os.ReadFile("/proc/" + e.Name() + "/cmdline"); err == nil && rerr == nil && pid != os.Getpid() && bytes.Contains(b, []byte(m.dir+"/")) {
			pids = append(pids, pid)
		}
	}
	return pids
}

// options are those of a runner that uses this engine.
func (m *dyingEngine) options(h *home) docker.Options {
	o := h.container(m.t)
	o.Host, o.Image = m.host(), packedImage
	return o
}

// lasting starts a command that lasts and leaves a process of a session of its own, both with a tag. A
// timeout of 0 is the usual one.
func lasting(t *testing.T, env engine.Environment, h *home, timeout time.Duration) (engine.Process, string) {
	t.Helper()
	tag := runnertest.NewTag()
	c := prepared(t, env, h.workspace, `echo begun; (setsid sleep "$TAG" &); sleep "$TAG"`)
	if c.Env = append(c.Env, "TAG="+tag); timeout > 0 {
		c.Timeout = timeout
	}
	p := start(t, env, c)
	begun(t, p, tag)
	return p, tag
}

// TestEngineDies kills the engine between commands and in the middle of one, and brings it back.
func TestEngineDies(t *testing.T) {
	leftout.NeedRoot(t)
	t.Parallel()
	m := newDyingEngine(t, "")
	h := newHome(t)
	r := contain(t, m.options(h))
	env := open(t, r, h.spec())
	serves(t, env, h.workspace)

	m.die()
	_, err := env.Prepare("echo x >file", h.workspace)
	says(t, err, "engine does not answer|is lost")
	_, err = r.Open(t.Context(), h.spec())
	says(t, err, m.host(), "start the engine")

	m.start()
	env = open(t, r, h.spec())
	serves(t, env, h.workspace)
	p, tag := lasting(t, env, h, 0)
	m.die()
	x := ended(t, p)
	says(t, x.Error, "engine does not answer", "is lost")
	m.start()
	env = open(t, r, h.spec())
	serves(t, env, h.workspace)
	gone(t, tag)
	must(t, env.Close())
	if out := strings.TrimSpace(cliAt(t, m, "ps", "-aq")); out != "" {
		t.Errorf("containers are left: %s", out)
	}
}

// TestEngineStops stops the engine in the middle of a command. No request waits without end, and requests
// after the engine went on find the session again.
func TestEngineStops(t *testing.T) {
	leftout.NeedRoot(t)
	t.Parallel()
	m := newDyingEngine(t, "")
	h := newHome(t)
	r := contain(t, m.options(h))
	env := open(t, r, h.spec())
	p, tag := lasting(t, env, h, 5*time.Second)
	must(t, m.cmd.Process.Signal(syscall.SIGSTOP))
	opened := make(chan error, 1)
	go func() { _, err := r.Open(t.Context(), h.spec()); opened <- err }()
	x := ended(t, p)
	if !errors.Is(x.Error, wire.ErrSilent) || x.Code != -1 {
		t.Errorf("%+v", x)
	}
	says(t, x.Error, "engine does not answer")
	gone(t, tag)
	says(t, await.Receive(t, "refusal", opened), m.host(), "does not answer in time")
	must(t, m.cmd.Process.Signal(syscall.SIGCONT))
	again(t, h, r, env)
}

func cliAt(t *testing.T, m *dyingEngine, words ...string) string {
	t.Helper()
	return cli(t, append([]string{"-H", m.host()}, words...)...)
}

// TestFullEngine fills the engine's own disk, from within a container that may write to it and from outside.
func TestFullEngine(t *testing.T) {
	leftout.NeedRoot(t)
	t.Parallel()
	data, err := os.MkdirTemp("", "sp-data-")
	must(t, err)
	t.Cleanup(func() { _ = os.Remove(data) })
	mount(t, data, "-t", "tmpfs", "-o", "size=1g", "none")
	m := newDyingEngine(t, data)
	h := newHome(t)
	o := m.options(h)
	o.Writable = true
	r := contain(t, o)
	env := open(t, r, h.spec())
	x := run(t, env, h.workspace, `for d in "$HOME" /var/tmp /opt; do head -c 3000000000 /dev/zero >"$d/big"; done; rm -f "$HOME/big" /var/tmp/big /opt/big`)
	if x.Error != nil || !strings.Contains(x.Stderr.Text, "No space left") {
		t.Errorf("%+v", x)
	}
	serves(t, env, h.workspace)
	must(t, env.Close())

	full := filepath.Join(data, "full")
	f, err := os.Create(full)
	must(t, err)
	for block := make([]byte, 1<<20); err == nil; _, err = f.Write(block) {
	}
	must(t, f.Close())
	env, err = r.Open(t.Context(), h.spec())
	if err == nil { // an engine can make a container without a byte to spare
		serves(t, env, h.workspace)
		must(t, env.Close())
	} else {
		says(t, err, "no space left on device", "disk is full")
	}
	must(t, os.Remove(full))
	serves(t, open(t, r, h.spec()), h.workspace)
}

// TestNoShell has an image in which no command can be run.
func TestNoShell(t *testing.T) {
	leftout.Full(t, leftout.Slow)
	image(t)
	h := newHome(t)
	empty := filepath.Join(t.TempDir(), "root")
	must(t, os.MkdirAll(filepath.Join(empty, "etc"), 0o755))
	must(t, os.WriteFile(filepath.Join(empty, "etc", "nothing"), nil, 0o644))
	ref := "sallyport-test/no-shell:" + nonce()
	tar := exec.Command("tar", "-C", empty, "-cf", "-", ".")
	load := exec.Command("docker", "import", "-", ref)
	var err error
	load.Stdin, err = tar.StdoutPipe()
	must(t, err)
	must(t, tar.Start())
	if out, err := load.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	must(t, tar.Wait())
	t.Cleanup(func() { cli(t, "rmi", ref) })
	o := h.container(t)
	o.Image = ref
	env, err := contain(t, o).Open(t.Context(), h.spec())
	if err == nil {
		defer env.Close()
		_, err = env.Prepare("true", h.workspace)
	}
	says(t, err, ref, "bash", "shell")
	o.Image = "sallyport-test/absent:" + nonce()
	_, err = contain(t, o).Open(t.Context(), h.spec())
	says(t, err, o.Image, "sallyport image build|docker pull|docker.pull")
}
