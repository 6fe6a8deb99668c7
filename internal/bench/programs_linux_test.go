package bench

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// A module of packages of which each imports the one before, and its build.
const (
	goModule = "printf 'module m\\n\\ngo 1.21\\n' > go.mod; mkdir p1; echo 'package p' > p1/p.go; " +
		"for i in {2..20}; do mkdir p$i; " +
		"printf 'package p\\n\\nimport _ \"m/p%d\"\\n' $((i-1)) > p$i/p.go; done; " +
		"printf 'package main\\n\\nimport _ \"m/p20\"\\n\\nfunc main() {}\\n' > main.go"
	goBuild = "GOCACHE=$PWD/.cache GOFLAGS=-buildvcs=false GOTELEMETRY=off CGO_ENABLED=0 go build -o m ."
)

// BenchmarkPrograms runs commands by `sallyport exec` in the sandbox, with each program judged at its start,
// against the same with programs unseen, in turns. SALLYPORT_BIN names the program; `make bench` sets it.
func BenchmarkPrograms(b *testing.B) {
	bin := os.Getenv("SALLYPORT_BIN")
	if bin == "" {
		b.Skip("SALLYPORT_BIN is not set: run `make bench`")
	}
	if _, err := exec.LookPath("bwrap"); err != nil {
		b.Skip("bubblewrap is not installed")
	}
	for _, tc := range []struct{ name, needs, prepare, text string }{
		{"true", "true", ":", "for i in {1..1000}; do /bin/true; done"},
		{"make", "cc", "for i in {1..60}; do echo \"int f$i(void) { return $i; }\" > f$i.c; done; " +
			"printf 'a: %s\\n\\tcc -o $@ -shared $^\\n' \"$(echo f{1..60}.o)\" > Makefile",
			"make -sB -j2 CFLAGS=-fPIC"},
		{"go", "go", goModule + "; " + goBuild,
			"for i in {1..20}; do echo 'var _ = 1' >> p$i/p.go; done; " + goBuild},
		{"npm", "npm", `echo '{"scripts": {"test": "node test.js && node test.js"}}' > package.json; ` +
			`echo 'require("assert")(1 + 1 === 2)' > test.js`, "npm test"},
	} {
		b.Run(tc.name, func(b *testing.B) {
			if _, err := exec.LookPath(tc.needs); err != nil {
				b.Skipf("%s is not installed", tc.needs)
			}
			home, dir := b.TempDir(), b.TempDir()
			if out, err := bashIn(dir, tc.prepare); err != nil {
				b.Skipf("%v: %s", err, out)
			}
			var spent [2]sample
			run := func(i int, mode string) {
				config := filepath.Join(home, mode+".yaml")
				text := "version: 1\ntimeout: 10m\nworkspace: " + dir + "\nprograms: {mode: " + mode + "}\n"
				if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
					b.Fatal(err)
				}
				c := exec.Command(bin, "--config", config, "exec", "-c", tc.text)
				c.Dir, c.Env = dir, append(os.Environ(), "HOME="+home, "XDG_STATE_HOME="+filepath.Join(home, mode))
				spent[i].time(func() {
					if out, err := c.CombinedOutput(); err != nil {
						b.Fatalf("%v: %s", err, out)
					}
				})
			}
			for b.Loop() {
				run(0, "judged")
				run(1, "unseen")
			}
			ratio(b, spent[0], spent[1], "time")
		})
	}
}
