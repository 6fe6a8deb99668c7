package hooks

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestGuarded holds that an installed command line refuses if the program dies without an answer. Most hosts
// let calls run then. Of a program that works, the line hands the answer on.
func TestGuarded(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the command lines are those of a POSIX shell")
	}
	for _, name := range Names() {
		h, err := Named(name)
		if err != nil {
			t.Fatal(err)
		}
		for what, script := range map[string]string{
			"works": "echo '{}'", "missing": "", "exit 1": "exit 1",
			"killed": "kill -9 $$", "crash": "kill -SEGV $$",
			"terminated": "kill -TERM $$", "silent refusal": "exit 2", "nothing": "exit 0",
			"garbage": "echo loading", "stray line before": "echo loading; echo '{}'",
			"stray line after": "echo '{}'; echo loading",
		} {
			program := filepath.Join(t.TempDir(), "sallyport")
			if script != "" {
				if err := os.WriteFile(program, []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			cmd := exec.Command("sh", "-c", h.guarded(program+" hook "+name))
			cmd.Stdin = strings.NewReader(listing)
			var out, errs bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &errs
			code := 0
			if err := cmd.Run(); err != nil {
				var exit *exec.ExitError
				if !errors.As(err, &exit) {
					t.Fatal(err)
				}
				code = exit.ExitCode()
			}
			checkForm(t, code, out.Bytes(), errs.String())
			if refused := code == Refused || h.denies(out.Bytes()); refused != (what != "works") {
				t.Errorf("%s: %s: exit %d, %s%s", name, what, code, out.String(), errs.String())
			}
		}
	}
}

// TestRefuses holds that only a denial of the canary by its rule passes a check.
func TestRefuses(t *testing.T) {
	t.Parallel()
	for _, name := range Names() {
		h, err := Named(name)
		if err != nil {
			t.Fatal(err)
		}
		event, err := h.Canary("/ws")
		if err != nil {
			t.Fatal(err)
		}
		e, err := h.Parse(event)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if e.Dir == "" {
			e.Dir = "/ws"
		}
		if r, judged, err := h.Request(e); err != nil || !judged || r.Command != CanaryCommand {
			t.Errorf("%s: %+v, %v, %v", name, r, judged, err)
		}
		deny := h.answer("deny", e, "deny "+denial, nil)
		other := h.answer("deny", e, "broken", nil)
		for _, test := range []struct {
			reply
			good bool
		}{
			{deny, true}, {other, false}, {h.answer("allow", e, "", nil), false}, {reply{}, false},
			{reply{text: "deny " + denial, exit: 1}, false}, {reply{json: []byte(denial)}, false},
		} {
			if err := h.Refuses(test.json, test.exit, test.text); (err == nil) != test.good {
				t.Errorf("%s: %q %d %q: %v", name, test.json, test.exit, test.text, err)
			}
		}
	}
}
