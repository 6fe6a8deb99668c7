package redact

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/sallyport-dev/sallyport/engine/lazyregexp"
)

func TestPlantedSecrets(t *testing.T) {
	t.Parallel()
	red := New([]byte("0123456789abcdef"), Extra{})
	for name, p := range planted() {
		text, secret := plant(p[0], p[1]), p[1]
		got := red.String(text)
		if strings.Contains(got, secret) || !strings.Contains(got, "[redacted:") {
			t.Errorf("%s: leaked\n  %s\n  %s", name, text, got)
		}
		got = regexp.MustCompile(`\[redacted:[^\]]*\]`).ReplaceAllString(got, "")
		// No longer part of a secret may be left either.
		for i := 0; i+6 <= len(secret) && len(secret) < 2000; i++ {
			if part := secret[i : i+6]; strings.Contains(got, part) && !strings.Contains(p[0], part) && !strings.Contains(part, "\n") {
				t.Errorf("%s: %q is left of the secret\n  %s", name, part, got)
				break
			}
		}
		if len(got) < len(text)-len(secret)-2 {
			t.Logf("%s: more than the secret is gone: %s", name, got)
		}
	}
}

func TestLookalikes(t *testing.T) {
	t.Parallel()
	red := New(nil, Extra{})
	for _, s := range lookalikes() {
		if got := red.String(s); got != s {
			t.Errorf("changed\n  %s\n  %s", s, got)
		}
	}
}

func TestConfiguredSecrets(t *testing.T) {
	t.Parallel()
	red := New(nil, Extra{Literals: []string{"Project Falcon", ""}, Patterns: []*regexp.Regexp{regexp.MustCompile(`ACME-\d+`), regexp.MustCompile(`x*`)}})
	if got, want := red.String("about Project Falcon, ACME-42 and ACME"), "about [redacted:configured], [redacted:configured] and ACME"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	var none *Redactor
	if got := none.String("TOKEN=abc"); got != "TOKEN=abc" {
		t.Errorf("a nil redactor changed %q", got)
	}
}

// A text made of keywords must not take quadratic time: the redactor stands before every decision. Four
// times the text may be four times as much to read, and some; quadratic would be sixteen times.
func TestRedactIsLinear(t *testing.T) {
	t.Parallel()
	read := func(text string, element bool) int {
		s := scanner{s: text, element: element}
		patterns := 0
		s.match = func(re *lazyregexp.Regexp, text string) []int {
			r := strings.NewReader(text)
			defer func() { patterns += len(text) - r.Len() }()
			return re.Get().FindReaderSubmatchIndex(r)
		}
		s.scan()
		return patterns + s.read
	}
	shaped := map[string]bool{} // keywords of tokens, which look at nothing but a pattern
	for _, f := range formats {
		for _, word := range f.words {
			shaped[word] = true
		}
	}
	for first, list := range keywords().first {
		for _, k := range list {
			if byte(first) != k.word[0] {
				continue // the same word in upper case
			}
			suffixes := []string{"", "='", " ", ": ", " = ", "=$(x ", ": $", "=<<< | "}
			if shaped[k.word] {
				suffixes = suffixes[:2]
			}
			for _, after := range suffixes {
				for _, element := range []bool{false, true} {
					of := func(size int) int { return read(strings.Repeat(k.word+after, 1+size/len(k.word+after)), element) }
					if short, long := of(2<<10), of(8<<10); long > 6*(short+2<<10) {
						t.Errorf("%q, element %v: %d bytes are read of 2 KiB, %d of 8 KiB", k.word+after, element, short, long)
					}
				}
			}
		}
	}
}

// Finding and replacing together take memory in proportion to the text. The test counts the allocations of the
// whole process, so it is not parallel.
func TestRedactAllocatesLinearly(t *testing.T) {
	red := New([]byte("k"), Extra{Literals: []string{"swordfish"}, Patterns: []*regexp.Regexp{regexp.MustCompile(`ACME-[0-9]+`)}})
	for _, unit := range []string{"TOKEN=hunter2abc ", "swordfish ACME-42 ", "mysql -pswordfish; ", "authorization: hunter2abc\n"} {
		of := func(size int) uint64 {
			text := strings.Repeat(unit, size/len(unit))
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			red.String(text)
			runtime.ReadMemStats(&after)
			return after.TotalAlloc - before.TotalAlloc
		}
		of(4 << 10) // the first call allocates more
		if short, long := of(4<<10), of(32<<10); long > 16*short {
			t.Errorf("%q: %d bytes for 4 KiB, %d for 32 KiB", unit, short, long)
		}
	}
}

// A header is redacted to its end, at any length and with any beginning.
func TestLongHeaders(t *testing.T) {
	t.Parallel()
	red := New(nil, Extra{})
	for _, size := range []int{20 << 10, 100 << 10} {
		for _, begins := range []string{"", strings.Repeat("*", 2*maxValue)} {
			value := begins + strings.Repeat("s3cr3t", size/6)
			for text, want := range map[string]string{
				"Authorization: Bearer " + value + "\nnext":                      "Authorization: Bearer [redacted:authorization]\nnext",
				"curl -H 'Authorization: Bearer " + value + "' h":                "curl -H 'Authorization: Bearer [redacted:authorization]' h",
				"curl -H \"Authorization: Basic " + value + " rest\" h":          "curl -H \"Authorization: Basic [redacted:authorization]\" h",
				"curl -H 'Cookie: session=" + value + "; other=" + value + "' h": "curl -H 'Cookie: [redacted:cookie]' h",
			} {
				if got := red.String(text); got != want {
					t.Errorf("%d bytes in %.40q: %d bytes are left, %.120q", len(value), text, len(got), got)
				}
			}
		}
	}
}

func FuzzRedact(f *testing.F) {
	for _, p := range planted() {
		f.Add(plant(p[0], p[1]))
	}
	for _, s := range lookalikes() {
		f.Add(s)
	}
	red := New([]byte("k"), Extra{})
	f.Fuzz(func(t *testing.T, s string) {
		red.Texts([]Text{{List: 1, Value: s}, {List: 1, Value: "--password"}, {List: 1, Value: s}, {Class: Name, Value: s}})
		_ = red.String(s)
	})
}

func BenchmarkRedact(b *testing.B) {
	short := "cd /srv/app && npm run build -- --mode production && cp -r dist/assets public/ && git add -A && git commit -m 'build: update assets' && curl -s http://localhost:8080/health | jq .status && ls -la dist"
	script := strings.Repeat("for f in src/*.go; do gofmt -l \"$f\" | tee -a /tmp/out.log; done # check all of them\n", 100)
	red := New([]byte("k"), Extra{})
	for name, s := range map[string]string{"200B": short[:200], "8KB": script[:8192], "8KB-secret": script[:8000] + "\nTOKEN=abcdefgh123 ./run\n"} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(s)))
			for b.Loop() {
				red.String(s)
			}
		})
	}
}

// The secret stands in a text, in arguments and in the values of variables, and must be gone from all of them.
func TestPlantedSecretsTogether(t *testing.T) {
	t.Parallel()
	red := New([]byte("0123456789abcdef"), Extra{})
	for name, p := range planted() {
		text, secret := plant(p[0], p[1]), p[1]
		texts := []Text{{Value: text}, {List: 1, Value: "bash"}, {List: 1, Value: "-c"}, {List: 1, Value: text}, {Class: Name, Value: "x"}}
		red.Texts(texts)
		for _, x := range texts {
			if strings.Contains(x.Value, secret) {
				t.Errorf("%s: leaked: %s", name, x.Value)
			}
		}
	}
}

func TestNamesStay(t *testing.T) {
	t.Parallel()
	red := New([]byte("0123456789abcdef"), Extra{Literals: []string{"Project Falcon"}})
	token := "ghp_" + strings.Repeat("a1", 18)
	texts := []Text{
		{Value: "API_TOKEN=backdoor.sh; touch backdoor.sh " + token + "; curl evil.example"},
		{List: 1, Value: "backdoor.sh"},
		{Class: Name, Value: "/ws/backdoor.sh"},
		{Class: Name, Value: "/ws/" + token},
		{Class: Name, Value: "/ws/Project Falcon"},
		{Class: Name, Value: "/ws/PASSWORD=evil.example"},
		{Class: Own, Value: "Project Falcon " + token},
	}
	report := red.Texts(texts)
	tag := red.Tag("assignment", "backdoor.sh")
	want := []string{
		"API_TOKEN=" + tag + "; touch backdoor.sh " + red.Tag("github", token) + "; curl evil.example", "backdoor.sh",
		"/ws/backdoor.sh", "/ws/" + red.Tag("github", token), "/ws/" + red.Tag("configured", "Project Falcon"),
		"/ws/PASSWORD=evil.example", "Project Falcon " + token,
	}
	for i, x := range texts {
		if x.Value != want[i] {
			t.Errorf("text %d is %q, want %q", i, x.Value, want[i])
		}
	}
	if got := report.Redacted; !slices.Equal(got, []int{0, 3, 4}) {
		t.Errorf("redacted %d", got)
	}
	if n := (Named{At: 2, From: 0, Tag: tag}); !slices.Contains(report.Named, n) {
		t.Errorf("named %+v", report.Named)
	}
}

func TestArguments(t *testing.T) {
	t.Parallel()
	red := New(nil, Extra{})
	tests := []struct {
		argv []string
		want string
	}{
		{[]string{"tool", "--password", "hunter2", "x"}, `["tool","--password","[redacted:argument]","x"]`},
		{[]string{"tool", "--password", "--verbose"}, `["tool","--password","--verbose"]`},
		{[]string{"tool", "--password=a b & c"}, `["tool","--password=[redacted:assignment]"]`},
		{[]string{"curl", "-u", "me:sw ord", "http://h"}, `["curl","-u","me:[redacted:argument]","http://h"]`},
		{[]string{"/usr/bin/mysql", "-pswordfish"}, `["/usr/bin/mysql","-p[redacted:argument]"]`},
		{[]string{"curl", "-H", "Authorization: Bearer abcdef"}, `["curl","-H","Authorization: Bearer [redacted:authorization]"]`},
		{[]string{"tool", "--max-token", "4096"}, `["tool","--max-token","4096"]`},
		{[]string{"tool", "--token", "./token.txt"}, `["tool","--token","./token.txt"]`},
		{[]string{"docker", "run", "-p", "80:80"}, `["docker","run","-p","80:80"]`},
		{[]string{"docker", "login", "-p", "swordfish"}, `["docker","login","-p","[redacted:argument]"]`},
		{[]string{"aws", "configure", "set", "aws_session_token", "abc"}, `["aws","configure","set","aws_session_token","[redacted:argument]"]`},
	}
	for _, tt := range tests {
		var texts []Text
		for _, a := range tt.argv {
			texts = append(texts, Text{List: 1, Value: a})
		}
		red.Texts(texts)
		var got []string
		for _, x := range texts {
			got = append(got, x.Value)
		}
		if text, _ := json.Marshal(got); string(text) != tt.want {
			t.Errorf("got  %s\nwant %s", text, tt.want)
		}
	}
}

// The automaton finds what a search for each secret by itself finds, also where secrets overlap and contain each other.
func TestAutomaton(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	text := func(n int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = "ab"[r.IntN(2)]
		}
		return string(b)
	}
	for range 500 {
		var all []learned
		seen := map[string]bool{}
		for range 1 + r.IntN(12) {
			if s := text(1 + r.IntN(6)); !seen[s] {
				seen[s] = true
				all = append(all, learned{secret: s})
			}
		}
		s := text(40)
		got, want := map[string]bool{}, map[string]bool{}
		newAutomaton(all).each(s, func(secret, start, end int) bool {
			got[fmt.Sprint(start, end)] = true
			if s[start:end] != all[secret].secret {
				t.Fatalf("%q is not %q", s[start:end], all[secret].secret)
			}
			return true
		})
		for _, l := range all {
			for i := range s {
				if strings.HasPrefix(s[i:], l.secret) {
					want[fmt.Sprint(i, i+len(l.secret))] = true
				}
			}
		}
		if !maps.Equal(got, want) {
			t.Fatalf("%q: got %v, want %v", s, got, want)
		}
	}
}
