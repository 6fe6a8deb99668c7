package places

import (
	_ "embed"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/engine/facts/disk"
	"github.com/sallyport-dev/sallyport/engine/facts/term"
	"github.com/sallyport-dev/sallyport/engine/obeyed"
)

// atlas is the compiled labels.txt: for each way of naming a place a map from the text of the
// pattern, so that labelling a path costs a few lookups for each of its ancestors.
type atlas struct {
	absolute map[string][]mark // by the whole path
	home     map[string][]mark // by the path below a home directory, "" for the home itself
	name     map[string][]mark // by the last name
	pair     map[string][]mark // by the last two names
	globs    map[string][]mark // by the directory: "/dev", "~/.ssh", "**"
	under    map[string][]mark // by the last name of the directory: "site-packages" of **/site-packages/*.pth

	secrets, secretsAtHome []string // the places of absolute and home whose labels make them credentials
}

// mark is what a pattern gives to the paths that it names.
type mark struct {
	label term.Label
	below bool // and to everything below them
	not   bool // takes the label away

	group    *obeyed.Group // with the label of its kind
	programs string

	glob string // of the last name; "" for none

	head, tail string // a glob of the form head*tail is compared without a matcher
	simple     bool
}

func (m *mark) matches(base string) bool {
	if m.simple {
		return len(base) >= len(m.head)+len(m.tail) && strings.HasPrefix(base, m.head) && strings.HasSuffix(base, m.tail)
	}
	ok, err := path.Match(m.glob, base)
	return ok && err == nil
}

// Atlases holds the one atlas.
var Atlases = sync.OnceValue(func() *atlas {
	a := &atlas{
		absolute: map[string][]mark{}, home: map[string][]mark{}, name: map[string][]mark{},
		pair: map[string][]mark{}, globs: map[string][]mark{}, under: map[string][]mark{},
	}
	for _, r := range placeRows() {
		for _, p := range r.patterns {
			a.add(p, r.mark)
		}
	}
	for _, g := range obeyed.Groups() {
		a.addObeyed(&g)
	}
	a.secrets, a.secretsAtHome = secrets(a.absolute), secrets(a.home)
	return a
})

// addObeyed adds the files of a group under the label of its kind.
func (a *atlas) addObeyed(g *obeyed.Group) {
	labels := []term.Label{term.Label(slices.Index(term.LabelNames, string(g.Kind)))}
	if g.Severity != obeyed.Low {
		labels = append(labels, term.LabelAutorun)
	}
	if g.Settings {
		labels = append(labels, term.LabelAgentSettings)
	}
	for i := range g.Files {
		for _, p := range strings.Fields(g.Files[i].Patterns) {
			for n, l := range labels {
				m := mark{label: l}
				if n == 0 {
					m.group, m.programs = g, g.Files[i].Programs
				}
				a.add(p, m)
			}
			dir, _, two := strings.Cut(strings.TrimSuffix(strings.TrimPrefix(p, "**/"), "/**"), "/")
			if two && dir != ".git" && strings.HasPrefix(dir, ".") && len(labels) > 1 {
				a.add("**/"+dir, mark{label: term.LabelHoldsAutorun})
			}
		}
	}
}

// secrets lists the places of a map whose labels are credentials, in a fixed order.
func secrets(places map[string][]mark) []string {
	var out []string
	for p, marks := range places {
		for _, m := range marks {
			if CredentialLabels.Has(m.label) && !m.not {
				out = append(out, p)
				break
			}
		}
	}
	slices.Sort(out)
	return out
}

func (a *atlas) add(pattern string, m mark) {
	pattern, m.below = strings.CutSuffix(pattern, "/**")
	dir, base := path.Split(pattern)
	if strings.ContainsAny(base, "*?[") && pattern != "**" {
		m.glob = base
		m.head, m.tail, _ = strings.Cut(base, "*")
		m.simple = !strings.ContainsAny(m.head+m.tail, "*?[") && strings.Contains(base, "*")
		dir = strings.TrimSuffix(dir, "/")
		if last, ok := strings.CutPrefix(dir, "**/"); ok {
			a.under[last] = append(a.under[last], m)
		} else {
			a.globs[dir] = append(a.globs[dir], m)
		}
		return
	}
	if rest, ok := strings.CutPrefix(pattern, "**/"); ok {
		if strings.Contains(rest, "/") {
			a.pair[rest] = append(a.pair[rest], m)
		} else {
			a.name[rest] = append(a.name[rest], m)
		}
		return
	}
	if rest, ok := strings.CutPrefix(pattern, "~"); ok {
		rest = strings.TrimPrefix(rest, "/")
		a.home[rest] = append(a.home[rest], m)
		return
	}
	a.absolute[pattern] = append(a.absolute[pattern], m)
}

// Labels adds the labels that the data has for an absolute clean path. home is the child's home directory.
func (a *atlas) Labels(into *term.Set, p, home string) {
	var gone, found term.Set
	a.visit(p, home, func(m *mark) { m.give(&found, &gone) })
	stream := found.Has(term.LabelStdDevice) || into.Has(term.LabelStdDevice) // spelled /dev/stdin, really /proc/PID/fd/0
	if rest, ok := strings.CutPrefix(p, "/proc/"); ok && !stream {
		names := strings.Split(rest, "/")
		self := names[0] == "self" || names[0] == "thread-self"
		for _, name := range names[1:] {
			if slices.Contains(processMemory, name) || !self && slices.Contains(processFiles, name) {
				found.Add(term.LabelProcessMemory)
			}
		}
	}
	into.UnionWithout(found, gone)
}

// IsProcessMemory reports a path to the environment or the memory of a process, without its number.
func IsProcessMemory(p string) bool {
	rest, ok := strings.CutPrefix(p, "/proc/")
	name, _, _ := strings.Cut(rest, "/")
	return ok && slices.Contains(processMemory, name)
}

// ObeyedBy adds the programs that obey a path.
func (a *atlas) ObeyedBy(to []facts.Obeyed, p, home string) []facts.Obeyed {
	a.visit(p, home, func(m *mark) {
		if m.group == nil {
			return
		}
		for program := range strings.SplitSeq(m.programs, ", ") {
			o := facts.Obeyed{Program: program, Starts: m.group.Starts, Severity: string(m.group.Severity)}
			if !slices.Contains(to, o) {
				to = append(to, o)
			}
		}
	})
	return to
}

// visit goes through the marks of a path, and of the places around it that hold for all below them.
func (a *atlas) visit(p, home string, see func(*mark)) {
	root := homeOf(p, home)
	for at := p; ; {
		self := len(at) == len(p)
		visit(a.absolute[at], self, "", see)
		dir, base := disk.Parent(at)
		if base != "" {
			visit(a.name[base], self, "", see)
			if i := strings.LastIndexByte(dir, '/'); i >= 0 && len(dir) > 1 {
				visit(a.pair[at[i+1:]], self, "", see)
			}
			visit(a.globs[dir], self, base, see)
			visit(a.globs["**"], self, base, see)
			_, last := disk.Parent(dir)
			visit(a.under[last], self, base, see)
		}
		if root != "" && len(at) >= len(root) {
			rel := strings.TrimPrefix(at[len(root):], "/")
			visit(a.home[rel], self, "", see)
			if rel != "" && base != "" {
				a.homeGlobs(rel, base, self, see)
			}
		}
		if base == "" {
			return
		}
		at = dir
	}
}

// Names adds the labels that depend on the last names of a path alone, wherever it lies.
func (a *atlas) Names(into *term.Set, p string) {
	var gone, found term.Set
	give := func(m *mark) { m.give(&found, &gone) }
	dir, base := disk.Parent(p)
	visit(a.name[base], true, "", give)
	if i := strings.LastIndexByte(dir, '/'); i >= 0 && len(dir) > 1 {
		visit(a.pair[p[i+1:]], true, "", give)
	}
	visit(a.globs["**"], true, base, give)
	_, last := disk.Parent(dir)
	visit(a.under[last], true, base, give)
	into.UnionWithout(found, gone)
}

func (a *atlas) homeGlobs(rel, base string, self bool, see func(*mark)) {
	dir := "~"
	if i := strings.LastIndexByte(rel, '/'); i >= 0 {
		if rel[:i] != ".ssh" {
			return // the only directory of a home with patterns for names: see TestHomeGlobs
		}
		dir = "~/.ssh"
	}
	visit(a.globs[dir], self, base, see)
}

func visit(marks []mark, self bool, base string, see func(*mark)) {
	for i := range marks {
		m := &marks[i]
		if (self || m.below) && (m.glob == "" || m.matches(base)) {
			see(m)
		}
	}
}

// give adds the label of a mark to those of a path, or to those that it loses.
func (m *mark) give(found, gone *term.Set) {
	if m.not {
		gone.Add(m.label)
	} else {
		found.Add(m.label)
	}
}

// homeOf returns the home directory in or at which p lies, "" for none.
func homeOf(p, home string) string {
	if home != "" && home != "/" && disk.Within(p, home) {
		return home
	}
	for _, h := range HomeNames {
		if disk.Within(p, h) {
			return h
		}
	}
	for _, dir := range HomeParents {
		if len(p) > len(dir)+1 && strings.HasPrefix(p, dir) && p[len(dir)] == '/' {
			if i := strings.IndexByte(p[len(dir)+1:], '/'); i >= 0 {
				return p[:len(dir)+1+i]
			}
			return p
		}
	}
	return ""
}

// labelsFile has the labels of places; it says how.
//
//go:embed labels.txt
var labelsFile string

// placeRow is the entry of one label in the file.
type placeRow struct {
	mark
	patterns []string
}

// placeRows reads the file.
func placeRows() (rows []placeRow) {
	for line := range strings.Lines(labelsFile) {
		switch name, label := strings.CutSuffix(strings.TrimSpace(line), ":"); {
		case strings.HasPrefix(line, "#"):
		case label:
			name, not := strings.CutPrefix(name, "not ")
			at := term.Label(slices.Index(term.LabelNames, name)) // a test looks for each
			rows = append(rows, placeRow{mark: mark{label: at, not: not}})
		default:
			last := &rows[len(rows)-1]
			last.patterns = append(last.patterns, strings.Fields(name)...)
		}
	}
	return rows
}

// CredentialLabels make a place one of zone "credential". An .env file is labelled only: it
// belongs to the project around it, which reads and writes it all day.
var CredentialLabels = term.SetOf(term.LabelSSHKey, term.LabelCloudCredential, term.LabelTokenFile, term.LabelAuthDatabase, term.LabelBrowserProfile, term.LabelKeyring)

// homes are the directories whose children are home directories, and home directories by name.
var (
	HomeParents = []string{"/home", "/Users", "C:/Users", "/c/Users", "/mnt/c/Users", "/var/home", "/usr/home", "/export/home"}
	HomeNames   = []string{"/root", "/var/root", "/private/var/root"}
)

// systemDirs are of zone "system" unless something deeper says otherwise.
var systemDirs = []string{
	"/", "/bin", "/boot", "/dev", "/etc", "/lib", "/lib32", "/lib64", "/libx32", "/lost+found", "/opt", "/proc", "/run", "/sbin", "/snap", "/sys", "/usr", "/var",
	"/Applications", "/Library", "/System", "/cores", "/private/etc", "/private/var", "C:/Windows", "C:/Program Files", "C:/Program Files (x86)", "C:/ProgramData",
}

// processMemory are the names below /proc/PID by which the environment and the memory of a process are
// read. By processFiles the files are reached that another one has open or sees: /proc/1/root/etc/shadow.
var (
	processMemory = []string{"environ", "mem"}
	processFiles  = []string{"root", "cwd", "fd", "map_files"}
)

// ObeyedLabels are those of files that programs of the user obey.
var ObeyedLabels = term.SetOf(
	term.LabelAutorun, term.LabelAgentConfig, term.LabelEditorConfig, term.LabelDirectoryConfig, term.LabelGitConfig, term.LabelShellStartup,
)

// ObeyedBy returns the programs of a user that obey a file at an absolute clean path (package engine/obeyed).
// holds reports a directory in which such files are looked for. home is the user's home directory.
func ObeyedBy(p, home string) (by []facts.Obeyed, holds bool) {
	a := Atlases()
	a.visit(p, home, func(m *mark) { holds = holds || m.label == term.LabelHoldsAutorun && !m.not })
	return a.ObeyedBy(nil, p, home), holds
}

// StartsOthers reports programs that start others by a file: an entry of more than low severity.
func StartsOthers(by []facts.Obeyed) bool {
	return slices.ContainsFunc(by, func(o facts.Obeyed) bool { return o.Severity != "low" })
}

// MayBeObeyed looks at the last names of a path alone, and at its place below home: false means that ObeyedBy
// finds nothing, unless a directory around the path is itself obeyed.
func MayBeObeyed(p, home string) bool {
	a := Atlases()
	dir, base := disk.Parent(p)
	if len(a.name[base]) > 0 {
		return true
	}
	if i := strings.LastIndexByte(dir, '/'); i >= 0 {
		if len(a.pair[p[i+1:]]) > 0 || len(a.under[dir[i+1:]]) > 0 {
			return true
		}
	}
	if home != "" && home != "/" && disk.Below(p, home) {
		for rel := p[len(home)+1:]; rel != ""; rel = rel[:max(0, strings.LastIndexByte(rel, '/'))] {
			if len(a.home[rel]) > 0 {
				return true
			}
		}
		if len(a.globs["~"]) > 0 && dir == home {
			return true
		}
	}
	return slices.ContainsFunc(a.globs["**"], func(m mark) bool { return m.matches(base) })
}
