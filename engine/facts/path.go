package facts

import (
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/sallyport-dev/sallyport/engine/shell"
	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

// spot is a touched word after it was looked up: everything about a Path that does not
// depend on the kind of access.
type spot struct {
	path, real string
	node       node
	certainty  value.Certainty
	glob, all  bool     // all: a bare * of the directory path
	targets    []string // the real paths that are touched: one, or the matches of a glob
	whole      bool     // targets are all matches
	labels     bitset
	obeyed     []Obeyed
	hidden     bool   // globs stand for hidden entries, too, as listings in other languages do
	asIfEmpty  string // absolute path with unknown parts left out; for its names only
}

// place looks up a touched word and adds one path for each kind of access. It returns the spot.
func (w *build) place(t touch, command int) *spot {
	s := w.locate(t, false)
	if t.ifFile && !s.node.exists {
		return s
	}
	if s.certainty == value.Partial && w.climbs(t.word) && (w.permission(s.real) != "none" || w.zoneOf(s.path, s.real, s.labels) == "temporary") {
		s = w.locate(t, true)
	}
	if t.role.metadata {
		s.labels.add(labelMetadata)
	}
	if s.certainty == value.Unknown && t.access&reads != 0 && !t.role.metadata && w.plainName(t.word, command) {
		s.labels.add(labelPlainName)
	}
	if s.certainty == value.Unknown && w.listedName(t.word, command) {
		s.labels.add(labelListedName)
	}
	if t.role.word == "key" {
		s.labels.add(labelOwnKey)
	}
	zone, permission := w.zoneOf(s.path, s.real, s.labels), w.permission(s.real)
	if permission == "write" && w.isProtected(w.folded(s.real)) {
		permission = "read"
	}
	if w.widelyGranted(s.real) {
		s.labels.add(labelWideRoot)
	}
	p := Path{
		Raw: t.word.Raw, Path: s.path, Real: s.real, Source: t.source,
		Recursive: t.recursive, Glob: s.glob, Certainty: s.certainty.String(),
		Exists: s.node.exists, Type: typeOf(s.node), Zone: zone, Permission: permission,
		ObeyedBy: append([]Obeyed{}, s.obeyed...), Seen: "none", Generated: w.generated(s), Command: command,
	}
	nothing := noLoss()
	p.Unread, p.Git = nothing.unread, nothing.versions
	if p.Raw == "" {
		p.Raw = t.word.Text
	}
	if s.labels.has(labelDiskDevice) && p.Type == "" {
		p.Type = "block_device"
	} else if s.labels.meets(characterDevices) && p.Type == "" && strings.HasPrefix(s.path, "/dev/") {
		p.Type = "char_device"
	}
	if w.history != nil && s.real != "" && s.certainty == value.Exact {
		p.Seen = w.history.Seen(s.real)
	}
	operator := []string{}
	if len(w.layout.Labels) > 0 {
		operator = w.operatorLabels(s, t)
	}
	for i, name := range accessNames {
		a := access(1 << i)
		if t.access&a == 0 {
			continue
		}
		labels := s.labels
		p.Access = name
		if t.recursive && !t.role.metadata {
			shows := a == reads && t.source != "tool" && t.role.word != "mount"
			if w.reach(&labels, s, t, shows); shows {
				w.exposesAll(&labels, s, t)
			}
		}
		if a == deletes && !t.moved && !p.Generated {
			lost := w.loses(s, t)
			p.Unread, p.Git = lost.unread, lost.versions
		}
		p.Labels = labels.list(labelNames)
		p.OperatorLabels = operator
		w.add(p)
		p.Unread, p.Git = nothing.unread, nothing.versions
	}
	return s
}

var characterDevices = setOf(labelNullDevice, labelStdDevice, labelMemoryDevice)

func (w *build) add(p Path) {
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
func (w *build) locate(t touch, climbs bool) *spot {
	s := &spot{certainty: t.word.Certainty, whole: true}
	text := t.word.Text
	if s.certainty != value.Exact {
		rest := withoutUnknown(text)
		s.asIfEmpty = path.Clean("/" + rest)
		if strings.HasPrefix(rest, "/") && strings.Trim(rest, "/*.") == "" {
			s.labels.add(labelRootIfEmpty)
		}
		text = t.word.Prefix
	}
	dir := t.dir
	if t.atHome {
		dir = shell.Dir{Path: w.homeDir(), Known: w.homeDir() != ""}
	}
	abs := absolute(text, dir)
	if s.certainty == value.Unknown || climbs || abs == "" {
		s.certainty = value.Unknown
		if t.word.Certainty == value.Exact && !strings.HasPrefix(text, "~") {
			s.asIfEmpty = path.Clean("/" + text)
		}
		if i := strings.IndexAny(t.word.Text, "$`"); i > 0 && isAbs(t.word.Text[:i]) { // it may be split, and begin so
			w.credentialsAt(&s.labels, t.word.Text[:i])
		}
		w.label(s)
		return s
	}
	rest := ""
	if t.word.Glob || t.filter != "" {
		abs, rest = splitGlob(abs)
		s.glob = rest != "" || t.filter != ""
	}
	s.path = clean(abs)
	w.view.user = user{other: t.source != "tool", cwd: dir}
	s.real, s.node = w.view.real(abs, t.role.ofLink && !s.glob)
	if w.view.user.other && unplaced(s.real) {
		*s = spot{certainty: value.Unknown, whole: true, asIfEmpty: s.path}
		s.labels.add(labelProcessMemory) // it may be a file of any place
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
		s.node, s.targets = node{}, nil
		w.label(s)
		w.credentialsAt(&s.labels, abs)
		if t.access&reads != 0 && !t.role.metadata && unclear(strings.TrimPrefix(t.word.Text, t.word.Prefix)) {
			w.secretsFrom(&s.labels, abs, t.word)
		}
	case t.filter != "":
		s.labels.add(labelFiltered)
		w.credentialsMatching(&s.labels, s.real, t.filter)
		w.labelBoth(s, path.Join(s.path, t.filter), path.Join(s.real, t.filter))
	case s.glob:
		s.hidden = w.dotglob || t.source == "code" && t.access == reads
		w.expand(s, rest, t.role.ofLink)
	default:
		w.label(s)
	}
	return s
}

// credentialsAt labels a path of which only the beginning is known as the credentials that begin so.
func (w *build) credentialsAt(labels *bitset, beginning string) {
	if i := strings.IndexAny(beginning, "*?["); i >= 0 {
		beginning = beginning[:i]
	}
	dir, _ := w.view.real(beginning[:strings.LastIndexByte(beginning, '/')+1], false)
	entries, _ := w.view.list(dir)
	for _, e := range entries {
		at := join(dir, e.Name())
		var names bitset
		if strings.HasPrefix(e.Name(), beginning[strings.LastIndexByte(beginning, '/')+1:]) {
			atlases().names(&names, at)
		}
		if names.meets(credentialLabels) {
			labels.union(names)
		}
	}
}

// secretsFrom labels a path of which only the beginning is known by the credentials with well-known names
// that begin so, and end as the path does.
func (w *build) secretsFrom(labels *bitset, beginning string, word value.Word) {
	end := word.Text[strings.LastIndexAny(word.Text, "$`)}")+1:]
	if i := strings.LastIndexByte(word.Text, '$'); i >= 0 && i+1 < len(word.Text) && !strings.ContainsAny(word.Text[i:], ")}`") {
		end = word.Text[i+1+parameter(word.Text[i+1:]):]
	}
	for _, q := range w.secrets {
		if strings.HasPrefix(q, beginning) && strings.HasSuffix(q, end) {
			labels.add(labelContainsCredential)
			return
		}
	}
}

// credentialsMatching labels a filtered search as the credentials in its directory that match the filter.
func (w *build) credentialsMatching(labels *bitset, dir, filter string) {
	entries, _ := w.view.list(dir)
	for _, e := range entries {
		var names bitset
		if match, err := path.Match(filter, e.Name()); match && err == nil {
			atlases().names(&names, join(dir, e.Name()))
		}
		if names.meets(credentialLabels) || names.has(labelEnvFile) {
			labels.union(names)
		}
	}
}

// absolute joins a word with the directory in which it is looked up, not cleaned; "" when that is not known.
func absolute(text string, dir shell.Dir) string {
	text = strings.ReplaceAll(text, "//", "/")
	switch {
	case isAbs(text):
		return text
	case strings.HasPrefix(text, "~"):
		return userHome(text)
	case !dir.Known || dir.Path == "":
		return ""
	default:
		return join(dir.Path, text)
	}
}

// userHome takes the ~name that the shell walk leaves as it is for the usual home of that user.
func userHome(text string) string {
	name, rest, _ := strings.Cut(text[1:], "/")
	switch name {
	case "", "+", "-":
		return ""
	case "root":
		return join("/root", rest)
	default:
		return join("/home/"+name, rest)
	}
}

// label collects the labels of a spot that is one path, or none that is known.
func (w *build) label(s *spot) {
	a := atlases()
	if s.asIfEmpty != "" {
		var names bitset
		a.names(&names, s.asIfEmpty)
		s.labels.union(names)
	}
	if s.path == "" {
		return
	}
	if s.certainty == value.Exact {
		w.labelBoth(s, s.path, s.real)
		if w.outside(s.path, s.real) {
			s.labels.add(labelSymlinkOut)
		}
		if w.fetched[s.real] || w.history != nil && w.history.Downloaded(s.real) {
			s.labels.add(labelDownloaded)
		}
		if w.written[s.real] {
			s.labels.add(labelGeneratedHere)
		}
		return
	}
	// Something below the directory of the known prefix: what holds for all of it holds here.
	dir, _ := parent(s.path)
	if strings.HasSuffix(s.path, "/") {
		dir = s.path
	}
	w.labelAt(s, join(dir, "\x00"))
}

// labelBoth adds the labels of a path under its lexical and its real spelling.
func (w *build) labelBoth(s *spot, lexical, real string) {
	w.labelAt(s, lexical)
	if real != lexical {
		w.labelAt(s, real)
	}
	if known := w.folded(real); known != real {
		w.labelAt(s, known)
	}
}

// labelAt adds the labels of one spelling of a path.
func (w *build) labelAt(s *spot, p string) {
	if p == "" {
		return
	}
	home := w.homeDir()
	atlases().labels(&s.labels, p, home)
	if git := w.bare(p); git != "" {
		p = git
		atlases().labels(&s.labels, p, home)
	}
	if s.labels.meets(obeyedLabels) {
		s.obeyed = atlases().obeyedBy(s.obeyed, p, home)
	}
	w.own(&s.labels, p)
}

// withoutUnknown leaves the parameters and substitutions of a word out, as if they were empty.
func withoutUnknown(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '`':
			if end := strings.IndexByte(text[i+1:], '`'); end >= 0 {
				i += end + 1
			}
		case text[i] == '$' && i+1 < len(text):
			i += parameter(text[i+1:])
		default:
			b.WriteByte(text[i])
		}
	}
	return b.String()
}

// parameter returns the length of the expansion behind a dollar sign.
func parameter(text string) int {
	closing := map[byte]byte{'{': '}', '(': ')'}[text[0]]
	if closing == 0 {
		n := 0
		for n < len(text) && (isLetter(text[n]) || text[n] == '_' || '0' <= text[n] && text[n] <= '9') {
			n++
		}
		return max(n, 1)
	}
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case text[0]:
			depth++
		case closing:
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return len(text)
}

// enter changes a directory as -C DIR does.
func enter(dir shell.Dir, w value.Word) shell.Dir {
	if w.Certainty != value.Exact {
		return shell.Dir{}
	}
	abs := absolute(w.Text, dir)
	if abs == "" {
		return shell.Dir{}
	}
	return shell.Dir{Path: clean(abs), Known: true}
}

// maxLinks is how many symbolic links one path may go through, as Linux has it (path_resolution(7)).
const maxLinks = 40

// view is a look at the file system for the time of one Build: each path is asked for once.
type view struct {
	fs    FS
	nodes map[string]node
	dirs  map[string][]fs.DirEntry
	steps int        // directory entries that may still be read
	folds *spellings // nil where names that differ in case are different files
	// walked are the paths that a journey was made for; see foresee.
	walked map[string]bool
	user   user // for whom paths are resolved
	// added are the names that the text made in directories, moved the trees that it moved or copied.
	added map[string][]string
	moved []renamed
}

// node is what lies at a path.
type node struct {
	exists bool
	mode   fs.FileMode
	link   string // target of a symbolic link
	lost   bool   // a link that leads nobody knows where
}

func newView(f FS, steps int) *view {
	return &view{fs: f, nodes: make(map[string]node, 8), dirs: make(map[string][]fs.DirEntry), steps: steps, walked: map[string]bool{}}
}

// look returns what lies at a path, symbolic links not followed.
func (v *view) look(p string) node {
	if n, ok := v.nodes[p]; ok {
		return n
	}
	var n node
	if info, err := v.fs.Lstat(p); err == nil {
		n.exists, n.mode = true, info.Mode()
		if n.mode&fs.ModeSymlink != 0 {
			n.link, _ = v.fs.ReadLink(p)
		}
	}
	v.nodes[p] = n
	return n
}

// list reads a directory and takes its entries from the budget. What is beyond it is not
// seen, and whole says so.
func (v *view) list(p string) (entries []fs.DirEntry, whole bool) {
	entries, ok := v.dirs[p]
	if !ok {
		if v.steps <= 0 {
			return nil, false
		}
		var err error
		if entries, err = v.fs.ReadDir(p); err != nil {
			entries = nil
		}
		v.dirs[p] = entries
	}
	for _, name := range v.added[p] {
		if !slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == name }) {
			entries = append(slices.Clip(entries), entry{name, v.look(join(p, name)).mode})
		}
	}
	v.steps -= 1 + len(entries)
	if v.steps < 0 {
		return entries[:max(0, len(entries)+v.steps)], false
	}
	return entries, true
}

// entry is one of a directory that the text makes.
type entry struct {
	name string
	mode fs.FileMode
}

func (e entry) Name() string             { return e.name }
func (e entry) IsDir() bool              { return e.mode.IsDir() }
func (e entry) Type() fs.FileMode        { return e.mode.Type() }
func (entry) Info() (fs.FileInfo, error) { return nil, fs.ErrNotExist }

// real resolves an absolute path as the kernel would: link by link, so that the ".." behind a
// link leads to the parent of its target. The last link is followed unless ofLink is set and
// no slash follows it. From the first name on that does not exist the rest is lexical.
func (v *view) real(p string, ofLink bool) (string, node) {
	if p == "" { // no place is known
		return "", node{}
	}
	at := volume(p)
	rest := p[len(at):]
	ofLink = ofLink && !strings.HasSuffix(rest, "/") && !strings.HasSuffix(rest, "/.")
	n := node{exists: true, mode: fs.ModeDir}
	v.foresee(p)
	if rest == "" {
		return at, v.look(at)
	}
	for links := 0; rest != ""; {
		var name string
		name, rest, _ = strings.Cut(rest, "/")
		switch name {
		case "", ".":
			continue
		case "..":
			at, _ = parent(at)
			n = v.look(at)
			continue
		}
		if v.folds != nil {
			name = v.folds.of(at, name)
		}
		next := join(at, name)
		if v.user.other && slices.Contains(ownPlaces, next) && !(ofLink && rest == "") {
			root, onward, ok := v.user.follow(rest)
			if links++; !ok || links > maxLinks {
				return clean(join(next, rest)), node{}
			}
			at, rest, n = root, onward, v.look(root)
			continue
		}
		n = v.look(next)
		if !n.exists && len(v.moved) > 0 {
			from := v.look(origin(v.moved, next))
			if from.mode&fs.ModeSymlink != 0 {
				n = from
			} else if from.exists && rest != "" {
				at = next
				continue
			}
		}
		if n.lost && (!ofLink || rest != "") {
			return "", node{}
		}
		if n.mode&fs.ModeSymlink == 0 || n.link == "" || ofLink && rest == "" {
			at = next
			if !n.exists {
				return clean(join(at, rest)), node{}
			}
			continue
		}
		if links++; links > maxLinks {
			return clean(join(next, rest)), node{}
		}
		if isAbs(n.link) {
			at = volume(n.link)
			rest = join(n.link[len(at):], rest)
		} else {
			rest = join(n.link, rest)
		}
	}
	return at, n
}

// join puts two pieces of a path together without cleaning them.
func join(dir, name string) string {
	if name == "" {
		return dir
	}
	if dir == "" || strings.HasSuffix(dir, "/") {
		return dir + name
	}
	return dir + "/" + name
}

// volume returns the root of an absolute path: "/" or "C:/".
func volume(p string) string {
	if len(p) >= 3 && p[1] == ':' && p[2] == '/' {
		return p[:3]
	}
	return "/"
}

// clean is path.Clean for absolute paths, which does not climb out of a drive.
func clean(abs string) string {
	root := volume(abs)
	return root + strings.TrimPrefix(path.Clean("/"+strings.TrimPrefix(abs, root)), "/")
}

// isAbs reports whether a path is absolute here or on Windows.
func isAbs(p string) bool {
	return strings.HasPrefix(p, "/") || len(p) >= 3 && p[1] == ':' && p[2] == '/' && isLetter(p[0])
}

func isLetter(b byte) bool { return 'a' <= b|0x20 && b|0x20 <= 'z' }

// typeOf names what lies at a path.
func typeOf(n node) string {
	switch {
	case !n.exists:
		return ""
	case n.mode.IsRegular():
		return "file"
	case n.mode.IsDir():
		return "dir"
	case n.mode&fs.ModeSymlink != 0:
		return "symlink"
	case n.mode&fs.ModeCharDevice != 0:
		return "char_device"
	case n.mode&fs.ModeDevice != 0:
		return "block_device"
	case n.mode&fs.ModeSocket != 0:
		return "socket"
	case n.mode&fs.ModeNamedPipe != 0:
		return "fifo"
	default:
		return ""
	}
}
