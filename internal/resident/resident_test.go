package resident

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sallyport-dev/sallyport/internal/await"
	"github.com/sallyport-dev/sallyport/internal/usersocket"
)

// otherwise is the answer of an exchange that breaks off.
var otherwise = Answer{Status: 2, Err: []byte("broken off")}

// echo answers with the call's words and input.
func echo(_ context.Context, c Call) Answer {
	return Answer{Status: 3, Out: []byte(strings.Join(c.Args, " ") + "|" + c.Dir), Err: c.Input}
}

// process is a Serve of this test.
type process struct {
	Options
	look chan time.Time
	now  atomic.Int64 // nanoseconds
	end  context.CancelFunc
	done chan error
}

func (p *process) ended(t *testing.T) error {
	t.Helper()
	select {
	case err := <-p.done:
		return err
	case <-t.Context().Done():
		return t.Context().Err()
	}
}

func program(t *testing.T) string {
	t.Helper()
	file, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// start serves, and returns when the socket is there.
func start(t *testing.T, change func(*Options)) *process {
	t.Helper()
	p := &process{Options: Options{
		Dir: filepath.Join(t.TempDir(), "resident"), View: "this", Program: program(t), Idle: time.Minute,
		Otherwise: func(Call) Answer { return otherwise }, Answer: echo,
	}, look: make(chan time.Time), done: make(chan error, 1)}
	p.clock = clock{p.look, func() time.Time { return time.Unix(0, p.now.Load()) }}
	if change != nil {
		change(&p.Options)
	}
	ctx, cancel := context.WithCancel(context.Background())
	p.end = cancel
	t.Cleanup(cancel)
	go func() { p.done <- Serve(ctx, p.Options) }()
	await.True(t, "it serves", func() bool {
		found, err := Find(p.Dir, p.View, p.Program, await.Guard)
		if err == nil {
			_ = found.conn.Close()
		}
		return err == nil
	})
	return p
}

func (p *process) ask(t *testing.T, in io.Reader, words ...string) (Answer, error) {
	t.Helper()
	found, err := Find(p.Dir, p.View, p.Program, await.Guard)
	if err != nil {
		return Answer{}, err
	}
	return found.Ask(Call{Args: words, Dir: "/d", Environ: []string{"A=b"}}, in, await.Guard)
}

func TestExchange(t *testing.T) {
	t.Parallel()
	p := start(t, nil)
	large := strings.Repeat("x", 1<<20)
	for _, input := range []string{"", "in", large} {
		got, err := p.ask(t, strings.NewReader(input), "hook", "codex")
		if err != nil || got.Status != 3 || string(got.Out) != "hook codex|/d" || string(got.Err) != input {
			t.Errorf("%d bytes: %d %q, %d bytes, %v", len(input), got.Status, got.Out, len(got.Err), err)
		}
	}
	if got, err := p.ask(t, nil, "check"); err != nil || got.Status != 3 || len(got.Err) != 0 {
		t.Errorf("without input: %+v, %v", got, err)
	}
	p.end()
	if err := p.ended(t); err != nil {
		t.Error(err)
	}
	if _, err := p.ask(t, nil, "check"); err == nil {
		t.Error("it answers after its end")
	}
}

// TestNoOther: a program that would be answered by another build, another program or with another view of
// the machine does its work itself.
func TestNoOther(t *testing.T) {
	t.Parallel()
	p := start(t, nil)
	if _, err := Find(p.Dir, "other", p.Program, await.Guard); err == nil {
		t.Error("another view is answered")
	}
	if _, err := Find(p.Dir, p.View, "/bin/sh", await.Guard); err == nil && Supported {
		t.Error("another program answers")
	}
	if _, err := Find("", p.View, p.Program, await.Guard); err == nil {
		t.Error("without a state directory")
	}
	socket := filepath.Join(p.Dir, nameOf("other", ".sock")) // the name alone proves nothing
	if err := os.Link(filepath.Join(p.Dir, nameOf(p.View, ".sock")), socket); err != nil {
		t.Fatal(err)
	}
	if _, err := Find(p.Dir, "other", p.Program, await.Guard); err == nil ||
		!strings.Contains(err.Error(), "another build") {
		t.Errorf("another view behind the name is answered: %v", err)
	}
}

// TestBroken: until the process has accepted a call its program can do the work; after that, each way of
// failing gives the answer that refuses.
func TestBroken(t *testing.T) {
	t.Parallel()
	greeting := frame(t, Greeting{Version, "this"})
	accepted := bytes.Join([][]byte{greeting, frame(t, otherwise)}, nil)
	long := binary.BigEndian.AppendUint32(nil, largest+1)
	for name, test := range map[string]struct {
		sent    []byte
		refused bool // with the answer for it
	}{
		"nothing":         {nil, false},
		"no greeting":     {[]byte("HTTP/1.1 200 OK\r\n\r\n"), false},
		"half a greeting": {greeting[:len(greeting)-1], false},
		"another version": {frame(t, Greeting{Version + 1, "this"}), false},
		"another view":    {frame(t, Greeting{Version, "that"}), false},
		"greeting alone":  {greeting, false},
		"accepted":        {accepted, true},
		"half an answer":  {append(bytes.Clone(accepted), frame(t, Answer{Out: []byte("allow")})[:9]...), true},
		"no JSON":         {append(bytes.Clone(accepted), 0, 0, 0, 1, '{'), true},
		"a longer answer": {append(bytes.Clone(accepted), long...), true},
		"a number":        {append(bytes.Clone(accepted), frame(t, 7)...), true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := os.Chmod(dir, 0o700); err != nil { //nolint:gosec // a directory
				t.Fatal(err)
			}
			at := filepath.Join(dir, "s")
			l, err := net.ListenUnix("unix", &net.UnixAddr{Name: at, Net: "unix"})
			if err != nil {
				t.Skip("the directory of the test is too long for a socket: " + err.Error())
			}
			defer l.Close()
			if err := os.Rename(at, filepath.Join(dir, nameOf("this", ".sock"))); err != nil {
				t.Fatal(err)
			}
			go func() {
				c, err := l.AcceptUnix()
				if err != nil {
					return
				}
				_, _ = c.Write(test.sent)
				_ = c.CloseWrite()
				_, _ = io.Copy(io.Discard, c)
			}()
			in := strings.NewReader("event")
			p, err := Find(dir, "this", program(t), await.Guard)
			var got Answer
			if err == nil {
				got, err = p.Ask(Call{Args: []string{"hook"}}, in, await.Guard)
			}
			if (err == nil) != test.refused {
				t.Fatalf("%+v, %v", got, err)
			}
			if !test.refused && in.Len() != len("event") {
				t.Error("the input is lost, and the program cannot do the work")
			}
			if test.refused && (got.Status != otherwise.Status || !bytes.Equal(got.Err, otherwise.Err) ||
				got.Out != nil) {
				t.Errorf("%+v", got)
			}
		})
	}
}

func frame(t *testing.T, v any) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := send(&b, v); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestPanic: a call that breaks the process's answer is refused, and the next one answered.
func TestPanic(t *testing.T) {
	t.Parallel()
	p := start(t, func(o *Options) {
		o.Answer = func(ctx context.Context, c Call) Answer {
			if string(c.Input) == "bad" {
				panic("bad")
			}
			return echo(ctx, c)
		}
	})
	if got, err := p.ask(t, strings.NewReader("bad"), "hook"); err != nil || got.Status != otherwise.Status {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err := p.ask(t, strings.NewReader("good"), "hook"); err != nil || got.Status != 3 {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestLimit: an input that never ends, and an answer that never comes, are refused.
func TestLimit(t *testing.T) {
	t.Parallel()
	p := start(t, func(o *Options) {
		o.Answer = func(ctx context.Context, _ Call) Answer {
			<-ctx.Done() // the program has gone
			return Answer{}
		}
	})
	endless, _ := io.Pipe()
	for name, in := range map[string]io.Reader{"input": endless, "answer": strings.NewReader("event")} {
		found, err := Find(p.Dir, p.View, p.Program, await.Guard)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := found.Ask(Call{}, in, time.Millisecond); err != nil || got.Status != otherwise.Status {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

// TestOneHoldsUpNoOther: a call is answered while another one waits, and while a program is silent.
func TestOneHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	begun, release := make(chan struct{}), make(chan struct{})
	p := start(t, func(o *Options) {
		o.Answer = func(ctx context.Context, c Call) Answer {
			if string(c.Input) == "slow" {
				close(begun)
				<-release
			}
			return echo(ctx, c)
		}
	})
	silent, err := Find(p.Dir, p.View, p.Program, await.Guard)
	if err != nil {
		t.Fatal(err)
	}
	defer silent.conn.Close()
	slow := make(chan Answer, 1)
	go func() {
		got, _ := p.ask(t, strings.NewReader("slow"), "hook")
		slow <- got
	}()
	<-begun
	if got, err := p.ask(t, strings.NewReader("quick"), "hook"); err != nil || got.Status != 3 {
		t.Errorf("%+v, %v", got, err)
	}
	p.end() // the call that has begun is finished all the same
	close(release)
	if got := <-slow; got.Status != 3 {
		t.Errorf("the slow one: %+v", got)
	}
}

// TestRoom: large inputs that a process holds at once refuse another large one, and no usual one, until their
// programs have gone.
func TestRoom(t *testing.T) {
	t.Parallel()
	p := start(t, func(o *Options) { o.room = 4 * freeEach })
	large := strings.Repeat("x", 3*freeEach) // some 4 as JSON, of which 3 count
	answered := func(input string) bool {
		t.Helper()
		got, err := p.ask(t, strings.NewReader(input), "hook")
		if err != nil || got.Status != 3 && got.Status != otherwise.Status {
			t.Fatalf("%+v, %v", got, err)
		}
		return got.Status == 3
	}
	if alone, again := answered(large), answered(large); !alone || !again {
		t.Error("a large input alone is refused")
	}
	holder, err := Find(p.Dir, p.View, p.Program, await.Guard)
	if err != nil {
		t.Fatal(err)
	}
	var before Answer
	if err := errors.Join(send(holder.conn, Call{}), receive(holder.conn, &before)); err != nil {
		t.Fatal(err)
	}
	part := binary.BigEndian.AppendUint32(nil, 8*freeEach)
	if _, err := holder.conn.Write(append(part, large...)); err != nil {
		t.Fatal(err)
	}
	await.True(t, "a second large input is refused", func() bool { return !answered(large) })
	if !answered("usual") {
		t.Error("a usual input is refused")
	}
	if err := holder.conn.Close(); err != nil {
		t.Fatal(err)
	}
	await.True(t, "there is room again", func() bool { return answered(large) })
}

// TestEnds: the process ends when nobody needs it: after the idle time, and when its socket or its program
// belongs to another.
func TestEnds(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		do   func(t *testing.T, p *process)
		ends bool
	}{
		"nothing":     {func(*testing.T, *process) {}, false},
		"nearly idle": {func(_ *testing.T, p *process) { p.now.Add(int64(time.Minute) - 1) }, false},
		"idle":        {func(_ *testing.T, p *process) { p.now.Add(int64(time.Minute)) }, true},
		"no socket":   {func(t *testing.T, p *process) { remove(t, p) }, true},
		"other socket": {func(t *testing.T, p *process) {
			remove(t, p)
			write(t,
				filepath.Join(p.Dir, nameOf("this", ".sock")))
		}, true},
		"other program": {func(t *testing.T, p *process) {
			if err := os.Remove(p.Program); err != nil {
				t.Fatal(err)
			}
			write(t, p.Program)
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &process{Options: Options{
				Dir: filepath.Join(t.TempDir(), "resident"), View: "this", Idle: time.Minute,
				Program: filepath.Join(t.TempDir(), "program"),
			}, look: make(chan time.Time), done: make(chan error, 1)}
			write(t, p.Program)
			p.clock = clock{p.look, func() time.Time { return time.Unix(0, p.now.Load()) }}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			go func() { p.done <- Serve(ctx, p.Options) }()
			p.looks() // it serves
			test.do(t, p)
			p.looks()
			if test.ends {
				if err := p.ended(t); err != nil {
					t.Error(err)
				}
				return
			}
			if p.looks(); len(p.done) > 0 {
				t.Errorf("it has ended: %v", <-p.done)
			}
		})
	}
}

// looks has the process look whether it is still wanted, unless it has ended.
func (p *process) looks() {
	select {
	case p.look <- time.Time{}:
	case err := <-p.done:
		p.done <- err
	}
}

func remove(t *testing.T, p *process) {
	t.Helper()
	if err := os.Remove(filepath.Join(p.Dir, nameOf("this", ".sock"))); err != nil {
		t.Fatal(err)
	}
}

func write(t *testing.T, file string) {
	t.Helper()
	if err := os.WriteFile(file, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestOneForAll: a second process for the same view leaves the calls to the first.
func TestOneForAll(t *testing.T) {
	t.Parallel()
	p := start(t, nil)
	if !Served(p.Dir, p.View) || Served(p.Dir, "other") {
		t.Errorf("served %v, another view %v", Served(p.Dir, p.View), Served(p.Dir, "other"))
	}
	if err := Serve(t.Context(), p.Options); !errors.Is(err, ErrServed) {
		t.Errorf("the second: %v", err)
	}
	if got, err := p.ask(t, nil, "check"); err != nil || got.Status != 3 {
		t.Errorf("the first: %+v, %v", got, err)
	}
}

func TestView(t *testing.T) {
	t.Parallel()
	one, err := View("build 1")
	again, errAgain := View("build 1")
	other, errOther := View("build 2")
	if err := errors.Join(err, errAgain, errOther); err != nil {
		t.Fatal(err)
	}
	if one != again || one == other {
		t.Errorf("%q, %q, %q", one, again, other)
	}
}

// TestNoMoreConnections: a process that cannot accept connections ends, and its socket goes with it: nobody
// waits for its greeting.
func TestNoMoreConnections(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	l, release, err := usersocket.Listen(dir, "this.sock")
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	file := filepath.Join(dir, "this.sock")
	s := &server{Options: Options{Program: program(t), Idle: time.Hour}, listener: l}
	s.clock.now = func() time.Time { return s.last }
	s.socket, err = os.Lstat(file)
	if err == nil {
		s.program, err = os.Stat(s.Program)
	}
	l.SetUnlinkOnClose(false)
	if err := errors.Join(err, l.Close()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), await.Guard)
	defer cancel()
	s.run(ctx, file)
	if ctx.Err() != nil {
		t.Error("it went on without accepting connections")
	}
	if _, err := os.Lstat(file); !os.IsNotExist(err) {
		t.Errorf("its socket is there: %v", err)
	}
}
