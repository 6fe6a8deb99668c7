package command_test

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/internal/leftout"
	"github.com/sallyport-dev/sallyport/runners/command"
)

// confined is the command line of docs/runners.md: nothing but the system's programs and one workspace,
// no network, processes of its own.
func confined(t testing.TB, workspace string) []string {
	t.Helper()
	bwrap := leftout.Command(t, "bwrap")
	words := []string{bwrap, "--unshare-all", "--die-with-parent", "--new-session", "--uid", "1000", "--gid", "1000", "--cap-drop", "ALL",
		"--ro-bind", "/usr", "/usr", "--symlink", "usr/bin", "/bin", "--symlink", "usr/lib", "/lib", "--symlink", "usr/lib64", "/lib64",
		"--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--dir", "/home/agent", "--clearenv", "--setenv", "HOME", "/home/agent", "--setenv", "PATH", "/usr/bin",
		"--bind", workspace, workspace, "--ro-bind", program, "/opt/sallyport-supervisor", "/opt/sallyport-supervisor"}
	return words
}

// TestConfinement tries what the sandbox is there to prevent, and shows each to work without it.
func TestConfinement(t *testing.T) {
	root := t.TempDir()
	for _, dir := range []string{root, filepath.Dir(root)} {
		if err := os.Chmod(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	workspace, outside := filepath.Join(root, "workspace"), filepath.Join(root, "outside")
	for _, dir := range []string{workspace, outside} {
		if err := os.Mkdir(dir, 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(dir, 0o777); err != nil { // whatever the umask says
			t.Fatal(err)
		}
	}
	write(t, filepath.Join(outside, "secret"), "hunter2")
	if err := os.Chmod(filepath.Join(outside, "secret"), 0o644); err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	sleeper := exec.Command("sleep", "600")
	if err := sleeper.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		sleeper.Process.Kill()
		sleeper.Wait()
	}()
	vars := []string{"OUTSIDE=" + outside, "WS=" + workspace, "PORT=" + port, "LINK=" + filepath.Join(workspace, "link")}
	free, shut := open(t, command.Options{Command: []string{program}}), open(t, command.Options{Command: confined(t, workspace)})
	defer free.Close()
	defer shut.Close()
	status := func(env engine.Environment, text string) int {
		t.Helper()
		p, err := start(env, text, vars...)
		if err != nil {
			t.Fatal(err)
		}
		return p.Wait().Code
	}
	for _, text := range []string{
		`cat "$OUTSIDE/secret"`,
		`ln -sfn "$OUTSIDE" "$LINK" && cat "$LINK/secret"`,
		`echo x >"$OUTSIDE/new"`,
		`ls "$OUTSIDE"`,
		`test -e /etc/passwd`,
		`exec 3<>"/dev/tcp/127.0.0.1/$PORT"`,
		`grep -qs "^sleep.600" /proc/[0-9]*/cmdline || tr '\0' ' ' </proc/` + strconv.Itoa(sleeper.Process.Pid) + `/cmdline | grep -q "sleep 600"`,
	} {
		if status(free, text) != 0 {
			t.Errorf("%s: does not work without the sandbox, so it shows nothing", text)
		}
		if status(shut, text) == 0 {
			t.Errorf("%s: works in the sandbox", text)
		}
	}
	if status(shut, `echo x >"$WS/mine" && cat "$WS/mine"`) != 0 {
		t.Error("the workspace is not for writing")
	}
}
