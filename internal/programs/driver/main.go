//go:build linux

// Command driver runs disguised programs one after another, in a throw-away root of a test, and stands in
// for the programs themselves.
//
// As driver it runs each text of a list by bash, in a directory of its own. As stand-in it notes that it was
// started, and does nothing else, if its words are those of the text that runs now; else it becomes the
// program that it replaces; the end of its file names that. It is for the tests of package programs
// only.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// Where driver and stand-ins meet.
const (
	notes  = "/state/notes"  // JSON lines
	target = "/state/target" // the words that count
	real   = "/real/"        // the programs in whose place the stand-ins are
)

// variant is a text to run.
type variant struct {
	Number int
	Words  []string          // the program that it starts, and its words
	Files  map[string]string // of its directory; those with #! can be executed
	Text   string
}

func main() {
	if len(os.Args) == 3 && os.Args[1] == "--run" {
		if err := drive(os.Args[2]); err != nil {
			fmt.Fprintln(os.Stderr, "driver:", err)
			os.Exit(1)
		}
		return
	}
	standIn()
}

// note appends a line to the notes.
func note(kind string, words []string) error {
	line, err := json.Marshal(map[string]any{"kind": kind, "words": words})
	if err != nil {
		return err
	}
	f, err := os.OpenFile(notes, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(append(line, '\n'))
	return err
}

func drive(list string) error {
	text, err := os.ReadFile(list)
	if err != nil {
		return err
	}
	var all []variant
	if err := json.Unmarshal(text, &all); err != nil {
		return err
	}
	for _, v := range all {
		if err := v.run(); err != nil {
			return fmt.Errorf("variant %d: %w", v.Number, err)
		}
	}
	return nil
}

func (v variant) run() error {
	dir, err := filepath.Abs(fmt.Sprint("v", v.Number))
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	for name, text := range v.Files {
		mode := os.FileMode(0o644)
		if strings.HasPrefix(text, "#!") || strings.HasPrefix(name, "x") {
			mode = 0o755
		}
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(file, []byte(text), mode); err != nil {
			return err
		}
	}
	words, err := json.Marshal(v.Words)
	if err != nil {
		return err
	}
	if err := os.WriteFile(target, words, 0o600); err != nil {
		return err
	}
	if err := note("begin", []string{fmt.Sprint(v.Number)}); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-c", v.Text)
	cmd.Dir = dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	var said strings.Builder
	cmd.Stdout, cmd.Stderr = &said, &said
	cmd.WaitDelay = time.Second
	_ = cmd.Run() // most texts fail
	return note("end", []string{fmt.Sprint(v.Number), said.String()})
}

func standIn() {
	var want []string
	if text, err := os.ReadFile(target); err == nil {
		_ = json.Unmarshal(text, &want)
	}
	name, err := ownName()
	if err != nil {
		fmt.Fprintln(os.Stderr, "stand-in:", err)
		os.Exit(98)
	}
	if len(want) > 0 && name == want[0] && slices.Equal(os.Args[1:], want[1:]) {
		if err := note("start", want); err != nil {
			os.Exit(98)
		}
		return
	}
	program := real + name
	err = syscall.Exec(program, append([]string{name}, os.Args[1:]...), os.Environ())
	fmt.Fprintln(os.Stderr, "stand-in:", program, err)
	os.Exit(97)
}

// ownName is the last line of this file: its name, whatever it is called by.
func ownName() (string, error) {
	f, err := os.Open("/proc/self/exe")
	if err != nil {
		return "", err
	}
	defer f.Close()
	tail := make([]byte, 64)
	if _, err := f.Seek(-int64(len(tail)), io.SeekEnd); err != nil {
		return "", err
	}
	if _, err := io.ReadFull(f, tail); err != nil {
		return "", err
	}
	lines := strings.Split(strings.TrimSuffix(string(tail), "\n"), "\n")
	return lines[len(lines)-1], nil
}
