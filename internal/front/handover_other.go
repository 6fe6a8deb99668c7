//go:build !unix

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
)

// handOver runs sallyport-full and ends as it does, where no process can become another program.
func handOver(name string) error {
	signal.Ignore(os.Interrupt) // it goes to both, and sallyport-full handles it
	cmd := exec.Command(name, os.Args[1:]...)
	cmd.Env = environ()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	err := cmd.Run()
	var ended *exec.ExitError
	if err == nil || errors.As(err, &ended) {
		os.Exit(cmd.ProcessState.ExitCode())
	}
	return fmt.Errorf("start %s: %w", name, err)
}

func passed() []os.Signal { return nil }

func attended() bool { return true }
