package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/sallyport-dev/sallyport/internal/show"
)

// Exit codes. Those of exec leave the codes of the command itself alone, as timeout(1) and env(1) do.
const (
	exitBroken = 1 // part of sallyport, or the subject of the question, is broken
	exitUsage  = 2

	execTimedOut = 124
	execBroken   = 125 // sallyport itself failed; the command did not run
	execDenied   = 126
	execNotFound = 127 // from the shell
	execSignal   = 128 // plus the signal by which it was ended
)

// exitStatus ends the program with a status and without another word.
type exitStatus int

func (exitStatus) Error() string { return "exit" }

// status returns nil for 0, so that it can end a RunE.
func status(code int) error {
	if code == 0 {
		return nil
	}
	return exitStatus(code)
}

// usageError is a command line that is wrong.
type usageError struct{ error }

func (u usageError) Unwrap() error { return u.error }

// failure is the exit code for an error.
func failure(cmd *cobra.Command, err error) int {
	var usage usageError
	switch {
	case cmd != nil && cmd.Name() == "exec":
		return execBroken
	case errors.As(err, &usage):
		return exitUsage
	}
	return exitBroken
}

// noArgs refuses arguments of a command that takes none.
func noArgs(_ *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usageError{fmt.Errorf("unexpected argument %q: this command takes none", args[0])}
	}
	return nil
}

// atMostOne refuses a second argument.
func atMostOne(_ *cobra.Command, args []string) error {
	if len(args) > 1 {
		return usageError{fmt.Errorf("unexpected argument %q: want at most one", args[1])}
	}
	return nil
}

// exactly checks the number of arguments and names them in its error.
func exactly(n int, what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) != n {
			return usageError{errors.New("want " + what)}
		}
		return nil
	}
}

// textOf is show.TextOf for a command line, which is wrong where there is no such text.
func textOf(text string, given bool, words []string, dir string) (string, error) {
	text, err := show.TextOf(text, given, words, dir)
	if err != nil {
		return "", usageError{err}
	}
	return text, nil
}
