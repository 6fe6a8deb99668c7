package build

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sallyport-dev/sallyport/engine/facts"
)

// TestOwnPlaces: /proc/self of a command is not ours. Here ours leads to the workspace, as that of a server
// that was started there does; where the command stands is what counts.
func TestOwnPlaces(t *testing.T) {
	t.Parallel()
	b := NewBuilder(testLayout(), newMemFS(machine+`
	/proc/self -> 7
	/proc/thread-self -> 7/task/7
	/proc/7/cwd -> /home/dev/ws
	/proc/7/root -> /
	/proc/7/fd/3 -> /home/dev/ws/a.txt
	/proc/7/task/7/cwd -> /home/dev/ws
	/dev/fd -> /proc/self/fd
	/home/dev/ws/here -> /proc/self/cwd
	`), nil)
	const shadow, unplaced = "/etc/shadow", "unknown"
	for command, want := range map[string]string{
		"cd /etc; cat /proc/self/cwd/shadow":              shadow,
		"(cd /etc && cat /proc/self/./cwd//shadow)":       shadow,
		"cd /etc; cat /proc/thread-self/cwd/shadow":       shadow,
		"cd /etc; cat /proc/self/task/7/cwd/shadow":       shadow,
		"cd /etc/app; cat /proc/self/cwd/../shadow":       shadow,
		"cd /etc; cat /home/dev/ws/here/shadow":           shadow,
		"cd /etc; cat /proc/self/cwd/shado?":              "/etc",
		"cat /proc/self/root/etc/shadow":                  shadow,
		"cat /proc/self/cwd/a.txt":                        testWS + "/a.txt",
		"cd src; cat /proc/self/cwd/main.go":              testWS + "/src/main.go",
		"cd \"$X\"; cat /proc/self/cwd/a.txt":             unplaced,
		"cd /etc; cd /proc/self/cwd; cat shadow":          unplaced,
		"exec 3< /etc; cat /dev/fd/3/shadow":              unplaced,
		"exec 3< /etc; cat /dev/./fd/3/shadow":            unplaced,
		"exec 3< /etc; cat /proc/self/task/1/fd/3/shadow": unplaced,
		"cat /proc/self/fd/0":                             "/proc/self/fd/0",
		"cat /proc/self/status":                           "/proc/self/status",
	} {
		in := b.Build(testAsk(command))
		p := in.Paths[len(in.Paths)-1]
		got := p.Real
		if p.Certainty == "unknown" && strings.Contains(strings.Join(p.Labels, " "), "process_memory") {
			got = unplaced
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", command, diff)
		}
	}
	// A file tool works in our own process.
	in := b.Build(facts.Ask{Touches: []facts.Touch{{Path: "/proc/self/cwd/a.txt", Access: "read"}}})
	if got := in.Paths[0].Real; got != testWS+"/a.txt" {
		t.Errorf("a file tool: %s", got)
	}
}
