package hooks

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/sallyport-dev/sallyport/internal/setup"
	"github.com/sallyport-dev/sallyport/internal/show"
)

// Settings tell where a host has its hooks.
type Settings struct {
	User     string         `yaml:"user"`     // file for all projects; "~/" is the home directory
	Variable string         `yaml:"variable"` // names the directory of that file, if it is set
	Project  string         `yaml:"project"`  // file for one project, relative to it
	Always   map[string]any `yaml:"always"`   // top-level keys that the file needs
	Before   map[string]any `yaml:"before"`   // the entry for an event before a tool, with $hook and $guarded
	After    map[string]any `yaml:"after"`
	Text     string         `yaml:"text"`    // the file itself with $line, in place of entries
	With     []Key          `yaml:"with"`    // that the hook needs in other files
	Off      []Key          `yaml:"off"`     // switch hooks off
	Trust    *Key           `yaml:"trust"`   // the table with the files of hooks that the user trusts
	Servers  []Key          `yaml:"servers"` // tables of MCP servers
}

// Key is a key of a settings file.
type Key struct {
	File   string   `yaml:"file"`   // "~/" is the home directory; others are relative to the project
	Darwin string   `yaml:"darwin"` // the file on macOS, if it is another one
	Key    []string `yaml:"key"`
	Value  any      `yaml:"value"`
}

// file is the path of the file of a key.
func (s Settings) file(here Here, k Key) string {
	if k.Darwin != "" && runtime.GOOS == "darwin" {
		return s.place(here, k.Darwin)
	}
	return s.place(here, k.File)
}

// scope is the scope in which a key is set.
func (k Key) scope() string {
	if strings.HasPrefix(k.File, "~/") {
		return "user"
	}
	return "project"
}

// Scopes are the places in which hooks are installed.
func Scopes() []string { return []string{"user", "project"} }

// Here is the machine as far as the settings of hosts depend on it.
type Here struct {
	Getenv        func(string) string
	Home, Project string
	Command       string // by which a host starts sallyport
	Mode          string // of the hook; "" for that of the configuration
}

// File is the settings file of a host.
func (h *Host) File(here Here, scope string) (string, error) {
	s := h.Settings
	switch {
	case scope == "project":
		return s.place(here, s.Project), nil
	case here.Home == "" && s.variable(here) == "":
		return "", errors.New("there is no home directory: set HOME")
	}
	return s.place(here, s.User), nil
}

// variable is the directory that a host has in place of the one in the home directory; "" for none.
func (s Settings) variable(here Here) string {
	if s.Variable == "" || !filepath.IsAbs(here.Getenv(s.Variable)) {
		return ""
	}
	return here.Getenv(s.Variable)
}

// place is the path of a file that is named by "~/" or relative to the project.
func (s Settings) place(here Here, name string) string {
	inHome, isHome := strings.CutPrefix(name, "~/")
	switch dir := s.variable(here); {
	case isHome && dir != "":
		if below, ok := strings.CutPrefix(name, path.Dir(s.User)+"/"); ok {
			return filepath.Join(dir, filepath.FromSlash(below))
		}
		return filepath.Join(dir, filepath.Base(name))
	case isHome:
		return filepath.Join(here.Home, filepath.FromSlash(inHome))
	}
	return filepath.Join(here.Project, filepath.FromSlash(name))
}

// Entries are the hooks of sallyport in the settings of a host.
func (h *Host) Entries(here Here, scope string) (setup.Entries, error) {
	file, err := h.File(here, scope)
	if err != nil {
		return setup.Entries{}, err
	}
	values := map[string]any{"$guarded": h.guarded(h.line(here))}
	out := setup.Entries{File: file, Always: h.Settings.Always, Mark: h.mark()}
	entry := func(event string, form map[string]any) {
		e := setup.Entry{Path: []string{"hooks", event}, Value: filled(form, values)}
		out.Lists = append(out.Lists, e)
	}
	for _, event := range h.Before {
		entry(event, h.Settings.Before)
	}
	for event := range h.After {
		entry(event, h.Settings.After)
	}
	slices.SortFunc(out.Lists, func(a, b setup.Entry) int { return strings.Compare(a.Path[1], b.Path[1]) })
	return out, nil
}

// line is the command line of a hook.
func (h *Host) line(here Here) string {
	hook := show.Quote(here.Command) + " hook "
	if here.Mode != "" {
		hook += "--mode " + here.Mode + " "
	}
	if h.Attended != "" {
		hook += "$b "
	}
	return hook + h.Name
}

// Plan plans the changes that install the hook of a host, or remove it; none if all files are as wanted.
func (h *Host) Plan(here Here, scope string, install bool) ([]setup.Change, error) {
	c, err := h.planFile(here, scope, install)
	if err != nil {
		return nil, err
	}
	var out []setup.Change
	if c != nil {
		out = append(out, *c)
	}
	keys := map[string][]setup.Entry{}
	for _, k := range h.Settings.With {
		if file := h.Settings.file(here, k); k.scope() == scope {
			keys[file] = append(keys[file], setup.Entry{Path: k.Key, Value: k.Value})
		}
	}
	for _, file := range slices.Sorted(maps.Keys(keys)) {
		c, err := setup.Keys(file, keys[file], install)
		if err != nil {
			return nil, err
		}
		if c != nil {
			out = append(out, *c)
		}
	}
	return out, nil
}

// planFile plans the change of the file with the hook itself.
func (h *Host) planFile(here Here, scope string, install bool) (*setup.Change, error) {
	if h.Settings.Text == "" {
		entries, err := h.Entries(here, scope)
		if err != nil {
			return nil, err
		}
		if install {
			return entries.Install()
		}
		return entries.Remove()
	}
	file, err := h.File(here, scope)
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	to := json.NewEncoder(&text)
	to.SetEscapeHTML(false)
	if err := to.Encode(h.guarded(h.line(here))); err != nil {
		return nil, err
	}
	line := strings.TrimSpace(text.String())
	return setup.Text(file, h.mark(), strings.ReplaceAll(h.Settings.Text, "$line", line), install)
}

// mark is a text that all entries and files of ours contain, and no others.
func (h *Host) mark() string { return " " + h.Name + guard }

// textLine finds the command line in a file that is not a list of entries: the text of a constant.
func (h *Host) textLine(here Here, scope string) (string, error) {
	file, err := h.File(here, scope)
	if err != nil {
		return "", err
	}
	text, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read settings: %w", err)
	}
	for line := range strings.Lines(string(text)) {
		_, value, ok := strings.Cut(line, " = ")
		var found string
		if ok && json.Unmarshal([]byte(value), &found) == nil && strings.Contains(found, h.mark()) {
			return found, nil
		}
	}
	return "", nil
}

// guard begins the part of an installed command line that refuses when the hook does not answer. Entries of
// ours are known by it, behind the name of the host.
const guard = " || { "

// guarded is a command line that refuses, too, if the program is missing, is killed or prints anything else
// than one object. Most hosts let calls run then.
func (h *Host) guarded(hook string) string {
	const text = "sallyport did not answer, and so this call is refused"
	refuse := "echo " + show.Quote(text) + " >&2; exit 2; "
	if fault, ok := h.Answers["fault"]; ok {
		object, err := json.Marshal(filled(fault.JSON, map[string]any{"$reason": text}))
		if err == nil {
			refuse = "printf %s " + show.Quote(string(object)) + "; "
		}
	}
	before := ""
	if h.Attended != "" {
		before = "b=; " + h.Attended + " && b=--attended; "
	}
	return before + "a=$(" + hook + guard + refuse + "}) || exit 2; " +
		"case $a in '{'*'}') printf '%s\\n' \"$a\";; *) " + refuse + "esac"
}

// Installed returns the command line by which a host asks before a call; "" for none.
func (h *Host) Installed(here Here, scope string) (string, error) {
	if h.Settings.Text != "" {
		return h.textLine(here, scope)
	}
	entries, err := h.Entries(here, scope)
	if err != nil {
		return "", err
	}
	all, err := entries.Installed()
	if err != nil {
		return "", err
	}
	for _, one := range all {
		if line := lineIn(one, entries.Mark); line != "" {
			return line, nil
		}
	}
	return "", nil
}

// lineIn finds the command line in an entry.
func lineIn(v any, mark string) string {
	var inner []any
	switch v := v.(type) {
	case string:
		if strings.Contains(v, mark) {
			return v
		}
	case map[string]any:
		inner = slices.Collect(maps.Values(v))
	case []any:
		inner = v
	}
	for _, one := range inner {
		if line := lineIn(one, mark); line != "" {
			return line
		}
	}
	return ""
}

// CanaryCommand is a command that every profile but monitor mode denies.
const CanaryCommand = "sudo -n true"

// denial is the rule that denies it.
const denial = "dangerous/privilege"

// Canary is an event that must be refused.
func (h *Host) Canary(dir string) ([]byte, error) {
	for name, t := range h.Tools {
		if t.Kind != "command" {
			continue
		}
		event := map[string]any{}
		put(event, h.Event.Session, "sallyport agents check")
		put(event, h.Event.Dir, dir)
		put(event, h.Event.Tool, name)
		if h.Event.Name != h.Event.Tool {
			put(event, h.Event.Name, h.Before[0])
		}
		put(event, join(h.Event.Input, t.Command), CanaryCommand)
		return json.Marshal(event)
	}
	return nil, fmt.Errorf("%s has no shell", h.Title)
}

// Refuses reads an answer to the canary: nil for a denial by its rule.
func (h *Host) Refuses(out []byte, code int, text string) error {
	said := string(out)
	if code == Refused {
		said = text
	}
	switch {
	case strings.Contains(said, denial) && (code == Refused || code == 0 && h.denies(out)):
		return nil
	case code == Refused || code == 0 && h.denies(out):
		return fmt.Errorf("it refuses every call: %s", strings.TrimSpace(said))
	}
	return fmt.Errorf("it let %q run, with exit code %d: %s", CanaryCommand, code,
		strings.TrimSpace(said+" "+text))
}

// denies reports whether an answer has the form of a denial.
func (h *Host) denies(out []byte) bool {
	var got map[string]any
	if json.Unmarshal(out, &got) != nil || len(h.Answers["deny"].JSON) == 0 {
		return false
	}
	return matches(h.Answers["deny"].JSON, got)
}

func matches(form, got any) bool {
	switch f := form.(type) {
	case string:
		text, ok := got.(string)
		return ok && (text == f || strings.HasPrefix(f, "$"))
	case map[string]any:
		object, ok := got.(map[string]any)
		if !ok || len(object) != len(f) {
			return false
		}
		for name, v := range f {
			if !matches(v, object[name]) {
				return false
			}
		}
		return true
	}
	return false
}

func join(object, name string) string {
	if object == "" {
		return name
	}
	return object + "." + name
}

// put sets a value; a dot in the path goes into an object.
func put(in map[string]any, path string, v any) {
	if path == "" {
		return
	}
	first, rest, deeper := strings.Cut(path, ".")
	if !deeper {
		in[first] = v
		return
	}
	inner, ok := in[first].(map[string]any)
	if !ok {
		inner = map[string]any{}
		in[first] = inner
	}
	put(inner, rest, v)
}
