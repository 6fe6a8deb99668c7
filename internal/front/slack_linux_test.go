package main

import (
	"os/exec"
	"strings"
	"testing"
)

// TestSlack: the timers of sallyport-full may be late and those of commands may not.
func TestSlack(t *testing.T) {
	const slack = "/proc/self/timerslack_ns"
	usual, err := exec.Command("cat", slack).Output() // a thread reads its own only
	if err != nil {
		t.Fatal(err)
	}
	front, full := programs(t)
	h := newHome(t, never+"local: {sandbox: none}\n")
	for _, program := range []string{front, full} {
		if got := h.said(t, "", program, "exec", "--", "cat", slack); !strings.Contains(got, string(usual)) {
			t.Errorf("%s: %q, want %q", program, got, usual)
		}
	}
}
