package endtoend

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/sallyport-dev/sallyport/internal/await"
	"github.com/sallyport-dev/sallyport/internal/testprogram"
)

// program is the path of the sallyport that is tested; TestMain builds it, and the supervisor beside it.
var program string

func TestMain(m *testing.M) {
	if os.Getenv(relayVariable) != "" {
		if err := relay(os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(testprogram.Main(m, func(dir string) { program = filepath.Join(dir, "sallyport") },
		"cmd/sallyport", "cmd/sallyport-supervisor"))
}

// result is how a program ended.
type result struct {
	code           int
	stdout, stderr string
}

// run starts a program and waits for it. Only a program that cannot be started fails the test.
func run(t *testing.T, dir string, env []string, argv ...string) result {
	t.Helper()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = dir, env
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("start %v: %v", argv, err)
	}
	return result{cmd.ProcessState.ExitCode(), out.String(), errs.String()}
}

// confines reports whether this machine makes sandboxes.
var confines = sync.OnceValue(func() bool {
	dir := filepath.Join(filepath.Dir(program), "first")
	if err := errors.Join(os.MkdirAll(compiled(dir), 0o700),
		os.Mkdir(filepath.Join(dir, "project"), 0o700)); err != nil {
		panic(err)
	}
	cmd := exec.Command(program, "exec", "--", "true")
	cmd.Dir, cmd.Env = filepath.Join(dir, "project"), []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH")}
	return cmd.Run() == nil
})

// compiled is where a home has the native code of the policies. That of the first run is for all.
func compiled(home string) string { return filepath.Join(home, ".local/state/sallyport/compiled") }

// withoutSandbox is the line of a configuration for machines that make none.
const withoutSandbox = "local: {sandbox: none}\n"

// configure writes the configuration of the user of a home.
func configure(t *testing.T, home, text string) {
	t.Helper()
	dir := filepath.Join(home, ".config", "sallyport")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "config.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// home makes a home with a workspace and returns both and the environment of a user who lives there.
func home(t *testing.T) (workspace string, env []string) {
	t.Helper()
	h := t.TempDir()
	t.Cleanup(func() { deserted(t, h) })
	workspace = filepath.Join(h, "project")
	if err := os.MkdirAll(workspace, 0o755); err != nil {
		t.Fatal(err)
	}
	if !confines() {
		configure(t, h, "version: 1\n"+withoutSandbox)
	}
	native := os.DirFS(compiled(filepath.Join(filepath.Dir(program), "first")))
	if err := errors.Join(os.MkdirAll(compiled(h), 0o700), os.CopyFS(compiled(h), native)); err != nil {
		t.Fatal(err)
	}
	return workspace, []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + h, "USER=user", "LANG=C.UTF-8",
	}
}

// deserted waits for the end of all processes that were started with a home. A server outlives its client
// for a moment, and writes while its files are being removed.
func deserted(t *testing.T, home string) {
	t.Helper()
	lives := func(file string) bool {
		env, _ := os.ReadFile(file) // it may have ended by now, or be somebody else's
		return slices.Contains(strings.Split(string(env), "\x00"), "HOME="+home)
	}
	await.True(t, "all that was started with HOME="+home+" ends", func() bool {
		files, _ := filepath.Glob("/proc/[0-9]*/environ")
		return !slices.ContainsFunc(files, lives)
	})
}
