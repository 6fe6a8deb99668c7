package walk

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

// A part of the text that runs beside another or after it (a trap, a command in the background, a coprocess,
// a process substitution, a stage of a pipeline) finds files as they are at that moment, which may be after
// the text has written them. Such a part is walked where it stands. If it looks at a file that the text
// writes elsewhere in that time, it is walked again at the end of the text, with all that the file may hold
// by then.

// change is a file that the text has written, copied or linked.
type change struct {
	abs   string
	file  written
	moved *moved // it came from another place, or leads there
}

// span is a part of the journals of a walk: files that were looked at, and changes of files.
type span struct{ looks, lookEnd, changes, changeEnd int }

// deferred is a part of the text that may find other files than those that were there when it was walked.
type deferred struct {
	ctx      context
	walk     func()
	spans    []span // of its stages; of one that runs from here on, the part itself and all that follows
	pipeline bool
}

// lookUp returns the changes of the text to a file, and notes the look. In a directory that is not known it
// may be any file of that name that the text has written.
func (w *walker) lookUp(abs string) (written, bool) {
	if w.beside > 0 && !w.again && abs != "" {
		w.looks = append(w.looks, abs)
	}
	f, ok := w.ctx.st.files[abs]
	if ok || !strings.HasPrefix(abs, unplaced) {
		return f, ok
	}
	w.step(len(w.ctx.st.files) / 8)
	for _, other := range slices.Sorted(maps.Keys(w.ctx.st.files)) {
		if o := w.ctx.st.files[other]; path.Base(other) == path.Base(abs) && len(o.content) > 0 {
			f, ok = w.either(f, o), true
			f.touched, f.edited = true, f.edited || w.ctx.st.strewn[path.Base(abs)]
		}
	}
	return f, ok
}

// look is lookUp without the word whether there is anything.
func (w *walker) look(abs string) written {
	f, _ := w.lookUp(abs)
	return f
}

// put records a change of the text to a file.
func (w *walker) put(abs string, f written) {
	c := change{abs: abs, file: f}
	c.file.pipe = f.pipe || w.ctx.st.files[abs].pipe
	w.ctx.st.files[abs] = f
	w.changed(c)
}

// move records a file that the text has copied, moved or linked without knowing its content.
func (w *walker) move(m moved) {
	w.ctx.st.moved = append(slices.Clip(w.ctx.st.moved), m)
	w.changed(change{abs: m.to, moved: &m})
}

// changed enters a change into the journal. A pipe is read while it is written, and an option is no file.
func (w *walker) changed(c change) {
	option := strings.HasPrefix(path.Base(c.abs), "-")
	if !w.again && c.abs != "" && !option && !c.file.pipe && !strings.HasPrefix(c.abs, "/dev/") {
		w.journal = append(w.journal, c)
	}
}

// span walks a part and returns the journals of that time.
func (w *walker) span(f func()) span {
	s := span{looks: len(w.looks), changes: len(w.journal)}
	w.beside++
	f()
	w.beside--
	s.lookEnd, s.changeEnd = len(w.looks), len(w.journal)
	return s
}

// snapshot is the context with a state of its own.
func (w *walker) snapshot() context {
	ctx := w.ctx
	ctx.st, ctx.out = w.fork(w.ctx.st), &sink{}
	return ctx
}

// anyTime walks f, which may run at any time from here on.
func (w *walker) anyTime(f func()) {
	if w.again {
		f()
		return
	}
	ctx := w.snapshot()
	if s := w.span(f); s.lookEnd > s.looks {
		w.deferred = append(w.deferred, deferred{ctx: ctx, walk: f, spans: []span{s}})
	}
}

// replay walks the deferred parts again that may find files which the text has written elsewhere.
func (w *walker) replay() {
	w.again = true
	for _, d := range w.deferred {
		if found := w.finds(&d); len(found) > 0 && w.budget == "" {
			saved := w.ctx
			w.ctx = d.ctx
			held := map[string]bool{}
			for _, c := range found {
				key := c.abs + "\x00" + c.file.content.Text()
				if held[key] && c.moved == nil && len(c.file.content) > 0 {
					continue
				}
				held[key] = true
				w.mayHold(c)
			}
			d.walk()
			w.ctx = saved
		}
	}
	w.deferred, w.again = nil, false
}

// finds returns the changes that a deferred part may find; none if it looks at none of these files.
func (w *walker) finds(d *deferred) []change {
	looked := false
	for i, own := range d.spans {
		at := map[string]bool{}
		for _, abs := range w.looks[own.looks:own.lookEnd] {
			at[named(abs)] = true
		}
		others := []span{{changes: own.changeEnd, changeEnd: len(w.journal)}}
		if d.pipeline {
			others = slices.Delete(slices.Clone(d.spans), i, i+1)
		}
		for _, o := range others {
			w.step(1 + (o.changeEnd-o.changes)/8)
			for _, c := range w.journal[o.changes:o.changeEnd] {
				looked = looked || at[named(c.abs)] || at[path.Base(c.abs)]
			}
		}
	}
	if !looked {
		return nil
	}
	first, last := d.spans[0], d.spans[len(d.spans)-1]
	if d.pipeline {
		return w.journal[first.changes:last.changeEnd]
	}
	return w.journal[first.changeEnd:]
}

// named is a path, or its last name in a directory that is not known.
func named(abs string) string {
	if strings.HasPrefix(abs, unplaced) {
		return path.Base(abs)
	}
	return abs
}

// mayHold adds a change to the state: the file is as it was, or as the change left it.
func (w *walker) mayHold(c change) {
	st := w.ctx.st
	if c.moved != nil {
		st.moved = append(slices.Clip(st.moved), *c.moved)
		return
	}
	old, ok := st.files[c.abs]
	if !ok {
		old.content, _ = w.onDisk(c.abs)
		old.touched, old.edited = st.stirred, st.fed
	}
	f := w.either(old, c.file)
	if f.program == "" {
		f.program = c.file.program
	}
	if f.content.Size() > w.lim.Bytes {
		f.content, f.edited = value.Opaque("", f.by), true
	}
	if w.pay(f.content) {
		st.files[c.abs] = f
		w.strew(c.abs)
	}
}
