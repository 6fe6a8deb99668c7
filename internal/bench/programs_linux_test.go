package bench

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
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

// A library of 120 files, and its build.
const (
	cFile = "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n" +
		"struct line$i { char *text; size_t size; };\n" +
		"static int by(const void *a, const void *b) {\n" +
		"  return strcmp(((struct line$i *)a)->text, ((struct line$i *)b)->text);\n}\n" +
		"int sort$i(FILE *in, FILE *out) {\n" +
		"  struct line$i *all = NULL;\n  size_t n = 0, size = 0;\n  char *text = NULL;\n" +
		"  while (getline(&text, &size, in) > 0) {\n" +
		"    if (!(all = realloc(all, (n + 1) * sizeof *all))) return 1;\n" +
		"    all[n++] = (struct line$i){strdup(text), strlen(text)};\n  }\n" +
		"  qsort(all, n, sizeof *all, by);\n" +
		"  for (size_t k = 0; k < n; k++) fprintf(out, \"%zu %s\", all[k].size, all[k].text);\n" +
		"  return ferror(out);\n}"
)

func cFiles(text string) string {
	return "for i in {1..120}; do cat > f$i.c <<END\n" + text + "\nEND\ndone\n" +
		"printf 'a: %s\\n\\tcc -o $@ -shared $^\\n' \"$(echo f{1..120}.o)\" > Makefile"
}

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
		{"make", "cc", cFiles(`int f$i(void) { return $i; }`), "make -sB -j2 CFLAGS=-fPIC"},
		{"make_stdio", "cc", cFiles(cFile), "make -sB -j2 CFLAGS='-fPIC -O2'"},
		{"go", "go", goModule + "; " + goBuild,
			"for i in {1..20}; do echo 'var _ = 1' >> p$i/p.go; done; " + goBuild},
		{"go_std", "go", goModule + "; echo 'import _ \"encoding/json\"' >> p1/p.go",
			strings.Replace(goBuild, " build ", " build -a ", 1)},
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
