// Package resident brings the command lines of short programs to a process of the same user that stays, and
// its answers back. That process has the policies loaded and the log open, so that a short program need not.
//
// It promises that an answer comes whole or not at all, from a process of the same user and build that sees
// the same files, and that nothing is sent to a process that does not speak at once. It judges nothing.
//
// An exchange, on one connection; each message is a length of four bytes (big endian) and JSON:
//
//	process  Greeting
//	program  Call      only if the greeting is the expected one
//	process  Answer    the answer if this exchange breaks off from here on
//	program  []byte    its standard input
//	process  Answer
//
// Until the first Answer has come, the program can do the work itself: no input is consumed.
//
// A live call runs a command. Its output goes to descriptors that come with the call (unix(7)), and signals
// of the program follow the input, which is empty. Its first Answer may decline it. The end of the connection
// is the end of the program.
//
//	program  []byte    an Answer has been accepted: the command may run
//	program  int       a signal, any number of times
//	process  Answer
package resident

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"path/filepath"
)

// Version is the version of the exchange.
const Version = 2

// Greeting tells a program whether the process can answer it.
type Greeting struct {
	Version int    `json:"version"`
	View    string `json:"view"` // of the process: see View
}

// Call is the part of a program on which its answer depends, besides its input.
type Call struct {
	Args    []string `json:"args"`
	Dir     string   `json:"dir"`     // working directory
	Environ []string `json:"environ"` // NAME=value
	Input   []byte   `json:"-"`       // standard input
	Process int      `json:"-"`       // its id, as the kernel tells it; 0 if that is not known
	Live    *Live    `json:"live"`    // nil for a call whose answer comes whole
}

// Live is the part of a call that runs a command.
type Live struct {
	Out, Err *os.File `json:"-"` // of the program
	// Accept has the program wait for the answer. Without it, and after an error, the program does its work
	// itself, and the call has no effect.
	Accept func() error `json:"-"`
	// Signals are those of the program, once it waits; Gone follows the last one.
	Signals chan os.Signal `json:"-"`
}

// Answer is the end of a program. The zero value is none.
type Answer struct {
	Status int    `json:"status"`
	Out    []byte `json:"out"`
	Err    []byte `json:"err"`
	// Declined says that the program must do its work itself.
	Declined bool `json:"declined,omitempty"`
}

// Dir is the directory of the sockets below a user's state directory; "" if there is none.
func Dir(state string) string {
	if state == "" {
		return ""
	}
	return filepath.Join(state, "resident")
}

// nameOf names the socket, or the lock, of a view.
func nameOf(view, suffix string) string {
	sum := fnv.New64a()
	_, _ = io.WriteString(sum, view) // a hash takes everything
	return fmt.Sprintf("%016x%s", sum.Sum64(), suffix)
}

// largest bounds a message, in bytes. Events of hooks carry whole files.
const largest = 64 << 20

func send(w io.Writer, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if len(text) > largest {
		return fmt.Errorf("a message of %d bytes is larger than %d", len(text), largest)
	}
	frame := make([]byte, 4, 4+len(text))
	binary.BigEndian.PutUint32(frame, uint32(len(text))) //nolint:gosec // at most largest
	_, err = w.Write(append(frame, text...))
	return err
}

func receive(r io.Reader, into any) error {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return err
	}
	n := binary.BigEndian.Uint32(head[:])
	if n > largest {
		return fmt.Errorf("a message of %d bytes is larger than %d", n, largest)
	}
	text := make([]byte, 0, min(n, 64<<10))
	text, err := appendAll(text, io.LimitReader(r, int64(n)))
	if err != nil {
		return err
	}
	if len(text) != int(n) {
		return io.ErrUnexpectedEOF
	}
	return json.Unmarshal(text, into)
}

// appendAll reads to the end. A claimed length reserves no memory before the bytes have come.
func appendAll(text []byte, r io.Reader) ([]byte, error) {
	rest, err := io.ReadAll(r)
	return append(text, rest...), err
}
