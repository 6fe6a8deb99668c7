package build

import (
	"io/fs"
	"path"
	"strings"

	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/engine/facts/call"
	"github.com/sallyport-dev/sallyport/engine/facts/disk"
	"github.com/sallyport-dev/sallyport/engine/facts/places"
	"github.com/sallyport-dev/sallyport/engine/facts/repo"
	"github.com/sallyport-dev/sallyport/engine/facts/term"
	"github.com/sallyport-dev/sallyport/engine/shell"
	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

// spot is a touched word after it was looked up: everything about a Path that does not
// depend on the kind of access.
type spot struct {
	path, real string
	node       disk.Node
	certainty  value.Certainty
	glob, all  bool     // all: a bare * of the directory path
	targets    []string // the real paths that are touched: one, or the matches of a glob
	whole      bool     // targets are all matches
	labels     term.Set
	obeyed     []facts.Obeyed
	hidden     bool   // globs stand for hidden entries, too, as listings in other languages do
	asIfEmpty  string // absolute path with unknown parts left out; for its names only
}

// place looks up a touched word and adds one path for each kind of access. It returns the spot.
func (w *build) place(t call.Touch, command int) *spot {
	s := w.locate(t, false)
	if t.IfFile && !s.node.Exists {
		return s
	}
	if s.certainty == value.Partial && w.climbs(t.Word) && (w.Permission(s.real) != "none" || w.ZoneOf(s.path, s.real, s.labels) == "temporary") {
		s = w.locate(t, true)
	}
	if t.Role.Metadata {
		s.labels.Add(term.LabelMetadata)
	}
	if s.certainty == value.Unknown && t.Access&term.Reads != 0 && !t.Role.Metadata && w.plainName(t.Word, command) {
		s.labels.Add(term.LabelPlainName)
	}
	if s.certainty == value.Unknown && w.listedName(t.Word, command) {
		s.labels.Add(term.LabelListedName)
	}
	if t.Role.Word == "key" {
		s.labels.Add(term.LabelOwnKey)
	}
	zone, permission := w.ZoneOf(s.path, s.real, s.labels), w.Permission(s.real)
	if permission == "write" && w.IsProtected(w.Folded(s.real)) {
		permission = "read"
	}
	if w.WidelyGranted(s.real) {
		s.labels.Add(term.LabelWideRoot)
	}
	p := facts.Path{
		Raw: t.Word.Raw, Path: s.path, Real: s.real, Source: t.Source,
		Recursive: t.Recursive, Glob: s.glob, Certainty: s.certainty.String(),
		Exists: s.node.Exists, Type: typeOf(s.node), Zone: zone, Permission: permission,
		ObeyedBy: append([]facts.Obeyed{}, s.obeyed...), Seen: "none", Generated: w.generated(s),
		Size: int(t.Size), Command: command,
	}
	nothing := noLoss()
	p.Unread, p.Git = nothing.unread, nothing.versions
	if p.Raw == "" {
		p.Raw = t.Word.Text
	}
	if s.labels.Has(term.LabelDiskDevice) && p.Type == "" {
		p.Type = "block_device"
	} else if s.labels.Meets(characterDevices) && p.Type == "" && strings.HasPrefix(s.path, "/dev/") {
		p.Type = "char_device"
	}
	if w.history != nil && s.real != "" && s.certainty == value.Exact {
		p.Seen = w.history.Seen(s.real)
	}
	operator := []string{}
	if len(w.Layout.Labels) > 0 {
		operator = w.operatorLabels(s, t)
	}
	for i, name := range term.AccessNames {
		a := term.Access(1 << i)
		if t.Access&a == 0 {
			continue
		}
		labels := s.labels
		p.Access = name
		if t.Recursive && !t.Role.Metadata {
			shows := a == term.Reads && t.Source != "tool" && t.Role.Word != "mount"
			if w.reach(&labels, s, t, shows); shows {
				w.exposesAll(&labels, s, t)
			}
		}
		if a == term.Deletes && !t.Moved && !p.Generated {
			lost := w.loses(s, t)
			p.Unread, p.Git = lost.unread, lost.versions
		}
		p.Labels = labels.List(term.LabelNames)
		p.OperatorLabels = operator
		w.add(p)
		p.Unread, p.Git = nothing.unread, nothing.versions
	}
	return s
}

var characterDevices = term.SetOf(term.LabelNullDevice, term.LabelStdDevice, term.LabelMemoryDevice)

func (w *build) add(p facts.Path) {
	if p.Command >= 0 {
		c := &w.in.Commands[p.Command]
		for _, i := range c.Paths {
			q := &w.in.Paths[i]
			if q.Access == p.Access && q.Raw == p.Raw && q.Source == p.Source && q.Path == p.Path && q.Recursive == p.Recursive && q.Certainty == p.Certainty {
				return
			}
		}
		c.Paths = append(c.Paths, len(w.in.Paths))
	}
	w.in.Paths = append(w.in.Paths, p)
}

// locate finds out where a word leads; with climbs, the known beginning of a word says nothing of that.
func (w *build) locate(t call.Touch, climbs bool) *spot {
	s := &spot{certainty: t.Word.Certainty, whole: true}
	text := t.Word.Text
	if s.certainty != value.Exact {
		rest := call.WithoutUnknown(text)
		s.asIfEmpty = path.Clean("/" + rest)
		if strings.HasPrefix(rest, "/") && strings.Trim(rest, "/*.") == "" {
			s.labels.Add(term.LabelRootIfEmpty)
		}
		text = t.Word.Prefix
	}
	dir := t.Dir
	if t.AtHome {
		dir = shell.Dir{Path: w.HomeDir(), Known: w.HomeDir() != ""}
	}
	abs := disk.Absolute(text, dir)
	if s.certainty == value.Unknown || climbs || abs == "" {
		s.certainty = value.Unknown
		if t.Word.Certainty == value.Exact && !strings.HasPrefix(text, "~") {
			s.asIfEmpty = path.Clean("/" + text)
		}
		if i := strings.IndexAny(t.Word.Text, "$`"); i > 0 && disk.IsAbs(t.Word.Text[:i]) { // it may be split, and begin so
			w.credentialsAt(&s.labels, t.Word.Text[:i])
		}
		w.label(s)
		return s
	}
	rest := ""
	if t.Word.Glob || t.Filter != "" {
		abs, rest = disk.SplitGlob(abs)
		s.glob = rest != "" || t.Filter != ""
	}
	s.path = disk.Clean(abs)
	w.view.User = disk.User{Other: t.Source != "tool", Cwd: dir}
	s.real, s.node = w.view.Real(abs, t.Role.OfLink && !s.glob)
	if w.view.User.Other && disk.Unplaced(s.real) {
		*s = spot{certainty: value.Unknown, whole: true, asIfEmpty: s.path}
		s.labels.Add(term.LabelProcessMemory) // it may be a file of any place
		w.label(s)
		return s
	}
	if s.real == "" { // a link that the text made leads nobody knows where
		*s = spot{certainty: value.Unknown, whole: true, asIfEmpty: s.path}
		w.label(s)
		return s
	}
	s.targets = []string{s.real}
	switch {
	case s.certainty != value.Exact:
		s.node, s.targets = disk.Node{}, nil
		w.label(s)
		w.credentialsAt(&s.labels, abs)
		if t.Access&term.Reads != 0 && !t.Role.Metadata && unclear(strings.TrimPrefix(t.Word.Text, t.Word.Prefix)) {
			w.secretsFrom(&s.labels, abs, t.Word)
		}
	case t.Filter != "":
		s.labels.Add(term.LabelFiltered)
		w.credentialsMatching(&s.labels, s.real, t.Filter)
		w.labelBoth(s, path.Join(s.path, t.Filter), path.Join(s.real, t.Filter))
	case s.glob:
		s.hidden = w.dotglob || t.Source == "code" && t.Access == term.Reads
		w.expand(s, rest, t.Role.OfLink)
	default:
		w.label(s)
	}
	return s
}

// credentialsAt labels a path of which only the beginning is known as the credentials that begin so.
func (w *build) credentialsAt(labels *term.Set, beginning string) {
	if i := strings.IndexAny(beginning, "*?["); i >= 0 {
		beginning = beginning[:i]
	}
	dir, _ := w.view.Real(beginning[:strings.LastIndexByte(beginning, '/')+1], false)
	entries, _ := w.view.List(dir)
	for _, e := range entries {
		at := disk.Join(dir, e.Name())
		var names term.Set
		if strings.HasPrefix(e.Name(), beginning[strings.LastIndexByte(beginning, '/')+1:]) {
			places.Atlases().Names(&names, at)
		}
		if names.Meets(places.CredentialLabels) {
			labels.Union(names)
		}
	}
}

// secretsFrom labels a path of which only the beginning is known by the credentials with well-known names
// that begin so, and end as the path does.
func (w *build) secretsFrom(labels *term.Set, beginning string, word value.Word) {
	end := word.Text[strings.LastIndexAny(word.Text, "$`)}")+1:]
	if i := strings.LastIndexByte(word.Text, '$'); i >= 0 && i+1 < len(word.Text) && !strings.ContainsAny(word.Text[i:], ")}`") {
		end = word.Text[i+1+call.Parameter(word.Text[i+1:]):]
	}
	for _, q := range w.Secrets {
		if strings.HasPrefix(q, beginning) && strings.HasSuffix(q, end) {
			labels.Add(term.LabelContainsCredential)
			return
		}
	}
}

// credentialsMatching labels a filtered search as the credentials in its directory that match the filter.
func (w *build) credentialsMatching(labels *term.Set, dir, filter string) {
	entries, _ := w.view.List(dir)
	for _, e := range entries {
		var names term.Set
		if match, err := path.Match(filter, e.Name()); match && err == nil {
			places.Atlases().Names(&names, disk.Join(dir, e.Name()))
		}
		if names.Meets(places.CredentialLabels) || names.Has(term.LabelEnvFile) {
			labels.Union(names)
		}
	}
}

// label collects the labels of a spot that is one path, or none that is known.
func (w *build) label(s *spot) {
	a := places.Atlases()
	if s.asIfEmpty != "" {
		var names term.Set
		a.Names(&names, s.asIfEmpty)
		s.labels.Union(names)
		if places.IsProcessMemory(s.asIfEmpty) {
			s.labels.Add(term.LabelProcessMemory)
		}
	}
	if s.path == "" {
		return
	}
	if s.certainty == value.Exact {
		w.labelBoth(s, s.path, s.real)
		if w.Outside(s.path, s.real) {
			s.labels.Add(term.LabelSymlinkOut)
		}
		if w.fetched[s.real] || w.history != nil && w.history.Downloaded(s.real) {
			s.labels.Add(term.LabelDownloaded)
		}
		if w.written[s.real] {
			s.labels.Add(term.LabelGeneratedHere)
		}
		return
	}
	// Something below the directory of the known prefix: a fact about all of it holds here.
	dir, _ := disk.Parent(s.path)
	if strings.HasSuffix(s.path, "/") {
		dir = s.path
	}
	w.labelAt(s, disk.Join(dir, "\x00"))
}

// labelBoth adds the labels of a path under its lexical and its real spelling.
func (w *build) labelBoth(s *spot, lexical, real string) {
	w.labelAt(s, lexical)
	if real != lexical {
		w.labelAt(s, real)
	}
	if known := w.Folded(real); known != real {
		w.labelAt(s, known)
	}
}

// labelAt adds the labels of one spelling of a path.
func (w *build) labelAt(s *spot, p string) {
	if p == "" {
		return
	}
	home := w.HomeDir()
	places.Atlases().Labels(&s.labels, p, home)
	if git := repo.Bare(w.view, p); git != "" {
		p = git
		places.Atlases().Labels(&s.labels, p, home)
	}
	if s.labels.Meets(places.ObeyedLabels) {
		s.obeyed = places.Atlases().ObeyedBy(s.obeyed, p, home)
	}
	w.Own(&s.labels, p)
}

// typeOf names the type of the file at a path.
func typeOf(n disk.Node) string {
	switch {
	case !n.Exists:
		return ""
	case n.Mode.IsRegular():
		return "file"
	case n.Mode.IsDir():
		return "dir"
	case n.Mode&fs.ModeSymlink != 0:
		return "symlink"
	case n.Mode&fs.ModeCharDevice != 0:
		return "char_device"
	case n.Mode&fs.ModeDevice != 0:
		return "block_device"
	case n.Mode&fs.ModeSocket != 0:
		return "socket"
	case n.Mode&fs.ModeNamedPipe != 0:
		return "fifo"
	default:
		return ""
	}
}
