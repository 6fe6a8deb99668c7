package hooks

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf16"

	"github.com/sallyport-dev/sallyport/internal/setup"
)

// Wrap tells how a host runs in an environment of sallyport. Paths begin with "~/"; a "/" at the end stands
// for a directory, which is made if it is missing, and "$project" for the host's name of the project.
type Wrap struct {
	Write []string `yaml:"write"` // places of the host's own
	Read  []string `yaml:"read"`  // settings and programs, by which later runs start others
	Copy  []string `yaml:"copy"`  // files of which it gets a copy, which is thrown away
	// Variables are those that it gets besides the usual ones; "*" at the end stands for any rest.
	Variables []string `yaml:"variables"`
}

// Wrapping is a Wrap on this machine.
type Wrapping struct {
	Places    []Place // absolute
	Copies    []string
	Variables []string
	Own       string // this program of sallyport, which the installed hook starts
}

// Wrapped lists the hosts that can run in an environment of sallyport.
func Wrapped() []string {
	return slices.DeleteFunc(Names(), func(name string) bool {
		h, err := Named(name)
		return err != nil || h.Wrap == nil
	})
}

// Wrapping finds the places of a host, and makes its directories. It is an error if the host has no hook of
// sallyport that judges all its calls, by the program here.Command.
func (h *Host) Wrapping(here Here, environ []string) (w Wrapping, err error) {
	if w.Own, err = h.own(here); err != nil {
		return w, err
	}
	for _, name := range h.Wrap.Write {
		for _, name := range projects(name, here.Project) {
			if err := w.state(h.Settings.place(here, strings.TrimSuffix(name, "/")), name); err != nil {
				return w, fmt.Errorf("state of %s: %w", h.Title, err)
			}
		}
	}
	for _, name := range h.Wrap.Read {
		w.place(h.Settings.place(here, name), "read")
	}
	for _, name := range h.Wrap.Copy {
		w.Copies = append(w.Copies, h.Settings.place(here, name))
	}
	for _, kv := range environ {
		name, _, _ := strings.Cut(kv, "=")
		if slices.ContainsFunc(h.Wrap.Variables, func(pattern string) bool { return stands(pattern, name) }) {
			w.Variables = append(w.Variables, name)
		}
	}
	return w, nil
}

// state adds a place that the host writes. A link there may be an agent's of an earlier run, and lead
// anywhere.
func (w *Wrapping) state(at, name string) error {
	if strings.HasSuffix(name, "/") {
		if err := os.MkdirAll(at, 0o700); err != nil {
			return err
		}
		if info, err := os.Lstat(at); err != nil || !info.IsDir() {
			return fmt.Errorf("%s is a link: remove it", at)
		}
	}
	w.place(at, "write")
	return nil
}

// place adds a place that exists.
func (w *Wrapping) place(at, access string) {
	if _, err := os.Stat(at); err == nil {
		w.Places = append(w.Places, Place{Path: at, Access: access})
	}
}

// longestProject is the length of a name of a project, behind which Claude Code puts a hash.
const longestProject = 200

// projects puts the names of a project into a path: those of its path and of its real path, where they
// differ. Such a name is the path with a "-" for each unit of UTF-16 that is no letter and no digit. Longer
// ones are left out.
func projects(path, project string) (out []string) {
	if !strings.Contains(path, "$project") {
		return []string{path}
	}
	dirs := []string{project}
	if real, err := filepath.EvalSymlinks(project); err == nil && real != project {
		dirs = append(dirs, real)
	}
	for _, dir := range dirs {
		units := utf16.Encode([]rune(dir))
		name := make([]byte, len(units))
		for i, u := range units {
			name[i] = '-'
			if u < 0x80 && (unicode.IsLetter(rune(u)) || unicode.IsDigit(rune(u))) {
				name[i] = byte(u)
			}
		}
		if len(name) <= longestProject {
			out = append(out, strings.ReplaceAll(path, "$project", string(name)))
		}
	}
	return out
}

// stands reports whether a pattern stands for a name.
func stands(pattern, name string) bool {
	begin, open := strings.CutSuffix(pattern, "*")
	return name == pattern || open && strings.HasPrefix(name, begin)
}

// own is the program of the installed hook, which must be this one, and the hook one that is called.
func (h *Host) own(here Here) (string, error) {
	again := "run sallyport agents install " + h.Name
	missing := fmt.Errorf("%s has no hook of sallyport: %s", h.Title, again)
	for _, scope := range Scopes() {
		installed, err := h.Installed(here, scope)
		if err != nil {
			return "", err
		}
		if installed == "" {
			continue
		}
		line, err := h.sound(here, scope)
		if err != nil {
			return "", err
		}
		if line == "" {
			missing = fmt.Errorf("the hook of %s does not judge all its calls: %s --scope %s",
				h.Title, again, scope)
			continue
		}
		l := look{h: h, here: here, seen: map[string]bool{}}
		l.hook(scope)
		l.switches()
		for _, p := range l.problems {
			if p.Open {
				return "", fmt.Errorf("the hook of %s does not judge its calls: %s: %s", h.Title, p.Text,
					cmp.Or(p.Fix, "correct it"))
			}
		}
		file := here.find(programIn(line))
		if !filepath.IsAbs(file) || !same(file, here.Command) {
			return "", fmt.Errorf("the hook of %s starts %s, and not %s: %s --scope %s", h.Title,
				programIn(line), here.Command, again, scope)
		}
		return file, nil
	}
	return "", missing
}

// sound is the command line of the hook in one scope, if the host calls it by all events and for all tools;
// "" if it is another one or incomplete.
func (h *Host) sound(here Here, scope string) (line string, err error) {
	file, err := h.File(here, scope)
	if err != nil {
		return "", err
	}
	events := map[string]map[string]any{}
	for event := range h.After {
		events[event] = h.Settings.After
	}
	for _, event := range h.Before {
		events[event] = h.Settings.Before
	}
	for event, form := range events {
		v, err := setup.At(file, []string{"hooks", event})
		if err != nil {
			return "", err
		}
		list, _ := v.([]any)
		i := slices.IndexFunc(list, func(entry any) bool { return h.wrote(entry, form) })
		if i < 0 {
			return "", nil
		}
		line = lineIn(list[i], h.mark())
	}
	return line, nil
}

// wrote reports whether an entry is one that Plan makes, for any program and mode.
func (h *Host) wrote(entry any, form map[string]any) bool {
	line := lineIn(entry, h.mark())
	have, err := json.Marshal(entry)
	if err != nil {
		return false
	}
	for _, mode := range []string{"", "judge", "run"} {
		guarded := h.guarded(h.line(Here{Command: programIn(line), Mode: mode}))
		want, err := json.Marshal(filled(form, map[string]any{"$guarded": guarded}))
		if err == nil && bytes.Equal(have, want) {
			return true
		}
	}
	return false
}

// same reports whether two paths lead to one file.
func same(a, b string) bool {
	one, err := os.Stat(a)
	other, failed := os.Stat(b)
	return err == nil && failed == nil && os.SameFile(one, other)
}
