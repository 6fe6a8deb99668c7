package supervisor

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
	"unicode"
)

// Program is a program of the operator's whose standard input and output are a stream of bytes: what
// leads to a supervisor elsewhere. It is no command of an agent and is not confined, judged or bounded
// in time. When this process dies its input ends, and with it the program, if it is any good.
type Program struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    io.ReadCloser
	errors tail

	close sync.Once
	ended chan struct{}
	end   error // why it ended; set before ended is closed
}

const (
	// leaveTime is what a program gets to end by itself when its input has ended.
	leaveTime = 3 * time.Second
	// tailBytes is how much of its standard error is kept.
	tailBytes = 2 << 10
)

// OpenProgram starts a program: its path or name, and its arguments. A name without a slash is looked
// for in the directory beside, if it is not "", and then in PATH. It gets env and a session of its own, so
// that it cannot ask at our terminal.
func OpenProgram(command, env []string, beside string) (*Program, error) {
	path, err := findProgram(command, beside)
	if err != nil {
		return nil, err
	}
	p := &Program{cmd: exec.Command(path, command[1:]...), ended: make(chan struct{})}
	p.cmd.Args[0] = command[0]
	p.cmd.Env = env
	p.cmd.SysProcAttr = ownGroup()
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
	err = p.cmd.Start()
	_ = theirs.Close()
	if err != nil {
		_ = out.Close()
		return nil, fmt.Errorf("run %s: %w", command[0], err)
	}
	go func() {
		p.end = p.cmd.Wait()
		close(p.ended)
	}()
	return p, nil
}

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

// Read reads what the program writes.
func (p *Program) Read(b []byte) (int, error) { return p.out.Read(b) }

// Write writes to what the program reads.
func (p *Program) Write(b []byte) (int, error) { return p.in.Write(b) }

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

// Explain adds to an error of the stream how the program ended and what it wrote to standard error last.
// It waits a moment for that.
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
	if said := p.errors.text(); said != "" {
		how = strings.TrimPrefix(how+", and says: "+said, ", and ")
	}
	if how == "" {
		return err
	}
	return fmt.Errorf("%w (%s: %s)", err, p.cmd.Args[0], how)
}

// tail keeps the end of what is written to it.
type tail struct {
	mu  sync.Mutex
	end []byte
}

// Write never fails.
func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.end = append(t.end, b[max(0, len(b)-tailBytes):]...)
	t.end = t.end[max(0, len(t.end)-tailBytes):]
	return len(b), nil
}

// text returns it in one line that is safe to print.
func (t *tail) text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	printable := strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(string(t.end), "\uFFFD"))
	return strings.Join(strings.Fields(printable), " ")
}
