package wire

import (
	"context"
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/sallyport-dev/sallyport/engine"
)

// running is an environment in which one command runs until it is killed, and tells what it is sent.
type running struct {
	nowhere
	engine.Process
	sent   chan string
	killed chan string
}

func (r *running) Start(context.Context, engine.Command) (engine.Process, error) { return r, nil }
func (r *running) PID() int                                                      { return 7 }

func (r *running) Kill(reason string) {
	select {
	case r.killed <- reason:
	default:
	}
}

func (r *running) Signal(s engine.Signal) error {
	if err := s.Check(); err != nil {
		return err
	}
	r.sent <- string(s)
	return nil
}

func (r *running) Resize(s engine.WindowSize) error {
	if err := s.Check(); err != nil {
		return err
	}
	r.sent <- fmt.Sprintf("%dx%d", s.Rows, s.Columns)
	return nil
}

func (r *running) Wait() engine.Exit {
	sum := engine.Stream{SHA256: strings.Repeat("00", 32)}
	return engine.Exit{Killed: <-r.killed, Stdout: sum, Stderr: sum}
}

// TestOrders: what a supervisor can carry out it does, and whatever else comes in its place ends the command.
func TestOrders(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ order, sent, killed string }{
		"kill":             {order: `{"kill":"enough"}`, killed: "enough"},
		"signal":           {order: `{"signal":"SIGINT"}`, sent: "SIGINT"},
		"unknown signal":   {order: `{"signal":"SIGKILL"}`, killed: `signal "SIGKILL" to command: not one of`},
		"number of signal": {order: `{"signal":9}`, killed: "connection to sallyport ended"},
		"endless signal":   {order: `{"signal":"` + strings.Repeat("A", maxFrame/2) + `"}`, killed: `"AAAAAAAA`},
		"unknown order":    {order: `{"pause":true}`, killed: "connection to sallyport ended"},
		"size":             {order: `{"resize":{"rows":24,"columns":80}}`, sent: "24x80"},
		"absurd size":      {order: `{"resize":{"rows":24,"columns":65536}}`, killed: "terminal of 24 rows and 65536 columns"},
		"negative size":    {order: `{"resize":{"rows":-1,"columns":80}}`, killed: "terminal of -1 rows"},
		"endless size":     {order: `{"resize":{"rows":1e99,"columns":80}}`, killed: "connection to sallyport ended"},
		"no size":          {order: `{"resize":{}}`, killed: "terminal of 0 rows"},
		"another start":    {order: `{"start":{"id":"b","text":"true","work_dir":"/","env":"","timeout":1,"grace":0,"output":9}}`, killed: "connection to sallyport ended"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := &running{sent: make(chan string, 1), killed: make(chan string, 1)}
			st := r.serve(t)
			for _, frame := range []string{`{"start":{"id":"a","text":"true","work_dir":"/","env":"","timeout":1,"grace":0,"output":9}}`, tc.order} {
				if _, err := st.Write(framed(frame)); err != nil {
					t.Fatal(err)
				}
			}
			if tc.sent != "" {
				if got := <-r.sent; got != tc.sent {
					t.Errorf("sent %q, want %q", got, tc.sent)
				}
				_ = st.Close()
				return
			}
			for {
				var m report
				if err := readFrame(st, &m); err != nil {
					t.Fatal(err)
				}
				if m.Exit != nil {
					if got := string(m.Exit.Killed); !strings.Contains(got, tc.killed) || len(got) > 300 {
						t.Errorf("killed %q, want %q", got, tc.killed)
					}
					return
				}
			}
		})
	}
}

// serve returns a stream for a process of the environment.
func (r *running) serve(t *testing.T) net.Conn {
	t.Helper()
	near, far := net.Pipe()
	served := make(chan error, 1)
	go func() {
		served <- Serve(context.Background(), far, func(Settings) (engine.Environment, Place, error) { return r, Place{}, nil })
	}()
	conn := newConnection(near)
	if _, err := introduce(conn, Settings{}); err != nil {
		t.Fatal(err)
	}
	session, err := mux(conn, true)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = session.Close()
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
	st, err := session.Open()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := st.Write(framed(`{"for":"process","process":1}`)); err != nil {
		t.Fatal(err)
	}
	return st
}
