package main

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sallyport-dev/sallyport/engine/facts"
)

func TestAsked(t *testing.T) {
	t.Parallel()
	file := func(access, path string) facts.Path { return facts.Path{Access: access, Path: path} }
	many := &facts.Input{Request: facts.Request{Tool: "delete_files_batch"}}
	want := "delete_files_batch"
	for i := range maxAsked + 2 {
		name := fmt.Sprintf("/w/%d", i)
		many.Paths = append(many.Paths, file("delete", name))
		if i < maxAsked {
			want += " delete " + name
		}
	}
	for name, c := range map[string]struct {
		in   *facts.Input
		want string
	}{
		"command":   {&facts.Input{Request: facts.Request{Tool: "execute_command", Command: "ls"}, Paths: []facts.Path{file("read", "/w")}}, "ls"},
		"file tool": {&facts.Input{Request: facts.Request{Tool: "copy_file"}, Paths: []facts.Path{file("read", "/w/a"), file("write", "/w/b")}}, "copy_file read /w/a write /w/b"},
		"many":      {many, want + " and 2 more"},
	} {
		if diff := cmp.Diff(c.want, asked(c.in)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
