package audit

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sallyport-dev/sallyport/engine"
)

// recentBytes bounds the lines that a process keeps in memory to put them on record again.
const recentBytes = 256 << 10

// keep remembers a line that was written or read. Those of commands that still run are among the newest.
func (l *Log) keep(line []byte) {
	l.recent = append(l.recent, string(line))
	for l.recentSize += len(line); l.recentSize > recentBytes; l.recent = l.recent[1:] {
		l.recentSize -= len(l.recent[0])
	}
}

// noteCut puts on record that the log is shorter than this process left it, was replaced or is gone, with its end as the
// process remembers it, and goes on behind. Where nothing can be written behind the rest, it saves that end beside the
// records and reports false.
func (l *Log) noteCut(cause error) bool {
	if !errors.Is(cause, ErrTampered) {
		return false
	}
	was := l.st
	root := was.tree.root()
	b := recoveryBody{File: segmentName(was.segment), Offset: was.off, Break: true, Reason: cause.Error(), Known: &knownEnd{
		Size: was.tree.size, Last: hex.EncodeToString(was.last[:]), Root: hex.EncodeToString(root[:]), Lines: l.recent,
	}}
	if err := l.startAnew(); err != nil {
		l.st, l.recent = was, b.Known.Lines
		l.saveCut(b)
		_ = l.drop() // the next batch finds the same, and says so
		return false
	}
	if l.noteRecovery(b) != nil || l.write(nil, true) != nil {
		l.saveCut(b)
		return false
	}
	return true
}

// startAnew finds the end of the log on disk as Open does.
func (l *Log) startAnew() error {
	if err := l.drop(); err != nil {
		return err
	}
	l.orphan, l.sure, l.own, l.st = orphanWrite{}, 0, nil, state{segment: 1}
	l.recent, l.recentSize = nil, 0
	segments, err := segmentsIn(l.o.fs, l.o.Dir)
	if err == nil {
		l.anchor, _, err = readAnchor(l.o.fs, l.o.Dir, l.keys.public)
	}
	if err == nil && len(segments) == 0 && l.anchor.Size > 0 {
		err = l.checkAnchor() // and no file is made in the place of those that are gone
	}
	if err == nil {
		err = l.findStart(segments)
	}
	if err == nil {
		err = l.catchUp()
	}
	if err == nil {
		err = l.checkAnchor()
	}
	return err
}

// cutSuffix ends the names of files below torn/ that tell of a cut. An accepted one gets another name.
const cutSuffix = "-cut.json"

// cutsIn returns the names of the files that tell of cuts which nobody has accepted.
func cutsIn(fsys fileSystem, dir string) ([]string, error) {
	names, err := fsys.ReadDir(filepath.Join(dir, "torn"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return slices.DeleteFunc(names, func(n string) bool { return !strings.HasSuffix(n, cutSuffix) }), err
}

// saveCut writes the remembered end below torn/, once for each end of the log. An error is dropped: the request is
// refused either way.
func (l *Log) saveCut(b recoveryBody) {
	if l.saved == b.Known.Size {
		return
	}
	l.saved = b.Known.Size
	name, err := l.tornName("cut.json")
	if err != nil {
		return
	}
	text, err := json.MarshalIndent(b, "", "\t")
	if err != nil {
		return
	}
	f, err := l.o.fs.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return
	}
	_, _ = f.WriteAt(append(text, '\n'), 0)
	_ = errors.Join(f.Sync(), f.Close())
}

// unaccepted returns the numbers of the records of breaks that nobody has accepted.
func unaccepted(dir string) ([]int64, error) {
	open := map[int64]bool{}
	for e, err := range Read(dir, Filter{Kind: engine.KindRecovery}) {
		if err != nil {
			return nil, err
		}
		var b recoveryBody
		if err := bodyOf(e.Raw, &b); err != nil {
			return nil, err
		}
		if b.Break && !b.Accepted {
			open[e.Seq] = true
		}
		for _, seq := range b.Accepts {
			delete(open, seq)
		}
	}
	var all []int64
	return append(all, slices.Sorted(maps.Keys(open))...), nil
}

// Accept puts on record that an operator knows of the breaks in the log, and of the cuts that a process saved, which
// nobody has accepted yet. It returns how many there were.
func (l *Log) Accept(by, why string) (int, error) {
	open, err := unaccepted(l.o.Dir)
	if err != nil {
		return 0, err
	}
	cuts, err := cutsIn(l.o.fs, l.o.Dir)
	if err != nil || len(open)+len(cuts) == 0 {
		return 0, err
	}
	p, err := l.ownPayload(engine.KindRecovery, recoveryBody{Accepts: open, Cuts: cuts, By: by, Why: why})
	if err == nil {
		err = l.enqueue(p, false)
	}
	for _, name := range cuts {
		if err == nil {
			err = l.o.fs.Rename(l.path("torn/"+name), l.path("torn/"+strings.TrimSuffix(name, cutSuffix)+"-accepted.json"))
		}
	}
	return len(open) + len(cuts), err
}
