// Package approvals shows the questions of policies that wait for a person to other processes of the same
// user, and takes answers from there: a question waits at a socket in a private directory.
//
// It promises that the answer of another user, of a process that saw another question, or after the end of
// the wait counts for nothing. It judges nothing, and the record of an answer is the gate's.
package approvals

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/internal/usersocket"
)

// Question is a request that waits for a person.
type Question struct {
	ID      string          `json:"id"` // of the decision
	Expires time.Time       `json:"expires"`
	Agent   string          `json:"agent"`
	Session string          `json:"session"`
	Tool    string          `json:"tool"`
	WorkDir string          `json:"work_dir"`
	Command string          `json:"command"`       // "" for a file tool
	Paths   []string        `json:"paths"`         // of a file tool: access and path; of a trial: its changes
	Way     []string        `json:"way,omitempty"` // of a program: the processes that start it
	Reasons []engine.Reason `json:"reasons"`
}

// Answer is an answer to a question. The zero value refuses.
type Answer struct {
	Granted bool      `json:"granted"`
	Comment string    `json:"comment"`
	Until   time.Time `json:"until"` // of an answer for equal requests of the session, too; zero for once
}

// MaxStanding is the longest time for which an answer counts.
const MaxStanding = 24 * time.Hour

const (
	maxMessage  = 8 << 20               // bytes of a question or an answer
	reach       = 10 * time.Second      // for one exchange with another process
	acceptAgain = 20 * time.Millisecond // after a connection that could not be accepted
	suffix      = ".sock"
	early       = ".new" // of a socket that takes no connections yet: nobody takes it for an abandoned one
)

// Queue is the directory of the questions of a user. The zero value has none.
type Queue struct {
	Dir  string
	User string // name of the user, for records
}

// Beside returns an approver that asks first, and shows the question to other processes meanwhile: the
// earlier answer counts. With wait it goes on waiting where first can ask nobody. first may be nil.
func (q Queue) Beside(first engine.Approver, wait bool) engine.Approver {
	return beside{q, first, wait}
}

type beside struct {
	queue Queue
	first engine.Approver
	wait  bool
}

// errNobody is the error where nobody can be asked.
var errNobody = errors.New("nobody can be asked here: approvals: {wait: true} waits for sallyport approvals")

// Approve asks both ways.
func (b beside) Approve(ctx context.Context, r engine.ApprovalRequest) (engine.Approval, error) {
	if b.first == nil && !b.wait {
		return engine.Approval{}, errNobody
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type reply struct {
		engine.Approval
		err  error
		here bool
	}
	replies := make(chan reply, 2)
	waiting := 0
	if b.first != nil {
		waiting++
		go func() {
			a, err := b.first.Approve(ctx, r)
			replies <- reply{a, err, true}
		}()
	}
	offered, err := b.queue.offer(ctx, questionOf(r))
	if err == nil {
		defer offered.close()
		waiting++
		go func() {
			a, err := offered.answer(ctx)
			replies <- reply{a, err, false}
		}()
	}
	for last := err; ; {
		if waiting == 0 {
			return engine.Approval{}, cmp.Or(last, errNobody)
		}
		got := <-replies
		waiting--
		final := got.err == nil || got.here && !(b.wait && errors.Is(got.err, engine.ErrNobody))
		if final && (!got.here || offered == nil || offered.claim()) {
			return got.Approval, got.err
		}
		if !got.here || offered == nil || last == nil { // the end of the wait says more than that nobody is here
			last = got.err
		}
	}
}

// maxShown bounds the changes of a trial that a question shows.
const maxShown = 100

func questionOf(r engine.ApprovalRequest) Question {
	q := Question{
		ID: r.Decision.ID, Expires: r.Expires, Reasons: r.Decision.Reasons,
		Agent: r.Request.Subject.Agent, Session: r.Request.Subject.Session,
		Tool: r.Request.Tool, WorkDir: r.WorkDir, Command: r.Command, Paths: []string{}, Way: r.Way,
	}
	if r.Changes != nil {
		q.Paths = r.Changes.Lines(maxShown)
	} else if r.Command == "" {
		for _, p := range r.Paths {
			q.Paths = append(q.Paths, p.Access+" "+cmp.Or(p.Path, p.Raw))
		}
	}
	return q
}

// offer is a question that waits at a socket.
type offer struct {
	question Question
	user     string
	file     string // of the socket
	listener *net.UnixListener
	release  func()
	answers  chan engine.Approval
	once     sync.Once
	telling  sync.Mutex // held from the answer that counts until its sender has the receipt
}

func (q Queue) offer(ctx context.Context, question Question) (*offer, error) {
	if q.Dir == "" {
		return nil, errors.New("show the question: there is no state directory")
	}
	l, release, err := usersocket.Listen(q.Dir, question.ID+early)
	if err != nil {
		return nil, fmt.Errorf("show the question: %w", err)
	}
	file := filepath.Join(q.Dir, question.ID+suffix)
	if err := os.Rename(filepath.Join(q.Dir, question.ID+early), file); err != nil {
		_ = l.Close()
		release()
		return nil, fmt.Errorf("show the question: %w", err)
	}
	o := &offer{
		question: question, user: q.User, file: file, listener: l, release: release,
		answers: make(chan engine.Approval, 1),
	}
	go o.serve(ctx)
	return o, nil
}

// close ends the offer. The sender of the answer that counts has its receipt by then: the process that asks
// may end at once.
func (o *offer) close() {
	_ = os.Remove(o.file)
	_ = o.listener.Close()
	o.release()
	o.telling.Lock()
	defer o.telling.Unlock()
}

// answer waits for the answer that counts.
func (o *offer) answer(ctx context.Context) (engine.Approval, error) {
	select {
	case a := <-o.answers:
		return a, nil
	case <-ctx.Done():
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return engine.Approval{}, errors.New("nobody answered in time")
		}
		return engine.Approval{}, ctx.Err()
	}
}

// claim reports that no other process was told that its answer counts, and none will be.
func (o *offer) claim() (won bool) {
	o.once.Do(func() { won = true })
	return won
}

func (o *offer) serve(ctx context.Context) {
	for {
		c, err := o.listener.AcceptUnix()
		switch {
		case err == nil:
			go o.exchange(ctx, c)
			continue
		case errors.Is(err, net.ErrClosed):
			return
		}
		select { // too many files are open: some of them will be closed
		case <-ctx.Done():
			return
		case <-time.After(acceptAgain):
		}
	}
}

// receipt is the last word of the side that asks.
type receipt struct {
	Counts bool   `json:"counts"`
	Error  string `json:"error"`
}

// exchange shows the question to another process and takes its answer.
func (o *offer) exchange(ctx context.Context, c *net.UnixConn) {
	defer func() { _ = c.Close() }()
	defer context.AfterFunc(ctx, func() { _ = c.Close() })()
	if err := usersocket.Ours(c); err != nil {
		return
	}
	if err := json.NewEncoder(c).Encode(o.question); err != nil {
		return
	}
	var a Answer
	if err := receive(c, &a); err != nil {
		return // it only looked
	}
	r := receipt{Error: "the question has been answered or has expired"}
	if limit := time.Now().Add(MaxStanding); a.Until.After(limit) {
		a.Until = limit
	}
	o.once.Do(func() {
		if ctx.Err() != nil {
			return
		}
		r = receipt{Counts: true}
		_ = c.SetWriteDeadline(time.Now().Add(reach)) // its sender may read nothing
		o.telling.Lock()
		o.answers <- engine.Approval{
			Granted: a.Granted, By: "approvals:" + o.user, Comment: a.Comment, Until: a.Until,
		}
	})
	_ = json.NewEncoder(c).Encode(r) // the answer counts whether its sender reads so or not
	if r.Counts {
		o.telling.Unlock()
	}
}

func receive(c *net.UnixConn, into any) error {
	line, err := bufio.NewReader(io.LimitReader(c, maxMessage)).ReadBytes('\n')
	if err != nil {
		return err
	}
	return json.Unmarshal(line, into)
}

// dial connects to a question. A socket without a process behind it is removed.
func (q Queue) dial(ctx context.Context, file string) (*net.UnixConn, Question, error) {
	c, err := usersocket.Dial(ctx, q.Dir, filepath.Base(file))
	if err != nil {
		if errors.Is(err, syscall.ECONNREFUSED) {
			_ = os.Remove(file)
		}
		return nil, Question{}, err
	}
	var question Question
	if err = c.SetDeadline(time.Now().Add(reach)); err == nil {
		err = receive(c, &question)
	}
	if err != nil {
		_ = c.Close()
		return nil, Question{}, err
	}
	return c, question, nil
}

// List returns the questions that wait, the oldest first.
func (q Queue) List(ctx context.Context) ([]Question, error) {
	files, err := q.files()
	out := []Question{}
	for _, file := range files {
		c, question, failed := q.dial(ctx, file)
		if failed != nil {
			continue // it has ended meanwhile
		}
		_ = c.Close()
		out = append(out, question)
	}
	slices.SortFunc(out, func(a, b Question) int { return strings.Compare(a.ID, b.ID) })
	return out, err
}

func (q Queue) files() ([]string, error) {
	entries, err := os.ReadDir(q.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var out []string
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), suffix) {
			out = append(out, filepath.Join(q.Dir, e.Name()))
		}
	}
	return out, err
}

// Reply answers the question with an id, or with the beginning of one.
func (q Queue) Reply(ctx context.Context, id string, a Answer) (Question, error) {
	all, err := q.List(ctx)
	if err != nil {
		return Question{}, err
	}
	matching := slices.DeleteFunc(all, func(one Question) bool {
		return id == "" || !strings.HasPrefix(one.ID, id)
	})
	switch len(matching) {
	case 0:
		return Question{}, fmt.Errorf("answer %s: no such question waits: see sallyport approvals list", id)
	case 1:
	default:
		return Question{}, fmt.Errorf("answer %s: %d ids begin with it: name more of it", id, len(matching))
	}
	c, question, err := q.dial(ctx, filepath.Join(q.Dir, matching[0].ID+suffix))
	if err != nil {
		return Question{}, fmt.Errorf("answer %s: %w", matching[0].ID, err)
	}
	defer func() { _ = c.Close() }()
	if err := json.NewEncoder(c).Encode(a); err != nil {
		return Question{}, fmt.Errorf("answer %s: %w", question.ID, err)
	}
	var r receipt
	if err := receive(c, &r); err != nil {
		return Question{}, fmt.Errorf("answer %s: no receipt: %w", question.ID, err)
	}
	if !r.Counts {
		return Question{}, fmt.Errorf("answer %s: %s", question.ID, r.Error)
	}
	return question, nil
}
