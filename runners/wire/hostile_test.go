package wire

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/yamux"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/internal/await"
)

// liar is a supervisor that answers each stream by a function of the test.
func liar(t testing.TB, answer func(st net.Conn, o opening)) *Environment {
	t.Helper()
	near, far := net.Pipe()
	go func() {
		conn := newConnection(far)
		_, err := receive(conn, func(Settings) (engine.Environment, Place, error) { return nil, Place{Home: "/home/x"}, nil })
		if err != nil {
			far.Close()
			return
		}
		session, err := mux(conn, false)
		if err != nil {
			far.Close()
			return
		}
		for {
			st, err := session.Accept()
			if err != nil {
				return
			}
			go func() {
				defer st.Close()
				var o opening
				if readFrame(st, &o) == nil {
					answer(st, o)
				}
			}()
		}
	}()
	env, err := Connect(context.Background(), near, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { env.Close() })
	return env
}

// use asks an environment for everything and returns what broke it.
func use(env *Environment, ask func(*Environment) error) error {
	err := ask(env)
	if err == nil {
		err = errors.New("it was believed")
	}
	if broken := env.Err(); broken != nil {
		return broken
	}
	return fmt.Errorf("the environment is still in use after: %w", err)
}

func lstat(e *Environment) error   { _, err := e.FS().Lstat("/x"); return err }
func readDir(e *Environment) error { _, err := e.FS().ReadDir("/x"); return err }

func readFile(e *Environment) error {
	_, _, err := e.FS().ReadFile("/x", 10)
	return err
}

func listAll(e *Environment) error {
	_, err := e.Files().ReadDir("/x")
	return err
}

func runs(e *Environment) error {
	p, err := e.Start(context.Background(), engine.Command{ID: "D", Text: "true", WorkDir: "/", Timeout: time.Hour, Output: 10})
	if err != nil {
		return err
	}
	return p.Wait().Error
}

const (
	aStream = `{"bytes":0,"dropped":0,"sha256":"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"}`
	theEnd  = "\x00\x00\x00\x00"
)

// anExit is a frame with an exit, in which something is said in place of something else.
func anExit(changes ...string) string {
	text := `{"exit":{"code":0,"duration":1,"user":0,"system":0,"max_rss":0,"stdout":` + aStream + `,"stderr":` + aStream + `}}`
	return string(framed(strings.NewReplacer(changes...).Replace(text)))
}

// TestHostileSupervisor tells lies of a form that must break the connection.
func TestHostileSupervisor(t *testing.T) {
	t.Parallel()
	started := string(framed(`{"started":{"pid":7}}`))
	for name, tc := range map[string]struct {
		answer string // what comes for any stream that is opened
		ask    func(*Environment) error
		want   string
	}{
		"no frame":              {"HTTP/1.1 400 Bad Request\r\n", lstat, "frame of 1213486160 bytes"},
		"silence and an end":    {"", lstat, "unexpected EOF"},
		"unknown field":         {string(framed(`{"allow":true}`)), lstat, "unknown field"},
		"no info":               {string(framed(`{}`)), lstat, "without an answer"},
		"negative size":         {string(framed(`{"info":{"name":"x","size":-1,"mode":0,"sec":0,"nano":0}}`)), lstat, "size -1"},
		"a reply that goes on":  {string(framed(`{"more":true}`)), lstat, "a reply that goes on"},
		"names that lead away":  {string(framed(`{"entries":[{"name":"../x","type":0}]}`)), readDir, `directory entry "../x"`},
		"names without order":   {string(framed(`{"entries":[{"name":"b","type":0},{"name":"a","type":0}]}`)), readDir, `directory entry "a"`},
		"the same name twice":   {string(framed(`{"entries":[{"name":"b","type":0},{"name":"b","type":0}]}`)), listAll, `directory entry "b"`},
		"entries without end":   {strings.Repeat(string(framed(`{"more":true}`)), 10), listAll, "more than 1048576 entries"},
		"more than was asked":   {string(framed(`{"content":"MDEyMzQ1Njc4OTAxMjM0NTY3ODk="}`)), readFile, "20 bytes of a file of which 10"},
		"no process id":         {string(framed(`{"started":{"pid":0}}`)), runs, "no process id"},
		"an exit before":        {anExit(), runs, "no process id"},
		"nothing after start":   {started, runs, "unexpected EOF"},
		"an empty report":       {started + string(framed(`{}`)), runs, "a report without content"},
		"exit status":           {started + anExit(`"code":0`, `"code":4294967296`) + theEnd + theEnd, runs, "exit status 4294967296"},
		"negative time":         {started + anExit(`"duration":1`, `"duration":-1`) + theEnd + theEnd, runs, "times -1"},
		"endless time":          {started + anExit(`"user":0`, `"user":9223372036854775807`) + theEnd + theEnd, runs, "times 1, 9223372036854775807"},
		"negative memory":       {started + anExit(`"max_rss":0`, `"max_rss":-5`) + theEnd + theEnd, runs, "-5 bytes of memory"},
		"negative survivors":    {started + anExit(`"code":0`, `"code":0,"survivors":-1`) + theEnd + theEnd, runs, "-1 survivors"},
		"a signal with escapes": {started + anExit(`"code":0`, `"code":0,"signal":"\u001b[2J"`) + theEnd + theEnd, runs, "signal"},
		"hash":                  {started + anExit("e3b0c442", "xyz") + theEnd + theEnd, runs, "hash"},
		"dropped of nothing":    {started + anExit(`"dropped":0`, `"dropped":7`) + theEnd + theEnd, runs, "of which 7 were left out"},
		"text is not UTF-8":     {started + anExit() + "\x00\x00\x00\x01\xff" + theEnd + theEnd, runs, "kept output is not UTF-8"},
		"text without end":      {started + anExit() + strings.Repeat("\x00\x00\x00\x40"+strings.Repeat("x", 64), 100), runs, "bytes of output were kept of 10"},
		"text breaks off":       {started + anExit() + "\x00\x00\x00\x05ab", runs, "unexpected EOF"},
		"a chunk too large":     {started + anExit() + "\x7f\x00\x00\x05ab", runs, "chunk of 2130706437 bytes"},
		"unasked for, twice": {started + strings.Repeat(string(framed(`{"kept":{"stdout":`+aStream+`,"stderr":`+aStream+`}}`))+theEnd+theEnd, 2), runs,
			"output that nobody asked for"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env := liar(t, func(st net.Conn, _ opening) { _, _ = io.WriteString(st, tc.answer) })
			err := use(env, tc.ask)
			if !strings.Contains(err.Error(), tc.want) || !errors.Is(err, ErrLost) {
				t.Errorf("got %v\nwant %s", err, tc.want)
			}
			if err := runs(env); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("afterwards: %v", err)
			}
		})
	}
}

// The same answers without a lie in them are taken.
func TestHonestSupervisor(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		answer string
		ask    func(*Environment) error
	}{
		"info":    {string(framed(`{"info":{"name":"x","size":1,"mode":0,"sec":0,"nano":0}}`)), lstat},
		"entries": {string(framed(`{"entries":[{"name":"a","type":0},{"name":"b","type":0}]}`)), readDir},
		"more":    {string(framed(`{"entries":[{"name":"a","type":0}],"more":true}`)) + string(framed(`{"entries":[{"name":"b","type":0}]}`)), listAll},
		"content": {string(framed(`{"content":"MDEyMzQ1Njc4OQ=="}`)), readFile},
		"exit":    {string(framed(`{"started":{"pid":7}}`)) + anExit() + "\x00\x00\x00\x01x" + theEnd + theEnd, runs},
	} {
		env := liar(t, func(st net.Conn, _ opening) {
			_, _ = io.WriteString(st, tc.answer)
			_, _ = io.Copy(io.Discard, st)
		})
		if err := tc.ask(env); err != nil || env.Err() != nil {
			t.Errorf("%s: %v, %v", name, err, env.Err())
		}
	}
}

// Nothing that a supervisor opens or sends by itself is accepted or kept.
func TestUninvited(t *testing.T) {
	t.Parallel()
	near, far := net.Pipe()
	sessions := make(chan *yamux.Session, 1)
	go func() {
		conn := newConnection(far)
		_, _ = receive(conn, func(Settings) (engine.Environment, Place, error) { return nil, Place{}, nil })
		session, _ := mux(conn, false)
		sessions <- session
		for {
			st, err := session.Accept()
			if err != nil {
				return
			}
			go func() {
				_, _ = st.Write(framed(`{"info":{"name":"x","size":1,"mode":0,"sec":0,"nano":0}}`))
				_, _ = io.Copy(io.Discard, st)
			}()
		}
	}()
	env, err := Connect(context.Background(), near, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer env.Close()
	session := <-sessions
	for range 1000 {
		if st, err := session.OpenStream(); err == nil {
			_, _ = st.Write([]byte("here I am"))
		}
	}
	if n := env.session.NumStreams(); n > 1 {
		t.Errorf("%d streams were accepted", n)
	}
	if err := lstat(env); err != nil {
		t.Errorf("what was asked for is not answered any more: %v", err)
	}
	for range 3 * burst {
		go func() { _, _ = session.Ping() }()
	}
	await.True(t, "pings without end break the connection", func() bool { return env.Err() != nil })
}

// A welcome is checked like everything else.
func TestWelcome(t *testing.T) {
	t.Parallel()
	many := strings.Repeat(`"/tmp",`, 101)
	for name, tc := range map[string]struct{ welcome, want string }{
		"refusal":         {`{"error":"no shell here","release":"","os":"","arch":"","posix":false,"home":"","temporary":null,"executable":""}`, "no shell here"},
		"relative home":   {`{"release":"","os":"","arch":"","posix":false,"home":"home","temporary":null,"executable":""}`, `the place "home"`},
		"many places":     {`{"release":"","os":"","arch":"","posix":false,"home":"","temporary":[` + strings.TrimSuffix(many, ",") + `],"executable":""}`, "101 places"},
		"something new":   {`{"capabilities":[]}`, "unknown field"},
		"not even a mess": {``, "frame of 0 bytes"},
	} {
		near, far := net.Pipe()
		go func() {
			defer far.Close()
			_ = introduceSelf(far)
			conn := newConnection(far)
			var h hello
			if expectPeer(conn.reader) == nil && readFrame(conn.reader, &h) == nil {
				_, _ = far.Write(framed(tc.welcome))
			}
		}()
		_, err := Connect(context.Background(), near, Options{})
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: got %v, want %s", name, err, tc.want)
		}
	}
}

// FuzzClient sends anything in answer to anything. Nothing hangs, nothing panics, and what comes out is
// within bounds.
func FuzzClient(f *testing.F) {
	f.Add([]byte(string(framed(`{"started":{"pid":7}}`)) + anExit() + "\x00\x00\x00\x01x" + theEnd + theEnd))
	f.Add(framed(`{"info":{"name":"x","size":1,"mode":0,"sec":0,"nano":0}}`))
	f.Add(framed(`{"entries":[{"name":"a","type":0}],"more":true}`))
	f.Add([]byte(string(framed(`{}`)) + "\x00\x00\x00\x02ab" + theEnd))
	f.Fuzz(func(t *testing.T, answer []byte) {
		for _, ask := range []func(*Environment) error{lstat, readDir, readFile, listAll, runs, fetch, store} {
			env := liar(t, func(st net.Conn, _ opening) { _, _ = st.Write(answer) })
			_ = ask(env)
			env.Close()
		}
	})
}

func fetch(e *Environment) error {
	f, err := e.Files().Open("/x")
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(io.Discard, f)
	return err
}

func store(e *Environment) error {
	_, err := e.Files().Write("/x", bytes.NewReader(make([]byte, 3*maxChunk)), engine.WriteOptions{})
	return err
}

// nowhere is an environment in which nothing happens.
type nowhere struct{ engine.Environment }

func (nowhere) Prepare(text, dir string) (engine.Command, error) {
	return engine.Command{Text: text, WorkDir: dir}, nil
}

func (nowhere) Start(context.Context, engine.Command) (engine.Process, error) {
	return nil, fs.ErrPermission
}
func (nowhere) Close() error        { return nil }
func (nowhere) FS() facts.FS        { return void{} }
func (nowhere) Files() engine.Files { return void{} }

// void holds no file and takes none.
type void struct{}

func (void) Lstat(string) (fs.FileInfo, error)          { return nil, fs.ErrNotExist }
func (void) ReadLink(string) (string, error)            { return "", fs.ErrNotExist }
func (void) ReadDir(string) ([]fs.DirEntry, error)      { return nil, fs.ErrNotExist }
func (void) ReadFile(string, int) ([]byte, bool, error) { return nil, false, fs.ErrNotExist }
func (void) Open(string) (io.ReadCloser, error)         { return nil, fs.ErrNotExist }
func (void) Mkdir(string) error                         { return fs.ErrPermission }
func (void) Symlink(string, string) error               { return fs.ErrPermission }
func (void) Chmod(string, fs.FileMode) error            { return fs.ErrPermission }
func (void) Remove(string) error                        { return fs.ErrNotExist }

func (void) Write(_ string, content io.Reader, _ engine.WriteOptions) (int64, error) {
	return io.Copy(io.Discard, content)
}

// FuzzServe sends a supervisor anything, on streams and below them. It ends with the connection, and
// until then serves those who keep to the rules.
func FuzzServe(f *testing.F) {
	f.Add(framed(`{"for":"calls"}`), false)
	f.Add([]byte(string(framed(`{"for":"calls"}`))+string(framed(`{"op":"environ","path":"/"}`))), false)
	f.Add([]byte(string(framed(`{"for":"process","process":1}`))+string(framed(`{"start":{"id":"a","text":"true","work_dir":"/","env":"","timeout":1,"grace":0,"output":9}}`))), false)
	f.Add([]byte(string(framed(`{"for":"process","process":1}`))+string(framed(`{"start":{"id":"a","text":"true","work_dir":"/","env":"","timeout":1,"grace":0,"output":9}}`))+
		string(framed(`{"signal":"SIGINT"}`))+string(framed(`{"resize":{"rows":24,"columns":80}}`))), false)
	f.Add(binary.BigEndian.AppendUint32([]byte{0, 0, 0, 1, 0, 0, 0, 3}, 7), true)
	f.Fuzz(func(t *testing.T, data []byte, below bool) {
		near, far := net.Pipe()
		served := make(chan error, 1)
		go func() {
			served <- Serve(context.Background(), far, func(Settings) (engine.Environment, Place, error) { return nowhere{}, Place{}, nil })
		}()
		conn := newConnection(near)
		if _, err := introduce(conn, Settings{}); err != nil {
			t.Fatal(err)
		}
		if below {
			go func() { _, _ = io.Copy(io.Discard, near) }()
			_, _ = near.Write(data)
		} else {
			session, err := mux(conn, true)
			if err != nil {
				t.Fatal(err)
			}
			if st, err := session.Open(); err == nil {
				_, _ = st.Write(data)
				_ = st.Close()
			}
			env := &Environment{session: session, o: Options{Explain: func(err error) error { return err }}, told: make(chan struct{}), live: map[*process]struct{}{}}
			if _, err := env.Prepare("true", "/"); err != nil {
				t.Errorf("after %q it does not serve: %v", data, err)
			}
			_ = session.Close()
		}
		_ = near.Close()
		_ = await.Receive(t, "end with the connection", served)
	})
}
