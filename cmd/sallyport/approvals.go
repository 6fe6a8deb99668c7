package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/config"
	"github.com/sallyport-dev/sallyport/internal/approvals"
	"github.com/sallyport-dev/sallyport/internal/show"
	"github.com/sallyport-dev/sallyport/plugins"
)

func (a *app) approvalsCommand() *cobra.Command {
	return group("approvals", "List and answer questions that wait for a person", `  sallyport approvals list
  sallyport approvals allow 01a2
  sallyport approvals allow 01a2 --for 1h
  sallyport approvals deny 01a2 --comment 'use the staging database'
`, a.approvalsList(), a.approvalsReply(true), a.approvalsReply(false))
}

func (a *app) approvalsList() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "list",
		Short: "Show the questions that wait",
		Long: `Show the questions of policies that wait for a person, the oldest first: those of every
sallyport of this user. Hosts and terminals ask them, too, and the first answer counts. Where nobody
can be asked, a request is refused at once, unless the configuration has approvals: {wait: true}.`,
		Args: noArgs,
	}
	f := formatFlag(cmd)
	wait := cmd.Flags().Bool("wait", false, "wait until there is a question")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		l, err := a.load()
		if err != nil {
			return err
		}
		all, err := questions(l).List(cmd.Context())
		for *wait && len(all) == 0 && err == nil {
			select {
			case <-cmd.Context().Done():
				return cmd.Context().Err()
			case <-time.After(200 * time.Millisecond):
				all, err = questions(l).List(cmd.Context())
			}
		}
		if err != nil {
			return fmt.Errorf("list questions: %w", err)
		}
		if *f == formatJSON {
			return writeIndented(a.out, all)
		}
		for i, q := range all {
			if i > 0 {
				fmt.Fprintln(a.out)
			}
			writeQuestion(a.out, q, time.Now())
		}
		return nil
	}
	return cmd
}

// writeWay tells which processes want to start a program.
func writeWay(w io.Writer, way []string) {
	if len(way) > 0 {
		fmt.Fprintf(w, "    (started by %s)\n", printable(strings.Join(way, " -> ")))
	}
}

func writeQuestion(w io.Writer, q approvals.Question, now time.Time) {
	left := q.Expires.Sub(now).Round(time.Second)
	fmt.Fprintf(w, "%s  %s in %s, %s left\n", q.ID, printable(q.Agent), printable(q.WorkDir), left)
	for line := range strings.SplitSeq(q.Command, "\n") {
		if q.Command != "" {
			fmt.Fprintf(w, "    %s\n", printable(line))
		}
	}
	writeWay(w, q.Way)
	for _, p := range q.Paths {
		fmt.Fprintf(w, "    %s: %s\n", printable(q.Tool), printable(p))
	}
	writeReasons(w, "  ", q.Command, engine.Decision{Effect: engine.Ask, Reasons: q.Reasons})
}

func (a *app) approvalsReply(granted bool) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "deny ID",
		Short: "Refuse a request that waits",
		Long:  "Refuse a request that waits. ID is that of the question, or the beginning of it.",
		Args:  cobra.ExactArgs(1),
	}
	answer, done := approvals.Answer{Granted: granted}, "denied"
	var lasts time.Duration
	if granted {
		cmd.Use, cmd.Short, done = "allow ID", "Allow a request that waits", "allowed"
		cmd.Long = `Allow a request that waits. ID is that of the question, or the beginning of it.

With --for, the answer counts for equal requests of the same session until then, too: the same text
in the same directory, with the same paths and reasons. It ends with the process that asked. Each use
is on record.`
		cmd.Flags().DurationVar(&lasts, "for", 0, "let the answer count for equal requests, at most 24h")
	}
	cmd.Flags().StringVar(&answer.Comment, "comment", "", "`text` for the record and for the agent")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if lasts < 0 || lasts > approvals.MaxStanding {
			return usageError{fmt.Errorf("--for %s: give a duration up to %s", lasts, approvals.MaxStanding)}
		}
		l, err := a.load()
		if err != nil {
			return err
		}
		if lasts > 0 {
			answer.Until = time.Now().Add(lasts)
		}
		q, err := questions(l).Reply(cmd.Context(), args[0], answer)
		if err != nil {
			return err
		}
		fmt.Fprintf(a.out, "%s %s\n", done, q.ID)
		return nil
	}
	return cmd
}

// terminal returns an approver when there is a terminal to ask at, and nil otherwise.
//
// It asks at the controlling terminal, never through stdin and stdout: those may belong to the
// agent, which must not be able to answer for the person. redact takes the secrets out of shown files.
func terminal(redact func(string) string) engine.Approver {
	tty, err := openTerminal()
	if err != nil {
		return nil
	}
	tty.Close()
	return prompt{redact}
}

type prompt struct{ redact func(string) string }

// Approve shows the reasons and takes "yes" for a grant; everything else, silence included, refuses.
func (p prompt) Approve(ctx context.Context, r engine.ApprovalRequest) (engine.Approval, error) {
	tty, err := openTerminal()
	if err != nil {
		return engine.Approval{}, fmt.Errorf("open terminal: %w", err)
	}
	defer tty.Close()
	verb, question := "run", "Run it?"
	if r.Changes != nil {
		verb, question = "apply the changes of a trial", "Apply them?"
	}
	fmt.Fprintf(tty, "\nsallyport: %s asks to %s in %s:\n\n", printable(r.Request.Subject.Agent), verb,
		printable(r.WorkDir))
	if r.Changes != nil {
		for _, line := range r.Changes.Lines(maxShown) {
			fmt.Fprintf(tty, "    %s\n", printable(line))
		}
		if p.redact != nil {
			for _, line := range show.Diff(*r.Changes, p.redact) {
				fmt.Fprintf(tty, "      %s\n", line)
			}
		}
	}
	for line := range strings.SplitSeq(r.Command, "\n") {
		fmt.Fprintf(tty, "    %s\n", printable(line))
	}
	writeWay(tty, r.Way)
	switch {
	case r.Request.Terminal != nil:
		fmt.Fprintln(tty, "    (and reads your typing, which is not judged)")
	case r.Request.Stdin != nil:
		fmt.Fprintln(tty, "    (and reads piped input, which is not judged)")
	}
	fmt.Fprintln(tty)
	writeReasons(tty, "  ", r.Command, r.Decision)
	dropTyped(tty) // it does not answer a question that nobody has seen
	fmt.Fprintf(tty, "\n%s Type yes to allow it, anything else refuses (%s): ", question,
		time.Until(r.Expires).Round(time.Second))

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

// answerer names the person at the terminal.
func answerer() string { return "terminal:" + plugins.UserName() }

// approver asks by first, and shows the question to sallyport approvals meanwhile.
func approver(l *config.Loaded, first engine.Approver) engine.Approver {
	return questions(l).Beside(first, l.Approvals.Wait)
}

func questions(l *config.Loaded) approvals.Queue {
	return approvals.Queue{Dir: l.ApprovalsDir(), User: plugins.UserName()}
}
