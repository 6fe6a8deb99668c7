package wire

import (
	"encoding/hex"
	"errors"
	"math"
	"time"
	"unicode/utf8"

	"github.com/sallyport-dev/sallyport/engine"
)

// maxSurvivors is more than any machine has processes.
const maxSurvivors = 1 << 22

// checked converts an exit for the gate, or refuses it. Its statements may be untrue, but it has a form that
// records and people can deal with.
func (x *exit) checked(stdout, stderr engine.Stream) (engine.Exit, error) {
	switch {
	case x.Code < -1 || int64(x.Code) > math.MaxUint32:
		return engine.Exit{}, violation("exit status %d", x.Code)
	case !signalName(x.Signal):
		return engine.Exit{}, violation("signal %.40q", x.Signal)
	case x.Uncompared < 0 || x.Uncompared > math.MaxInt32:
		return engine.Exit{}, violation("%d programs that were not compared", x.Uncompared)
	case x.Survivors < 0 || x.Survivors > maxSurvivors || x.OOMKills < 0 || x.OOMKills > math.MaxInt32:
		return engine.Exit{}, violation("%d survivors, %d killed for want of memory", x.Survivors, x.OOMKills)
	case !plausible(x.Duration) || !plausible(x.User) || !plausible(x.System) || x.MaxRSS < 0:
		return engine.Exit{}, violation("times %d, %d, %d and %d bytes of memory", x.Duration, x.User, x.System,
			x.MaxRSS)
	}
	e := engine.Exit{
		Code: x.Code, Signal: x.Signal, TimedOut: x.TimedOut, Killed: words(string(x.Killed)),
		Survivors: x.Survivors,
		Duration:  x.Duration, UserTime: x.User, SystemTime: x.System, MaxRSS: x.MaxRSS, OOMKills: x.OOMKills,
		Uncompared: x.Uncompared,
		Stdout:     stdout, Stderr: stderr,
	}
	if x.Error != "" {
		e.Error = errors.New(words(x.Error))
	}
	return e, nil
}

// plausible bounds a time at ten years, which many processors can use up in less.
func plausible(d time.Duration) bool { return d >= 0 && d < 10*365*24*time.Hour }

// signalName reports whether s can be the name of a signal: "SIGKILL", "signal 34" or nothing.
func signalName(s string) bool {
	for _, c := range []byte(s) {
		known := c == ' ' || c == '+' || c == '-' || '0' <= c && c <= '9' || 'A' <= c && c <= 'Z' || 'a' <= c &&
			c <= 'z'
		if !known {
			return false
		}
	}
	return len(s) <= 32
}

// checked joins a stream with its text.
func (s stream) checked(text []byte) (engine.Stream, error) {
	sum, err := hex.DecodeString(s.SHA256)
	switch {
	case s.Bytes < 0 || s.Dropped < 0 || s.Dropped > s.Bytes:
		return engine.Stream{}, violation("%d bytes of output, of which %d were left out", s.Bytes, s.Dropped)
	case err != nil || len(sum) != 32:
		return engine.Stream{}, violation("hash %.80q", s.SHA256)
	case !utf8.Valid(text):
		return engine.Stream{}, violation("kept output is not UTF-8")
	}
	return engine.Stream{Text: string(text), Bytes: s.Bytes, Dropped: s.Dropped, SHA256: s.SHA256}, nil
}
