package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/user"
	"strings"
	"time"

	"github.com/sallyport-dev/sallyport/engine"
)

// terminal returns an approver when there is a terminal to ask at, and nil otherwise.
//
// It asks at the controlling terminal, never through stdin and stdout: those may belong to the
// agent, which must not be able to answer for the person.
func terminal() engine.Approver {
	tty, err := openTerminal()
	if err != nil {
		return nil
	}
	tty.Close()
	return prompt{}
}

type prompt struct{}

// Approve shows the reasons and takes "yes" for a grant; everything else, silence included, refuses.
func (prompt) Approve(ctx context.Context, r engine.ApprovalRequest) (engine.Approval, error) {
	tty, err := openTerminal()
	if err != nil {
		return engine.Approval{}, fmt.Errorf("open terminal: %w", err)
	}
	defer tty.Close()
	fmt.Fprintf(tty, "\nsallyport: %s asks to run in %s:\n\n", printable(r.Request.Subject.Agent), printable(r.WorkDir))
	for line := range strings.SplitSeq(r.Command, "\n") {
		fmt.Fprintf(tty, "    %s\n", printable(line))
	}
	switch {
	case r.Request.Terminal != nil:
		fmt.Fprintln(tty, "    (and reads your typing, which is not judged)")
	case r.Request.Stdin != nil:
		fmt.Fprintln(tty, "    (and reads piped input, which is not judged)")
	}
	fmt.Fprintln(tty)
	writeReasons(tty, "  ", r.Command, r.Decision)
	fmt.Fprintf(tty, "\nRun it? Type yes to allow it, anything else refuses (%s): ", time.Until(r.Expires).Round(time.Second))

	answer, err := ask(ctx, tty)
	if err != nil {
		fmt.Fprint(tty, "\nno answer\n")
		return engine.Approval{By: answerer()}, err
	}
	return engine.Approval{Granted: strings.EqualFold(strings.TrimSpace(answer), "yes"), By: answerer()}, nil
}

// ask reads one line, but no longer than ctx lasts. Closing the terminal ends the reading.
func ask(ctx context.Context, tty *os.File) (string, error) {
	type line struct {
		text string
		err  error
	}
	lines := make(chan line, 1)
	go func() {
		text, err := bufio.NewReader(tty).ReadString('\n')
		lines <- line{text, err}
	}()
	select {
	case l := <-lines:
		return l.text, l.err
	case <-ctx.Done():
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return "", errors.New("nobody answered in time")
		}
		return "", ctx.Err()
	}
}

// answerer names the person at the terminal: by the system, not by a variable that anybody may set.
func answerer() string {
	if u, err := user.Current(); err == nil {
		return "terminal:" + u.Username
	}
	return fmt.Sprintf("terminal:uid %d", os.Getuid())
}
