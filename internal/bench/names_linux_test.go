package bench

import (
	"context"
	"fmt"
	"os/exec"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/runners/local"
	"github.com/sallyport-dev/sallyport/runners/undo"
)

// BenchmarkNames runs commands that make many names with the service that makes them (Options.Watched), and
// without, in turns. "x-time" and "x-processor" are the ratios of medians; "us/name" is the processor's time
// that a name adds.
func BenchmarkNames(b *testing.B) { benchmarkNames(b, false) }

// BenchmarkUndo is BenchmarkNames with the record of changes (Options.Undo) in addition. "us/name" is for a
// changed file.
func BenchmarkUndo(b *testing.B) { benchmarkNames(b, true) }

func benchmarkNames(b *testing.B, record bool) {
	for _, tc := range []struct {
		name, prepare, text string
		names               float64
	}{
		{"unpack", "mkdir t; for d in {1..80}; do mkdir t/$d; touch t/$d/{1..100}; done; tar cf t.tar t",
			"rm -rf u; mkdir u; tar xf t.tar -C u", 8080},
		{"clone", "git init -q r; cd r; for d in {1..40}; do mkdir $d; " +
			"for f in {1..50}; do echo $d $f > $d/$f; done; done; git add -A; " +
			"git -c user.name=x -c user.email=x commit -qm x",
			"rm -rf c; git clone -q --no-local r c", 2100},
		{"append", "touch f{1..1000}", "for i in {1..1000}; do echo x >> f$i; done", 1000},
		{"make", "for i in {1..13}; do echo \"int f$i(void) { return $i; }\" > f$i.c; done; " +
			"printf 'a: %s\\n\\tcc -o $@ -shared $^\\n' \"$(echo f{1..13}.o)\" > Makefile",
			"make -sB CFLAGS=-fPIC", 60},
		{"rewrite", "touch f{1..1000}; for f in f*; do head -c 8000 /dev/urandom > $f; done",
			"for i in {1..5}; do cat f{1..1000} > all; sed -i s/a/b/ f{1..200}; done", 1005},
		{"status", "git init -q r; cd r; touch {1..2000}; git add -A",
			"for i in {1..5}; do git -C r status -s | wc -l; done", 0},
	} {
		b.Run(tc.name, func(b *testing.B) {
			dir := b.TempDir()
			if out, err := bashIn(dir, tc.prepare); err != nil {
				b.Skipf("%v: %s", err, out)
			}
			with, without := namesIn(b, dir, dir, record), namesIn(b, dir, "", false)
			var wall, cpu [2]sample
			decisions := 0
			run := func(i int, env engine.Environment) {
				c, err := env.Prepare(tc.text, dir)
				if err != nil {
					b.Fatal(err)
				}
				decisions++
				c.ID, c.Timeout, c.Output = fmt.Sprint("D-", decisions), time.Hour, 1<<16
				c.MayMake = func(string) bool { return false }
				used := processor()
				wall[i].time(func() {
					p, err := env.Start(context.Background(), c)
					if err != nil {
						b.Fatal(err)
					}
					if x := p.Wait(); x.Code != 0 {
						b.Fatalf("%+v", x)
					}
				})
				cpu[i] = append(cpu[i], processor()-used)
			}
			for b.Loop() {
				run(0, with)
				run(1, without)
			}
			ratio(b, wall[0], wall[1], "time")
			ratio(b, cpu[0], cpu[1], "processor")
			if tc.names > 0 {
				added := cpu[0].quantile(0.5) - cpu[1].quantile(0.5)
				b.ReportMetric(float64(added.Microseconds())/tc.names, "us/name")
			}
		})
	}
}

// namesIn opens an environment of this machine, in which the names below a directory are watched.
func namesIn(b *testing.B, workspace, watched string, record bool) engine.Environment {
	b.Helper()
	o := local.Options{}
	if record {
		store, err := undo.Begin(undo.Options{Dir: b.TempDir(), Most: 10 << 30}, undo.Session{})
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(store.Close)
		o.Undo = &undo.RecorderOptions{Dir: store.Kept(), Most: store.Most()}
	}
	if watched != "" {
		o.Watched = []string{watched}
	}
	r, err := local.New(o)
	if err != nil {
		b.Fatal(err)
	}
	var spec engine.EnvironmentSpec
	spec.Layout.Workspace = workspace
	env, err := r.Open(context.Background(), spec)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = env.Close() })
	return env
}

func bashIn(dir, text string) ([]byte, error) {
	c := exec.Command("bash", "-ec", text)
	c.Dir = dir
	return c.CombinedOutput()
}

// processor is the time of the processor that this process and its children have used.
func processor() (sum time.Duration) {
	for _, who := range []int{unix.RUSAGE_SELF, unix.RUSAGE_CHILDREN} {
		var u unix.Rusage
		if unix.Getrusage(who, &u) == nil {
			sum += time.Duration(u.Utime.Nano() + u.Stime.Nano())
		}
	}
	return sum
}
