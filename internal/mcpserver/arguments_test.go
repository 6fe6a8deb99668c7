package mcpserver

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"
)

var sample = []param{
	{name: "command", kind: text, required: true},
	{name: "timeout", kind: number, least: atLeast(0.001)},
	{name: "count", kind: whole, least: atLeast(0)},
	{name: "force", kind: boolean},
	{name: "patterns", kind: list},
	{name: "level", kind: text, choices: []string{"low", "high"}},
}

func decoded(t *testing.T, text string) any {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func TestArgumentsAreReadStrictly(t *testing.T) {
	t.Parallel()
	for sent, want := range map[string]string{ // what the error says; "" for none
		`{"command":"x"}`: "",
		`{"command":"x","timeout":1.5,"count":3,"force":true,"patterns":["a","b"],"level":"low"}`: "",
		`{"command":"x","timeout":null,"patterns":null}`:                                          "",
		`{"command":""}`:                     "",
		`{}`:                                 "command is missing: it must be a string",
		`{"command":null}`:                   "command is missing",
		`null`:                               "command is missing",
		`{"Command":"x"}`:                    `unknown argument "Command"`,
		`{"command":"x","shell":"zsh"}`:      `unknown argument "shell"`,
		`{"command":["rm"]}`:                 "command must be a string, not a list",
		`{"command":7}`:                      "command must be a string, not a number",
		`{"command":{"x":1}}`:                "command must be a string, not an object",
		`{"command":"x","timeout":"5"}`:      "timeout must be a number, not a string",
		`{"command":"x","timeout":0}`:        "timeout must be at least 0.001",
		`{"command":"x","timeout":-1}`:       "timeout must be at least 0.001",
		`{"command":"x","timeout":true}`:     "timeout must be a number, not true or false",
		`{"command":"x","count":1.5}`:        "count must be a whole number",
		`{"command":"x","count":1e300}`:      "count must be a whole number",
		`{"command":"x","count":-1}`:         "count must be at least 0",
		`{"command":"x","force":"true"}`:     "force must be true or false, not a string",
		`{"command":"x","force":1}`:          "force must be true or false, not a number",
		`{"command":"x","patterns":"*"}`:     "patterns must be a list of strings, not a string",
		`{"command":"x","patterns":["a",2]}`: "patterns: element 1 must be a string, not a number",
		`{"command":"x","level":"mid"}`:      "level must be one of low, high",
		`["x"]`:                              "the arguments must be an object, not a list",
		`"x"`:                                "the arguments must be an object, not a string",
		`{"a":1,"b":2,"timeout":"x"}`:        `command is missing: it must be a string; timeout must be a number, not a string; unknown argument "a"; unknown argument "b"`,
		`{"command":"x","` + strings.Repeat("n", 500) + `":1}`: `unknown argument "` + strings.Repeat("n", 59) + `…"`,
	} {
		args, err := readArguments(decoded(t, sent), sample)
		switch {
		case want == "" && err != nil:
			t.Errorf("%s: %v", sent, err)
		case want != "" && err == nil:
			t.Errorf("%s: taken as %v", sent, args)
		case want != "" && !strings.Contains(err.Error(), want):
			t.Errorf("%s:\n got %v\nwant %s", sent, err, want)
		}
	}
	_, err := readArguments(nil, sample)
	if want := "It takes: command (a string, required), timeout (a number, optional)"; !strings.Contains(
		err.Error(),
		want,
	) {
		t.Errorf("got %v, want %q in it", err, want)
	}
}

func TestArgumentsHaveBoundsAndDefaults(t *testing.T) {
	t.Parallel()
	a := arguments{"timeout": 1e300, "count": float64(1 << 52), "offset": float64(1 << 52)}
	if d := a.seconds("timeout"); d <= 0 || d > 10*365*24*time.Hour {
		t.Errorf("a huge timeout is %v", d)
	}
	if n := a.whole("count", 5); n != math.MaxInt32 {
		t.Errorf("a huge count is %d", n)
	}
	if n := a.offset("offset"); n != 1<<52 {
		t.Errorf("offset %d", n)
	}
	if a.whole("none", 5) != 5 || a.seconds("none") != 0 || a.text("none") != "" || a.offset("none") != 0 {
		t.Error("defaults")
	}
}

// FuzzArguments: whatever is sent, what is taken has the kind of its param.
func FuzzArguments(f *testing.F) {
	for _, s := range []string{`{"command":"x","count":3}`, `{"command":1}`, `[]`, `{"patterns":["a",null]}`, `{"timeout":1e999}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, sent string) {
		var v any
		if json.Unmarshal([]byte(sent), &v) != nil {
			return
		}
		args, err := readArguments(v, sample)
		if err != nil {
			return
		}
		if _, ok := args["command"].(string); !ok {
			t.Errorf("%s: no command in %v", sent, args)
		}
		for name, value := range args {
			known := false
			for _, p := range sample {
				if p.name == name {
					known = true
					if _, problem := p.read(backToJSON(t, value)); problem != "" {
						t.Errorf("%s: %s", sent, problem)
					}
				}
			}
			if !known {
				t.Errorf("%s: %s is no param", sent, name)
			}
		}
	})
}

func backToJSON(t *testing.T, v any) any {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return decoded(t, string(text))
}
