// Package notify performs the system calls by which processes make names, on their behalf: create, mkdir,
// mknod, rename, link, symlink. A Judge is asked before a name is there.
//
// The kernel stops a caller in such a call and tells a Service (seccomp_unotify(2)). The Service reads the
// path out of the caller's memory once, opens the directory as the caller would, asks the Judge about the
// real name of that directory and the last name, and makes the name itself, relative to the descriptor and
// following no link. The caller gets the result and, from an open, the descriptor. Nothing of the caller is
// read twice: a thread that exchanges a path, a directory or a descriptor meanwhile changes nothing. The
// kernel never performs a call after it was judged (SECCOMP_USER_NOTIF_FLAG_CONTINUE), which would read the
// path again.
//
// With Options.Recorder the Service performs the calls too by which files change: open for writing, truncate,
// unlink, rmdir, chmod. The Recorder keeps the earlier version of a file first.
//
// With Options.Starts the Service is asked about each program too, before it starts (execve, execveat). The
// kernel performs this call itself, and so it reads the path and the words again: after the start the Service
// compares the running program with the one that was judged, and asks again where they differ.
//
// When the Service ends, the calls fail with ENOSYS. Calls that only read, or that write to open files, are
// not notified and cost nothing; without a Recorder neither do opens of existing files. One receiver for
// each filter takes a call and answers it itself. Before a call that may wait, another goroutine becomes the
// receiver, so that a slow Judge does not hold up another call.
//
// The Service must see the files that its callers see, and must be as little as they are: it runs with their
// user, or with Options.Rights.
//
// It does not confine: content that is written to a name which was there before is not judged, nor are
// sockets that are bound to a path. Callers that cannot be read (prctl(PR_SET_DUMPABLE), programs without
// permission to read) make no names at all. Below /proc, a caller opens only files of its own for writing.
package notify

import (
	"errors"

	"github.com/sallyport-dev/sallyport/runners/identity"
	"github.com/sallyport-dev/sallyport/runners/undo"
)

// Kind is a kind of files.
type Kind string

const (
	File  Kind = "file" // regular, or one that is there already
	Dir   Kind = "dir"
	Link  Kind = "link"  // symbolic
	Other Kind = "other" // FIFO, socket, device
	// Moved is something that gets another name, or a further one: a file, unless Name.Tree says otherwise.
	Moved Kind = "moved"
)

// Name is a name that a process is about to make.
type Name struct {
	PID  int    // of the calling thread, as the Service sees it
	Path string // the real name of the directory, and the last name
	Kind Kind
	From string // the earlier path of something that is moved or linked
	Tree bool   // it is a directory that is moved

	dir int // its directory
}

// Program is a program that a process is about to execute.
type Program struct {
	PID  int    // of the process, as the Service sees it
	Path string // absolute: as the process names it, from its working directory
	File string // its real path
	Dir  string // the working directory of the process
	Argv []string
	Env  []string // NAME=value
	By   []string // the interpreters of a script and their options, as the kernel puts them before its path
	ELF  bool     // the file begins as machine code does
	// Begun says that the program runs already: it is not the one that was judged at its start. A refusal
	// kills it.
	Begun bool
}

// Judge reports whether a process may make a name; otherwise its call fails with EACCES. It is called from
// several goroutines. While it decides about a directory that is moved, no other name is made.
type Judge func(Name) bool

// Options of a Service.
type Options struct {
	Judge  Judge            // nil allows every name
	Rights *identity.Rights // of the callers on files; nil for those of this process. They stay the caller's.
	// Recorder keeps the files that callers change; nil for none.
	Recorder *undo.Recorder
	// Starts reports whether a program may start; it calls waits before it waits for an answer. Compared is
	// called each time that a program which started was compared (same), or could not be. Nil for both:
	// programs are not handed over.
	Starts   func(decision string, p Program, waits func()) bool
	Compared func(decision string, p Program, c Comparison)
	// Decision names the decision that a thread's changes belong to; "" if that is not known.
	Decision func(pid int) string
}

// Comparison is the result of the comparison of a program with the one that was judged, after its start.
type Comparison string

const (
	Same      Comparison = "same"
	Differs   Comparison = "differs"   // it was judged again
	Uncertain Comparison = "uncertain" // it had ended, or could not be read
)

// ErrUnsupported is wrapped by the error of New where the kernel lacks this kind of notification.
var ErrUnsupported = errors.New("the kernel does not hand over system calls")
