//go:build unix

package plugins

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/internal/await"
)

// A fault of the audit log reaches the operator and syslog, with the id that the agent gets: no record may tell of it.
func TestFaultsAreTold(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("", "s") // the path of a socket is short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	socket := filepath.Join(dir, "log")
	syslog, err := net.ListenPacket("unixgram", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer syslog.Close()
	l := servedConfig(t, fmt.Sprintf("audit: {checkpoint: {publish: [%q]}}\n", "syslog:"+socket))
	var told []string
	s, err := Assemble(t.Context(), l, Options{Version: "test", Judge: await.Guard, Faulted: func(err error) { told = append(told, err.Error()) }})
	if err != nil {
		t.Fatal(err)
	}
	do := func() engine.Outcome {
		t.Helper()
		out, err := s.Do(t.Context(), engine.Request{Tool: "execute_command", Command: "true"})
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	if out := do(); out.Fault != nil || len(told) != 0 {
		t.Fatalf("before: %v, told %q", out.Fault, told)
	}
	if err := os.Remove(filepath.Join(string(l.Audit.Dir), "audit-000001.jsonl")); err != nil {
		t.Fatal(err)
	}
	out := do()
	if out.Fault == nil || len(told) != 1 || !strings.Contains(told[0], out.Fault.ID) {
		t.Fatalf("fault %v, told %q", out.Fault, told)
	}
	buf := make([]byte, 8192)
	if err := syslog.SetReadDeadline(time.Now().Add(await.Guard)); err != nil {
		t.Fatal(err)
	}
	for got := ""; !strings.Contains(got, out.Fault.ID); { // checkpoints come here as well
		n, _, err := syslog.ReadFrom(buf)
		if err != nil {
			t.Fatalf("syslog: %v", err)
		}
		if got = string(buf[:n]); strings.Contains(got, out.Fault.ID) && !strings.HasPrefix(got, "<82>") {
			t.Errorf("syslog got %q", got)
		}
	}
	_ = s.Close() // the log is broken
}
