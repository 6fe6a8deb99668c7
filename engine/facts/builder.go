package facts

import (
	"errors"
	"io/fs"
	"maps"
	"path"
	"slices"

	"github.com/sallyport-dev/sallyport/engine/shell"
	"github.com/sallyport-dev/sallyport/engine/shell/value"
	"github.com/sallyport-dev/sallyport/engine/shell/walk"
)

// readSteps is how many directory entries one Build may read over all, for globs and for what
// lies below recursive accesses. What is beyond it counts as there: as unread, never as empty.
const readSteps = 4000

// Builder makes policy inputs for one configuration. It is safe for concurrent use.
type Builder struct {
	layout    Layout
	table     *table
	fs        FS
	history   History
	workspace []string // lexical and real
	home      []string
	zones     []zone
	roots     []grant
	protected []string
	self      []Place
	secrets   []string          // places of credentials under their well-known names
	known     map[string]bool   // what lies at, above and on the way to a granted root
	folds     *spellings        // nil where names that differ in case are different files
	names     map[string]string // where folds is there: how names of known places are spelled, by their lower case
}

// viewOf begins a look at the file system.
func (b *Builder) viewOf(files FS, steps int) *view {
	v := newView(files, steps)
	v.folds = b.folds.again(files)
	return v
}

// grant is a root under one of its spellings.
type grant struct {
	path string
	root *Root
	wide bool // it holds far more than the work at hand: "/", a system directory, a home
}

// NewBuilder prepares a layout: every place is looked up once, so that it is known under its
// real path, too. h may be nil: then nothing has been seen.
func NewBuilder(l Layout, files FS, h History) *Builder {
	b := &Builder{layout: l, table: tableOf(l.Table), fs: files, history: h}
	b.folds = newSpellings(files, l.Workspace, l.Home)
	v := b.viewOf(files, 0)
	spellings := func(p string) []string {
		if p == "" {
			return nil
		}
		lexical := clean(p)
		if real, _ := v.real(lexical, false); real != lexical {
			return []string{lexical, real}
		}
		return []string{lexical}
	}
	b.known = b.waysTo(l.Roots)
	for i := range l.Roots {
		r := &l.Roots[i]
		for _, s := range spellings(r.Path) {
			b.roots = append(b.roots, grant{s, r, b.isWide(s, r)})
		}
		for _, p := range r.Protected {
			b.protected = append(b.protected, spellings(p)...)
		}
	}
	b.zones = zonesOf(l, spellings)
	for _, p := range l.Self {
		for _, s := range spellings(p.Path) {
			b.self = append(b.self, Place{s, p.Label})
		}
	}
	b.workspace, b.home = spellings(l.Workspace), spellings(l.Home)
	b.secrets = slices.Clone(atlases().secrets)
	for _, home := range b.home {
		for _, rel := range atlases().secretsAtHome {
			b.secrets = append(b.secrets, join(home, rel))
		}
	}
	if b.folds != nil {
		b.names = b.foldable()
	}
	// Deepest first.
	slices.SortStableFunc(b.roots, func(x, y grant) int { return len(y.path) - len(x.path) })
	return b
}

// build is the work on one request.
type build struct {
	*Builder
	view     *view
	in       *Input
	env      map[string]string // of the child
	calls    []*call
	exposed  int                  // directory entries that may still be read for credentials in recursive reads
	dotglob  bool                 // a glob may stand for hidden names
	globstar bool                 // ** may stand for directories at any depth, and for none
	inputs   [][]int              // of each command, directly or through others
	written  map[string]bool      // real paths that earlier commands of the text write
	moved    []renamed            // what earlier commands of the text moved
	fetched  map[string]bool      // of these, the ones whose content comes from the network
	carried  map[string][]string  // the operator's labels of files that earlier commands of the text write
	trees    map[string]*cleaning // by its top: what a repository holds
	hashed   int                  // bytes that were compared with it
}

// Build reads a request. It never fails: what cannot be read or understood is said in the input.
func (b *Builder) Build(req Ask) *Input {
	work := b.workDir(req.Request.WorkDir)
	view := b.viewOf(b.fs, readSteps)
	if req.Request.Command == "" && len(req.Touches) > 0 {
		return b.build(req, view, work, &shell.Program{Certainty: value.Exact}, nil)
	}
	prog, err := walk.Parse(req.Request.Command, shell.Options{
		Dir:   work,
		Env:   req.Env,
		Whole: req.Env != nil,
		POSIX: b.layout.POSIX,
		Stdin: req.Request.Stdin,
		Table: b.layout.Table,
		ReadFile: func(p string) (string, bool) {
			content, whole, err := b.fs.ReadFile(p, scriptBytes)
			return string(content), whole && err == nil
		},
		IsDir:  func(p string) bool { dir, there := view.kind(p); return there && dir },
		IsFile: func(p string) bool { dir, there := view.kind(p); return there && !dir },
	})
	return b.build(req, view, work, prog, err)
}

// kind reports whether something is at a path, and whether that is a directory, links followed.
func (v *view) kind(p string) (dir, there bool) {
	_, n := v.real(p, false)
	return n.mode.IsDir(), n.exists
}

// scriptBytes is the longest script that is looked through; shell.Parse has the same bound for a text.
const scriptBytes = 64 << 10

// build makes the input from a program that was parsed, or from the reason why it was not.
func (b *Builder) build(req Ask, v *view, work string, prog *shell.Program, err error) *Input {
	in := &Input{Version: Version, Request: req.Request, Subject: req.Subject, Runner: req.Runner,
		Commands: []Command{}, Paths: []Path{}, Git: Git{Remotes: []Remote{}},
		Session: NoSession()}
	in.Request.WorkDir = work
	in.Request.Env = sortedKeys(req.Env)
	if prog != nil {
		v.foresee(append(likely(prog), work)...)
	}
	real, n := v.real(work, false)
	in.Request.WorkDirState = b.dirState(real, n)
	in.Request.WorkDirAllowed = b.permission(real) != "none"
	in.Shell = Shell{Parsed: err == nil && prog != nil, Certainty: value.Unknown.String(), Legacy: legacy(req.Request.Command)}
	if err != nil {
		in.Shell.Error = "syntax"
		if e, ok := errors.AsType[*shell.Error](err); ok {
			in.Shell.Error = string(e.Kind)
		}
	}
	w := &build{Builder: b, view: v, in: in, env: req.Env, exposed: readMost,
		written: map[string]bool{}, fetched: map[string]bool{}, trees: map[string]*cleaning{},
		carried: map[string][]string{}}
	if in.Shell.Parsed {
		in.Shell.Certainty, in.Shell.Budget = prog.Certainty.String(), prog.Budget
		w.program(prog)
	}
	for _, t := range req.Touches {
		w.tool(t)
	}
	return in
}

// workDir makes the asked working directory absolute. Whether it is there and granted is a fact.
func (b *Builder) workDir(asked string) string {
	switch {
	case asked == "":
		return b.layout.Workspace
	case isAbs(asked):
		return clean(asked)
	default:
		return path.Join(b.layout.Workspace, asked)
	}
}

func (b *Builder) dirState(real string, n node) string {
	switch {
	case real == "" || !n.exists:
		return "missing"
	case !n.mode.IsDir():
		return "not_a_dir"
	}
	// Looking for any name in a directory tells whether one may enter it, without reading it.
	if _, err := b.fs.Lstat(join(real, "x")); errors.Is(err, fs.ErrPermission) {
		return "unreadable"
	}
	return "dir"
}

func sortedKeys(m map[string]string) []string {
	if len(m) == 0 {
		return []string{}
	}
	return slices.Sorted(maps.Keys(m))
}

func (b *Builder) homeDir() string {
	if len(b.home) == 0 {
		return ""
	}
	return b.home[0]
}
