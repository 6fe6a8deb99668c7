package facts

import (
	"slices"
	"strconv"
	"strings"

	"github.com/sallyport-dev/sallyport/engine/shell"
)

// fills is how many bytes fill a disk or a memory.
const fills = 50 << 30

// endless are devices that give bytes without end.
var endless = []string{"/dev/zero", "/dev/urandom", "/dev/random", "/dev/full"}

// amount reads a size as the tools of coreutils and util-linux do: 10M, 500G, 2TiB; 0 when it is none.
func amount(text string) float64 {
	text = strings.TrimLeft(text, "+-<>/%")
	digits := len(text) - len(strings.TrimLeft(text, "0123456789."))
	n, err := strconv.ParseFloat(text[:digits], 64)
	if err != nil {
		return 0
	}
	unit := strings.ToUpper(strings.TrimSpace(text[digits:]))
	if unit == "" {
		return n
	}
	if unit == "W" {
		return 2 * n
	}
	for power := strings.IndexByte("BKMGTPEZY", unit[0]); power > 0; power-- {
		n *= 1024
	}
	return n
}

// filling are the commands that are looked at: others do not write their input.
var filling = strings.Fields("fallocate dd gdd dcfldd dc3dd head ghead yes tail gtail sort gsort tac gtac cat gcat cp gcp tee base64 xxd od hexdump tr pv rev")

// exhausts marks commands that fill a disk, the memory or a processor: endless output that nothing ends, or very much.
func (c *call) exhausts() {
	if !slices.Contains(filling, c.cmd.Name) {
		return
	}
	if slices.ContainsFunc(c.cmd.Via, func(via string) bool { return strings.HasPrefix(via, "timeout") }) {
		return
	}
	words := texts(c.cmd.Words[1:])
	reads := slices.ContainsFunc(words, func(w string) bool { return slices.Contains(endless, strings.TrimPrefix(w, "if=")) }) ||
		slices.ContainsFunc(c.cmd.Redirects, func(r shell.Redirect) bool {
			return r.Mode == shell.RedirectRead && slices.Contains(endless, r.Target.Text)
		})
	var much bool
	switch c.cmd.Name {
	case "fallocate":
		much = amount(c.value("l", "length")) >= fills
	case "dd", "gdd", "dcfldd", "dc3dd":
		much = reads && ddFills(words)
	case "head", "ghead":
		much = reads && amount(c.value("c", "bytes")) >= fills && c.kept()
	case "yes":
		much = c.kept()
	case "tail", "sort", "tac", "gtail", "gsort": // keep all in memory
		much = reads && !c.has("c", "bytes")
	default:
		much = reads && c.kept()
	}
	if much {
		c.flags.add(flagExhausts)
	}
}

// kept reports whether the output goes to a file, or to nothing that would end it.
func (c *call) kept() bool {
	return slices.ContainsFunc(c.cmd.Redirects, func(r shell.Redirect) bool {
		return (r.Mode == shell.RedirectWrite || r.Mode == shell.RedirectAppend) && r.FD == 1
	})
}

// ddFills: of=FILE without a count, or with a large one. A device has an end, and no file that is kept.
func ddFills(words []string) bool {
	value := func(key string) string {
		for _, w := range words {
			if v, ok := strings.CutPrefix(w, key+"="); ok {
				return v
			}
		}
		return ""
	}
	of, size := value("of"), 512.0
	if of == "" || strings.HasPrefix(of, "/dev/") {
		return false
	}
	for _, key := range []string{"bs", "obs"} {
		if v := value(key); v != "" {
			size = amount(v)
		}
	}
	if strings.Contains(value("iflag"), "count_bytes") {
		size = 1
	}
	count := value("count")
	return count == "" || amount(count)*size >= fills
}
