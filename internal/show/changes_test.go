package show

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sallyport-dev/sallyport/engine"
)

func TestDiff(t *testing.T) {
	t.Parallel()
	redact := func(text string) string { return strings.ReplaceAll(text, "hunter2", "[secret]") }
	long := strings.Repeat("x", widest+7)
	var many strings.Builder
	for i := range 2 * mostDiff {
		fmt.Fprintln(&many, i)
	}
	for name, c := range map[string]struct {
		what, before, after string
		want                []string
	}{
		"changed": {engine.Changed, "a\nb\n", "a\nc\n",
			[]string{"--- /w/f", "+++ /w/f", "@@ -1,2 +1,2 @@", " a", "-b", "+c"}},
		"created": {engine.Created, "", "a\n", []string{"--- /dev/null", "+++ /w/f", "@@ -0,0 +1,1 @@", "+a"}},
		"removed": {engine.Removed, "a\n", "", []string{"--- /w/f", "+++ /dev/null", "@@ -1,1 +0,0 @@", "-a"}},
		"escapes": {engine.Created, "", "\x1b[2J\u202e\tx\r\n",
			[]string{"--- /dev/null", "+++ /w/f", "@@ -0,0 +1,1 @@", `+\u001b[2J\u202e    x\u000d`}},
		"secret":         {engine.Changed, "p=hunter2\n", "p=hunter2\nq\n", []string{"--- /w/f", "+++ /w/f", "@@ -1,1 +1,2 @@", " p=[secret]", "+q"}},
		"only a secret":  {engine.Changed, "p=hunter2\n", "p=[secret]\n", []string{"/w/f: only redacted parts differ"}},
		"a wide line":    {engine.Created, "", long + "\n", []string{"--- /dev/null", "+++ /w/f", "@@ -0,0 +1,1 @@", "+" + long[:widest-1] + "… 8 more bytes"}},
		"only its mode":  {engine.Changed, "a\n", "a\n", nil},
		"without a line": {engine.Created, "", "", nil},
	} {
		texts := &engine.Texts{Before: c.before, After: c.after}
		got := Diff(engine.Changes{List: []engine.Change{{Path: "/w/f", What: c.what, Texts: texts}}}, redact)
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	texts := &engine.Texts{After: many.String()}
	got := Diff(engine.Changes{List: []engine.Change{{Path: "/w/f", Texts: texts}, {Path: "/w/binary"}}}, redact)
	if len(got) != mostDiff+1 || got[mostDiff] != "the diff goes on" {
		t.Errorf("%d lines, the last %q", len(got), got[len(got)-1])
	}
}
