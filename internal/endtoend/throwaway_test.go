package endtoend

import (
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/sallyport-dev/sallyport/internal/leftout"
)

// TestRefusalsInAThrowAwayRoot runs texts that destroy a home, in a root that exists for one run and holds
// nothing of this machine but a read-only /usr: once by bash alone, to show that they do destroy it, and
// once through the gate, which must refuse and leave everything where it was.
func TestRefusalsInAThrowAwayRoot(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		leftout.Skip(t, leftout.Platform, "throw-away roots need Linux")
	}
	bwrap := leftout.Command(t, "bwrap")
	texts := map[string]string{
		"absolute home":         `rm -rf /home/user`,
		"everything":            `rm -rf --no-preserve-root /`,
		"split flags":           `rm -r -f "/home"/*`,
		"backslash":             `r\m -rf ~`,
		"quotes in the word":    `r''m -rf "$HOME"`,
		"constant":              `X=rm; $X -rf /home`,
		"changed directory":     `cd / && rm -rf *`,
		"parent directory":      `rm -rf ../../user`,
		"decoded":               `echo cm0gLXJmIH4K | base64 -d | sh`,
		"ansi-c quoting":        `$'\x72\x6d' -rf ~`,
		"find":                  `find / -delete`,
		"find exec":             `find ~ -mindepth 1 -exec rm -rf {} +`,
		"xargs":                 `echo /home/user | xargs rm -rf`,
		"nested shell":          `bash -lc "bash -c 'rm -rf ~'"`,
		"function":              `clean() { rm -rf "$1"; }; clean ~`,
		"loop":                  `for d in ~; do rm -rf "$d"; done`,
		"here-document":         "bash <<'EOF'\nrm -rf ~\nEOF",
		"script it writes":      "printf 'rm -rf ~\\n' > x.sh; bash x.sh",
		"truncating redirect":   `: > ~/precious`,
		"trap":                  `trap 'rm -rf ~' EXIT`,
		"substitution":          `echo "$(rm -rf ~)"`,
		"emptied by a copy":     `cp /dev/null ~/precious`,
		"inline perl":           `perl -e 'unlink glob "~/*"'`,
		"inline perl, shell":    `perl -e 'system("rm -rf ~")'`,
		"behind an allowed one": `true && { ls; rm -rf ~; }`,
	}
	const gate = `printf 'version: 1\nlocal: {sandbox: none}\n' >/state/none.yaml
sallyport --config /state/none.yaml exec -c "$1"; echo "exit: $?"`
	for name, text := range texts {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := throwAway(bwrap)
			alone := run(t, "/", nil, append(root, "bash", "-c", probe(`bash -c "$1" < /dev/null`), "probe", text)...)
			if !strings.Contains(alone.stdout, "precious: gone") {
				t.Fatalf("without the gate the text does no harm, so this case shows nothing:\n%s%s", alone.stdout, alone.stderr)
			}
			gated := run(t, "/", nil, append(root, "bash", "-c", probe(gate), "probe", text)...)
			if !strings.Contains(gated.stdout, "precious: kept") || !strings.Contains(gated.stdout, "exit: 126") {
				t.Errorf("through the gate, want exit 126 and everything kept:\n%s%s", gated.stdout, gated.stderr)
			}
		})
	}
}

// throwAway is a bubblewrap command line for a root of its own: of /usr the programs and their libraries,
// read-only, since to try to remove all of it takes long; all else in memory.
func throwAway(bwrap string) []string {
	argv := []string{bwrap, "--unshare-all", "--die-with-parent", "--new-session"}
	libraries, _ := filepath.Glob("/usr/lib/*-linux-*")
	if len(libraries) == 0 {
		libraries = []string{"/usr/lib"}
	}
	for _, dir := range append(libraries, "/usr/bin", "/usr/lib64") {
		argv = append(argv, "--ro-bind-try", dir, dir)
	}
	return append(argv,
		"--symlink", "usr/bin", "/bin", "--symlink", "usr/lib", "/lib", "--symlink", "usr/lib64", "/lib64",
		"--proc", "/proc", "--dev", "/dev", "--tmpfs", "/home", "--tmpfs", "/state", "--tmpfs", "/tmp", "--tmpfs", "/etc",
		"--ro-bind", program, filepath.Join("/opt", "sallyport"),
		"--clearenv", "--setenv", "PATH", "/opt:/usr/bin", "--setenv", "HOME", "/home/user", "--setenv", "XDG_STATE_HOME", "/state",
		"--",
	)
}

// probe is a script that makes a home, does something with $1 in its workspace and says what became of the home.
func probe(do string) string {
	return `mkdir -p ~/project && echo data > ~/precious && cd ~/project || exit 9
` + do + `
if [ -s ~/precious ]; then echo "precious: kept"; else echo "precious: gone"; fi`
}
