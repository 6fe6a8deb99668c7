package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"unicode/utf8"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/internal/show"
	"github.com/sallyport-dev/sallyport/plugins"
)

// maxLine bounds a line of a batch, in bytes. It is far above the limit of the gate for a command,
// so that a long command is refused by the policies and not by this.
const maxLine = 16 << 20

// batchResult is one line of output: a decision, and for a line that makes no sense its error.
type batchResult struct {
	show.Checked
	Error string `json:"error,omitempty"`
}

// batch decides about each line of stdin, in order, and loses none: an unreadable line is denied.
func (a *app) batch(ctx context.Context, f checkFlags) error {
	s, err := a.judge(ctx, f)
	if err != nil {
		return err
	}
	defer s.Close() //nolint:errcheck // nothing ran and nothing was recorded
	in, out := bufio.NewReaderSize(a.in, 64<<10), bufio.NewWriter(a.out)
	for {
		line, err := readLine(in)
		if err != nil && !errors.Is(err, errLong) {
			if errors.Is(err, io.EOF) {
				return out.Flush()
			}
			return errors.Join(fmt.Errorf("read commands: %w", err), out.Flush())
		}
		if err == nil && len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		if err := writeJSON(out, a.decide(ctx, s, line, err)); err != nil {
			return fmt.Errorf("write decision: %w", err)
		}
		if in.Buffered() == 0 { // whoever feeds line by line waits for each answer
			if err := out.Flush(); err != nil {
				return fmt.Errorf("write decision: %w", err)
			}
		}
	}
}

var errLong = fmt.Errorf("the line is longer than %d bytes", maxLine)

// readLine returns the next line without its end. One that is too long is skipped to its end.
func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	long := false
	for {
		part, err := r.ReadSlice('\n')
		if long = long || len(line)+len(part) > maxLine; !long {
			line = append(line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil && (!errors.Is(err, io.EOF) || len(line) == 0 && !long):
			return nil, err
		case long:
			return nil, errLong
		}
		return bytes.TrimSuffix(line, []byte("\n")), nil
	}
}

func (a *app) decide(ctx context.Context, s *plugins.Sallyport, line []byte, bad error) batchResult {
	var r engine.Request
	if bad == nil {
		r, bad = batchRequest(line, s.Subject)
	}
	if bad == nil {
		var out engine.Outcome
		if out, bad = s.Check(ctx, r); bad == nil {
			result := batchResult{Checked: show.CheckedOf(out)}
			if out.Fault != nil {
				result.Error = out.Fault.Error()
			}
			return result
		}
	}
	denied := engine.Decision{Effect: engine.Deny, Mode: engine.Enforce, Reasons: []engine.Reason{}, Policy: s.Policies.Policy()}
	return batchResult{show.Checked{Decision: denied}, bad.Error()}
}

// batchRequest reads one line. Unknown keys are refused: one that was meant to matter would be lost.
func batchRequest(line []byte, subject facts.Subject) (engine.Request, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(line, &fields); err != nil {
		return engine.Request{}, fmt.Errorf("read line: %w", err)
	}
	r := engine.Request{Tool: "execute_command"}
	if _, ok := fields["command"]; !ok {
		return r, errors.New(`read line: there is no "command"`)
	}
	into := map[string]*string{
		"command": &r.Command, "work_dir": &r.WorkDir, "tool": &r.Tool, "session": &subject.Session, "agent": &subject.Agent,
	}
	for name, raw := range fields {
		target, ok := into[name]
		if !ok {
			return r, fmt.Errorf("read line: unknown key %q", name)
		}
		text, err := rawString(raw)
		if err != nil {
			return r, fmt.Errorf("read line: %s: %w", name, err)
		}
		*target = text
	}
	r.Subject = subject
	return r, nil
}

// rawString decodes a JSON string byte for byte. encoding/json puts U+FFFD in place of broken
// UTF-8 and of lone surrogates; then another text would be judged than the one that was given.
// Here broken bytes stay, and a lone surrogate becomes the byte that it stands for when a program
// has smuggled one through (U+DC80 to U+DCFF, PEP 383), or else the three bytes that encode it.
func rawString(raw []byte) (string, error) {
	raw = bytes.TrimSpace(raw)
	if len(raw) < 2 || raw[0] != '"' {
		return "", errors.New("want a string")
	}
	raw = raw[1 : len(raw)-1] // encoding/json has seen to it that the string ends and its escapes are whole
	out := make([]byte, 0, len(raw))
	for i := 0; i < len(raw); i++ {
		if raw[i] != '\\' {
			out = append(out, raw[i])
			continue
		}
		i++
		if raw[i] != 'u' {
			out = append(out, simpleEscape(raw[i]))
			continue
		}
		r := hex4(raw[i+1:])
		i += 4
		if r >= 0xD800 && r < 0xDC00 && i+6 < len(raw) && raw[i+1] == '\\' && raw[i+2] == 'u' {
			if low := hex4(raw[i+3:]); low >= 0xDC00 && low < 0xE000 {
				r = 0x10000 + (r-0xD800)<<10 + (low - 0xDC00)
				i += 6
			}
		}
		switch {
		case r >= 0xDC80 && r <= 0xDCFF:
			out = append(out, byte(r-0xDC00))
		case r >= 0xD800 && r < 0xE000:
			out = append(out, 0xE0|byte(r>>12), 0x80|byte(r>>6)&0x3F, 0x80|byte(r)&0x3F)
		default:
			out = utf8.AppendRune(out, r)
		}
	}
	return string(out), nil
}

func simpleEscape(c byte) byte {
	switch c {
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	}
	return c
}

func hex4(b []byte) rune {
	n, _ := strconv.ParseUint(string(b[:4]), 16, 32) // encoding/json has checked the digits
	return rune(n)
}
