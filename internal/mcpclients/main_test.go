package mcpclients

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/sallyport-dev/sallyport/internal/await"
	"github.com/sallyport-dev/sallyport/internal/leftout"
	"github.com/sallyport-dev/sallyport/internal/release"
	"github.com/sallyport-dev/sallyport/internal/testprogram"
)

// program is the path of the sallyport that is tested, whole and supervisor are those of the programs that lie
// beside it. TestMain builds them as make build does.
var program, whole, supervisor string

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(func() int {
		if testing.Short() { // all tests are part of the full run
			return m.Run()
		}
		return testprogram.Main(m, func(dir string) {
			program, whole = filepath.Join(dir, "sallyport"), filepath.Join(dir, release.Whole)
			supervisor = filepath.Join(dir, "sallyport-supervisor")
		}, "sallyport=internal/front", release.Whole+"=cmd/sallyport", "cmd/sallyport-supervisor")
	}())
}

// installed returns the directory of the clients from npm, $SALLYPORT_TEST_MCP_CLIENTS or that of the
// Makefile. It skips the test in a short run, and where they are not there at their pinned versions.
func installed(t *testing.T) string {
	t.Helper()
	leftout.Full(t, leftout.Packages)
	dir, err := filepath.Abs(cmp.Or(os.Getenv("SALLYPORT_TEST_MCP_CLIENTS"), "../../bin/mcp-clients"))
	if err != nil {
		t.Fatal(err)
	}
	var pinned struct {
		Dependencies map[string]string `json:"dependencies"`
	}
	readJSON(t, "testdata/npm/package.json", &pinned)
	for name, version := range pinned.Dependencies {
		var have struct {
			Version string `json:"version"`
		}
		text, err := os.ReadFile(filepath.Join(dir, "node_modules", name, "package.json"))
		if err == nil {
			err = json.Unmarshal(text, &have)
		}
		if err != nil || !strings.HasSuffix(version, have.Version) {
			leftout.Skip(t, leftout.Packages, "no MCP clients at their pinned versions: make mcp-clients")
		}
	}
	return dir
}

func readJSON(t *testing.T, file string, into any) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}

// node is the Node.js that runs the clients: the one installed with them or, on systems for which none is
// packaged so, the one on PATH, which must be 22.19 or newer.
func node(t *testing.T) string {
	t.Helper()
	arch := map[string]string{"amd64": "x64", "arm64": "arm64"}[runtime.GOARCH]
	own := filepath.Join(installed(t), "node_modules", "node-"+runtime.GOOS+"-"+arch, "bin", "node")
	if _, err := os.Stat(own); err == nil {
		return own
	}
	path := leftout.Command(t, "node")
	out, err := exec.Command(path, "-p", "const [a, b] = process.versions.node.split('.').map(Number); a > 22 || (a === 22 && b >= 19)").Output()
	if err != nil || strings.TrimSpace(string(out)) != "true" {
		leftout.Skip(t, leftout.Programs, path+" is too old: install Node.js 22.19 or newer")
	}
	return path
}

// tool returns the start of a command line that runs a JavaScript program of the clients.
func tool(t *testing.T, script string) []string {
	t.Helper()
	n := node(t)
	return []string{n, filepath.Join(installed(t), "node_modules", filepath.FromSlash(script))}
}

// buildGoSDK compiles the client with the official Go SDK once. Its modules may not be at hand.
var buildGoSDK = sync.OnceValues(func() (string, error) {
	path := filepath.Join(filepath.Dir(program), "gosdk")
	cmd := exec.Command("go", "build", "-o", path, ".")
	cmd.Dir = filepath.Join("testdata", "gosdk")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build: %w: %s", err, out)
	}
	return path, nil
})

// place is a home with a workspace, and the environment of a user who lives there.
type place struct {
	home, workspace string
	env             []string
}

func newPlace(t *testing.T) place {
	t.Helper()
	leftout.Full(t, leftout.Packages)
	p := place{home: t.TempDir()}
	t.Cleanup(func() { await.True(t, "all that was started in "+p.home+" has ended", p.deserted) })
	p.workspace = filepath.Join(p.home, "project")
	if err := os.MkdirAll(p.workspace, 0o755); err != nil {
		t.Fatal(err)
	}
	// Clients hand few of these on, so sallyport must find its places from HOME alone.
	p.env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + p.home, "USER=user", "LANG=C.UTF-8",
		"MCP_INSPECTOR_SECRET_STORE=file",
	}
	p.settings(t, "")
	return p
}

// deserted reports that no process of this place runs, and ends the rest. A server outlives its
// client for a moment, and writes while its files are being removed.
func (p place) deserted() bool {
	all := p.processes()
	for pid, line := range all {
		if strings.Contains(line, "\x00serve\x00") {
			_ = syscall.Kill(pid, syscall.SIGTERM)
			_ = syscall.Kill(pid, syscall.SIGCONT)
		}
	}
	return len(all) == 0
}

// processes are those with this home directory, and their command lines.
func (p place) processes() map[int]string {
	out := map[int]string{}
	files, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, file := range files { // it may have ended by now, or be somebody else's
		env, _ := os.ReadFile(file)
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if err == nil && slices.Contains(strings.Split(string(env), "\x00"), "HOME="+p.home) {
			line, _ := os.ReadFile(filepath.Join(filepath.Dir(file), "cmdline"))
			out[pid] = string(line)
		}
	}
	return out
}

// write puts a file into the workspace and returns its path.
func (p place) write(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(p.workspace, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// configure writes the configuration of the user.
func (p place) configure(t *testing.T, text string) {
	t.Helper()
	p.settings(t, fmt.Sprintf("workspace: %q\n%s", p.workspace, text))
}

// settings adds to the configuration of every test here: a time limit that is not reached, and no sandbox,
// which is not their subject. A configured absence of a sandbox gives no warning, so that a healthy server is
// silent.
func (p place) settings(t *testing.T, text string) {
	t.Helper()
	dir := filepath.Join(p.home, ".config", "sallyport")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	text = "version: 1\nlocal: {sandbox: none}\ntimeout: 1h\n" + text
	if err := os.WriteFile(filepath.Join(dir, "config.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// connection is what clients call the server.
const connection = "sallyport"

// servers writes the file in which clients find servers. All that a place starts are of one session, so
// that what one has read the next may delete.
func (p place) servers(t *testing.T, era string) string {
	t.Helper()
	text, err := json.Marshal(map[string]any{"mcpServers": map[string]any{connection: map[string]any{
		"command": program, "args": []string{"mcp", "--session", "outside"}, "cwd": p.workspace, "protocolEra": era,
	}}})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(p.home, "servers-"+era+".json")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// result is how a program ended.
type result struct {
	code           int
	stdout, stderr string
}

// run starts a program in the workspace and waits for it. Only one that cannot be started fails the test.
func (p place) run(t *testing.T, stdin string, argv ...string) result {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), await.Guard) // t.Context has ended where t cleans up
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = p.workspace, p.env
	cmd.Stdin = strings.NewReader(stdin)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	cmd.WaitDelay = await.Guard // for processes that still hold the program's streams
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("run %v: %v\n%s", argv, err, errs.String())
	}
	return result{cmd.ProcessState.ExitCode(), out.String(), errs.String()}
}

// mustRun is run for a program that must exit with 0.
func (p place) mustRun(t *testing.T, stdin string, argv ...string) string {
	t.Helper()
	r := p.run(t, stdin, argv...)
	if r.code != 0 {
		t.Fatalf("%v: exit %d\n%s%s", argv, r.code, r.stdout, r.stderr)
	}
	return r.stdout
}
