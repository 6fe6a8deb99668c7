package mcpserver

import (
	"context"
	"io"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/sallyport-dev/sallyport/engine"
)

// FuzzMessages: whatever comes in, what goes out is a line of the protocol for each line, and the server
// lives. The gate of this test runs nothing.
func FuzzMessages(f *testing.F) {
	for _, s := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"execute_command","arguments":{"command":"x"}}}`,
		`{"jsonrpc":"2.0","id":"1","method":"initialize","params":{"protocolVersion":"2025-11-25","clientInfo":{"name":"x","version":"1"},"capabilities":{}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{` + modernMeta + `}}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`,
		`{"jsonrpc":"2.0","id":1,"result":{}}`, `[]`, `{`, "\xff", `{"id":1,"ID":{"x":1},"method":"ping","Method":"tools/call"}`,
		"{}\n\n{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"subscriptions/listen\"}",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, sent string) {
		w := connect(t, plain(t, func(_ context.Context, r engine.Request) (engine.Outcome, error) { return allowed(r), nil }, nil))
		if strings.Contains(sent, "fuzz-ping") {
			return
		}
		if _, err := io.WriteString(w.in, sent+"\n"+`{"jsonrpc":"2.0","id":"fuzz-ping","method":"ping"}`+"\n"); err != nil {
			t.Fatal(err)
		}
		for m := w.next(t); m.ID != "fuzz-ping"; m = w.next(t) {
		}
		w.end(t)
	})
}

func TestBlankCharactersAreVisible(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"a\u3164b": `a\u{3164}b`, "\u115f\uffa0": `\u{115f}\u{ffa0}`, "x\u2800": `x\u{2800}`, "x\ufe0f\U000e0100": `x\u{fe0f}\u{e0100}`,
		"\u034f": `\u{34f}`, "é漢字🙂 한 e\u0301": "é漢字🙂 한 e\u0301",
	} {
		if got := visible(in); got != want {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
	}
}

// FuzzVisible: every character that comes out shows itself, and what was visible stays as it is.
func FuzzVisible(f *testing.F) {
	for _, s := range []string{"plain", "a\tb\nc", "\x1b[31m", "\u202e\u200b", "\xff\ufffd", "é漢字🙂", "a\u3164b\u115f\u2800\ufe0f\u034f\U000e0100"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		out := visible(s)
		if !utf8.ValidString(out) || strings.IndexFunc(out, func(r rune) bool { return !unicode.IsPrint(r) }) >= 0 {
			t.Errorf("%q becomes %q", s, out)
		}
		if visible(out) != out {
			t.Errorf("%q is not stable", out)
		}
	})
}
