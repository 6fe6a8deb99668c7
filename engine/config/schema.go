package config

import _ "embed"

//go:embed schema.json
var schema []byte

// Schema returns the JSON Schema (draft 2020-12) of sallyport.yaml, for editors. It is made from
// the types of this package by a test; it knows shapes and values, and leaves to Parse what needs
// the machine.
func Schema() []byte { return append([]byte(nil), schema...) }
