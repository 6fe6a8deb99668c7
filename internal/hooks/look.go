package hooks

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/sallyport-dev/sallyport/internal/setup"
)

// Problem is an error in the settings of a host. Hosts show such errors as a failed connection, or not at
// all.
type Problem struct {
	Text, Fix string
	Open      bool // calls are not judged
}

// Look examines the settings of a host as far as they concern sallyport. connected is false if they do not
// name it. It starts nothing.
func (h *Host) Look(here Here) (problems []Problem, connected bool) {
	l := look{h: h, here: here, seen: map[string]bool{}}
	scopes := 0
	for _, scope := range Scopes() {
		if l.hook(scope) {
			scopes++
		}
	}
	if scopes > 1 {
		l.add(false, "sallyport agents remove "+h.Name+" --scope project",
			"the hook is installed for the user and for this project: each call is judged and recorded twice")
	}
	if scopes > 0 {
		l.switches()
	}
	servers := l.servers()
	return l.problems, scopes > 0 || servers > 0 || len(l.problems) > 0
}

type look struct {
	h        *Host
	here     Here
	problems []Problem
	seen     map[string]bool // files that cannot be read, which are told once
}

func (l *look) add(open bool, fix, form string, args ...any) {
	l.problems = append(l.problems, Problem{fmt.Sprintf(form, args...), fix, open})
}

// at is a value of a settings file. A file that cannot be read is a problem.
func (l *look) at(k Key) any {
	file := l.h.Settings.file(l.here, k)
	v, err := setup.At(file, k.Key)
	if err != nil && !l.seen[file] {
		l.seen[file] = true
		l.add(true, "", "%v", err)
	}
	return v
}

// hook examines the entries of one scope, and reports whether there are any.
func (l *look) hook(scope string) bool {
	line, err := l.h.Installed(l.here, scope)
	if err != nil {
		if file, err := l.h.File(l.here, scope); err == nil {
			l.seen[file] = true
		}
		l.add(true, "", "%v", err)
		return false
	}
	if line == "" {
		return false
	}
	again := "sallyport agents install " + l.h.Name + " --scope " + scope
	for _, k := range l.h.Settings.With {
		if k.scope() == scope && l.at(k) != k.Value {
			key, file := strings.Join(k.Key, "."), l.h.Settings.file(l.here, k)
			l.add(k.Value == true, again, "%s: %s is not %v", file, key, k.Value)
		}
	}
	if l.h.Settings.Text != "" {
		file, _ := l.h.File(l.here, scope) // Installed has read it
		l.program(file, programIn(line), again)
		return true
	}
	entries, err := l.h.Entries(l.here, scope)
	if err != nil {
		l.add(true, "", "%v", err)
		return false
	}
	installed, err := entries.Installed()
	if err != nil {
		l.add(true, "", "%v", err)
		return false
	}
	switch n := len(installed) - len(entries.Lists); {
	case n < 0:
		l.add(true, again, "%s: hooks of sallyport are missing for some events", entries.File)
	case n > 0:
		l.add(false, again, "%s: the hook is installed twice: each call is judged and recorded twice",
			entries.File)
	}
	l.program(entries.File, programIn(line), again)
	for _, one := range installed {
		if limit, ok := l.limit(one); ok && limit <= Longest {
			l.add(true, again, "%s: the time limit of the hook, %s, is not above that of sallyport, %s: "+
				"the host does not wait for its answer", entries.File, limit, Longest)
			break
		}
	}
	return true
}

// limit is the time limit in an entry, in the unit that the entry of the table has.
func (l *look) limit(entry any) (time.Duration, bool) {
	for _, name := range []string{"timeout", "timeoutSec"} {
		have, ok := find(entry, name).(float64)
		whole, known := find(l.h.Settings.Before, name).(int)
		if ok && known && whole > 0 {
			return time.Duration(have / float64(whole) * float64(l.h.Limit)), true
		}
	}
	return 0, false
}

// find is the first value of a name, at any depth.
func find(v any, name string) any {
	var inner []any
	switch v := v.(type) {
	case map[string]any:
		if found, ok := v[name]; ok {
			return found
		}
		inner = slices.Collect(maps.Values(v))
	case []any:
		inner = v
	}
	for _, one := range inner {
		if found := find(one, name); found != nil {
			return found
		}
	}
	return nil
}

// programIn is the program of an installed command line.
func programIn(line string) string {
	if _, rest, ok := strings.Cut(line, "a=$("); ok {
		line = rest
	}
	quoted, ok := strings.CutPrefix(line, "'")
	if !ok {
		name, _, _ := strings.Cut(line, " ")
		return name
	}
	var name strings.Builder
	for ok {
		part, rest, _ := strings.Cut(quoted, "'")
		name.WriteString(part)
		if quoted, ok = strings.CutPrefix(rest, `\''`); ok {
			name.WriteByte('\'')
		}
	}
	return name.String()
}

// program examines the program that a file names: it must be there, and be this one.
func (l *look) program(file, name, fix string) {
	at := l.here.find(name)
	info, err := os.Stat(at)
	if at == "" || err != nil {
		l.add(true, fix, "%s names the program %s, which is not there", file, name)
		return
	}
	if own, err := os.Stat(l.here.Command); err == nil && !os.SameFile(info, own) {
		l.add(false, fix, "%s names another program than this one: %s, not %s", file, at, l.here.Command)
	}
}

// find is the file of a program, by PATH if it has no directory; "" for none.
func (h Here) find(name string) string {
	if strings.ContainsRune(name, filepath.Separator) {
		return name
	}
	for _, dir := range filepath.SplitList(h.Getenv("PATH")) {
		file := filepath.Join(dir, name)
		if info, err := os.Stat(file); err == nil && !info.IsDir() && filepath.IsAbs(dir) {
			return file
		}
	}
	return ""
}

// switches finds settings that switch hooks off, and hooks that the user does not trust yet.
func (l *look) switches() {
	s := l.h.Settings
	for _, k := range s.Off {
		v := l.at(k)
		list, _ := v.([]any)
		if v == k.Value || slices.Contains(list, k.Value) {
			file := s.file(l.here, k)
			key := strings.Join(k.Key, ".")
			l.add(true, "remove it", "%s: %s: %v switches the hook off", file, key, k.Value)
		}
	}
	if s.Trust == nil {
		return
	}
	table, _ := l.at(*s.Trust).(map[string]any)
	for _, scope := range Scopes() {
		file, err := l.h.File(l.here, scope)
		line, _ := l.h.Installed(l.here, scope) // an error was told above
		if err != nil || line == "" {
			continue
		}
		if !trusts(table, file) {
			l.add(true, "start "+l.h.Program+" and trust the hook",
				"%s: %s does not trust the hook yet, or it is disabled there: it is not called",
				file, l.h.Title)
		}
	}
}

// trusts reports whether a table of trusted hooks has those of a file, and none of them is disabled.
func trusts(table map[string]any, file string) bool {
	found := false
	for name, v := range table {
		state, _ := v.(map[string]any)
		if !strings.HasPrefix(name, file+":") {
			continue
		}
		if state["trusted_hash"] == nil || state["enabled"] == false {
			return false
		}
		found = true
	}
	return found
}

// servers examines the MCP servers that are sallyport, and returns their number.
func (l *look) servers() int {
	var names []string
	for _, k := range l.h.Settings.Servers {
		file := l.h.Settings.file(l.here, k)
		table, _ := l.at(k).(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(table)) {
			server, _ := table[name].(map[string]any)
			command, _ := server["command"].(string)
			args, _ := server["args"].([]any)
			base := strings.TrimSuffix(filepath.Base(command), ".exe")
			if base != "sallyport" && base != "sallyport-full" || !slices.Contains(args, any("mcp")) {
				continue
			}
			names = append(names, cmp.Or(name, "?")+" in "+file)
			l.program(file, command, "sallyport setup --agent "+l.h.Name)
		}
	}
	if len(names) > 1 {
		l.add(false, "keep one of them", "sallyport is connected more than once: %s",
			strings.Join(names, ", "))
	}
	return len(names)
}
