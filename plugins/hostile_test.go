package plugins_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/internal/await"
	"github.com/sallyport-dev/sallyport/internal/leftout"
	"github.com/sallyport-dev/sallyport/plugins"
)

// hostileGate is a gate with a plugin that does harm when a command says which.
func hostileGate(t *testing.T) func(mode string) engine.Outcome {
	t.Helper()
	root := checkout(t)
	dir := filepath.Join(root, "plugins/testdata/hostile")
	if err := os.CopyFS(dir, os.DirFS("testdata/hostile")); err != nil {
		t.Fatal(err)
	}
	l := load(t, fmt.Sprintf("plugins: [%q]\n", buildGo(t, dir, "hostile")))
	s, err := plugins.Assemble(t.Context(), l, plugins.Options{CheckOnly: true}.Within(await.Guard, stepClock()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return func(mode string) engine.Outcome {
		out, err := s.Check(t.Context(), engine.Request{Tool: "execute_command", Command: "echo " + mode})
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
}

// stepClock is a clock by which each look at it takes a tenth of a millisecond, however busy the machine is.
func stepClock() func() time.Time {
	var looks atomic.Int64
	return func() time.Time { return time.UnixMicro(100 * looks.Add(1)) }
}

// TestHostilePlugin: a plugin made by an ordinary toolchain, doing harm behind a gate.
func TestHostilePlugin(t *testing.T) {
	t.Parallel()
	leftout.Full(t, leftout.Slow)
	check := hostileGate(t)
	t.Run("denies", func(t *testing.T) { hostileDenies(t, check) })
	t.Run("does not sleep", func(t *testing.T) { hostileDoesNotSleep(t, check) })
	t.Run("reaches nothing", func(t *testing.T) { hostileReachesNothing(t, check) })
}

// Every request is refused with a fault, and the next one is served.
func hostileDenies(t *testing.T, check func(string) engine.Outcome) {
	for mode, want := range map[string]string{
		"loop": "did not end in time", "memory": "out of memory", "recursion": "", "output": "the limit is 65536",
		"utf8": "not valid UTF-8", "types": "it is a object, not a list", "nothing": "not a JSON object", "panic": "this is the end",
		"exit": "it ended itself with status 0", "nil": "nil pointer dereference", "effect": `unknown effect "allow"`,
		"rule": `rule "dangerous/recursive_delete" is not one that its manifest names`, "index": "it points at command 1048576",
		"wait": "",
	} {
		out := check(mode)
		if out.Decision.Effect != engine.Deny || out.Fault == nil || out.Decision.Fault == "" || !strings.Contains(out.Fault.Error(), want) {
			t.Errorf("%s: effect %s, fault %v, want a fault with %q", mode, out.Decision.Effect, out.Fault, want)
		}
		if out := check("hello"); out.Decision.Effect != engine.Allow {
			t.Errorf("the request after %s: effect %s, fault %v", mode, out.Decision.Effect, out.Fault)
		}
	}
}

// To sleep is no harm: its clock goes on, ours does not.
func hostileDoesNotSleep(t *testing.T, check func(string) engine.Outcome) {
	if out := check("sleep"); out.Fault != nil || len(out.Decision.Reasons) != 1 {
		t.Errorf("%v, %v", out.Fault, out.Decision.Reasons)
	}
}

// A plugin gets nothing of the machine, and what it counts begins anew with every call.
func hostileReachesNothing(t *testing.T, check func(string) engine.Outcome) {
	say := func(mode string) string {
		out := check(mode)
		if out.Fault != nil || len(out.Decision.Reasons) != 1 {
			t.Fatalf("%s: %v, %v", mode, out.Fault, out.Decision.Reasons)
		}
		return out.Decision.Reasons[0].Message
	}
	first := say("reach")
	var got map[string]any
	if err := json.Unmarshal([]byte(first), &got); err != nil {
		t.Fatal(err, first)
	}
	delete(got, "time")
	want := map[string]any{
		"arguments": 0.0, "variables": 0.0, "read a file": false, "write a file": false, "list": false, "dial": false, "standard input": false, "start": false,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for range 5 {
		if again := say("reach"); again != first {
			t.Errorf("the same input has another answer:\n%s\n%s", first, again)
		}
		if n := say("count"); n != "1" {
			t.Errorf("it has counted %s calls", n)
		}
	}
}
