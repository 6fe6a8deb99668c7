package local_test

import (
	"context"
	"os"
	"os/exec"
	"slices"
	"testing"
	"time"

	"github.com/sallyport-dev/sallyport/runners/local"
)

// BenchmarkExec runs a simple command through an environment and plainly, in turns, since a machine
// with other work to do is not the same a second later. Medians are reported; "x-of-plain" is the
// ratio that counts. "us/parent" is the time that a stand-in parent adds (supervisor.Options.Apart).
func BenchmarkExec(b *testing.B) {
	env, child := open(b, local.Options{Apart: os.Args[0]}, ""), open(b, local.Options{}, "")
	defer env.Close()
	defer child.Close()
	c, err := env.Prepare("true", b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	c.ID, c.Timeout, c.Output = "D-bench", time.Minute, 1<<20
	var ours, below, plain []time.Duration
	run := func(env *local.Environment) time.Duration {
		start := time.Now()
		proc, err := env.Start(context.Background(), c)
		if err != nil {
			b.Fatal(err)
		}
		if x := proc.Wait(); x.Code != 0 || x.Error != nil {
			b.Fatalf("%+v", x)
		}
		return time.Since(start)
	}
	for b.Loop() {
		ours = append(ours, run(env))
		below = append(below, run(child))
		start := time.Now()
		cmd := exec.Command("bash", "-c", "true")
		cmd.Env, cmd.Dir = c.Env, c.WorkDir
		if err := cmd.Run(); err != nil {
			b.Fatal(err)
		}
		plain = append(plain, time.Since(start))
	}
	b.ReportMetric(float64(median(ours).Microseconds()), "us/exec")
	b.ReportMetric(float64((median(ours) - median(below)).Microseconds()), "us/parent")
	b.ReportMetric(float64(median(plain).Microseconds()), "us/plain")
	b.ReportMetric(float64(median(ours))/float64(median(plain)), "x-of-plain")
}

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}

// BenchmarkOutput measures how fast output is read, hashed and kept.
func BenchmarkOutput(b *testing.B) {
	const size = 256 << 20
	env := open(b, local.Options{}, "")
	defer env.Close()
	c, err := env.Prepare("head -c 268435456 /dev/zero", b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	c.ID, c.Timeout, c.Output = "D-bench", time.Minute, 1<<20
	b.SetBytes(size)
	for b.Loop() {
		proc, err := env.Start(context.Background(), c)
		if err != nil {
			b.Fatal(err)
		}
		if x := proc.Wait(); x.Stdout.Bytes != size {
			b.Fatalf("%+v", x)
		}
	}
}

// BenchmarkParallel measures commands in several goroutines at once.
func BenchmarkParallel(b *testing.B) {
	env := open(b, local.Options{}, "")
	defer env.Close()
	c, err := env.Prepare("true", b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	c.ID, c.Timeout, c.Output = "D-bench", time.Minute, 1<<20
	b.SetParallelism(8)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			proc, err := env.Start(context.Background(), c)
			if err != nil {
				b.Error(err)
				return
			}
			if x := proc.Wait(); x.Error != nil || x.Killed != "" || x.Code != 0 {
				b.Errorf("%+v", x)
			}
		}
	})
}
