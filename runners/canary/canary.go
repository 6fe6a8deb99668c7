// Package canary tries the actions that a sandbox must prevent. The same trial runs twice: in the sandbox,
// where every part of it must fail, and outside, where every part must succeed, so that a failure inside is
// evidence. It is the only thing in sallyport that hopes to be refused.
package canary

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/sallyport-dev/sallyport/engine/facts"
)

// Trial is a set of attempts. An empty part is skipped.
type Trial struct {
	Write   string `json:"write"`   // directory in which to make a file
	Read    string `json:"read"`    // file to read
	Connect string `json:"connect"` // socket of AF_UNIX to connect to
	Dial    string `json:"dial"`    // address of the network to connect to
	PID     int    `json:"pid"`     // process to see
	Began   string `json:"began"`   // when that process started, as /proc has it: ids are given out anew elsewhere
}

// Report tells which parts succeeded.
type Report struct {
	Done []string `json:"done"`
}

// The parts of a trial, as a report names them.
const (
	Write   = "write to a read-only place"
	Read    = "read a hidden file"
	Connect = "connect to a socket of the host"
	Dial    = "connect to a port of the host"
	See     = "see a process of the host"
)

// Confinement is the report of a trial from inside as facts for policies.
func (r Report) Confinement(t Trial) facts.Confinement {
	tried := func(part, with string) string {
		switch {
		case with == "":
			return facts.Untried
		case slices.Contains(r.Done, part):
			return facts.Open
		}
		return facts.Holds
	}
	return facts.Confinement{
		Write: tried(Write, t.Write), Read: tried(Read, t.Read), Connect: tried(Dial, t.Dial),
	}
}

// patience bounds each attempt to connect.
const patience = 2 * time.Second

// Run tries everything.
func (t Trial) Run() Report {
	r := Report{Done: []string{}}
	try := func(what, with string, do func(string) error) {
		if with != "" && do(with) == nil {
			r.Done = append(r.Done, what)
		}
	}
	try(Write, t.Write, makeFile)
	try(Read, t.Read, readFile)
	try(Connect, t.Connect, func(p string) error { return connect("unix", p) })
	try(Dial, t.Dial, func(a string) error { return connect("tcp", a) })
	try(See, t.Began, func(began string) error {
		if got, err := Began(t.PID); err != nil || got != began {
			return os.ErrNotExist
		}
		return nil
	})
	return r
}

func makeFile(dir string) error {
	p := filepath.Join(dir, "made")
	f, err := os.Create(p)
	if err != nil {
		return err
	}
	_ = f.Close()
	return os.Remove(p)
}

func readFile(p string) error {
	_, err := os.ReadFile(p)
	return err
}

func connect(network, address string) error {
	c, err := net.DialTimeout(network, address, patience)
	if err != nil {
		return err
	}
	return c.Close()
}

// Began tells when a process started, in the clock of the kernel.
func Began(pid int) (string, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return "", err
	}
	// The name, in brackets, may hold anything; 19 fields behind it is the time.
	fields := strings.Fields(string(b)[strings.LastIndexByte(string(b), ')')+1:])
	if len(fields) < 20 {
		return "", fmt.Errorf("read /proc/%d/stat: %d fields", pid, len(fields))
	}
	return fields[19], nil
}

// Main runs the trial that an argument describes and writes the report.
func Main(argument string, out io.Writer) error {
	var t Trial
	if err := json.Unmarshal([]byte(argument), &t); err != nil {
		return fmt.Errorf("read trial: %w", err)
	}
	return json.NewEncoder(out).Encode(t.Run())
}
