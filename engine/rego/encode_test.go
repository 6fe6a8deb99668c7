package rego

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/util"

	"github.com/sallyport-dev/sallyport/engine/facts"
)

// The encoder and encoding/json must agree: records keep the JSON form, and are judged again.
func TestEncoderAgreesWithJSON(t *testing.T) {
	t.Parallel()
	full := large()
	full.Request.Time = time.Date(2025, 1, 2, 3, 4, 5, 600, time.UTC)
	full.Request.TimeoutSeconds = 1.5
	full.Request.Env = []string{"PATH", "ü\"\n", "\xff\xc3ü\xed\xa0\x80"}
	full.Commands[1].Inputs = []int{0, -1, 100000}
	full.Paths[0].Unread = facts.Unread{Count: 3, Examples: []string{"a"}}
	// JSON writes null for a nil slice; facts are documented as always present, so compare with empty ones.
	encode, err := encoderOf[facts.Input]()
	if err != nil {
		t.Fatal(err)
	}
	other := harmless()
	other.Subject.User, other.Runner.Network = "v", "none"
	// One encoder for all: it keeps parts of the last input.
	for name, in := range []*facts.Input{harmless(), full, {}, other, harmless()} {
		text, err := json.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		var want any
		if err := util.UnmarshalJSON(text, &want); err != nil {
			t.Fatal(err)
		}
		wanted, err := ast.InterfaceToValue(emptied(want))
		if err != nil {
			t.Fatal(err)
		}
		if got := encode.value(in); got.Compare(wanted) != 0 {
			t.Errorf("input %d:\ngot  %v\nwant %v", name, got, wanted)
		}
	}
}

// emptied replaces null by an empty array, everywhere.
func emptied(v any) any {
	switch v := v.(type) {
	case nil:
		return []any{}
	case map[string]any:
		for key := range v {
			v[key] = emptied(v[key])
		}
	case []any:
		for i := range v {
			v[i] = emptied(v[i])
		}
	}
	return v
}

func TestEncoderRefusesOptionalFields(t *testing.T) {
	t.Parallel()
	type optional struct {
		A string `json:"a,omitempty"`
	}
	type unnamed struct{ A string }
	type pointer struct {
		A []*int `json:"a"`
	}
	if _, err := encoderOf[optional](); err == nil {
		t.Error("a field with omitempty has an encoder")
	}
	if _, err := encoderOf[unnamed](); err == nil {
		t.Error("a field without a name has an encoder")
	}
	if _, err := encoderOf[pointer](); err == nil {
		t.Error("a pointer has an encoder")
	}
}
