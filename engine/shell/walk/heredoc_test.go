package walk

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/sallyport-dev/sallyport/internal/leftout"
)

// TestHeredocEndsAsInBash runs texts in a sandbox: a text that is understood has the command that bash runs.
func TestHeredocEndsAsInBash(t *testing.T) {
	bwrap, bash := leftout.Command(t, "bwrap"), leftout.Command(t, "bash")
	for _, c := range []struct {
		text       string
		understood bool
	}{
		{": <<E\nE\necho HIT\n", true},
		{": <<E\na\nE\necho HIT\n", true},
		{": <<'E'\na ${x:-'b}\nE\necho HIT\n", true},
		{": <<'E'\na\\\nE\necho HIT\n", true},
		{": <<\\E\n'\nE\necho HIT\n", true},
		{": <<E\na ${x:-default} it's\nE\necho HIT\n", true},
		{": <<E\nE \necho HIT\nE\n", true},
		{": <<-E\n\ta\n\tE\necho HIT\n", true},
		{": <<-'E'\n\ta\n \tE\necho HIT\n\t\tE\n", true},
		{": <<A; : <<'B'\na\nA\nb\nB\necho HIT\n", true},
		{": <<A <<B\nA\nB\necho HIT\n", true},
		{"x=$(cat <<E\na\nE\n)\necho HIT\n", true},
		{"x=`cat <<E\na\nE\n`\necho HIT\n", true},
		{"f() { : <<E\na\nE\n}\nf; echo HIT\n", true},
		{"if : <<E; then\na\nE\necho HIT; fi\n", true},
		{": <<E\na\nE", true},
		{": <<E\na\\\\\nE\necho HIT\n", true},
		{": <<E\nE\r\necho HIT\nE\n", false},
		{": <<EOF\nEO\\\nF\necho HIT\n: <<EOF\nEOF\n", false},
		{": <<EOF\nEO\\\nF\necho HIT\nEOF\n", false},
		{": <<E\n${x:-'d}\nE\necho HIT\n: 'd}\nE\n", false},
		{": <<E\n${x:-\"d}\nE\necho HIT\n: \"d}\nE\n", false},
		{": <<E\n${x:-\\}\nE\necho HIT\n: }\nE\n", false},
		{": <<-E\n\t${x:-'d}\n\tE\necho HIT\n: 'd}\n\tE\n", false},
		{": <<E\na\necho HIT\n", false},
		{"x=$(cat <<E\na\nE)\necho HIT\nE\n)\n", false},
		{"x=$(cat <<'E'\nE b)\necho HIT\n: $(:\nE\n)\n", false},
		{": <<$'E'\na\nE\necho HIT\n", false},
		{"eval ': <<E\nE\\\n\necho HIT\nE\n'", false},
		{": <<A <<B\nA\n${x:-'d}\nB\necho HIT\n: 'd}\nB\n", false},
	} {
		out, _ := exec.Command(bwrap, "--unshare-all", "--ro-bind", "/", "/", "--dev", "/dev", "--tmpfs", "/tmp",
			bash, "-c", c.text).Output()
		runs := strings.Contains(string(out), "HIT")
		got := parseForTable(c.text)
		refused := strings.HasPrefix(got[0], "error") || slices.Contains(got, "program unknown")
		finds := slices.ContainsFunc(got, func(l string) bool { return strings.HasPrefix(l, "echo HIT") })
		if !refused && finds != runs || refused == c.understood {
			t.Errorf("%q: bash runs it: %t; understood %t, want %t: %q", c.text, runs, !refused, c.understood, got)
		}
	}
}
