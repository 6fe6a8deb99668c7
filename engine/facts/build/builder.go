// Package build makes the policy input of a request: it reads its commands, looks up the paths that they
// touch, and follows the data that flows from one to the next.
package build

import (
	"cmp"
	"errors"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/engine/facts/call"
	"github.com/sallyport-dev/sallyport/engine/facts/disk"
	"github.com/sallyport-dev/sallyport/engine/facts/places"
	"github.com/sallyport-dev/sallyport/engine/facts/repo"
	"github.com/sallyport-dev/sallyport/engine/shell"
	"github.com/sallyport-dev/sallyport/engine/shell/value"
	"github.com/sallyport-dev/sallyport/engine/shell/walk"
)

// readSteps is how many directory entries one Build may read over all, for globs and for files
// below recursive accesses. An entry beyond it counts as there: as unread, never as empty.
const readSteps = 4000

// elf begins a file of machine code (elf(5)).
const elf = "\x7fELF"

// Builder makes policy inputs for one configuration. It is safe for concurrent use.
type Builder struct {
	*places.Map
	table   *call.Table
	history facts.History
}

// NewBuilder prepares a layout. h may be nil: then nothing has been seen.
func NewBuilder(l facts.Layout, files facts.FS, h facts.History) *Builder {
	return &Builder{places.NewMap(l, files), call.TableOf(l.Table), h}
}

// build is the work on one request.
type build struct {
	*Builder
	view     *disk.View
	in       *facts.Input
	env      map[string]string // of the child
	calls    []*call.Call
	exposed  int                 // directory entries that may still be read for credentials in recursive reads
	dotglob  bool                // a glob may stand for hidden names
	globstar bool                // ** may stand for directories at any depth, and for none
	inputs   [][]int             // of each command, directly or through others
	written  map[string]bool     // real paths that earlier commands of the text write
	moved    []disk.Renamed      // files that earlier commands of the text moved
	fetched  map[string]bool     // of these, the ones whose content comes from the network
	carried  map[string][]string // the operator's labels of files that earlier commands of the text write
	repos    *repo.Finder
	own      []string // .git directories that earlier programs of the same command have made
}

// programBytes bounds the words of a program, quoted for a shell. xargs gives it up to 128 KiB of them.
const programBytes = 256 << 10

// Build reads a request. It never fails: the input names the parts that cannot be read or understood.
func (b *Builder) Build(req facts.Ask) *facts.Input {
	work := b.WorkDir(req.Request.WorkDir)
	view := b.ViewOf(b.Files, readSteps)
	view.Walked(req.Seen)
	ofTool := len(req.Touches) > 0 || strings.HasPrefix(req.Request.Tool, facts.MCPTool)
	if req.Request.Command == "" && ofTool {
		return b.build(req, view, work, &shell.Program{Certainty: value.Exact}, nil)
	}
	var limits shell.Limits
	if req.Request.Tool == facts.ToolProgram {
		limits.Bytes = programBytes
	}
	prog, err := walk.Parse(req.Request.Command, shell.Options{
		Limits: limits,
		Dir:    work,
		Env:    req.Env,
		Whole:  req.Env != nil,
		POSIX:  b.Layout.POSIX,
		Stdin:  req.Request.Stdin,
		Judged: req.Request.Tool == facts.ToolProgram,
		Table:  b.Layout.Table,
		ReadFile: func(p string) (string, bool) {
			switch {
			case req.Alone:
				return "", false
			case slices.Contains(req.Machine, p):
				return elf, true
			}
			content, whole, err := b.Files.ReadFile(p, call.ScriptBytes)
			return string(content), whole && err == nil
		},
		IsDir:  func(p string) bool { dir, there := view.Kind(p); return there && dir },
		IsFile: func(p string) bool { dir, there := view.Kind(p); return there && !dir },
	})
	return b.build(req, view, work, prog, err)
}

// build makes the input from a program that was parsed, or from the reason why it was not.
func (b *Builder) build(
	req facts.Ask, v *disk.View, work string, prog *shell.Program, err error,
) *facts.Input {
	in := &facts.Input{Version: facts.Version, Request: req.Request, Subject: req.Subject, Runner: req.Runner,
		Commands: []facts.Command{}, Paths: []facts.Path{}, Git: facts.Git{Remotes: []facts.Remote{}},
		Session: facts.NoSession()}
	in.Runner.Confinement = in.Runner.Confinement.Known()
	in.Runner.Programs = cmp.Or(in.Runner.Programs, facts.Unseen)
	in.Request.WorkDir = work
	in.Request.Env = sortedKeys(req.Env)
	if prog != nil {
		v.Foresee(append(likely(prog), work, disk.Join(work, disk.AnyName))...)
	}
	real, n := v.Real(work, false)
	in.Request.WorkDirState = b.dirState(v, real, n)
	in.Request.WorkDirAllowed = b.Permission(real) != "none"
	in.Shell = facts.Shell{Parsed: err == nil && prog != nil, Certainty: value.Unknown.String(),
		Legacy: legacy(req.Request.Command)}
	if err != nil {
		in.Shell.Error = "syntax"
		if e, ok := errors.AsType[*shell.Error](err); ok {
			in.Shell.Error = string(e.Kind)
		}
	}
	w := &build{Builder: b, view: v, in: in, env: req.Env, exposed: readMost,
		written: map[string]bool{}, fetched: map[string]bool{},
		repos:   repo.NewFinder(b.Files, v, b.HomeDir()),
		carried: map[string][]string{}, own: req.Repositories}
	if in.Shell.Parsed {
		in.Shell.Certainty, in.Shell.Budget = prog.Certainty.String(), prog.Budget
		w.program(prog)
	}
	for _, t := range req.Touches {
		w.tool(t)
	}
	return in
}

func (b *Builder) dirState(v *disk.View, real string, n disk.Node) string {
	switch {
	case real == "" || !n.Exists:
		return "missing"
	case !n.Mode.IsDir():
		return "not_a_dir"
	}
	// Looking for any name in a directory tells whether one may enter it, without reading it.
	probe := disk.Join(real, disk.AnyName)
	if n := v.Nodes[probe]; n.Exists || n.Absent {
		return "dir"
	}
	if _, err := b.Files.Lstat(probe); errors.Is(err, fs.ErrPermission) {
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
