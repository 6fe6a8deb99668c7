// Package publish brings the signed checkpoints of an audit log to places that the log's writer cannot
// change: a file on another disk, syslog, the journal, a command, or a witness.
//
// It promises that nothing waits for it: Offer never blocks, the newest checkpoint replaces those that are
// still waiting, and Close waits only as long as its context allows. It is not part of the proof: a
// checkpoint that no place has taken is lost with the machine, and Read tells which one each place took last.
package publish

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/sallyport-dev/sallyport/engine/audit"
)

// Note is a checkpoint on its way out.
type Note struct {
	Text       []byte // signed note, see c2sp.org/tlog-checkpoint
	Checkpoint audit.Checkpoint
}

// target is a place that takes checkpoints.
type target interface {
	// take hands the note over and returns the signed note of a place that signs. It returns when ctx is done.
	take(ctx context.Context, n Note) (signed []byte, err error)
}

// Options name the log and the places.
type Options struct {
	Dir     string           // of the audit log
	Targets []string         // as in the configuration, see Check
	Warn    func(error)      // gets the first failure of each place, and the next after a success
	Run     Run              // starts the program of a command
	Clock   func() time.Time // default time.Now
}

// Run runs a program with a text on its standard input, until it ends or ctx is done.
type Run func(ctx context.Context, program string, in []byte) error

// Taken describes the last checkpoint of one place.
type Taken struct {
	Target string    `json:"target"`
	Size   int64     `json:"size"`   // records under the newest checkpoint that the place has; 0 for none
	Time   time.Time `json:"time"`   // when the place took it
	Signed string    `json:"signed"` // the checkpoint with the signature of a witness; "" where the place does not sign
	Failed string    `json:"failed"` // why the last attempt failed; "" if it did not
}

// timeout bounds one attempt; pause is the time between two while a place fails.
const (
	timeout = 10 * time.Second
	pause   = 30 * time.Second
)

// Publisher hands checkpoints to places, each at its own pace.
type Publisher struct {
	o       Options
	places  []place
	closing chan struct{}
	cancel  context.CancelFunc
	all     sync.WaitGroup
	mu      sync.Mutex // guards the state file and late
	late    map[string]error
}

// place is a target with the newest checkpoint that waits for it.
type place struct {
	name string
	target
	offer chan []byte // 1
}

// New makes a publisher that takes offers, and hands over nothing before Start.
func New(o Options) (*Publisher, error) {
	if o.Clock == nil {
		o.Clock = time.Now
	}
	p := &Publisher{o: o, closing: make(chan struct{}), cancel: func() {}, late: map[string]error{}}
	for _, text := range o.Targets {
		t, err := parse(o, text)
		if err != nil {
			return nil, err
		}
		p.places = append(p.places, place{text, t, make(chan []byte, 1)})
	}
	return p, nil
}

// Start begins to hand over checkpoints that verify with key. A place that lacks the one in the checkpoint
// file, as after a process that was killed, gets that one.
func (p *Publisher) Start(key string) {
	ctx, cancel := context.WithCancel(context.Background())
	p.cancel = cancel
	taken,
		_ := Read(p.o.Dir) // without it each place gets the checkpoint again
	newest, _ := tail(filepath.Join(p.o.Dir, audit.CheckpointFile), maxNotes) // there is none before the first
	for _, t := range p.places {
		c, err := audit.OpenCheckpoint(newest, key)
		has := slices.ContainsFunc(taken, func(n Taken) bool { return n.Target == t.name && n.Size >= c.Size })
		if err == nil && !has {
			select {
			case t.offer <- newest:
			default: // a newer one waits
			}
		}
		p.all.Go(func() { p.serve(ctx, key, t) })
	}
}

// Offer takes a checkpoint of the log. It does not block and replaces one that still waits.
func (p *Publisher) Offer(text []byte) {
	for _, t := range p.places {
		select {
		case <-t.offer:
		default:
		}
		select {
		case t.offer <- text:
		default: // a newer one came in between
		}
	}
}

// Close makes a last attempt for waiting checkpoints, and gives up when ctx is done. The error names the
// places that lack the newest checkpoint, of which Warn knows already.
func (p *Publisher) Close(ctx context.Context) error {
	close(p.closing)
	done := make(chan struct{})
	go func() { p.all.Wait(); close(done) }()
	select {
	case <-done:
	case <-ctx.Done():
		p.cancel()
		<-done
	}
	p.cancel()
	var errs []error
	for _, name := range slices.Sorted(maps.Keys(p.late)) {
		errs = append(errs, p.late[name])
	}
	return errors.Join(errs...)
}

// serve hands checkpoints to one place until the publisher closes.
func (p *Publisher) serve(ctx context.Context, key string, to place) {
	var waiting []byte
	var again <-chan time.Time
	failed := false
	for {
		select {
		case waiting = <-to.offer:
		case <-again:
		case <-p.closing:
			select {
			case waiting = <-to.offer:
			default:
			}
			if waiting != nil {
				_ = p.attempt(ctx, key, to, waiting, failed) // Close returns it
			}
			return
		}
		again = nil
		if err := p.attempt(ctx, key, to, waiting, failed); err != nil {
			failed, again = true, time.After(pause)
			continue
		}
		waiting, failed = nil, false
	}
}

// attempt hands one checkpoint over and remembers how that went.
func (p *Publisher) attempt(ctx context.Context, key string, to place, text []byte, quiet bool) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	c, err := audit.OpenCheckpoint(text, key)
	var signed []byte
	if err == nil {
		signed, err = to.take(ctx, Note{text, c})
	}
	if err != nil {
		err = fmt.Errorf("publish checkpoint of %d records to %s: %w", c.Size, to.name, err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.late, to.name)
	if err != nil {
		p.late[to.name] = err
	}
	if told := errors.Join(err, p.remember(to.name, c.Size, signed, err)); told != nil && !quiet {
		p.o.Warn(told)
	}
	return err
}

// stateName is the file, beside the log, with the last checkpoint of each place.
const stateName = "published.json"

// remember notes how an attempt went. Two processes may overwrite each other's notes: the file informs, and
// proves nothing.
func (p *Publisher) remember(name string, size int64, signed []byte, failed error) error {
	all, _ := Read(p.o.Dir) // an unreadable file is replaced
	of := map[string]Taken{}
	for _, t := range all {
		of[t.Target] = t
	}
	now := Taken{Target: name, Size: size, Time: p.o.Clock().UTC(), Signed: string(signed)}
	if failed != nil {
		now = of[name]
		now.Target, now.Failed = name, failed.Error()
	}
	of[name] = now
	all = all[:0]
	for _, target := range p.o.Targets {
		if t, ok := of[target]; ok {
			all = append(all, t)
		}
	}
	text, err := json.MarshalIndent(all, "", "\t")
	if err != nil {
		return fmt.Errorf("note the published checkpoint: %w", err)
	}
	return replace(filepath.Join(p.o.Dir, stateName), append(text, '\n'))
}

// replace writes a file anew, with mode 0600.
func replace(name string, text []byte) error {
	f, err := os.CreateTemp(filepath.Dir(name), filepath.Base(name)+".*")
	if err != nil {
		return fmt.Errorf("note the published checkpoint: %w", err)
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("note the published checkpoint: %w", err), os.Remove(f.Name()))
	}
	return nil
}

// maxState bounds the state file, in bytes.
const maxState = 1 << 20

// Read returns the last checkpoint of each place for the log in dir; none before the first attempt.
func Read(dir string) ([]Taken, error) {
	text, err := tail(filepath.Join(dir, stateName), maxState)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	var all []Taken
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	if err != nil {
		return nil, fmt.Errorf("read the note of the published checkpoint: %w", err)
	}
	return all, nil
}

// Newest returns the last signed note of a text with one or more of them. A note whose end is missing does
// not count. Without any it returns the text as it is.
func Newest(text []byte) []byte {
	parts := strings.Split(strings.TrimRight(string(text), "\n"), "\n\n")
	for i := len(parts) - 1; i > 0; i-- {
		if whole := i < len(parts)-1 || strings.HasSuffix(string(text), "\n"); whole &&
			strings.HasPrefix(parts[i], "— ") {
			return []byte(strings.TrimLeft(parts[i-1], "\n") + "\n\n" + parts[i] + "\n")
		}
	}
	return text
}

// Check validates a place of the configuration: an absolute path, "syslog:",
// "journald:", "command:PATH", or the address of a witness, "https://HOST/PATH#VERIFIERKEY".
func Check(text string) error {
	_, err := parse(Options{}, text)
	return err
}

func parse(o Options, text string) (target, error) {
	kind, rest, _ := strings.Cut(text, ":")
	switch {
	case filepath.IsAbs(text):
		if o.Dir != "" && inside(filepath.Dir(o.Dir), text) {
			return nil, fmt.Errorf(
				"publish checkpoints to %s: it lies beside the log: name a place that the log's writer cannot change",
				text)
		}
		return file(text), nil
	case kind == "syslog":
		return syslog{at(rest, devLog)}, nil
	case kind == "journald":
		return journal{at(rest, "/run/systemd/journal/socket")}, nil
	case kind == "command" && filepath.IsAbs(rest):
		return command{rest, o.Run}, nil
	case kind == "https":
		return newWitness(o.Dir, text)
	}
	return nil, fmt.Errorf(
		"publish checkpoints to %s: want an absolute path, syslog:, journald:, command:/absolute/path or "+
			"https://witness#key", strconv.Quote(text))
}

func at(given, usual string) string {
	if given != "" {
		return given
	}
	return usual
}

// inside reports whether a path lies in a directory.
func inside(dir, p string) bool {
	rel, err := filepath.Rel(dir, p)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator))
}
