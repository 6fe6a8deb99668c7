package facts

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReadTouches(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text, tool string
		want       []Touch
	}{
		{"read_file: read a.txt", "read_file", []Touch{{Path: "a.txt", Access: "read"}}},
		{"copy_file: read* a b, write /c", "copy_file", []Touch{{Path: "a b", Access: "read", Recursive: true}, {Path: "/c", Access: "write"}}},
		{"delete_file: delete ", "delete_file", []Touch{{Access: "delete"}}},
		{"delete_file: delete", "delete_file", []Touch{{Access: "delete"}}},
	} {
		tool, got, ok := ReadTouches(c.text)
		if diff := cmp.Diff(c.want, got); diff != "" || tool != c.tool || !ok {
			t.Errorf("%s: tool %s, %v (-want +got):\n%s", c.text, tool, ok, diff)
		}
	}
	for _, text := range []string{
		"", "ls", "ls -l", ": read a", "read_file", "read_file:", "read_file:read a", "read_file: conjure a", "read_file: read a, ls", "X: read a", "echo a: read b",
		"./read: read a", "read_file; x: read a",
	} {
		if tool, touches, ok := ReadTouches(text); ok || tool != "" || touches != nil {
			t.Errorf("%q is taken for %s %v", text, tool, touches)
		}
	}
}
