package main

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sallyport-dev/sallyport/runners/docker"
)

func TestProgressView(t *testing.T) {
	t.Parallel()
	told := []docker.Progress{{Step: "one\x1b[31m"}, {Line: "a long line of output"}, {Line: "b"}, {Step: "two"}, {Line: "\x1b[2Jc"}}
	for name, tc := range map[string]struct {
		width, verbose int
		err            error
		want           string
	}{
		"no terminal": {want: "sallyport: one\\u001b[31m\nsallyport: two\n"},
		"terminal": {width: 16, want: "sallyport: one\\u001b[31m\n" + "  a long line …\r\x1b[2K" + "  b\r\x1b[2K" +
			"sallyport: two\n" + "  \\u001b[2Jc\r\x1b[2K"},
		"everything": {width: 80, verbose: 1, want: "sallyport: one\\u001b[31m\nsallyport:   a long line of output\nsallyport:   b\nsallyport: two\nsallyport:   \\u001b[2Jc\n"},
		"failed":     {err: errors.New("x"), want: "sallyport: one\\u001b[31m\nsallyport: two\nsallyport:   \\u001b[2Jc\n"},
	} {
		var out bytes.Buffer
		v := (&app{err: &out, verbose: tc.verbose}).viewProgress()
		v.width = tc.width
		for _, p := range told {
			v.report(p)
		}
		v.end(tc.err)
		if d := cmp.Diff(tc.want, out.String()); d != "" {
			t.Errorf("%s: -want +got:\n%s", name, d)
		}
	}
	var out bytes.Buffer
	v := (&app{err: &out}).viewProgress()
	for n := range 3 * keptLines {
		v.report(docker.Progress{Line: fmt.Sprint(n)})
	}
	v.end(errors.New("x"))
	if lines := strings.Split(strings.TrimSpace(out.String()), "\n"); len(lines) != keptLines || lines[keptLines-1] != "sallyport:   59" {
		t.Errorf("of many lines there are %q", lines)
	}
}
