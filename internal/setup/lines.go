package setup

import (
	"bytes"
	"encoding/json"
	"errors"
	"regexp"
	"slices"
	"strings"
)

// errForm is a file whose form the editors do not know.
var errForm = errors.New(
	"it is written in a form that setup cannot edit: make the change by hand (docs/mcp.md)")

// editLines changes one key of a TOML file, or one at the top of a YAML file, where it stands on a line of
// its own. It looks at lines, not at syntax: apply reads the result back.
func editLines(f format, text []byte, e edit) ([]byte, error) {
	assign, margin := " = ", `^\s*`
	if f == formatYAML {
		assign, margin = ": ", "^" // an indented key belongs to another one
		if len(e.Path) > 1 {
			return nil, errForm
		}
	}
	var value bytes.Buffer
	to := json.NewEncoder(&value) // a JSON value that is no object is one of TOML and of YAML
	to.SetEscapeHTML(false)
	if err := to.Encode(e.Value); err != nil {
		return nil, err
	}
	key := e.Path[len(e.Path)-1]
	line := key + assign + strings.TrimSpace(value.String())
	table := strings.Join(e.Path[:len(e.Path)-1], ".")

	all := strings.SplitAfter(string(text), "\n")
	if all[len(all)-1] == "" {
		all = all[:len(all)-1]
	} else {
		all[len(all)-1] += "\n"
	}
	from, end := 0, len(all)
	if f == formatTOML {
		from, end = section(all, table)
	}
	if from < 0 { // the table is not there
		if e.Gone {
			return text, nil
		}
		if len(all) > 0 && strings.TrimSpace(all[len(all)-1]) != "" {
			all = append(all, "\n")
		}
		all = append(all, "["+table+"]\n", line+"\n")
		return []byte(strings.Join(all, "")), nil
	}
	own := regexp.MustCompile(margin + `"?` + regexp.QuoteMeta(key) + `"?\s*[=:]`)
	at := slices.IndexFunc(all[from:end], own.MatchString)
	switch {
	case at < 0 && e.Gone:
	case at < 0:
		example := regexp.MustCompile("^#+ ?" + regexp.QuoteMeta(key) + `\s*[=:]`)
		if at = slices.IndexFunc(all[from:end], example.MatchString); at >= 0 { // a comment shows its place
			end = from + at + 1
		}
		for end > from && strings.TrimSpace(all[end-1]) == "" {
			end--
		}
		all = slices.Insert(all, end, line+"\n")
	case e.Gone:
		all = slices.Delete(all, from+at, from+at+1)
		all = dropEmpty(all, table)
	default:
		all[from+at] = line + "\n"
	}
	return []byte(strings.Join(all, "")), nil
}

var header = regexp.MustCompile(`^\s*\[+\s*([^\]]*?)\s*\]+\s*(#.*)?$`)

// section is the range of the lines of a table, without its header; from is -1 if the table has none. Without
// a name it is the part before the first header.
func section(lines []string, table string) (from, end int) {
	from = -1
	if table == "" {
		from = 0
	}
	for i, l := range lines {
		m := header.FindStringSubmatch(strings.TrimRight(l, "\r\n"))
		switch {
		case m == nil:
		case from >= 0:
			return from, i
		case m[1] == table:
			from = i + 1
		}
	}
	return from, len(lines)
}

// dropEmpty removes the header of a table that has no lines any more, and the blank line before it.
func dropEmpty(lines []string, table string) []string {
	from, end := section(lines, table)
	if table == "" || from < 0 || strings.TrimSpace(strings.Join(lines[from:end], "")) != "" {
		return lines
	}
	start := from - 1
	if start > 0 && strings.TrimSpace(lines[start-1]) == "" {
		start--
	}
	return slices.Delete(lines, start, from)
}
