package config

import _ "embed"

//go:embed schema.json
var schema []byte

// Schema returns the JSON Schema (draft 2020-12) of sallyport.yaml, for editors. A test makes it from the
// types of this package; it covers shapes and values, and leaves to Parse the checks that need the machine.
func Schema() []byte { return append([]byte(nil), schema...) }
