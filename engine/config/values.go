package config

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/sallyport-dev/sallyport/engine/lazyregexp"
)

// Path is a path of this machine. A relative one is relative to the directory of the file it
// stands in; a leading "~" is the home directory. Variables are not expanded.
type Path string

// Duration is a time span such as "90s" or "1h30m".
type Duration time.Duration

// UnmarshalText reads a span with its unit.
func (d *Duration) UnmarshalText(text []byte) error {
	v, err := time.ParseDuration(string(text))
	if err != nil {
		if _, numeric := strconv.ParseFloat(string(text), 64); numeric == nil {
			return fmt.Errorf("%q has no unit: write %ss for seconds", text, text)
		}
		return fmt.Errorf("%q is not a duration: write it as 90s, 5m or 1h30m", text)
	}
	*d = Duration(v)
	return nil
}

// MarshalText writes the span as short as it can be read back: "1h", not "1h0m0s".
func (d Duration) MarshalText() ([]byte, error) {
	s := time.Duration(d).String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return []byte(s), nil
}

// Size is a number of bytes: "1MiB", "512k", "2g". k, m, g and t are powers of 1024, with or
// without "iB"; kB, MB, GB and TB are powers of 1000.
type Size int64

// sizePattern splits a size into its number and its unit.
var sizePattern = lazyregexp.New(`^([0-9]+(?:\.[0-9]+)?) ?([A-Za-z]*)$`)

var sizeUnits = map[string]float64{
	"": 1, "b": 1,
	"k": 1 << 10, "kib": 1 << 10, "kb": 1e3,
	"m": 1 << 20, "mib": 1 << 20, "mb": 1e6,
	"g": 1 << 30, "gib": 1 << 30, "gb": 1e9,
	"t": 1 << 40, "tib": 1 << 40, "tb": 1e12,
}

// UnmarshalText reads a number of bytes with or without a unit.
func (s *Size) UnmarshalText(text []byte) error {
	m := sizePattern.FindStringSubmatch(string(text))
	if m == nil {
		return fmt.Errorf("%q is not a size: write it as 1MiB, 512k or 2g", text)
	}
	unit, ok := sizeUnits[strings.ToLower(m[2])]
	if !ok {
		return fmt.Errorf("%q has an unknown unit: write it as 1MiB, 512k or 2g", text)
	}
	n, err := strconv.ParseFloat(m[1], 64)
	if err != nil || n*unit >= math.MaxInt64 {
		return fmt.Errorf("%q is too large", text)
	}
	*s = Size(n * unit)
	return nil
}

// MarshalText writes the size in the largest binary unit that divides it.
func (s Size) MarshalText() ([]byte, error) {
	n, units := int64(s), []string{"", "KiB", "MiB", "GiB", "TiB"}
	i := 0
	for n != 0 && n%1024 == 0 && i < len(units)-1 {
		n, i = n/1024, i+1
	}
	return fmt.Appendf(nil, "%d%s", n, units[i]), nil
}

// Date is the moment after which something no longer holds.
type Date struct{ time.Time }

// UnmarshalText reads a day, which lasts until its end in UTC, or an RFC 3339 time.
func (d *Date) UnmarshalText(text []byte) error {
	if day, err := time.Parse(time.DateOnly, string(text)); err == nil {
		d.Time = day.AddDate(0, 0, 1)
		return nil
	}
	at, err := time.Parse(time.RFC3339, string(text))
	if err != nil {
		return fmt.Errorf("%q is not a date: write it as 2026-12-31 or 2026-12-31T18:00:00Z", text)
	}
	d.Time = at.UTC()
	return nil
}

// MarshalText writes the moment in RFC 3339.
func (d Date) MarshalText() ([]byte, error) {
	return []byte(d.Format(time.RFC3339)), nil
}
