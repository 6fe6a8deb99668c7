package hooks

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/internal/show"
)

// Refused is the exit code by which all hosts refuse a call, if there is a text on standard error.
const Refused = 2

// Denied and Unasked begin the reasons of all refusals by policy: Unasked in hosts that cannot ask.
const (
	Denied  = "sallyport denied this call"
	Unasked = "sallyport refused this call: a person must allow it"
)

// reply is the result of a hook's process: an object for standard output or a text for standard error.
type reply struct {
	json []byte
	text string
	exit int
}

// broken refuses a call for want of a decision.
func broken(err error) reply {
	text := fmt.Sprintf("sallyport refused this call, because it could not be judged: %s", err)
	return reply{text: text, exit: Refused}
}

// broken is the function broken in the host's own form, where it has one. An event after a call has none.
func (h *Host) broken(e Event, err error) reply {
	r := broken(err)
	if _, ok := h.Answers["fault"]; ok && !e.After {
		return h.answer("fault", e, r.text, nil)
	}
	return r
}

// answer makes an answer of the host's table.
func (h *Host) answer(kind string, e Event, reason string, input map[string]any) reply {
	form, ok := h.Answers[kind]
	if !ok {
		return broken(fmt.Errorf("%s has no answer %s", h.Title, kind))
	}
	r := reply{exit: form.Exit}
	if form.Exit != 0 {
		r.text = reason
		return r
	}
	values := map[string]any{"$event": e.Name, "$reason": reason, "$input": input}
	var text bytes.Buffer
	to := json.NewEncoder(&text)
	to.SetEscapeHTML(false)
	if err := to.Encode(filled(form.JSON, values)); err != nil {
		return broken(err)
	}
	r.json = text.Bytes()
	return r
}

// filled puts values in the places of an answer.
func filled(form any, values map[string]any) any {
	return Fill(form, func(text string) any {
		if v, ok := values[text]; ok {
			return v
		}
		return text
	})
}

// Fill replaces each text of a JSON value, at any depth but for the names of members, by its result.
func Fill(form any, replace func(text string) any) any {
	switch f := form.(type) {
	case string:
		return replace(f)
	case []any:
		out := make([]any, len(f))
		for i, v := range f {
			out[i] = Fill(v, replace)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(f))
		for name, v := range f {
			out[name] = Fill(v, replace)
		}
		return out
	}
	return form
}

// decided makes the answer to a call that was judged. allowed is false if the call is refused.
func (h *Host) decided(e Event, out engine.Outcome, approve bool) (r reply, allowed bool) {
	d := out.Decision
	switch {
	case out.Fault != nil:
		return h.broken(e, faultOf(out.Fault)), false
	case d.Effect == engine.Allow, d.Mode == engine.Monitor:
		if _, ok := h.Answers["approve"]; ok && approve && d.Effect == engine.Allow {
			return h.answer("approve", e, "sallyport allows it: decision "+d.ID, nil), true
		}
		return h.answer("allow", e, "", nil), true
	case d.Effect == engine.Ask && h.asks(e):
		return h.answer("ask", e, reasonsOf("sallyport asks", out), nil), true
	case d.Effect == engine.Ask:
		why := Unasked + ", and hooks of " + h.Title + " cannot ask"
		if h.Ask {
			why += " here"
		}
		return h.answer("deny", e, reasonsOf(why, out)+"\n"+wayForward(d), nil), false
	}
	return h.answer("deny", e, reasonsOf(Denied, out), nil), false
}

// asks reports whether a host asks its user about a call, and refuses it without an answer.
func (h *Host) asks(e Event) bool { return h.Ask && (h.Attended == "" || e.attended) }

// wayForward tells a person how to allow a call about which its host cannot ask.
func wayForward(d engine.Decision) string {
	var rules []string
	for _, r := range d.Reasons {
		if r.Effect == engine.Ask && !slices.Contains(rules, r.Rule) {
			rules = append(rules, r.Rule)
		}
	}
	return "Tell the user: they can run it at a terminal, where sallyport exec asks, or set the level of " +
		strings.Join(rules, ", ") + " to warn under rules in sallyport's configuration file."
}

// faultOf is a fault as an agent may read it. One of the log may not be on record, and is told in full.
func faultOf(f *engine.Fault) error {
	if f.Part == "audit" {
		return fmt.Errorf("the decision could not be recorded: %w", f.Err)
	}
	text := "fault " + f.ID + " in " + f.Part + ", which the audit log describes"
	if advice := f.Advice(); advice != "" {
		text += ". " + advice
	}
	return errors.New(text)
}

// reasonsOf explains a decision: the findings that made it first, since hosts show the first lines.
func reasonsOf(begin string, out engine.Outcome) string {
	d := out.Decision
	d.Reasons = slices.SortedStableFunc(slices.Values(d.Reasons), func(a, b engine.Reason) int {
		return order(a.Effect, d.Effect) - order(b.Effect, d.Effect)
	})
	var b strings.Builder
	fmt.Fprintf(&b, "%s (decision %s):\n", begin, d.ID)
	show.WriteReasons(&b, "", show.JudgedText(out), d)
	return strings.TrimSuffix(b.String(), "\n")
}

func order(e, first engine.Effect) int {
	if e == first {
		return 0
	}
	return 1
}
