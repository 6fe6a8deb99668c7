package filetools

import (
	"bytes"
	"strings"
	"testing"
)

// FuzzCompareLines: the changes of any two texts make the second of the first.
func FuzzCompareLines(f *testing.F) {
	for _, pair := range [][2]string{
		{"", "a"}, {"a\nb\nc\n", "a\nc"}, {"a\n\n\n", "\n\na"}, {"x\ny\nx\ny\n", "y\nx\ny\nx\n"}, {"@@ -1 +1 @@\n", "--- a\n+++ b\n"}, {"a", "a\n"}, {"\r\n", "\n"},
	} {
		f.Add([]byte(pair[0]), []byte(pair[1]))
	}
	f.Fuzz(func(t *testing.T, a, b []byte) {
		if bytes.Equal(a, b) {
			return
		}
		d := compareLines(a, b)
		var got []string
		at := 0
		for _, c := range d.changes {
			if c.oldStart < at || c.oldEnd < c.oldStart || c.newStart != len(got)+c.oldStart-at || c.newEnd < c.newStart {
				t.Fatalf("%+v of %+v", c, d.changes)
			}
			got = append(got, d.old[at:c.oldStart]...)
			got = append(got, d.new[c.newStart:c.newEnd]...)
			at = c.oldEnd
		}
		got = append(got, d.old[at:]...)
		text := strings.Join(got, "\n")
		if len(got) > 0 && !d.newTail {
			text += "\n"
		}
		if text != string(b) {
			t.Fatalf("%q by %+v is %q, not %q", a, d.changes, text, b)
		}
		if s := d.stats(); s.Added == 0 && s.Removed == 0 || s.Changed > s.Added {
			t.Fatalf("%+v", s)
		}
		if shown := d.unified("a", "b", 3, maxFileDiff); !strings.HasPrefix(shown, "--- a\n+++ b\n@@ -") || strings.Count(shown, "\n") > maxFileDiff+1 {
			t.Fatalf("%q", shown)
		}
	})
}
