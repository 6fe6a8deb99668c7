package audit

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"

	"github.com/sallyport-dev/sallyport/engine"
)

// recentBytes bounds the lines that a process keeps in memory to put them on record again.
const recentBytes = 256 << 10

// keep remembers a line that was written or read, until there are enough since the last checkpoint.
func (l *Log) keep(line []byte) {
	if l.st.since == 0 {
		l.recent = nil
		return
	}
	l.recent = append(l.recent, string(line))
	size := 0
	for i := len(l.recent) - 1; i >= 0; i-- {
		if size += len(l.recent[i]); size > recentBytes || len(l.recent)-i > l.st.since {
			l.recent = l.recent[i+1:]
			return
		}
	}
}

// noteCut puts on record that the log is shorter than this process left it, was replaced or is gone, with what the
// process knows of its end, and goes on behind. Where nothing can be written behind the rest, it saves this beside the
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
		l.st = was
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
	l.orphan, l.recent, l.sure, l.own, l.st = orphanWrite{}, nil, 0, nil, state{segment: 1}
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

// saveCut writes what is known of a cut below torn/. It does what it can: the request is refused either way.
func (l *Log) saveCut(b recoveryBody) {
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
	for seq := range open {
		all = append(all, seq)
	}
	return all, nil
}

// Accept puts on record that an operator knows of the breaks in the log that nobody has accepted yet. It returns how
// many there were.
func (l *Log) Accept(by, reason string) (int, error) {
	open, err := unaccepted(l.o.Dir)
	if err != nil || len(open) == 0 {
		return 0, err
	}
	p, err := l.ownPayload(engine.KindRecovery, recoveryBody{Accepts: open, By: by, Reason: reason})
	if err != nil {
		return 0, err
	}
	return len(open), l.enqueue(p, false)
}
