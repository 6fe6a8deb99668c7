package config

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/sallyport-dev/sallyport/engine/commands"
	"github.com/sallyport-dev/sallyport/engine/facts/call"
)

// table reads the rows of the operator's own into a table of commands.
func (c checker) table() {
	c.files("commands.table", c.l.Commands.Table)
	for i, p := range c.l.Commands.Table {
		key := fmt.Sprintf("commands.table[%d]", i)
		if c.bad(key) || p == "" {
			continue
		}
		if err := c.addRows(string(p)); err != nil {
			c.problem(key, "%s: %s", p, err)
		}
	}
}

func (c checker) addRows(file string) error {
	text, err := read(file)
	if err != nil {
		return err
	}
	rows := map[string]commands.Row{}
	decoder := yaml.NewDecoder(strings.NewReader(text))
	decoder.KnownFields(true)
	if err := decoder.Decode(&rows); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	before := c.l.table
	if before == nil {
		before = commands.Builtin()
	}
	with, err := before.With(rows)
	if err != nil {
		return err
	}
	var names []string
	for list := range maps.Keys(rows) {
		names = append(names, strings.Split(list, ", ")...)
	}
	slices.Sort(names)
	if err := call.CheckTable(with, names); err != nil {
		return err
	}
	c.l.table = with
	return nil
}
