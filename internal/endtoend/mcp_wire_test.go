package endtoend

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
)

// wire is what is expected from a server and what has come.
type wire struct {
	mu      sync.Mutex
	last    int
	waiting map[string]chan message
	got     map[string]int // replies by id
	asked   chan message   // questions of the server; nil drops them
	stray   chan message   // replies that no request waits for, such as errors without an id

	reading sync.Mutex // a test that holds it keeps the client from reading on
}

// message is a JSON-RPC message from the server.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

// toolResult is a result of tools/call; Structured holds the fields that the tests look at.
type toolResult struct {
	IsError    bool                    `json:"isError"`
	Content    []struct{ Text string } `json:"content"`
	Structured shellResult             `json:"structuredContent"`
}

type shellResult struct {
	Success    bool   `json:"success"`
	ShellID    string `json:"shell_id"`
	Status     string `json:"status"`
	Signal     string `json:"signal"`
	ExitCode   *int   `json:"exit_code"`
	PID        int    `json:"pid"`
	Stdout     string `json:"stdout"`
	Stderr     string `json:"stderr"`
	Error      string `json:"error"`
	DecisionID string `json:"decision_id"`
	Effect     string `json:"effect"`
	Reasons    []struct {
		Rule string `json:"rule"`
	} `json:"reasons"`
	StdoutNext int64 `json:"stdout_next"`
}

func (w *wire) dispatch(m message) {
	if m.Method == "elicitation/create" && w.asked != nil {
		w.asked <- m
	}
	if m.Method != "" {
		return // a notification: nothing here depends on one
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	id := string(m.ID)
	w.got[id]++
	if c := w.waiting[id]; c != nil {
		delete(w.waiting, id)
		c <- m
		return
	}
	w.stray <- m
}

// expect returns where the reply to an id comes.
func (w *wire) expect(id string) <-chan message {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := make(chan message, 1)
	w.waiting[id] = c
	return c
}

// next returns an id that was not used before.
func (w *wire) next() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.last++
	return fmt.Sprint(w.last)
}

// forget drops the replies that nobody waited for.
func (w *wire) forget() {
	for {
		select {
		case <-w.stray:
		default:
			return
		}
	}
}

// replies counts the replies to an id.
func (w *wire) replies(id string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.got[id]
}

// relayVariable makes the test program a client that only passes on what it gets.
const relayVariable = "SALLYPORT_ENDTOEND_RELAY"

// relay runs a command with pipes of its own, as a client does, and connects them with this process's streams.
func relay(argv []string) error {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	go func() { _, _ = io.Copy(in, os.Stdin) }()
	_, _ = io.Copy(os.Stdout, out)
	return cmd.Wait()
}
