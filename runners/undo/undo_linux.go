package undo

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// Decisions returns the decisions that changed files in a session and were not undone, in the order of their
// first changes.
func Decisions(dir string, s Session) ([]string, error) {
	u, err := load(dir, s)
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(u.order, func(d string) bool { return u.over[d] }), nil
}

// Paths returns the paths of a decision's changes.
func Paths(dir string, s Session, decision string) (map[string]bool, error) {
	u, err := load(dir, s)
	if err != nil {
		return nil, err
	}
	all := map[string]bool{}
	for i := range u.entries {
		if e := &u.entries[i]; e.Decision == decision && e.change() {
			all[string(e.Path)], all[string(e.From)] = true, true
		}
	}
	for p := range u.ends[decision] {
		all[p] = true
	}
	return all, nil
}

// Undo takes back the changes of some decisions of a session, the last one first. It leaves files that
// changed since the end of the decision, unless force is set; even then it leaves those in whose place
// another file is. An interrupted Undo is continued by the next one of the same decision.
func Undo(dir string, s Session, decisions []string, force bool) ([]Result, error) {
	l, err := lock(filepath.Join(dir, s.ID, "undo"))
	if err != nil {
		return nil, fmt.Errorf("undo: another one is at work: %w", err)
	}
	defer l.Close()
	u, err := load(dir, s)
	if err != nil {
		return nil, err
	}
	const flags = os.O_WRONLY | os.O_APPEND | os.O_CREATE
	if u.log, err = os.OpenFile(filepath.Join(u.home, undoneFile), flags, 0o600); err != nil {
		return nil, fmt.Errorf("undo: %w", err)
	}
	defer u.log.Close()
	if info, err := u.log.Stat(); err == nil && info.Size() > u.offset {
		_, _ = u.log.WriteString("\n") // ends a line whose writer was interrupted
	}
	for _, name := range u.temporary {
		_ = u.tree.do(name, func(dir int, name string) error {
			remove(dir, name)
			return nil
		})
	}
	u.force, u.halfway = force, maps.Clone(u.begun)
	chosen := map[string]bool{}
	for _, d := range decisions {
		chosen[d] = true
	}
	for i := range u.entries {
		switch e := &u.entries[i]; {
		case e.Op == opGap:
			const gap = "some changes of this session could not be recorded"
			u.results[""] = Result{Result: Lost, Message: gap}
		case e.Op == opMake && chosen[e.Decision]:
			u.made[fileOf(e.State)] = true
		}
	}
	for _, d := range slices.Backward(u.order) {
		if chosen[d] && !u.over[d] {
			if err := u.decision(d); err != nil {
				return u.sorted(), err
			}
		}
	}
	return u.sorted(), nil
}

// file names a file for good.
type file struct {
	inode uint64
	born  int64
}

func fileOf(s State) file { return file{s.Inode, s.Born} }

// step is a line of the journal of Undo.
type step struct {
	Decision  string `json:"d"`
	Entry     int    `json:"e,omitempty"` // counted from 1
	Path      exact  `json:"p,omitempty"`
	Now       State  `json:"now,omitzero"` // of the file that was put in place
	Was       State  `json:"was,omitzero"` // of the file for which it stands
	Temporary exact  `json:"tmp,omitempty"`
	Begun     bool   `json:"begun,omitempty"` // the entry is about to be taken back
	Left      bool   `json:"left,omitempty"`  // it was not
	Over      bool   `json:"over,omitempty"`  // the decision is undone
	Gone      bool   `json:"gone,omitempty"`  // no file would be at the path any more
}

// standIn is a file that Undo put into the place of another one.
type standIn struct{ now, was State }

// undoer undoes decisions of a session.
type undoer struct {
	s       Session
	home    string
	tree    tree
	log     *os.File
	offset  int64 // of whole lines of log
	force   bool
	entries []Entry
	order   []string // decisions
	ends    map[string]map[string]State
	ended   map[string]bool

	over      map[string]bool
	done      map[int]bool // entries
	begun     map[int]bool // entries, and not done
	halfway   map[int]bool // begun by an Undo that was interrupted
	temporary []string
	standIns  map[file]standIn
	ghosts    map[string]State // files that would be there again, if their content had been kept
	made      map[file]bool    // by the decisions that are undone

	results map[string]Result
	failed  error // of the journal
}

func load(dir string, s Session) (*undoer, error) {
	u := &undoer{
		s: s, home: filepath.Join(dir, s.ID), tree: s.tree(), ends: map[string]map[string]State{},
		ended: map[string]bool{}, over: map[string]bool{}, done: map[int]bool{}, begun: map[int]bool{},
		standIns: map[file]standIn{}, ghosts: map[string]State{}, made: map[file]bool{},
		results: map[string]Result{},
	}
	known := map[string]bool{}
	_, err := eachLine(filepath.Join(s.kept(u.home), journalFile), 0, func(e Entry) {
		u.entries = append(u.entries, e)
		if !known[e.Decision] && e.change() {
			known[e.Decision] = true
			u.order = append(u.order, e.Decision)
		}
	})
	if n := len(u.entries); n > 0 && s.settle(&u.entries[n-1]) && !known[u.entries[n-1].Decision] {
		u.order = append(u.order, u.entries[n-1].Decision)
	}
	if err == nil {
		_, err = eachLine(filepath.Join(u.home, endsFile), 0, func(e end) {
			if u.ends[e.Decision] == nil {
				u.ends[e.Decision] = map[string]State{}
			}
			if u.ended[e.Decision] = e.Whole; !e.Whole {
				u.ends[e.Decision][string(e.Path)] = e.State
			}
		})
	}
	if err == nil {
		err = u.others(dir)
	}
	if err == nil {
		u.offset, err = eachLine(filepath.Join(u.home, undoneFile), 0, u.replay)
	}
	if err != nil {
		return nil, fmt.Errorf("undo: read the changes of session %s: %w", s.ID, err)
	}
	return u, nil
}

// settle makes a change of an intention behind which nothing is on record, if a file was made by it: one that
// is there since, and has no content.
func (s Session) settle(e *Entry) bool {
	if e.Op != opIntend {
		return false
	}
	now, err := s.tree().look(string(e.Path))
	made := err == nil && now.Kind != "" && now.Born >= e.State.Time && (now.Kind != kindFile || now.Size == 0)
	if made {
		*e = Entry{Decision: e.Decision, Op: opMake, Path: e.Path, State: now}
	}
	return made
}

// others learns the files that were restored in other sessions.
func (u *undoer) others(dir string) error {
	all, err := List(dir)
	if err != nil {
		return err
	}
	for _, s := range all {
		if s.ID == u.s.ID || s.Workspace != u.s.Workspace {
			continue
		}
		_, err := eachLine(filepath.Join(dir, s.ID, undoneFile), 0, func(s step) {
			if s.Was.Kind != "" && s.Now.Kind != "" {
				u.standIns[fileOf(s.Now)] = standIn{s.Now, s.Was}
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// replay learns from the journal of an earlier Undo.
func (u *undoer) replay(s step) {
	switch {
	case s.Over:
		u.over[s.Decision] = true
	case s.Temporary != "":
		u.temporary = append(u.temporary, string(s.Temporary))
	case s.Begun:
		u.begun[s.Entry-1] = true
	case s.Entry > 0:
		u.done[s.Entry-1] = !s.Left
		delete(u.begun, s.Entry-1)
	}
	if s.Gone {
		delete(u.ghosts, string(s.Path))
	}
	if s.Was.Kind == "" {
		return
	}
	if s.Now.Kind == "" {
		u.ghosts[string(s.Path)] = s.Was
		return
	}
	u.standIns[fileOf(s.Now)] = standIn{s.Now, s.Was}
}

// write appends to the journal. Without it Undo does not go on.
func (u *undoer) write(s step) error {
	text, err := json.Marshal(s)
	if err == nil {
		_, err = u.log.Write(append(text, '\n'))
	}
	if err != nil {
		u.failed = fmt.Errorf("undo: write its journal: %w", err)
		return u.failed
	}
	u.replay(s)
	return nil
}

// tell notes the result of a file.
func (u *undoer) tell(e *Entry, p, result, message string) {
	r := Result{Decision: e.Decision, Path: p, Result: result, Message: message}
	if old, ok := u.results[p]; !ok || worse(r, old) > 0 {
		u.results[p] = r
	}
}

func (u *undoer) sorted() []Result {
	out := []Result{}
	for _, r := range u.results {
		out = append(out, r)
	}
	slices.SortFunc(out, func(a, b Result) int {
		if a.Path < b.Path {
			return -1
		}
		return 1
	})
	return out
}

// view describes the file at a path. A file that Undo put there counts as the one for which it stands, with
// the changes since: an interrupted Undo may have made one that its journal does not have.
func (u *undoer) view(p string) State {
	s, err := u.tree.look(p)
	if err != nil {
		return State{Kind: "unknown"}
	}
	if s.Kind == "" {
		return u.ghosts[p]
	}
	in, ok := u.standIns[fileOf(s)]
	if !ok || !s.is(in.now) {
		return s
	}
	if s.Mode != in.now.Mode {
		in.was.Mode = s.Mode
	}
	if s.Size != in.now.Size || s.Time != in.now.Time {
		in.was.Size, in.was.Time = s.Size, s.Time
	}
	return in.was
}

// decision undoes one decision.
func (u *undoer) decision(d string) error {
	var at []int
	var entries []Entry
	for i := range u.entries {
		if u.entries[i].Decision == d && u.entries[i].change() {
			at, entries = append(at, i), append(entries, u.entries[i])
		}
	}
	last := finals(entries)
	resumed := map[string]bool{} // looked at before an interruption
	for n, i := range at {
		resumed[last[n]] = resumed[last[n]] || u.done[i] || u.halfway[i]
	}
	left, here := map[string]string{}, u.places(at, entries)
	for n, p := range last {
		if left[p] == "" && !u.force && !resumed[p] {
			left[p] = u.changed(d, p, here[n])
		}
	}
	whole := true
	for n := len(at) - 1; n >= 0; n-- {
		i, e := at[n], &entries[n]
		if u.done[i] {
			continue
		}
		if why := left[last[n]]; why != "" {
			u.tell(e, last[n], Conflict, why)
			whole = false
			continue
		}
		err := u.write(step{Decision: d, Entry: i + 1, Begun: true})
		if err == nil {
			err = u.invert(i, e)
		}
		if err != nil && !u.done[i] && u.failed == nil {
			err = errors.Join(err, u.write(step{Decision: d, Entry: i + 1, Left: true}))
		}
		var c *kept
		switch {
		case errors.As(err, &c):
			u.tell(e, string(e.Path), c.result, c.why)
			whole = whole && c.result == Lost
		case err != nil:
			u.tell(e, string(e.Path), Failed, err.Error())
			whole = false
		}
		if u.failed != nil {
			return u.failed
		}
	}
	if !whole {
		return nil // the next Undo tries again
	}
	return u.write(step{Decision: d, Over: true})
}

// places returns the present path of the file of each entry. It is that at the end of the command, unless a
// move is taken back already.
func (u *undoer) places(at []int, entries []Entry) []string {
	ahead := slices.Clone(entries)
	for n, i := range at {
		e := &ahead[n]
		if e.Op != opMove && e.Op != opSwap {
			continue
		}
		if u.done[i] || u.halfway[i] && u.view(string(e.From)).is(e.State) {
			e.Op = opWrite // which moves nothing
		}
	}
	return finals(ahead)
}

// changed says why the file at a place is not the one that a decision left at a path; "" if it is.
func (u *undoer) changed(d, p, here string) string {
	if !u.ended[d] {
		return "its state at the end of the command is not on record"
	}
	was, ok := u.ends[d][p]
	switch now := u.view(here); {
	case !ok:
		return "its state at the end of the command is not on record"
	case now.same(was):
		return ""
	case now.Kind == "":
		return "it was removed since"
	case was.Kind == "":
		return "it was made since"
	}
	return "it was changed since"
}

// kept is the error for a file that is left.
type kept struct{ result, why string }

func (k *kept) Error() string { return k.why }

func conflict(why string) error { return &kept{Conflict, why} }
