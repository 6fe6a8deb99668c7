package audit

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/internal/await"
)

// waiting counts those that wait for a lock of a file: lines with "->" in /proc/locks (proc(5)).
func waiting(t *testing.T, name string) int {
	t.Helper()
	var st syscall.Stat_t
	if err := syscall.Stat(name, &st); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile("/proc/locks")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for line := range strings.Lines(string(b)) {
		if strings.Contains(line, "->") && strings.Contains(line, fmt.Sprintf(":%d ", st.Ino)) {
			n++
		}
	}
	return n
}

// Writers get the log in the order in which they ask for it, the one that has just had it behind all others.
func TestWritersQueue(t *testing.T) {
	t.Parallel()
	o := testOptions(t)
	const others = 6
	logs := []*Log{mustOpen(t, o)}
	for range others {
		logs = append(logs, mustOpen(t, o))
	}
	if err := logs[0].acquire(o.LockWait); err != nil {
		t.Fatal(err)
	}
	lock := logs[0].path("lock")
	done := make(chan error, others+1)
	for i := 1; i <= others; i++ {
		go func() { done <- logs[i].Record(context.Background(), decision(fmt.Sprint(i), "x", engine.Deny)) }()
		await.True(t, "the next one waits", func() bool { return waiting(t, lock) == i })
	}
	logs[0].release()
	go func() { done <- logs[0].Record(context.Background(), decision("again", "x", engine.Deny)) }()
	for range others + 1 {
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}
	var order []string
	for e, err := range Read(o.Dir, Filter{Kind: engine.KindDecision}) {
		if err != nil {
			t.Fatal(err)
		}
		if e.DecisionID != "again" {
			order = append(order, e.DecisionID)
		}
	}
	if got := strings.Join(order, " "); got != "1 2 3 4 5 6" {
		t.Errorf("served in the order %s", got)
	}
	for _, l := range logs {
		mustClose(t, l)
	}
}

// While another process holds the lock, a decision is refused after LockWait. An outcome waits on: it has happened.
func TestOutcomesWaitLonger(t *testing.T) {
	t.Parallel()
	o := testOptions(t)
	holder := mustOpen(t, o)
	if err := holder.acquire(o.LockWait); err != nil {
		t.Fatal(err)
	}
	waits := o
	waits.LockWait = time.Millisecond
	holder.release()
	l := mustOpen(t, o)
	l.o.LockWait = waits.LockWait
	if err := holder.acquire(o.LockWait); err != nil {
		t.Fatal(err)
	}
	if err := l.Record(context.Background(), decision("refused", "x", engine.Allow)); !errors.Is(err, errBusy) {
		t.Errorf("a decision while the log is locked: %v", err)
	}
	l.o.LockWait = await.Guard
	last := make(chan error, 1)
	go func() { last <- l.Record(context.Background(), outcome("ran")) }()
	await.True(t, "the outcome waits", func() bool { return waiting(t, holder.path("lock")) > 0 })
	holder.release()
	if err := <-last; err != nil {
		t.Errorf("an outcome behind a lock: %v", err)
	}
	mustClose(t, l)
	mustClose(t, holder)
}

// slowDisk syncs only when the test lets it.
type slowDisk struct {
	osFS
	syncs chan chan struct{} // one for each sync that waits
}

type slowFile struct {
	file
	syncs chan chan struct{}
}

func (d slowDisk) OpenFile(name string, flag int, perm fs.FileMode) (file, error) {
	f, err := d.osFS.OpenFile(name, flag, perm)
	if err != nil || !strings.HasSuffix(name, ".jsonl") {
		return f, err
	}
	return slowFile{f, d.syncs}, nil
}

func (f slowFile) Sync() error {
	done := make(chan struct{})
	f.syncs <- done
	<-done
	return f.file.Sync()
}

// 64 processes that start and run a command at once are all served, and all of their outcomes are on record, although a
// process waits longer than LockWait: the log moves on. TestOutcomesWaitLonger has one that stands still.
func TestManyProcessesOnASlowDisk(t *testing.T) {
	t.Parallel()
	const processes = 64
	o := testOptions(t)
	mustClose(t, mustOpen(t, o))
	disk := slowDisk{syncs: make(chan chan struct{})}
	o.fs, o.LockWait = disk, time.Second
	over := make(chan time.Time) // each LockWait of every process is over when the test says so
	o.after = func(time.Duration) <-chan time.Time { return over }
	done := make(chan error, processes)
	for i := range processes {
		go func() {
			l, err := Open(o)
			id := fmt.Sprint("p-", i)
			if err == nil {
				err = l.Record(context.Background(), engine.Record{Kind: engine.KindStart}, decision(id, "true", engine.Allow))
			}
			if err == nil {
				err = l.Record(context.Background(), outcome(id), engine.Record{Kind: engine.KindStop})
			}
			if err == nil {
				err = l.Close()
			}
			done <- err
		}()
	}
	syncs, waits := 0, 0
	for ended := 0; ended < processes; {
		select {
		case sync := <-disk.syncs:
			syncs++
			select {
			case over <- time.Time{}: // one of those that wait loses its patience, if it has reason to
				waits++
			default:
			}
			close(sync)
		case err := <-done:
			if ended++; err != nil {
				t.Fatal(err)
			}
		}
	}
	if syncs < processes || waits == 0 {
		t.Errorf("%d syncs, %d ends of LockWait: nobody had to wait", syncs, waits)
	}
	r := mustVerify(t, o.Dir)
	if r.Decisions != processes || r.Outcomes != processes || len(r.Orphans)+len(r.Running) > 0 {
		t.Errorf("report:\n%s", r)
	}
	t.Logf("%d syncs, %d ends of LockWait", syncs, waits)
}

// brokenDisk panics in the sync that the test names, once.
type brokenDisk struct {
	osFS
	breaks *atomic.Bool
}

type brokenFile struct {
	file
	breaks *atomic.Bool
}

func (d brokenDisk) OpenFile(name string, flag int, perm fs.FileMode) (file, error) {
	f, err := d.osFS.OpenFile(name, flag, perm)
	return brokenFile{f, d.breaks}, err
}

func (f brokenFile) Sync() error {
	if f.breaks.CompareAndSwap(true, false) {
		panic("sync")
	}
	return f.file.Sync()
}

// A panic in the write of one request, which the gate recovers, leaves the log to the requests behind it.
func TestLogGoesOnAfterAPanic(t *testing.T) {
	t.Parallel()
	o := testOptions(t)
	breaks := new(atomic.Bool)
	o.fs = brokenDisk{breaks: breaks}
	l := mustOpen(t, o)
	breaks.Store(true)
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the write did not panic")
			}
		}()
		_ = l.Record(context.Background(), decision("first", "true", engine.Allow))
	}()
	if err := l.Record(context.Background(), decision("second", "true", engine.Allow)); err != nil {
		t.Errorf("a decision after a panic: %v", err)
	}
	mustClose(t, l)
	if r := mustVerify(t, o.Dir); len(r.Problems) > 0 {
		t.Errorf("the log after a panic: %+v", r)
	}
}
