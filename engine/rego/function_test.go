package rego

import (
	"strings"
	"testing"
)

func TestFunction(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		args []string
		want string // "" is undefined
	}{
		{"sprintf", []string{`"%s %d"`, `["a\"\u0007é", 3]`}, `"a\"\u0007é 3"`},
		{"regex.match", []string{`"^a"`, `"ab"`}, `true`},
		{"glob.match", []string{`"a*"`, `[]`, `"a\nb"`}, `true`},
		{"array.concat", []string{`[1, {2}]`, `[set(), {"a": null}]`}, `[1,{2},set(),{"a":null}]`},
		{"object.get", []string{`{"a": {"b"}}`, `"a"`, `0`}, `{"b"}`},
		{"to_number", []string{`"12"`}, `12`},
	} {
		got, err := Function(tt.name)(t.Context(), tt.args)
		if err != nil || got != tt.want {
			t.Errorf("%s%v = %s, %v, want %s", tt.name, tt.args, got, err, tt.want)
		}
	}
	for name, args := range map[string][]string{
		"regex.match": {`"("`, `"a"`}, "split": {`5`, `","`}, "to_number": {`"abc"`}, "sprintf": {`"%s"`, `input.x[`},
	} {
		if got, err := Function(name)(t.Context(), args); err == nil {
			t.Errorf("%s%v = %q, want an error", name, args, got)
		}
	}
}

func TestFunctionsThatPoliciesMayNotUse(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"http.send", "opa.runtime", "time.now_ns", "rand.intn", "net.lookup_ip_addr", "uuid.rfc4122", "no.such", ""} {
		if Function(name) != nil {
			t.Errorf("%s can be called", name)
		}
	}
	for _, b := range capabilities().Builtins {
		if b.Infix == "" && !strings.HasPrefix(b.Name, "internal.") && Function(b.Name) == nil {
			switch b.Name {
			case "print", "rego.metadata.chain", "rego.metadata.rule", "eq", "assign": // the compiler takes them away
			default:
				t.Errorf("%s cannot be called", b.Name)
			}
		}
	}
}
