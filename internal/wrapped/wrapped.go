// Package wrapped connects the hooks and MCP servers of an agent inside of "sallyport wrap" with the gate
// outside. A program inside sends its command line and its input; a process outside does the work.
//
// It promises that the gate outside is reached by nobody without the token, that a hook gets one whole answer
// or a refusal, and that nothing inside chooses the configuration, the session or the directory of the gate.
// All processes inside have the token: they are one agent. It judges nothing.
//
// An exchange, on one connection of loopback, since the sandbox refuses sockets of AF_UNIX:
//
//	inside   a line of JSON: Call
//	inside   its standard input
//	outside  for a hook one Answer as JSON; for a server its standard output
package wrapped

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"
)

// File names the gate to programs inside: an address and the token. Only the sandbox of wrap has this file,
// and it is read-only there. Outside nobody but root can make it, and no variable stands in for it.
const File = "/run/sallyport/wrap"

// Call is the beginning of an exchange.
type Call struct {
	Token string   `json:"token"`
	Args  []string `json:"args"`
}

// Answer is the end of a hook.
type Answer struct {
	Status int    `json:"status"`
	Out    []byte `json:"out"`
	Err    []byte `json:"err"`
	Whole  bool   `json:"whole"` // it is not cut off
}

const (
	refused = 2 // by which hosts refuse a call
	broken  = 1

	// Greeting is the time within which a call is there, behind a connection.
	Greeting = time.Second
	dialing  = 10 * time.Second
	// Limit is the time within which a hook is answered: the gate refuses after 20 s by itself.
	Limit = 22 * time.Second
)

// Words are a command line from its subcommand on, behind the flags of every subcommand.
func Words(args []string) []string {
	for len(args) > 0 {
		switch word := args[0]; {
		case word == "--config":
			args = args[min(2, len(args)):]
		case strings.HasPrefix(word, "--config="), word == "--verbose", strings.HasPrefix(word, "--verbose="),
			strings.HasPrefix(word, "-v"):
			args = args[1:]
		default:
			return args
		}
	}
	return nil
}

// Verb is the subcommand of a command line: "" for none.
func Verb(args []string) string {
	if words := Words(args); len(words) > 0 {
		return words[0]
	}
	return ""
}

// Link is the content of File: "" outside. It is an error if a program inside cannot read it.
func Link() (string, error) {
	if runtime.GOOS != "linux" {
		return "", nil
	}
	text, err := os.ReadFile(File)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err == nil && len(text) == 0 {
		err = errors.New("it is empty")
	}
	if err != nil {
		return "", fmt.Errorf("find the gate by %s: %w", File, err)
	}
	return string(text), nil
}

// Do does a command line inside, and returns its exit code. mine is true for those that this process does
// itself: all outside, and harmless ones inside.
func Do(args []string, in io.Reader, out, errs io.Writer) (code int, mine bool) {
	link, err := Link()
	switch {
	case err == nil && (link == "" || slices.Contains(harmless, Verb(args))):
		return 0, true
	case err == nil && slices.Contains([]string{"hook", "mcp"}, Verb(args)):
		return Run(link, args, in, out, errs), false
	case err == nil:
		err = errors.New("inside of sallyport wrap only hook and mcp reach the gate: run this outside")
	}
	fmt.Fprintf(errs, "sallyport: %s\n", err)
	return status(slices.Contains(args, "hook")), false
}

// harmless are the subcommands that work inside, too.
var harmless = []string{"", "help", "--help", "-h", "version", "--version", "completion", "__complete"}

// Closed reports whether a standard stream was closed at the start: the runtime opens the null device in its
// place, for reading, too. An answer there reaches nobody.
func Closed(f *os.File) bool {
	own, err := f.Stat()
	null, failed := os.Stat(os.DevNull)
	if err != nil || failed != nil || !os.SameFile(own, null) {
		return false
	}
	_, err = f.Read(make([]byte, 1))
	return errors.Is(err, io.EOF)
}

// status is the exit code of a failure.
func status(hook bool) int {
	if hook {
		return refused
	}
	return broken
}

// Run has the gate at a link answer a command line, and returns the exit code. A hook that fails refuses.
func Run(link string, args []string, in io.Reader, out, errs io.Writer) int {
	hook := Verb(args) == "hook"
	if hook {
		// A write that nobody reads is an error then, which refuses.
		signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
		if f, ok := out.(*os.File); ok && Closed(f) {
			fmt.Fprintln(errs, "sallyport: refused: stdout is closed")
			return refused
		}
	}
	code, err := ask(link, args, hook, in, out, errs)
	switch {
	case err != nil:
		fmt.Fprintf(errs, "sallyport: the gate outside of the sandbox did not answer: %s\n", err)
		return status(hook)
	case hook && code != 0:
		return refused
	}
	return code
}

func ask(link string, args []string, hook bool, in io.Reader, out, errs io.Writer) (int, error) {
	at, token, _ := strings.Cut(link, "/")
	c, err := net.DialTimeout("tcp", at, dialing)
	if err != nil {
		return 0, err
	}
	defer func() { _ = c.Close() }()
	if err := json.NewEncoder(c).Encode(Call{Token: token, Args: args}); err != nil {
		return 0, err
	}
	if !hook {
		go func() {
			_, _ = io.Copy(c, in) // an error ends the other direction
			_ = c.(*net.TCPConn).CloseWrite()
		}()
		_, err := io.Copy(out, c)
		return 0, err
	}
	if err := c.SetDeadline(time.Now().Add(Limit)); err != nil {
		return 0, err
	}
	if _, err := io.Copy(c, in); err != nil {
		return 0, err
	}
	if err := c.(*net.TCPConn).CloseWrite(); err != nil {
		return 0, err
	}
	var a Answer
	if err := json.NewDecoder(c).Decode(&a); err != nil {
		return 0, err
	}
	if !a.Whole {
		return 0, errors.New("its answer is cut off")
	}
	_, _ = errs.Write(a.Err) // there is no other place for the error
	if _, err := out.Write(a.Out); err != nil {
		return 0, fmt.Errorf("write its answer: %w", err)
	}
	return a.Status, nil
}
