package wasm

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sallyport-dev/sallyport/engine"
)

func TestPoliciesThatAreFaults(t *testing.T) {
	t.Parallel()
	deny := func(body string) string {
		return "package custom.bad\n\ndeny contains finding if {\n\tsome i, c in input.commands\n\tc.name == \"bad\"\n\tfinding := " + body + "\n}\n\nr := numbers.range(1, 2000)\n"
	}
	for name, tt := range map[string]struct{ source, want string }{
		"error of a function":  {deny(`{"command": i, "msg": sprintf("%v", [units.parse(c.name)])}`), "units.parse"},
		"unknown key":          {deny(`{"command": i, "severity": "low"}`), `unknown key "severity"`},
		"a text":               {deny(`c.name`), "not a JSON object"},
		"index that is a text": {deny(`{"command": "0"}`), "not a whole number"},
		"index out of range":   {deny(`{"command": 17}`), "command 17 of 1"},
		"too many findings":    {deny(`{"msg": json.marshal(numbers.range(1, 1100)[_])}`), "at most 1000"},
		"too much output":      {deny(`{"msg": concat("", [s | some _ in numbers.range(1, 2000); s := "01234567890123456789012345678901234567890123456789"])}`), "limit of 65536"},
		"much time":            {deny(`{"msg": sprintf("%d", [count([1 | some a in r; some b in r; some d in r; d == c.name])])}`), "did not end in time"},
		"much memory":          {deny(`{"msg": sprintf("%d", [count([[a, b] | some a in numbers.range(1, 2000); some b in numbers.range(1, 2000)])])}`), ""},
		"not a set":            {"package custom.bad\n\ndeny := x if {\n\tinput.commands[0].name == \"bad\"\n\tx := {\"a\": 1}\n} else := []\n", "it is a object, not a list"},
		"undefined":            {"package custom.bad\n\ndeny := [] if input.commands[0].name != \"bad\"\n", "bad/deny is undefined"},
		"conflicting values":   {"package custom.bad\n\ndeny := [] if true\n\ndeny := [1] if input.commands[0].name == \"bad\"\n", "it gave up"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := openedPolicy(t, described(t, built(t, map[string]string{"bad.rego": tt.source}, "bad/deny"), "bad"))
			bad := sampleInput()
			bad.Commands[0].Name = "bad"
			for range 2 {
				if j, err := p.Evaluate(t.Context(), bad); err == nil || !strings.Contains(err.Error(), tt.want) {
					t.Errorf("got %q, %v, want an error with %q", j.Effect, err, tt.want)
				}
				if j, err := p.Evaluate(t.Context(), sampleInput()); err != nil || j.Effect != engine.Allow {
					t.Errorf("the next request: %q, %v", j.Effect, err)
				}
			}
		})
	}
}

func TestPoliciesThatAreNotLoaded(t *testing.T) {
	t.Parallel()
	const sound = "package custom.one\n\ndeny contains {} if input.x\n"
	load := func(rules []string, source string, entrypoints ...string) error {
		o := described(t, built(t, map[string]string{"a.rego": source}, entrypoints...), rules...)
		p, err := Open(t.Context(), o)
		if err == nil {
			p.Close()
		}
		return err
	}
	if err := load([]string{"one"}, sound, "one/deny"); err != nil {
		t.Errorf("what the cases are made from is not sound itself: %v", err)
	}
	for name, tt := range map[string]struct {
		rules       []string
		source      string
		entrypoints []string
		want        string
	}{
		"network":               {[]string{"one"}, "package custom.one\n\ndeny contains {} if http.send({\"method\": \"get\", \"url\": input.x})\n", []string{"one/deny"}, "it calls http.send"},
		"clock":                 {[]string{"one"}, "package custom.one\n\ndeny contains {} if time.now_ns() > input.x\n", []string{"one/deny"}, "it calls time.now_ns"},
		"another entrypoint":    {[]string{"one"}, "package custom.one\n\nallow if input.x\n", []string{"one/allow"}, "does not end in a rule and deny, ask or warn"},
		"rule not named":        {[]string{"two"}, sound, []string{"one/deny"}, `the manifest has no rule "one"`},
		"rule without anything": {[]string{"one", "two"}, sound, []string{"one/deny"}, `rule "two" of the manifest has no entrypoint`},
	} {
		if err := load(tt.rules, tt.source, tt.entrypoints...); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want an error with %q", name, err, tt.want)
		}
	}
	bundle := built(t, map[string]string{"a.rego": sound}, "one/deny")
	o := described(t, bundle, "one")
	o.Functions = nil
	if p, err := Open(t.Context(), o); err != nil {
		t.Errorf("without functions that it does not call: %v", err)
	} else {
		p.Close()
	}
	plain := strings.TrimSuffix(bundle, bundleSuffix) + ".wasm"
	text, _ := os.ReadFile(bundle)
	module, _, err := readBundle(text)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(plain, module, 0o600); err != nil {
		t.Fatal(err)
	}
	openedPolicy(t, described(t, plain, "one"))
	if _, err := Open(t.Context(), Options{Clock: steps(), Module: installed(t, module, nil)}); err == nil || !strings.Contains(err.Error(), "it is a policy compiled by OPA") {
		t.Errorf("without a word about its rules: %v", err)
	}
}

func TestBundlesThatAreNotRead(t *testing.T) {
	t.Parallel()
	packed := func(files ...string) []byte {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		w := tar.NewWriter(z)
		for _, name := range files {
			if err := w.WriteHeader(&tar.Header{Name: name, Size: 2, Mode: 0o600, Typeflag: tar.TypeReg}); err != nil {
				t.Fatal(err)
			}
			w.Write([]byte("{}"))
		}
		w.Close()
		z.Close()
		return b.Bytes()
	}
	whole := packed("/policy.wasm", "/data.json", "/a.rego")
	if module, data, err := readBundle(whole); err != nil || string(module) != "{}" || string(data) != "{}" {
		t.Errorf("%s, %s, %v", module, data, err)
	}
	for name, tt := range map[string]struct {
		text []byte
		want string
	}{
		"no archive":      {[]byte("x"), "read bundle: "},
		"cut off":         {whole[:len(whole)/2], "read bundle: "},
		"no policy":       {packed("/data.json"), "it has no policy.wasm"},
		"policy twice":    {packed("/policy.wasm", "policy.wasm"), "two files /policy.wasm"},
		"policy in a dir": {packed("/x/policy.wasm"), "it has no policy.wasm"},
	} {
		if _, _, err := readBundle(tt.text); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want an error with %q", name, err, tt.want)
		}
	}
	module := filepath.Join(t.TempDir(), "test.tar.gz")
	if err := os.WriteFile(module, whole, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), described(t, module, "one")); err == nil || !strings.Contains(err.Error(), "not a WebAssembly module") {
		t.Errorf("got %v", err)
	}
}
