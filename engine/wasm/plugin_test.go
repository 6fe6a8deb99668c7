package wasm

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/facts"
)

func TestFindingsBecomeReasons(t *testing.T) {
	t.Parallel()
	p := opened(t, newAssembly().says(`{"findings":[
		{"rule":"plugin/test/rule","effect":"ask","severity":"low","title":"T","message":"M","remediation":"R","command":0},
		{"rule":"plugin/test/other","effect":"warn","severity":"high","title":"T2","path":0}]}`))
	got, err := p.Evaluate(t.Context(), sampleInput())
	if err != nil {
		t.Fatal(err)
	}
	span := sampleInput().Commands[0].Span
	at := engine.Location{File: "test.wasm"}
	want := engine.Judgement{Effect: engine.Ask, Reasons: []engine.Reason{
		{Rule: "plugin/test/rule", Effect: engine.Ask, Severity: "low", Title: "T", Message: "M", Remediation: "R", Path: -1, Span: &span, Location: at},
		{Rule: "plugin/test/other", Effect: engine.Warn, Severity: "high", Title: "T2", Message: "T2", Span: &span, Location: at},
	}}
	got.Spent = nil
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	policy := p.Policy()
	if policy.Revision != "test@1.0.0" || !strings.HasPrefix(policy.Bundles["plugin/test"], "sha256:") {
		t.Errorf("policy %+v", policy)
	}
}

// one is a finding with a part replaced.
func one(old, replacement string) string {
	return `{"findings":[` + strings.Replace(
		`{"rule":"plugin/test/rule","effect":"deny","severity":"low","title":"T","command":0}`, old, replacement, 1) + `]}`
}

func TestOutputThatIsNotSoundIsAFault(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ output, want string }{
		"nothing":                {"", "not a JSON object"},
		"garbage":                {"\x00\x01garbage", "not a JSON object"},
		"a list":                 {`[]`, "not a JSON object"},
		"null":                   {`null`, "not a JSON object"},
		"no findings":            {`{}`, "findings is missing"},
		"findings are null":      {`{"findings":null}`, "findings is null"},
		"findings are an object": {`{"findings":{}}`, "not a list"},
		"cut off":                {`{"findings":[`, "not JSON"},
		"more follows":           {nothing + nothing, "something follows"},
		"garbage follows":        {nothing + "x", "something follows"},
		"unknown key":            {`{"findings":[],"allow":true}`, `unknown key "allow"`},
		"key in capitals":        {`{"Findings":[]}`, `unknown key "Findings"`},
		"key twice":              {`{"findings":[],"findings":[]}`, "comes twice"},
		"invalid UTF-8":          {one(`"T"`, "\"\xff\""), "not valid UTF-8"},
		"finding is a text":      {`{"findings":["deny"]}`, "findings[0]: it is not a JSON object"},
		"unknown effect":         {one("deny", "allow"), `unknown effect "allow"`},
		"effect in capitals":     {one("deny", "Deny"), `unknown effect "Deny"`},
		"effect missing":         {one(`"effect":"deny",`, ""), `unknown effect ""`},
		"effect twice":           {one(`"effect":"deny"`, `"effect":"deny","effect":"warn"`), "comes twice"},
		"effect is a number":     {one(`"deny"`, "1"), "effect: it is a number, not a text"},
		"severity unknown":       {one("low", "worst"), `unknown severity "worst"`},
		"title missing":          {one(`"title":"T",`, ""), "title is missing"},
		"title null":             {one(`"T"`, "null"), "title is null"},
		"rule of another's":      {one("plugin/test/rule", "plugin/other/rule"), `rule "plugin/other/rule" is not one that its manifest names`},
		"rule of the bundle":     {one("plugin/test/rule", "dangerous/recursive_delete"), "is not one that its manifest names"},
		"rule not named":         {one("plugin/test/rule", "plugin/test/ruler"), "is not one that its manifest names"},
		"rule missing":           {one(`"rule":"plugin/test/rule",`, ""), "is not one that its manifest names"},
		"command too large":      {one(`"command":0`, `"command":1`), "command 1 of 1"},
		"command below -1":       {one(`"command":0`, `"command":-2`), "command -2 of 1"},
		"command is a text":      {one(`"command":0`, `"command":"0"`), "command: it is a string, not a whole number"},
		"command is broken":      {one(`"command":0`, `"command":0.5`), "not a whole number"},
		"path too large":         {one(`"command":0`, `"path":7`), "path 7 of 1"},
		"unknown key in it":      {one(`"command":0`, `"severity2":1`), `unknown key "severity2"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := Open(t.Context(), Options{Clock: steps(), Module: installed(t, newAssembly().says(tt.output).binary(), nil)})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want an error with %q", err, tt.want)
			}
		})
	}
	if _, err := Open(t.Context(), Options{Clock: steps(), Module: installed(t, newAssembly().says(one("", "")).binary(), nil)}); err != nil {
		t.Errorf("what the cases are made from is not sound itself: %v", err)
	}
}

func TestModulesThatAreNotLoaded(t *testing.T) {
	t.Parallel()
	sound := newAssembly()
	with := func(change func(*assembly)) []byte {
		a := sound
		change(&a)
		return a.binary()
	}
	simd := code(op(0xfd, 12), make([]byte, 16), op(opDrop), sound.evaluate)
	for name, tt := range map[string]struct {
		binary []byte
		change func(*Manifest)
		want   string
	}{
		"empty":                 {nil, nil, "not a WebAssembly module"},
		"text":                  {[]byte("package main\n"), nil, "not a WebAssembly module"},
		"cut off":               {sound.binary()[:60], nil, "ends too early"},
		"no alloc":              {with(func(a *assembly) { a.omit = exportAlloc }), nil, "does not export sallyport_alloc"},
		"no memory":             {with(func(a *assembly) { a.omit = exportMemory }), nil, "does not export memory"},
		"another interface":     {with(func(a *assembly) { a.speaks = 2 }), nil, "speaks interface 2"},
		"unknown host function": {with(func(a *assembly) { a.imports = []string{"env.system"} }), nil, "imports env.system"},
		"our own host function": {with(func(a *assembly) { a.imports = []string{"sallyport.tick"} }), nil, "imports sallyport.tick"},
		"unknown WASI function": {with(func(a *assembly) { a.imports = []string{"wasi_snapshot_preview1.path_explode"} }), nil, "path_explode"},
		"WASI of another type":  {with(func(a *assembly) { a.imports = []string{"wasi_snapshot_preview1.fd_write"} }), nil, "another type"},
		"too large a memory":    {with(func(a *assembly) { a.pages = 65 }), nil, "begins with a size of 65, the limit is 64"},
		"too large a table":     {with(func(a *assembly) { a.table = maxTable + 1 }), nil, "begins with a size of 131073, the limit is 131072"},
		"too many tables":       {insert(sound.binary(), secTable, append([]byte{9}, bytes.Repeat([]byte{refFunc, 0, 1}, 9)...)), nil, "tables: 9, the limit is 8"},
		"SIMD":                  {with(func(a *assembly) { a.evaluate = simd }), nil, "instruction 0xfd is not known"},
		"ill typed":             {with(func(a *assembly) { a.evaluate = i32(0) }), nil, "compile"},
		"another digest":        {sound.binary(), func(m *Manifest) { m.SHA256 = strings.Repeat("0", 64) }, "its manifest says 000"},
		"manifest's interface":  {sound.binary(), func(m *Manifest) { m.Interface = 2 }, "interface: 2: this build speaks interface 1"},
		"manifest's name":       {sound.binary(), func(m *Manifest) { m.Name = "Test" }, `name: "Test"`},
		"manifest's version":    {sound.binary(), func(m *Manifest) { m.Version = "" }, `version: ""`},
		"no rules":              {sound.binary(), func(m *Manifest) { m.Rules = nil }, "rules is null"},
		"a rule twice":          {sound.binary(), func(m *Manifest) { m.Rules = []string{"a", "a"} }, "comes twice"},
		"a rule with a slash":   {sound.binary(), func(m *Manifest) { m.Rules = []string{"a/b"} }, `rules[0]: "a/b"`},
		"too much memory":       {sound.binary(), func(m *Manifest) { m.Limits.MemoryMiB = 1024 }, "memory_mib: 1024 is out of range"},
		"no time":               {sound.binary(), func(m *Manifest) { m.Limits.TimeMS = 0 }, "time_ms: 0 is out of range"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			module := installed(t, tt.binary, tt.change)
			_, err := Open(t.Context(), Options{Clock: steps(), Module: module})
			if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), module) {
				t.Errorf("got %v, want an error with %q and the name of the file", err, tt.want)
			}
		})
	}
	if _, err := Open(t.Context(), Options{Clock: steps(), Module: installed(t, sound.binary(), nil)}); err != nil {
		t.Errorf("what the cases are made from is not sound itself: %v", err)
	}
}

func TestFilesThatAreNotRead(t *testing.T) {
	t.Parallel()
	large := installed(t, newAssembly().binary(), nil)
	if err := os.Truncate(large, 100<<20); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), Options{Clock: steps(), Module: large}); err == nil || !strings.Contains(err.Error(), "has more than") {
		t.Errorf("100 MB: %v", err)
	}
	alone := installed(t, newAssembly().binary(), nil)
	if err := os.Remove(ManifestFile(alone)); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), Options{Clock: steps(), Module: alone}); err == nil || !strings.Contains(err.Error(), "every module needs one") {
		t.Errorf("no manifest: %v", err)
	}
	if err := os.Mkdir(ManifestFile(alone), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), Options{Clock: steps(), Module: alone}); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("a directory for a manifest: %v", err)
	}
	unknown := installed(t, newAssembly().binary(), nil)
	text, _ := os.ReadFile(ManifestFile(unknown))
	os.WriteFile(ManifestFile(unknown), []byte(strings.Replace(string(text), "{", `{"network":true,`, 1)), 0o600)
	if _, err := Open(t.Context(), Options{Clock: steps(), Module: unknown}); err == nil || !strings.Contains(err.Error(), `unknown key "network"`) {
		t.Errorf("a key that nobody knows: %v", err)
	}
}

func TestLevelsAndExemptions(t *testing.T) {
	t.Parallel()
	const id = "plugin/test/rule"
	module := installed(t, newAssembly().says(one("", "")).binary(), nil)
	for name, tt := range map[string]struct {
		options Options
		want    engine.Effect
	}{
		"none":               {Options{}, engine.Deny},
		"off":                {Options{Levels: map[string]string{id: "off"}}, engine.Allow},
		"warn":               {Options{Levels: map[string]string{id: "warn"}}, engine.Allow},
		"ask":                {Options{Levels: map[string]string{id: "ask"}}, engine.Ask},
		"other rule":         {Options{Levels: map[string]string{"plugin/test/other": "off", "plugin/x/y": "off"}}, engine.Deny},
		"exempt":             {Options{Exemptions: []string{"a/b", id}}, engine.Allow},
		"exempt, other rule": {Options{Exemptions: []string{id, "a/b"}}, engine.Deny},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tt.options.Module = module
			p, err := Open(t.Context(), tt.options)
			if err != nil {
				t.Fatal(err)
			}
			defer p.Close()
			in := sampleInput()
			in.Commands[0].Matches.Exempt = []int{1}
			j, err := p.Evaluate(t.Context(), in)
			if err != nil || j.Effect != tt.want {
				t.Errorf("got %v, %v, want %v", j.Effect, err, tt.want)
			}
			if exempt := name == "exempt"; exempt != (len(j.Exempted) == 1) {
				t.Errorf("exempted: got %+v", j.Exempted)
			}
			if len(j.Reasons) == 1 && j.Reasons[0].Level != tt.options.Levels[id] {
				t.Errorf("level: got %+v", j.Reasons[0])
			}
		})
	}
	for _, o := range []Options{{Levels: map[string]string{"plugin/test/misspelt": "off"}}, {Exemptions: []string{"plugin/test/misspelt"}}} {
		o.Module = module
		if _, err := Open(t.Context(), o); err == nil || !strings.Contains(err.Error(), `no rule "plugin/test/misspelt"`) {
			t.Errorf("a misspelt rule: %v", err)
		}
	}
}

func TestEvaluateNeedsAnInputAndTime(t *testing.T) {
	t.Parallel()
	p := opened(t, newAssembly())
	if _, err := p.Evaluate(t.Context(), nil); err == nil {
		t.Error("judged no input")
	}
	if _, err := p.Evaluate(t.Context(), &facts.Input{Version: 2}); err == nil {
		t.Error("judged an input of another version")
	}
	over, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
	defer cancel()
	if _, err := p.Evaluate(over, sampleInput()); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("after the deadline: %v", err)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Evaluate(t.Context(), sampleInput()); !errors.Is(err, errClosed) {
		t.Errorf("after it was closed: %v", err)
	}
}

// Commands are full of characters that encoding/json would escape for HTML's sake.
func TestInputIsPlainJSON(t *testing.T) {
	t.Parallel()
	in := sampleInput()
	in.Request.Command = "a && b > <c \xff"
	text, err := encode(in)
	if err != nil || !strings.Contains(string(text), `"a && b > <c \ufffd"`) || text[len(text)-1] != '}' {
		t.Errorf("%s, %v", text, err)
	}
}

func TestCache(t *testing.T) {
	t.Parallel()
	module := installed(t, newAssembly().binary(), nil)
	dir := filepath.Join(t.TempDir(), "state", "cache")
	for range 2 {
		p, err := Open(t.Context(), Options{Clock: steps(), Module: module, Cache: dir})
		if err != nil {
			t.Fatal(err)
		}
		if info, err := p.Info(t.Context(), 0); err != nil || info.Compiled != dir {
			t.Errorf("compiled form is in %q, %v", info.Compiled, err)
		}
		p.Close()
	}
	files, err := filepath.Glob(filepath.Join(dir, "*", "*"))
	if err != nil || len(files) != 1 {
		t.Fatalf("files %v, %v", files, err)
	}
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 && os.PathSeparator == '/' {
		t.Errorf("mode of the cache: %v, %v", info.Mode(), err)
	}
	if err := os.WriteFile(files[0], []byte("damaged"), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := Open(t.Context(), Options{Clock: steps(), Module: module, Cache: dir})
	if err != nil {
		t.Fatalf("a damaged file: %v", err)
	}
	p.Close()
	old := filepath.Join(dir, "old")
	if err := os.WriteFile(old, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(old, time.Time{}, time.Now().Add(-2*forgetAfter)); err != nil {
		t.Fatal(err)
	}
	if err := ownTree(dir); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(old); err == nil {
		t.Error("an old file is kept")
	}
}

// Without a place to write, or with a file in its place, plugins are compiled each time.
func TestCacheThatCannotBeMade(t *testing.T) {
	t.Parallel()
	module := installed(t, newAssembly().binary(), nil)
	p, err := Open(t.Context(), Options{Clock: steps(), Module: module, Cache: filepath.Join(module, "below a file")})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	if info, err := p.Info(t.Context(), 0); err != nil || !strings.HasPrefix(info.Compiled, "memory: ") {
		t.Errorf("%q, %v", info.Compiled, err)
	}
}
