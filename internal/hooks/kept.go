package hooks

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"time"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/facts"
)

// keptVersion is the version of the files of kept calls.
const keptVersion = 1

// keptFor is how long a call is kept whose end the host does not report.
const keptFor = 24 * time.Hour

// kept is an allowed call whose end is not reported yet.
type kept struct {
	Version    int           `json:"version"`
	Decision   string        `json:"decision_id"`
	Effect     engine.Effect `json:"effect"`
	Background bool          `json:"background"`
	Input      *facts.Input  `json:"input"`
}

// keyOf names a call in its two events, which are two processes.
func (h *Host) keyOf(e Event) string {
	parts := []any{h.Name, e.Session, e.Call}
	if e.Call == "" { // the event after the call has the same input, and may have more
		tool := h.Tools[e.Tool]
		for _, field := range append([]string{
			tool.Command, tool.Path, tool.Paths, tool.Pattern, tool.Patch, tool.URL, tool.URLs, tool.Text,
		}, h.Event.Dir) {
			v, _ := at(e.Input, field)
			parts = append(parts, v)
		}
		input, _ := at(e.all, h.MCP.Input)
		name, _ := at(e.all, h.MCP.Tool)
		parts = append(parts, e.Tool, name, input)
	}
	text, err := json.Marshal(parts)
	if err != nil { // of values that came as JSON
		return ""
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// keep stores a call, and removes those that are kept for too long.
func keep(dir, key string, k kept, now time.Time) error {
	text, err := json.Marshal(k)
	if err == nil && dir == "" {
		err = errors.New("no directory: set HOME or XDG_STATE_HOME")
	}
	if err == nil {
		err = os.MkdirAll(dir, 0o700)
	}
	if err == nil {
		forget(dir, now.Add(-keptFor))
		err = os.WriteFile(filepath.Join(dir, key+".json"), text, 0o600)
	}
	if err != nil {
		return fmt.Errorf("keep the call until it ends: %w", err)
	}
	return nil
}

func forget(dir string, before time.Time) {
	all, _ := os.ReadDir(dir) // none can be removed then
	for _, f := range all {
		if info, err := f.Info(); err == nil && info.ModTime().Before(before) {
			_ = os.Remove(filepath.Join(dir, f.Name())) // another hook may have done it
		}
	}
}

// take returns a stored call and forgets it.
func take(dir, key string) (kept, error) {
	var k kept
	file := filepath.Join(dir, key+".json")
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return k, errors.New("none is kept")
	}
	if err == nil {
		err = json.Unmarshal(text, &k)
	}
	if err == nil && k.Version != keptVersion {
		err = fmt.Errorf("version %d", k.Version)
	}
	if err == nil {
		err = os.Remove(file)
	}
	if err != nil {
		return k, fmt.Errorf("read the call: %w", err)
	}
	return k, nil
}

// exitCode finds the exit code in the text that a host makes of a failure.
var exitCode = regexp.MustCompile(`(?i)\bexit(?:ed with)? (?:code|status):? (\d+)`)

// exitOf is how a call ended, as far as the host tells it.
func (h *Host) exitOf(e Event, now time.Time) engine.Exit {
	x := engine.Exit{Stdout: streamAt(e.all, h.Reported.Stdout), Stderr: streamAt(e.all, h.Reported.Stderr)}
	if !h.After[e.Name] {
		x.Code = 1
		text, _ := textAt(e.all, h.Reported.Error, false)
		if m := exitCode.FindStringSubmatch(text); m != nil {
			if code, err := strconv.Atoi(m[1]); err == nil {
				x.Code = code
			}
		}
	}
	if v, ok := at(e.all, h.Reported.Failed); ok && v != nil {
		x.Code = 1
	}
	for _, path := range h.Reported.Interrupted {
		if set, _ := flagAt(e.all, path); set {
			x.Killed = "interrupted in the host"
		}
	}
	if v, ok := at(e.all, h.Reported.Milliseconds); ok {
		if n, ok := v.(json.Number); ok {
			if ms, err := n.Int64(); err == nil && ms >= 0 && ms < int64(keptFor/time.Millisecond) {
				x.Duration = time.Duration(ms) * time.Millisecond
			}
		}
	}
	x.Started = now.Add(-x.Duration)
	return x
}

func streamAt(in map[string]any, path string) engine.Stream {
	text, err := textAt(in, path, false)
	if err != nil || path == "" {
		return engine.Stream{}
	}
	sum := sha256.Sum256([]byte(text))
	return engine.Stream{Bytes: int64(len(text)), SHA256: hex.EncodeToString(sum[:])}
}
