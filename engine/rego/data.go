package rego

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/open-policy-agent/opa/v1/util"
	"go.yaml.in/yaml/v3"
)

// readData reads a data file, an object in JSON or YAML as its name says. A key that stands there twice is an
// error: of two lists of one name, OPA would take the last and not say so.
func readData(name string, text []byte) (map[string]any, error) {
	var value map[string]any
	if path.Ext(name) == ".json" {
		if err := util.UnmarshalJSON(text, &value); err != nil {
			return nil, fmt.Errorf("not a JSON object: %w", err)
		}
		if err := uniqueKeys(text); err != nil {
			return nil, err
		}
	} else {
		if err := util.Unmarshal(text, &value); err != nil {
			return nil, fmt.Errorf("not a YAML object: %w", err)
		}
		var node map[string]any
		if err := yaml.Unmarshal(text, &node); err != nil { // which knows the line of a key that is repeated
			return nil, fmt.Errorf("not a YAML object: %s", yamlText(err))
		}
	}
	if value == nil {
		return nil, errors.New("it is empty: write an object, or take the file away")
	}
	return value, nil
}

// yamlText is the message of the YAML parser, on one line.
func yamlText(err error) string {
	return strings.Join(strings.Fields(strings.TrimPrefix(strings.TrimPrefix(err.Error(), "yaml: "), "unmarshal errors:")), " ")
}

// uniqueKeys finds a key that an object of a sound JSON text has twice.
func uniqueKeys(text []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	var open []map[string]bool // open values: the keys of an object so far, nil for an array
	key := false               // a key comes next, if an object is open
	for {
		token, err := decoder.Token()
		if err == io.EOF {
			return nil
		} else if err != nil {
			return fmt.Errorf("not a JSON object: %w", err)
		}
		switch token {
		case json.Delim('{'):
			open, key = append(open, map[string]bool{}), true
			continue
		case json.Delim('['):
			open = append(open, nil)
		case json.Delim('}'), json.Delim(']'):
			open = open[:len(open)-1]
		default:
			if keys := inner(open); keys != nil && key {
				name := token.(string) // a sound object has no other keys
				if keys[name] {
					row := 1 + bytes.Count(text[:decoder.InputOffset()], []byte("\n"))
					return fmt.Errorf("line %d: the key %q stands there twice: merge the two", row, name)
				}
				keys[name], key = true, false
				continue
			}
		}
		key = inner(open) != nil // behind a value the next key comes
	}
}

func inner(open []map[string]bool) map[string]bool {
	if len(open) == 0 {
		return nil
	}
	return open[len(open)-1]
}
