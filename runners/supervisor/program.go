package supervisor

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/sallyport-dev/sallyport/runners/slack"
)

// Program is a program of the operator's with a byte stream on its standard input and output: the line to a
// supervisor elsewhere. It is no command of an agent: it is not confined, judged or bounded in time. When
// this process dies its input ends, which ends a well-behaved program.
type Program struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    io.ReadCloser
	errors Tail

	close sync.Once
	ended chan struct{}
	end   error // why it ended; set before ended is closed
}

// leaveTime is the time that a program gets to end by itself after the end of its input.
const leaveTime = 3 * time.Second

// ProgramOptions describe the start of a Program.
type ProgramOptions struct {
	// Command is its path or name, and its arguments. A name without a slash is looked for in the directory
	// Beside, if it is not "", and then in PATH.
	Command []string
	Beside  string
	Env     []string
	Files   []*os.File // its descriptors from 3 on; they stay the caller's
	// Open is the program itself, already open: the system runs this very file where it can, even if the path
	// Command[0] leads to another one by then. Nil runs the file at Command[0].
	Open *os.File
	// Bound means that the program asks the kernel to die with its parent. The kernel takes a thread for
	// that, not the process: so one thread is kept for the life of the program.
	Bound bool
	// Ours says that the program narrows the slack of its timers by itself: see package slack.
	Ours bool
	// Attributes changes how the system starts the program, beyond its session; may be nil.
	Attributes func(*syscall.SysProcAttr)
}

// OpenProgram starts a program with an environment; see ProgramOptions.
func OpenProgram(command, env []string, beside string) (*Program, error) {
	return OpenProgramWith(ProgramOptions{Command: command, Env: env, Beside: beside})
}

// OpenProgramWith starts a program in a session of its own, so that it cannot ask at our terminal.
func OpenProgramWith(o ProgramOptions) (*Program, error) {
	command, files := o.Command, o.Files
	path, err := findProgram(command, o.Beside)
	if err != nil {
		return nil, err
	}
	if o.Open != nil {
		path, files = opened(path, files, o.Open)
	}
	p := &Program{cmd: exec.Command(path, command[1:]...), ended: make(chan struct{})}
	p.cmd.Args[0] = command[0]
	p.cmd.Env, p.cmd.ExtraFiles = o.Env, files
	p.cmd.SysProcAttr = ownGroup()
	if o.Attributes != nil {
		o.Attributes(p.cmd.SysProcAttr)
	}
	p.cmd.Stderr = &p.errors
	p.cmd.WaitDelay = leaveTime // somebody else may hold its standard error
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return nil, fmt.Errorf("run %s: %w", command[0], err)
	}
	out, theirs, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("run %s: %w", command[0], err)
	}
	p.out, p.cmd.Stdout = out, theirs
	started := make(chan error)
	go p.live(o, started)
	err = <-started
	_ = theirs.Close()
	if err != nil {
		_ = out.Close()
		return nil, fmt.Errorf("run %s: %w", command[0], err)
	}
	return p, nil
}

// live starts the program and waits for its end, on one thread where it is bound to that.
func (p *Program) live(o ProgramOptions, started chan<- error) {
	runtime.LockOSThread()
	widened := o.Ours && slack.Widen()
	err := p.cmd.Start()
	if widened {
		slack.Narrow()
	}
	if o.Bound {
		defer runtime.UnlockOSThread()
	} else {
		runtime.UnlockOSThread()
	}
	started <- err
	if err != nil {
		return
	}
	p.end = p.cmd.Wait()
	close(p.ended)
}

// Done is closed when the program has ended.
func (p *Program) Done() <-chan struct{} { return p.ended }

// PID returns the process id of the program.
func (p *Program) PID() int { return p.cmd.Process.Pid }

func findProgram(command []string, beside string) (string, error) {
	if len(command) == 0 || command[0] == "" {
		return "", errors.New("run program: no command line")
	}
	name := command[0]
	if beside != "" && !strings.ContainsAny(name, `/\`) {
		if path, err := exec.LookPath(beside + string(os.PathSeparator) + name); err == nil {
			return path, nil
		}
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return "", fmt.Errorf("run program: %w: install it or write its whole path", err)
	}
	return path, nil
}

// Read reads the output of the program.
func (p *Program) Read(b []byte) (int, error) { return p.out.Read(b) }

// Write writes to the input of the program.
func (p *Program) Write(b []byte) (int, error) { return p.in.Write(b) }

// CloseInput ends the program's input; its output can still be read.
func (p *Program) CloseInput() error { return p.in.Close() }

// Close ends the program's input, gives it a moment to end, and kills it and its process group then.
func (p *Program) Close() error {
	p.close.Do(func() {
		_ = p.in.Close()
		select {
		case <-p.ended:
		case <-time.After(leaveTime):
			killGroup(p.cmd.Process)
			<-p.ended
		}
		_ = p.out.Close()
	})
	return nil
}

// Wait returns when the program has ended: nil after success, else its status and the end of its standard
// error. Its output must be read meanwhile, or it may never end.
func (p *Program) Wait() error {
	<-p.ended
	if p.end == nil {
		return nil
	}
	if said := p.errors.Text(); said != "" {
		return fmt.Errorf("run %s: %w: %s", p.cmd.Args[0], p.end, said)
	}
	return fmt.Errorf("run %s: %w", p.cmd.Args[0], p.end)
}

// Explain adds the program's end and the end of its standard error to an error of the stream. It waits a
// moment for that.
func (p *Program) Explain(err error) error {
	how := ""
	select {
	case <-p.ended:
		how = "ended by itself"
		if p.end != nil {
			how = p.end.Error()
		}
	case <-time.After(leaveTime / 10):
	}
	if said := p.errors.Text(); said != "" {
		how = strings.TrimPrefix(how+", and says: "+said, ", and ")
	}
	if how == "" {
		return err
	}
	return fmt.Errorf("%w (%s: %s)", err, p.cmd.Args[0], how)
}
