package bench

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/internal/await"
	"github.com/sallyport-dev/sallyport/internal/leftout"
	"github.com/sallyport-dev/sallyport/runners/bubblewrap"
	"github.com/sallyport-dev/sallyport/runners/docker"
	"github.com/sallyport-dev/sallyport/runners/local"
)

// site is a workspace, and the program that keeps commands elsewhere.
type site struct {
	workspace, state, supervisor string
}

func newSite(b *testing.B) *site {
	b.Helper()
	base := b.TempDir()
	for dir := base; strings.HasPrefix(dir, os.TempDir()+"/"); dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil {
			b.Fatal(err)
		}
	}
	s := &site{base + "/workspace", base + "/state", supervisorFile(b)}
	if err := os.Mkdir(s.workspace, 0o777); err != nil {
		b.Fatal(err)
	}
	if os.Getuid() == 0 { // no command runs as root in a container
		if err := os.Chown(s.workspace, 1000, 1000); err != nil {
			b.Fatal(err)
		}
	}
	return s
}

func (s *site) open(b *testing.B, r engine.Runner, err error) engine.Environment {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
	env, err := r.Open(context.Background(), engine.EnvironmentSpec{Agent: "bench", Session: b.Name(),
		Layout: facts.Layout{
			Workspace: s.workspace, Home: "/home/agent",
			Roots: []facts.Root{{Path: s.workspace, Write: true, Zone: "workspace"}},
		}})
	if err != nil {
		b.Fatal(err)
	}
	return env
}

// kept opens an environment that lasts as long as the benchmark.
func (s *site) kept(b *testing.B, r engine.Runner, err error) engine.Environment {
	b.Helper()
	env := s.open(b, r, err)
	b.Cleanup(func() {
		if err := env.Close(); err != nil {
			b.Error(err)
		}
	})
	return env
}

func (s *site) local(b *testing.B) engine.Environment {
	r, err := local.New(local.Options{})
	return s.kept(b, r, err)
}

func (s *site) bubblewrap(b *testing.B) (engine.Runner, error) {
	leftout.Command(b, "bwrap")
	return bubblewrap.New(bubblewrap.Options{Supervisor: s.supervisor, State: s.state, Network: "none",
		Environ: []string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=/home/agent"}})
}

func (s *site) docker(b *testing.B) (engine.Runner, error) {
	return docker.New(docker.Options{Environ: os.Environ(), Supervisor: s.supervisor, State: s.state,
		Image: image(b)})
}

// image is the one of the tests.
func image(b *testing.B) string {
	b.Helper()
	if named := os.Getenv("SALLYPORT_TEST_IMAGE"); named != "" {
		leftout.NeedDocker(b, named)
		return named
	}
	leftout.NeedDocker(b, docker.RuntimeImage)
	return docker.RuntimeImage
}

// plainly starts a container as people do, of the same image, for the baselines.
func plainly(b *testing.B, workspace string) string {
	b.Helper()
	out, err := exec.Command("docker", "run", "-d", "--rm", "--network", "none", "-v", workspace+":"+workspace,
		"--entrypoint", "sleep", image(b), "infinity").Output()
	if err != nil {
		b.Fatal(err)
	}
	id := strings.TrimSpace(string(out))
	b.Cleanup(func() { _ = exec.Command("docker", "rm", "-f", id).Run() })
	return id
}

func started(b *testing.B, words ...string) {
	b.Helper()
	if out, err := exec.Command(words[0], words[1:]...).CombinedOutput(); err != nil {
		b.Fatalf("%s: %v: %s", strings.Join(words, " "), err, out)
	}
}

// BenchmarkDocker runs `true` through the supervisor in a container, against the engine's own exec, bare by
// its API and by the docker command, and against the same command locally. The goals: 20 times faster than
// the bare exec, and within 2 ms of local.
func BenchmarkDocker(b *testing.B) {
	s := newSite(b)
	r, err := s.docker(b)
	contained, near, id, api := s.kept(b, r, err), s.local(b), plainly(b, s.workspace), newAPI(b)
	var ours, here, bare, cli sample
	for b.Loop() {
		ours.time(func() { runText(b, contained, "true", nil) })
		here.time(func() { runText(b, near, "true", nil) })
		bare.time(func() { api.exec(b, id, "bash", "-c", "true") })
		cli.time(func() { started(b, "docker", "exec", id, "bash", "-c", "true") })
	}
	report(b, "docker", ours)
	report(b, "local", here)
	report(b, "api-exec", bare)
	report(b, "docker-exec", cli)
	b.ReportMetric(float64((ours.quantile(0.5) - here.quantile(0.5)).Microseconds()), "more-than-local-µs")
	ratio(b, bare, ours, "faster-than-api-exec")
	ratio(b, cli, ours, "faster-than-docker-exec")
}

// BenchmarkDockerParallel runs sixteen commands in one container at once, against one after another. The goal
// is 1.7 times as fast on two processors.
func BenchmarkDockerParallel(b *testing.B) {
	s := newSite(b)
	r, err := s.docker(b)
	env := s.kept(b, r, err)
	var at, after sample
	for b.Loop() {
		after.time(func() {
			for range 16 {
				runText(b, env, "true", nil)
			}
		})
		at.time(func() {
			var all sync.WaitGroup
			for range 16 {
				all.Go(func() { runText(b, env, "true", nil) })
			}
			all.Wait()
		})
	}
	report(b, "at-once", at)
	report(b, "one-after-another", after)
	ratio(b, after, at, "faster-at-once")
}

// BenchmarkDockerExec runs the whole program for each command in a kept container, with the resident process
// and without, against the docker command. The goal is 2.5 times.
func BenchmarkDockerExec(b *testing.B) {
	bin := os.Getenv("SALLYPORT_BIN")
	if bin == "" {
		b.Skip("SALLYPORT_BIN is not set: run `make bench`")
	}
	s := newSite(b)
	id := plainly(b, s.workspace)
	file := filepath.Join(filepath.Dir(s.workspace), "config.yaml")
	text := fmt.Sprintf("version: 1\nworkspace: %s\nrunner: docker\ndocker: {keep: true, image: %s}\n",
		s.workspace, image(b))
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		b.Fatal(err)
	}
	b.Setenv("XDG_STATE_HOME", s.state)
	b.Setenv("SALLYPORT_CONFIG", file)
	b.Chdir(s.workspace)
	exec := func(program string) {
		started(b, "setsid", "-w", program, "exec", "--", "bash", "-c", "true") // without a terminal
	}
	exec(bin)
	b.Cleanup(func() {
		started(b, bin, "serve", "--stop")
		await.True(b, "the container is removed", func() bool {
			started(b, bin, "env", "prune", "--kept")
			out, err := osexec(bin, "env", "list", "--format", "json")
			return err == nil && !strings.Contains(out, `"kept": true`)
		})
	})
	await.True(b, "the resident process answers", func() bool {
		_, err := osexec(bin, "serve", "--status")
		return err == nil
	})
	exec(bin)
	var warm, cold, cli sample
	for b.Loop() {
		for range 5 {
			warm.time(func() { exec(bin) })
			cli.time(func() { started(b, "setsid", "-w", "docker", "exec", id, "bash", "-c", "true") })
		}
		cold.time(func() { exec(bin + "-full") })
		exec(bin)
	}
	report(b, "exec", warm)
	report(b, "exec-without-resident", cold)
	report(b, "docker-exec", cli)
	ratio(b, warm, cli, "docker-exec")
	ratio(b, cold, cli, "docker-exec-without-resident")
}

func osexec(words ...string) (string, error) {
	out, err := exec.Command(words[0], words[1:]...).CombinedOutput()
	return string(out), err
}

// BenchmarkBubblewrap runs `true` in a sandbox that is there, against plain bash. The goal is 1.5 times.
func BenchmarkBubblewrap(b *testing.B) {
	s := newSite(b)
	r, err := s.bubblewrap(b)
	confined, near := s.kept(b, r, err), s.local(b)
	var ours, here, bash sample
	for b.Loop() {
		ours.time(func() { runText(b, confined, "true", nil) })
		here.time(func() { runText(b, near, "true", nil) })
		bash.time(func() { started(b, "bash", "-c", "true") })
	}
	report(b, "bubblewrap", ours)
	report(b, "local", here)
	report(b, "bash", bash)
	ratio(b, ours, here, "local")
	ratio(b, ours, bash, "bash")
}

// BenchmarkEnvironmentStream passes output on as it comes, against a plain pipe and `docker exec`.
func BenchmarkEnvironmentStream(b *testing.B) {
	const size = 64 << 20
	s := newSite(b)
	rb, err := s.bubblewrap(b)
	confined := s.kept(b, rb, err)
	rd, err := s.docker(b)
	contained, id := s.kept(b, rd, err), plainly(b, s.workspace)
	text := fmt.Sprintf("head -c %d /dev/zero", size)
	pipe := func(words ...string) {
		cmd := exec.Command(words[0], words[1:]...)
		cmd.Stdout = struct{ io.Writer }{io.Discard} // no file: it goes through this process
		if err := cmd.Run(); err != nil {
			b.Fatal(err)
		}
	}
	var bash, sandbox, container, cli sample
	for b.Loop() {
		bash.time(func() { pipe("bash", "-c", text) })
		sandbox.time(func() { runText(b, confined, text, io.Discard) })
		container.time(func() { runText(b, contained, text, io.Discard) })
		cli.time(func() { pipe("docker", "exec", id, "bash", "-c", text) })
	}
	rate := func(s sample) float64 { return size / 1e6 / s.quantile(0.5).Seconds() }
	b.ReportMetric(rate(bash), "pipe-MB/s")
	b.ReportMetric(rate(sandbox), "bubblewrap-MB/s")
	b.ReportMetric(rate(container), "docker-MB/s")
	b.ReportMetric(rate(cli), "docker-exec-MB/s")
	ratio(b, sandbox, bash, "pipe-bubblewrap")
	ratio(b, cli, container, "faster-than-docker-exec")
}

// BenchmarkEnvironmentFlood lets a command write without end for a second and measures how far this process
// grows. The goal is 16 MiB.
func BenchmarkEnvironmentFlood(b *testing.B) {
	s := newSite(b)
	rb, err := s.bubblewrap(b)
	confined := s.kept(b, rb, err)
	rd, err := s.docker(b)
	contained := s.kept(b, rd, err)
	for b.Loop() {
		for name, env := range map[string]engine.Environment{"local": s.local(b), "bubblewrap": confined,
			"docker": contained} {
			grown, bytes := flood(b, env)
			b.ReportMetric(float64(grown)/(1<<20), name+"-grows-MiB")
			b.ReportMetric(float64(bytes)/1e6, name+"-MB/s")
		}
	}
}

// flood returns by how much the memory of this process grows, and how much was written in a second.
func flood(b *testing.B, env engine.Environment) (grown int, bytes int64) {
	b.Helper()
	runText(b, env, "true", nil)
	c, err := env.Prepare("yes", "/")
	if err != nil {
		b.Fatal(err)
	}
	c.ID, c.Timeout, c.Grace, c.Output = "bench", time.Second, 100*time.Millisecond, 1<<20
	runtime.GC()
	debug.FreeOSMemory()
	before, most := resident(b), 0
	done := make(chan struct{})
	var watch sync.WaitGroup
	watch.Go(func() {
		for {
			select {
			case <-done:
				return
			case <-time.After(5 * time.Millisecond):
				most = max(most, resident(b))
			}
		}
	})
	p, err := env.Start(context.Background(), c)
	if err != nil {
		b.Fatal(err)
	}
	x := p.Wait()
	close(done)
	watch.Wait()
	return max(0, most-before), x.Stdout.Bytes
}

// resident is the memory of this process in bytes.
func resident(b *testing.B) int {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		b.Error(err)
	}
	var all, here int
	if _, err := fmt.Sscan(string(text), &all, &here); err != nil {
		b.Error(err)
	}
	return here * os.Getpagesize()
}

// BenchmarkEnvironmentStart opens an environment, runs one command and closes it, against the same by hand:
// a sandbox of bwrap, and `docker run --rm`.
func BenchmarkEnvironmentStart(b *testing.B) {
	s := newSite(b)
	rb, err := s.bubblewrap(b)
	if err != nil {
		b.Fatal(err)
	}
	rd, err := s.docker(b)
	if err != nil {
		b.Fatal(err)
	}
	first := func(r engine.Runner) (toOutput, toEnd time.Duration) {
		start := time.Now()
		env := s.open(b, r, nil)
		runText(b, env, "echo up", nil)
		toOutput = time.Since(start)
		if err := env.Close(); err != nil {
			b.Fatal(err)
		}
		return toOutput, time.Since(start)
	}
	var sandbox, container, containerEnd, bwrap, run sample
	for b.Loop() {
		out, _ := first(rb)
		sandbox = append(sandbox, out)
		out, end := first(rd)
		container, containerEnd = append(container, out), append(containerEnd, end)
		bwrap.time(func() {
			started(b, "bwrap", "--unshare-all", "--die-with-parent", "--ro-bind", "/", "/", "--proc", "/proc",
				"--dev", "/dev", "--tmpfs", "/tmp", "bash", "-c", "echo up")
		})
		run.time(func() {
			started(b, "docker", "run", "--rm", "--network", "none", "-v", s.workspace+":"+s.workspace, "--entrypoint",
				"bash", image(b), "-c", "echo up")
		})
	}
	report(b, "bubblewrap-first-output", sandbox)
	report(b, "bwrap-by-hand", bwrap)
	report(b, "docker-first-output", container)
	report(b, "docker-and-removed", containerEnd)
	report(b, "docker-run", run)
	ratio(b, sandbox, bwrap, "bwrap-by-hand")
	ratio(b, containerEnd, run, "docker-run")
}
