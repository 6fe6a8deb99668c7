package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"github.com/sallyport-dev/sallyport/engine/config"
	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/internal/hooks"
	"github.com/sallyport-dev/sallyport/internal/show"
	"github.com/sallyport-dev/sallyport/internal/wrapped"
	"github.com/sallyport-dev/sallyport/plugins"
)

func (a *app) hookCommand() *cobra.Command {
	mode, attended := "", false
	cmd := &cobra.Command{
		Use:   "hook HOST",
		Short: "Judge one tool call of an agent that asks by its hook",
		Long: `Judge one tool call of an agent that keeps its own tools. The agent starts this command as a
hook for each call. The command reads the event from stdin, records the decision, and answers on stdout in the
agent's own form.

Hosts: ` + strings.Join(hooks.Names(), ", ") + `. docs/agents.md says how to set them up.

Exits with 0 and one JSON object on stdout, or with 2 and a text on stderr, which refuses the call: after an
unknown event, tool or field, an error of sallyport, or the time limit (hooks.timeout).`,
		Example: `  sallyport hook claude-code < event.json`,
		Args:    exactly(1, "one HOST: "+strings.Join(hooks.Names(), ", ")),
		RunE: func(cmd *cobra.Command, args []string) error {
			h, err := hooks.Named(args[0])
			if err != nil {
				return usageError{err}
			}
			if !slices.Contains(hookModes(), mode) && mode != "" {
				return usageError{fmt.Errorf("--mode: no mode %q: use %s", printable(mode),
					strings.Join(hookModes(), ", "))}
			}
			return a.hook(cmd.Context(), h, mode, attended)
		},
	}
	modeFlag(cmd, &mode)
	cmd.Flags().BoolVar(&attended, "attended", false,
		"the user of the agent can answer questions: for agents that wait for ever otherwise (gemini)")
	return cmd
}

func hookModes() []string { return []string{"judge", "run"} }

func modeFlag(cmd *cobra.Command, mode *string) {
	cmd.Flags().StringVar(mode, "mode", "",
		"`judge` only, or run allowed commands by sallyport exec (default: hooks.mode of the configuration)")
	// It fails for a flag that has one already.
	_ = cmd.RegisterFlagCompletionFunc("mode", fixed(hookModes()...))
}

func (a *app) hook(ctx context.Context, h *hooks.Host, mode string, attended bool) error {
	// stdout belongs to the answer alone: with another word on it, hosts take no notice of the answer.
	out := a.out
	if f, ok := out.(*os.File); ok && wrapped.Closed(f) {
		return status(h.Break(io.Discard, a.err, errors.New("stdout is closed")))
	}
	if a.out = a.err; a.gates == nil {
		os.Stdout = os.Stderr
		surviveClients() // the error of the answer refuses
	}
	host, err := a.host()
	if err == nil {
		host.Dir, err = h.Workspace(host.Getenv, host.Dir)
	}
	if err != nil {
		return status(h.Break(out, a.err, err))
	}
	var loaded atomic.Pointer[config.Loaded] // a hook that is over its time may still be loading it
	code := hooks.Run(ctx, hooks.Options{
		Host: h, In: a.in, Out: out, Err: a.err, Dir: host.Dir, Home: host.Home, Attended: attended,
		Open: func(ctx context.Context, e hooks.Event, limit func(time.Duration)) (hooks.Opened, error) {
			l, err := config.Load(a.config, host)
			if err != nil {
				return hooks.Opened{}, err
			}
			loaded.Store(l)
			limit(time.Duration(l.Hooks.Timeout))
			return a.openHook(ctx, host, l, h, e, mode)
		},
	})
	a.startResident(loaded.Load())
	return status(code)
}

// hosted is the configuration under which the calls of a host's own tools are judged: they run on this
// machine and not confined, and may use the host's own places below a home directory.
func hosted(l *config.Loaded, h *hooks.Host, home string) *config.Loaded {
	var places []config.Grant
	for _, p := range h.Places {
		if rest, ok := strings.CutPrefix(p.Path, "~/"); ok && home != "" {
			g := config.Grant{Access: p.Access, Zone: "context", Optional: true}
			g.Path = config.Path(filepath.Join(home, rest))
			places = append(places, g)
		}
	}
	return l.Hosted(places)
}

// openHook makes the gate for one event. The policies see where a call runs: by the host and not confined, or
// by sallyport exec.
func (a *app) openHook(
	ctx context.Context, host config.Host, l *config.Loaded, h *hooks.Host, e hooks.Event, mode string,
) (hooks.Opened, error) {
	runs := cmp.Or(mode, l.Hooks.Mode) == "run" && h.Rewrites(e)
	if !runs {
		l = hosted(l, h, host.Home)
	}
	s, release, err := a.assemble(ctx, l, plugins.Options{
		Session: cmp.Or(a.session, h.SessionOf(e, a.asker, string(l.Workspace))),
		Version: version().Sallyport, Look: runs,
	})
	if err != nil {
		return hooks.Opened{}, err
	}
	opened := hooks.Opened{
		Gate: s, Close: release, Subject: s.Subject, Dir: l.HooksDir(),
		Approve: l.Hooks.Approve, Now: time.Now(),
	}
	opened.Subject.Client = facts.Client{Name: h.Name}
	if runs {
		opened.Rewrite = func(r hooks.Rewriting) string { return a.execLine(host, r) }
	}
	return opened, nil
}

// execLine is the command line by which a host's own shell runs a command through the gate. The shell's
// working directory stays; exec starts in the workspace, and the command in its own directory.
func (a *app) execLine(host config.Host, r hooks.Rewriting) string {
	words := []string{host.Executable}
	if a.config != "" {
		words = append(words, "--config", a.config)
	}
	words = append(words, "exec", "--session", r.Session, "--work-dir", r.Dir)
	words = append(words, "--timeout", r.Timeout.String())
	if r.Ticket != "" {
		words = append(words, "--ticket", r.Ticket)
	}
	words = append(words, "-c", r.Text)
	for i, w := range words {
		words[i] = show.Quote(w)
	}
	return "(cd " + show.Quote(host.Dir) + " && exec " + strings.Join(words, " ") + ")"
}
