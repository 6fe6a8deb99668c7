package wire

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// Settings are sallyport's settings for a supervisor, for all commands.
type Settings struct {
	Workspace string   // where a virtual environment is looked for, besides the working directory
	Venv      string   // "auto", "none" or the directory of a virtual environment there
	Env       []string // NAME=value, on top of the place's own
	// User is the user of commands, and of file calls; nil for the supervisor's own user. The supervisor
	// itself keeps its user, so that no command can end it.
	User *User
	// Home is the home of commands; "" for the one that the place gives.
	Home string
	// Roots bound Files to these files and directories; empty for no bound. They do not bound FS, the files
	// of facts.
	Roots []string
	// Reown are directories in which, after an elevated command, root's files become the user's and no file
	// keeps a bit that changes the user or the group.
	Reown []string
	// NoSetID keeps commands, but for elevated ones, from making set-user-id and set-group-id files.
	NoSetID bool
	// NoUnixSockets keeps them from sockets of the place, wherever their files lie. It does not hold for
	// elevated ones.
	NoUnixSockets bool
	// Watched are places in which a command is kept from names at which programs of the user would obey a
	// file, unless Command.MayMake allows one. Where the place cannot do that, it says so in its
	// shortcomings.
	Watched []string
	// Kept is a directory of the place in which the earlier versions of files in Watched are kept, and
	// KeptMost bounds them, in bytes; "" for none. Only the supervisor reaches it.
	Kept     string
	KeptMost int64
	// Programs has Command.MayStart asked before programs start. Where the place cannot do that,
	// Place.Programs is false.
	Programs bool
}

// User is an identity of Linux by numbers.
type User struct {
	UID, GID int
	Groups   []int // besides GID
}

// Place is a supervisor's description of its place.
type Place struct {
	Release      string // of the supervisor
	OS, Arch     string
	POSIX        bool // its shell is not bash
	Home         string
	Temporary    []string
	Executable   string   // the supervisor's own file
	Shortcomings []string // promises that it cannot keep there, for people
	Programs     bool     // it asks before programs start
}

// hello is sallyport's first frame.
type hello struct {
	Workspace exact   `json:"workspace"`
	Venv      exact   `json:"venv"`
	Env       []exact `json:"env"`
	User      *user   `json:"user,omitempty"`
	Home      exact   `json:"home,omitempty"`
	Roots     []exact `json:"roots,omitempty"`
	Reown     []exact `json:"reown,omitempty"`
	NoSetID   bool    `json:"no_set_id,omitempty"`
	NoSockets bool    `json:"no_unix_sockets,omitempty"`
	Watched   []exact `json:"watched,omitempty"`
	Kept      exact   `json:"kept,omitempty"`
	KeptMost  int64   `json:"kept_most,omitempty"`
	Programs  bool    `json:"programs,omitempty"`
}

// user is a User.
type user struct {
	UID    int   `json:"uid"`
	GID    int   `json:"gid"`
	Groups []int `json:"groups,omitempty"`
}

func helloOf(s Settings) hello {
	h := hello{
		Workspace: exact(s.Workspace), Venv: exact(s.Venv), Env: exacts(s.Env),
		Home: exact(s.Home), Roots: exacts(s.Roots), Reown: exacts(s.Reown), NoSetID: s.NoSetID,
		NoSockets: s.NoUnixSockets,
		Watched:   exacts(s.Watched), Kept: exact(s.Kept), KeptMost: s.KeptMost, Programs: s.Programs,
	}
	if s.User != nil {
		h.User = &user{s.User.UID, s.User.GID, s.User.Groups}
	}
	return h
}

func (h hello) settings() Settings {
	s := Settings{
		Workspace: string(h.Workspace), Venv: string(h.Venv), Env: plains(h.Env),
		Home: string(h.Home), Roots: plains(h.Roots), Reown: plains(h.Reown), NoSetID: h.NoSetID,
		NoUnixSockets: h.NoSockets,
		Watched:       plains(h.Watched), Kept: string(h.Kept), KeptMost: h.KeptMost, Programs: h.Programs,
	}
	if h.User != nil {
		s.User = &User{h.User.UID, h.User.GID, h.User.Groups}
	}
	return s
}

// welcome is a supervisor's answer.
type welcome struct {
	Error        string  `json:"error,omitempty"` // why there will be nothing; the rest is empty then
	Release      exact   `json:"release"`
	OS           exact   `json:"os"`
	Arch         exact   `json:"arch"`
	POSIX        bool    `json:"posix"`
	Home         exact   `json:"home"`
	Temporary    []exact `json:"temporary"`
	Executable   exact   `json:"executable"`
	Shortcomings []exact `json:"shortcomings,omitempty"`
	Programs     bool    `json:"programs,omitempty"`
}

func welcomeOf(p Place) welcome {
	return welcome{
		Release: exact(p.Release), OS: exact(p.OS), Arch: exact(p.Arch), POSIX: p.POSIX, Home: exact(p.Home),
		Temporary: exacts(p.Temporary), Executable: exact(p.Executable), Shortcomings: exacts(p.Shortcomings),
		Programs: p.Programs,
	}
}

// place reads a welcome, in bounds.
func (w welcome) place() (Place, error) {
	if len(w.Temporary) > 100 || len(w.Shortcomings) > 100 {
		return Place{}, violation("welcome with %d places and %d remarks", len(w.Temporary), len(w.Shortcomings))
	}
	p := Place{
		Release: words(string(w.Release)), OS: words(string(w.OS)), Arch: words(string(w.Arch)), POSIX: w.POSIX,
		Home: string(w.Home), Temporary: plains(w.Temporary), Executable: string(w.Executable),
		Programs: w.Programs,
	}
	for _, s := range w.Shortcomings {
		p.Shortcomings = append(p.Shortcomings, words(string(s)))
	}
	for _, dir := range append([]string{p.Home, p.Executable}, p.Temporary...) {
		if dir != "" && !absolute(dir) {
			return Place{}, violation("welcome with the place %.80q", dir)
		}
	}
	return p, nil
}

// absolute reports whether a path from elsewhere is one that facts can work with.
func absolute(p string) bool {
	drive := len(p) > 2 && p[1] == ':' && (p[2] == '/' || p[2] == '\\')
	return (strings.HasPrefix(p, "/") || drive) && !strings.Contains(p, "\x00") && len(p) <= maxWords
}

// introduceSelf sends our line.
func introduceSelf(w io.Writer) error {
	if _, err := fmt.Fprintf(w, "%s%d\n", greeting, Version); err != nil {
		return fmt.Errorf("greet: %w", err)
	}
	return nil
}

// expectPeer reads the line of the other side.
func expectPeer(r *bufio.Reader) error {
	line, err := firstLine(r)
	version, ok := strings.CutPrefix(line, greeting)
	switch {
	case !ok && line != "":
		return fmt.Errorf("greet: the other side is no supervisor: it says %.200q: %w", line, errProtocol)
	case err != nil:
		return fmt.Errorf("greet: %w", err)
	case version != strconv.Itoa(Version):
		return fmt.Errorf(
			"greet: the other side speaks version %.20q of the protocol, and this side %d: use sallyport and "+
				"sallyport-supervisor of one release", version, Version)
	}
	return nil
}

// firstLine reads a line without its end. The beginning of a longer or unfinished line is returned with the
// error.
func firstLine(r io.ByteReader) (string, error) {
	var line bytes.Buffer
	for line.Len() < 256 {
		c, err := r.ReadByte()
		switch {
		case err != nil:
			return line.String(), err
		case c == '\n':
			return line.String(), nil
		}
		line.WriteByte(c)
	}
	return line.String(), violation("a line without end")
}

// within ends an exchange when ctx does, by closing its stream. Where closing does not wake a reader
// (standard input may be such a stream) the exchange is left behind, and err tells that nothing came of it.
func within(ctx context.Context, stream io.Closer, exchange func() error) error {
	done := make(chan error, 1)
	go func() { done <- exchange() }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	_ = stream.Close()
	select {
	case err := <-done:
		if err != nil {
			return fmt.Errorf("%w: %w", context.Cause(ctx), err)
		}
		return context.Cause(ctx)
	case <-time.After(time.Second):
		return context.Cause(ctx)
	}
}
