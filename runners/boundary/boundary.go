// Package boundary finds the files that commands leave in the places of this machine where they may write,
// and that programs of the user obey outside of every environment: settings of agents and editors, hooks,
// the configuration of repositories (package engine/obeyed). It moves refused ones into a store of its own,
// puts the earlier version back if there was one, and returns them when a person releases them.
//
// It decides nothing: Leave names the files, the gate has them judged, Hold moves those that are refused.
// While a command runs, its files are where it put them: the promise holds from the end of the command on.
// It does not know the author of a change: one that somebody else makes while commands run counts as theirs.
package boundary

import (
	"bytes"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/engine/facts/places"
	"github.com/sallyport-dev/sallyport/runners/changes"
	"github.com/sallyport-dev/sallyport/runners/files"
)

// Options of a boundary.
type Options struct {
	Layout facts.Layout // its writable roots are watched
	Store  string       // directory of held files, made when it is needed
	Once   bool         // one command runs: the end of the watch looks at nothing again
}

// Bounds of the earlier versions that are kept in memory, in bytes: of one file and of all.
const (
	maxImage  = 256 << 10
	maxImages = 64 << 20
)

// Boundary watches the writable places. It is safe for concurrent use.
type Boundary struct {
	o     Options
	roots []string // real paths

	mu      sync.Mutex
	watch   *changes.Watch // nil before the first command
	running int
	noted   running
	since   time.Time // of the first command of a session that was killed; zero: all files were looked at
	dead    []string  // the notes about it
	before  map[string]image
	kept    int              // bytes of before
	left    map[string]image // files that Leave named and that nobody held
	failed  map[string]image // files that Hold could not move: they are named again

	changed map[string]changes.Before // since the last call of Changed
	unsure  bool                      // others may have been
}

var _ engine.Boundary = (*Boundary)(nil)

// New makes a boundary. It looks at no file before the first command.
func New(o Options) *Boundary {
	b := &Boundary{
		o: o, before: map[string]image{}, left: map[string]image{}, failed: map[string]image{},
	}
	for _, r := range o.Layout.Roots {
		if real, err := filepath.EvalSymlinks(r.Path); err == nil && r.Write && !r.File {
			b.roots = append(b.roots, real)
		}
	}
	b.roots = changes.Outermost(b.roots)
	return b
}

// Enter remembers the files that are there, unless a command runs already.
func (b *Boundary) Enter() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.running++
	if b.running > 1 {
		return
	}
	b.noted.begin(b.o.Store, note{b.roots, time.Now()})
	remember := b.interesting(func(p string, _ fs.DirEntry) { b.remember(p) })
	if b.watch == nil {
		b.since, b.dead = killed(b.o.Store, b.roots)
		b.watch = changes.Open(b.roots, remember)
		return
	}
	names, whole := b.watch.Touched() // by somebody else, since no command ran
	if !whole {
		b.before, b.kept, b.left = map[string]image{}, 0, map[string]image{}
		changes.Walk(b.roots, remember)
		return
	}
	for name := range b.left {
		b.remember(name)
	}
	for name, old := range b.before { // the watch misses changes through names elsewhere
		if info, err := os.Lstat(name); err != nil || !changes.Time(info).Equal(old.time) {
			b.remember(name)
		}
	}
	b.left = map[string]image{}
	for _, touch := range names {
		if b.concerns(touch.Path) {
			b.remember(touch.Path)
		}
	}
}

// concerns reports a file that programs of the user may obey, or that may be part of a repository's
// directory.
func (b *Boundary) concerns(p string) bool {
	return b.obeyed(p) || slices.Contains(gitFiles, filepath.Base(p)) ||
		slices.Contains(gitFiles, filepath.Base(filepath.Dir(p)))
}

// Leave names the files, by real path and sorted, that were written since no command ran and that programs
// of the user obey now.
func (b *Boundary) Leave() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.running--
	found := b.look(false)
	if len(found) == 0 {
		b.settle()
	}
	return found
}

// Close looks at all files, names them as Leave does, and ends the watch. After the one command it only ends
// the watch.
func (b *Boundary) Close() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.watch == nil {
		return nil
	}
	defer func() {
		_ = b.watch.Close()
		b.watch = nil
	}()
	if b.o.Once {
		return nil
	}
	found := b.look(true)
	if len(found) == 0 {
		b.settle()
	}
	return found
}

// settle ends the notes about commands after their files were judged.
func (b *Boundary) settle() {
	if b.running == 0 {
		b.noted.end()
	}
	for _, name := range b.dead {
		_ = os.Remove(name)
	}
	b.dead = nil
}

// clockTick bounds how far the times of files lag behind the clock.
const clockTick = 50 * time.Millisecond

func (b *Boundary) look(all bool) []string {
	touched, whole := b.watch.Touched()
	b.note(touched, whole)
	names := make([]string, len(touched))
	for i, touch := range touched {
		names[i] = touch.Path
	}
	// The kernel reports a write by the name by which the file was opened, which a hard link changes.
	for p, old := range b.before {
		if info, err := os.Lstat(p); err == nil && !changes.Time(info).Equal(old.time) {
			names = append(names, p)
		}
	}
	names = slices.AppendSeq(names, maps.Keys(b.failed))
	if all || !whole || !b.since.IsZero() {
		// Not by time alone: a file of old may have come here with the directory around it.
		changes.Walk(b.roots, b.interesting(func(p string, e fs.DirEntry) {
			if info, err := e.Info(); err == nil && !changes.Time(info).Equal(b.before[p].time) {
				names = append(names, p)
			}
		}))
	}
	b.since = time.Time{}
	found := map[string]bool{}
	repositories := map[string]bool{}
	for _, name := range names {
		if !b.around(name, repositories) && b.obeyed(name) {
			found[name] = true
		}
	}
	for dir, is := range repositories {
		if is {
			b.repository(dir, func(p string) { found[p] = true })
		}
	}
	if len(found) == 0 {
		return nil
	}
	released := b.released()
	out := make([]string, 0, len(found))
	for p := range found {
		now, ok := b.imageOf(p)
		if ok && !now.same(b.before[p]) && !now.same(b.left[p]) && !released[p+"\x00"+now.digest(p)] {
			b.left[p] = now
			out = append(out, p)
		}
	}
	slices.Sort(out)
	return out
}

// interesting visits directories, an outer one before those in it, and shows the files in them that programs
// of the user may obey.
func (b *Boundary) interesting(see func(p string, e fs.DirEntry)) func(dir string, entries []fs.DirEntry) {
	whole := map[string]bool{} // directories of which every file is obeyed
	return func(dir string, entries []fs.DirEntry) {
		repository := isRepository(entries) || ofSubmodule(dir)
		for _, e := range entries {
			p := filepath.Join(dir, e.Name())
			slashed := filepath.ToSlash(p)
			git := e.Name() == ".git" || repository &&
				(slices.Contains(gitFiles, e.Name()) || slices.Contains(gitDirs, e.Name()))
			if e.IsDir() {
				by, _ := places.ObeyedBy(slashed, b.o.Layout.Home)
				whole[p] = whole[dir] || places.StartsOthers(by) || git && e.Name() == "hooks"
				continue
			}
			if whole[dir] || git || places.MayBeObeyed(slashed, b.o.Layout.Home) || b.own(p) {
				see(p, e)
			}
		}
	}
}

// obeyed reports a file, or a link in the place of one, by which programs of the user start others.
func (b *Boundary) obeyed(p string) bool {
	by, holds := places.ObeyedBy(filepath.ToSlash(p), b.o.Layout.Home)
	if places.StartsOthers(by) || b.own(p) {
		return true
	}
	now, ok := b.imageOf(p)
	return ok && holds && now.mode&fs.ModeSymlink != 0
}

// own reports a file in a protected place of the operator's or in one of sallyport's.
func (b *Boundary) own(p string) bool {
	for _, s := range b.o.Layout.Self {
		if changes.Within(p, s.Path) {
			return true
		}
	}
	for _, r := range b.o.Layout.Roots {
		if slices.ContainsFunc(r.Protected, func(place string) bool { return changes.Within(p, place) }) {
			return true
		}
	}
	return false
}

// image is a version of a file, or of a symbolic link. The zero value is no version.
type image struct {
	mode    fs.FileMode
	content []byte // nil if it is not kept
	size    int64
	time    time.Time // of its last change
}

// same reports the same version of a file.
func (i image) same(o image) bool {
	const kind = fs.ModeType | 0o111
	if i.mode&kind != o.mode&kind || i.size != o.size || o.time.IsZero() {
		return false
	}
	if i.content != nil && o.content != nil {
		return bytes.Equal(i.content, o.content) // the clock of files has coarse ticks
	}
	return i.time.Equal(o.time)
}

// imageOf looks at a file. Directories, devices and files that are gone have no image.
func (b *Boundary) imageOf(p string) (image, bool) {
	info, err := (files.Host{}).Lstat(p)
	if err != nil {
		return image{}, false
	}
	i := image{mode: info.Mode(), size: info.Size(), time: changes.Time(info)}
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		target, err := (files.Host{}).ReadLink(p)
		i.content = []byte(target)
		return i, err == nil
	case !info.Mode().IsRegular():
		return image{}, false
	case info.Size() <= maxImage:
		i.content, _ = read(p, maxImage)
	}
	return i, true
}

// read returns the content of a regular file; it is an error if that is longer than limit bytes.
func read(p string, limit int64) ([]byte, error) {
	f, err := (files.Host{}).Open(p)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(content)) > limit {
		return nil, errTooLong
	}
	return content, err
}

// remember keeps the version of a file that is there while no command runs.
func (b *Boundary) remember(p string) {
	b.kept -= len(b.before[p].content)
	delete(b.before, p)
	i, ok := b.imageOf(p)
	if !ok || i.same(b.failed[p]) {
		return
	}
	if !b.since.IsZero() && i.time.After(b.since.Add(-clockTick)) {
		return // of the killed session, perhaps
	}
	delete(b.failed, p)
	if b.kept+len(i.content) > maxImages {
		i.content = nil
	}
	b.kept += len(i.content)
	b.before[p] = i
}
