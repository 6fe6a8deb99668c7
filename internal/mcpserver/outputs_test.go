package mcpserver

import (
	"fmt"
	"strings"
	"testing"
)

// TestLongOutputIsPaged: a result carries the head and the tail, and read_file returns the whole, page by
// page.
func TestLongOutputIsPaged(t *testing.T) {
	t.Parallel()
	w := connect(t, newWorld(t, "", nil).Server)
	r := w.call(t, "execute_command", map[string]any{"command": "seq 100000; echo short >&2"})
	shown, name := r.str("stdout"), r.str("stdout_name")
	if len(r.Text) > 30_000 || !strings.HasPrefix(shown, "1\n2\n") ||
		!strings.HasSuffix(shown, "\n100000\n") ||
		!strings.Contains(shown, "bytes left out: read_file "+name) ||
		r.str("stderr") != "short\n" ||
		r.str("stderr_name") != "" {
		t.Fatalf("%d bytes of text; name %q; %.200s", len(r.Text), name, shown)
	}
	var whole strings.Builder
	for offset := 0.0; ; {
		page := w.call(t, "read_file", map[string]any{"path": name, "offset": offset})
		details, _ := page.Fields["details"].(map[string]any)
		content, _ := details["content"].(string)
		if page.IsError || content == "" || len(page.Text) > 30_000 {
			t.Fatalf("offset %v: %s", offset, page.Text)
		}
		whole.WriteString(content)
		next, more := details["next_offset"].(float64)
		if !more {
			break
		}
		offset = next
	}
	if lines := strings.Split(whole.String(), "\n"); len(lines) != 100_001 || lines[4321] != "4322" ||
		lines[99_999] != "100000" {
		t.Errorf("%d lines", len(lines))
	}

	for _, args := range []map[string]any{
		{"path": name + "x"}, {"path": "output:"}, {"path": name, "line_count": 0},
	} {
		if r := w.call(t, "read_file", args); !r.IsError {
			t.Errorf("%v: %s", args, r.Text)
		}
	}
	other := connect(t, newWorld(t, "", nil).Server)
	if r := other.call(t, "read_file", map[string]any{"path": name}); !r.IsError {
		t.Error("another server shows it")
	}
}

func TestOutputsShown(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text string
		most int
		want string // of which NOTE is the note
		left int64
	}{
		"short":          {"abc", 3, "abc", 0},
		"whole lines":    {"aaaa\nbbbb\ncccc\ndddd\n", 14, "aaaa\nNOTEdddd\n", 10},
		"one line":       {strings.Repeat("x", 30), 10, "xxxxx\nNOTExxxxx", 20},
		"cut characters": {strings.Repeat("é", 30), 10, "éé\nNOTEéé", 52},
	} {
		var o outputs
		got, key, left := o.shown(c.text, c.most)
		note := fmt.Sprintf("[... %d bytes left out: read_file %s ...]\n", c.left, key)
		if want := strings.Replace(c.want, "NOTE", note, 1); got != want || left != c.left {
			t.Errorf("%s: %q with %d bytes left out, want %q", name, got, left, want)
		}
		if whole, ok := o.text(key); ok != (c.left > 0) || ok && whole != c.text {
			t.Errorf("%s: kept %q", name, whole)
		}
	}
	if a, b := shares(10, 100, 2); a != 8 || b < 2 {
		t.Errorf("%d, %d", a, b)
	}
	if a, b := shares(10, 100, 100); a != 5 || b != 5 {
		t.Errorf("%d, %d", a, b)
	}
}

// TestOutputsAreBounded: the oldest go first.
func TestOutputsAreBounded(t *testing.T) {
	t.Parallel()
	var o outputs
	first, second := o.keep(strings.Repeat("a", keptOutput/2)), o.keep(strings.Repeat("b", keptOutput/2))
	third := o.keep("c")
	if _, ok := o.text(first); ok || o.bytes > keptOutput {
		t.Errorf("the first of %d bytes is still there", o.bytes)
	}
	for _, name := range []string{second, third} {
		if _, ok := o.text(name); !ok {
			t.Errorf("%s is gone", name)
		}
	}
	if o.keep(strings.Repeat("d", keptOutput+1)) != "" {
		t.Error("a longer text is kept")
	}
}
