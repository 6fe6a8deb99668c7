package rego

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/sallyport-dev/sallyport/engine/compiled"
)

// A function whose errors would be silence in WebAssembly is not compiled unseen.
func TestCompileRefusesUnsureFunctions(t *testing.T) {
	t.Parallel()
	bundle := fstest.MapFS{
		"sallyport/main/main.rego":     &fstest.MapFile{Data: []byte("package sallyport.main\n\ndecision := {}\n\nexplanation := {}\n")},
		"sallyport/rules/x/y/y.rego":   &fstest.MapFile{Data: []byte("# METADATA\n# title: Y\n# custom:\n#   severity: low\n#   remediation: No.\npackage sallyport.rules.x.y\n\ndeny contains {} if to_number(input.request.command) > 1\n")},
		"sallyport/profiles/data.json": &fstest.MapFile{Data: []byte(`{"standard": {"default": "own"}}`)},
	}
	if _, _, err := Compile(t.Context(), bundle, "r"); err == nil || !strings.Contains(err.Error(), "they call to_number") {
		t.Errorf("got %v", err)
	}
	delete(bundle, "sallyport/main/main.rego")
	if _, _, err := Compile(t.Context(), bundle, "r"); err == nil {
		t.Error("a bundle without an entrypoint was compiled")
	}
}

func TestCompileStartsNoProgram(t *testing.T) {
	t.Setenv("EXPERIMENTAL_WASM_OPT", "1")
	if _, err := (&fileSet{}).assemble(t.Context(), compiled.DecisionEntry); err == nil || !strings.Contains(err.Error(), "unset it") {
		t.Errorf("got %v", err)
	}
}
