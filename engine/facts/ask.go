package facts

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

// Ask is what the gate knows about a request before anything is read. Every text in it may
// come from an agent; nothing in it is trusted, and nothing in it is looked up again.
type Ask struct {
	// Request carries the id, the time, the tool, the command text, the timeout and whether it
	// runs in the background. WorkDir is taken as it was asked for: absolute, relative to the
	// workspace, or "" for the workspace. Build fills in the absolute WorkDir, WorkDirState,
	// WorkDirAllowed and Env.
	Request Request
	Subject Subject
	Runner  Runner
	// Env is the whole environment of the child process. Its names become Request.Env, its
	// values are known to the reading of the text and appear nowhere else.
	Env map[string]string
	// Touches is what a file tool would do. A request with touches and no command text is
	// about these alone.
	Touches []Touch
}

// ReadTouches reads what a file tool asks for in the notation of cases and of the examples of rules:
//
//	copy_file: read a.txt, write out/a.txt
//	delete_file: delete* build
//
// A star stands behind a recursive access. ok is false for any other text, a command above all.
func ReadTouches(text string) (tool string, touches []Touch, ok bool) {
	tool, list, ok := strings.Cut(text, ": ")
	if !ok || tool == "" || strings.Trim(tool, "abcdefghijklmnopqrstuvwxyz_") != "" {
		return "", nil, false
	}
	for one := range strings.SplitSeq(list, ", ") {
		access, p, _ := strings.Cut(one, " ")
		access, recursive := strings.CutSuffix(access, "*")
		if !slices.Contains(accessNames[:], access) {
			return "", nil, false
		}
		touches = append(touches, Touch{Path: p, Access: access, Recursive: recursive})
	}
	return tool, touches, true
}

// tool adds the path that a file tool touches. Its text is the name itself: nothing in it is expanded.
func (w *build) tool(t Touch) {
	i := slices.Index(accessNames[:], t.Access)
	if i < 0 { // an access that is not known is taken for the worst
		t.Access, t.Recursive = "delete", true
		i = slices.Index(accessNames[:], t.Access)
	}
	w.place(touch{
		word:      w.toolWord(t),
		access:    1 << i,
		source:    "tool",
		role:      role{ofLink: t.Access == "delete"},
		recursive: t.Recursive,
	}, -1)
}

// toolWord is the absolute path of a touch. What cannot be the name of a file, or cannot be told in an
// input, is a place that is not known.
func (w *build) toolWord(t Touch) value.Word {
	p := t.Path
	word := value.Word{Raw: strings.ToValidUTF8(p, "\uFFFD"), Quoted: true, Certainty: value.Unknown}
	if p == "" || strings.Contains(p, "\x00") || !utf8.ValidString(p) {
		return word
	}
	if !isAbs(p) {
		if w.layout.Workspace == "" {
			return word
		}
		p = join(w.layout.Workspace, p)
	}
	if t.Access == "delete" && strings.Trim(p, "/") != "" {
		p = strings.TrimRight(p, "/") // of a link the link itself goes, however it is spelled
	}
	word.Text, word.Prefix, word.Certainty = p, p, value.Exact
	return word
}

// criticalNames belong to a project and are no part of its files: its history, its secrets, the state
// of the agents that work in it. What tools make again by themselves (caches, build output, installed
// packages) is none of them.
var criticalNames = []string{".git", ".hg", ".svn", ".env", ".massgen", "massgen_logs"}

// isCritical reports whether a real path has such a name, or the one of an environment file, below its
// granted root: a workspace that lies in somebody's .massgen is an ordinary one.
func (b *Builder) isCritical(p string) bool {
	root := b.rootOf(p)
	if root == "" {
		return false
	}
	rest := strings.TrimPrefix(p[len(root):], "/")
	for name := range strings.SplitSeq(rest, "/") {
		if slices.Contains(criticalNames, name) {
			return !b.isGenerated(p, false)
		}
	}
	return isEnvFile(p) && !b.isGenerated(p, false)
}

func isEnvFile(p string) bool {
	var names bitset
	atlases().names(&names, p)
	return names.has(labelEnvFile)
}

// rootOf returns the deepest granted root that a path lies below, "" for none.
func (b *Builder) rootOf(p string) string {
	for _, g := range b.roots {
		if below(p, g.path) {
			return g.path
		}
	}
	return ""
}
