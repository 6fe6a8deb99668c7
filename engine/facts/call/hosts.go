package call

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/sallyport-dev/sallyport/engine/facts/disk"
)

// host notes the network host that a word names: a URL, user@host, host:port or a bare host.
func (c *Call) host(text string) {
	if h := HostOf(text); h != "" {
		c.Hosts = AppendHost(c.Hosts, h)
	}
}

// AppendHost adds a host that the list does not have.
func AppendHost(hosts []string, h string) []string {
	if h == "" || slices.Contains(hosts, h) {
		return hosts
	}
	return append(hosts, h)
}

// HostOf returns the host in a URL, user@host[:port][/path] or bare host, lower case, without
// port. Numeric spellings of an IPv4 address (2852039166, 0xa9fea9fe, 0251.254.169.254) come out
// as dotted decimals, as inet_aton(3) reads them. "" stands for no host.
func HostOf(text string) string {
	if i := strings.Index(text, "://"); i >= 0 {
		text = text[i+3:]
	}
	if i := strings.IndexAny(text, "/?#"); i >= 0 {
		text = text[:i]
	}
	if i := strings.LastIndexByte(text, '@'); i >= 0 {
		text = text[i+1:]
	}
	if strings.HasPrefix(text, "[") {
		if end := strings.IndexByte(text, ']'); end > 0 {
			return CanonicalHost(text[1:end])
		}
		return ""
	}
	if strings.Count(text, ":") == 1 {
		text, _, _ = strings.Cut(text, ":")
	}
	return CanonicalHost(text)
}

// CanonicalHost is HostOf for a bare host.
func CanonicalHost(h string) string {
	h = strings.TrimSuffix(strings.ToLower(h), ".")
	if h == "" || strings.ContainsAny(h, " \t\n\"'`$(){}<>|;&=,*\\") {
		return ""
	}
	bare, _, _ := strings.Cut(h, "%")
	if a, err := netip.ParseAddr(bare); err == nil {
		return a.Unmap().String()
	}
	if a, ok := inetAton(h); ok {
		return a
	}
	return h
}

// inetAton reads the one to four numbers, decimal, octal or hexadecimal, of the old spelling.
func inetAton(s string) (string, bool) {
	parts := strings.Split(s, ".")
	if len(parts) > 4 {
		return "", false
	}
	var addr uint64
	for i, p := range parts {
		n, err := strconv.ParseUint(p, 0, 32)
		if err != nil || strings.ContainsAny(p, "_ob") && !strings.HasPrefix(p, "0x") {
			return "", false
		}
		if i < len(parts)-1 {
			if n > 255 {
				return "", false
			}
			addr |= n << (24 - 8*i)
			continue
		}
		if n >= 1<<(32-8*i) {
			return "", false
		}
		addr |= n
	}
	return netip.AddrFrom4([4]byte{byte(addr >> 24), byte(addr >> 16), byte(addr >> 8), byte(addr)}).String(), true
}

// RemoteHost reports whether a word of scp, rsync and their like names a place elsewhere:
// HOST:PATH, user@HOST:PATH, HOST::MODULE or a URL. A colon behind a slash is part of a path,
// and C:/ and C:\ are drives.
func RemoteHost(text string) (host string, ok bool) {
	if scheme, _, ok := strings.Cut(text, "://"); ok {
		switch scheme {
		case "file":
			return "", false
		case "s3", "gs", "az", "r2", "oss", "cos", "obs", "b2":
			return "", true // a bucket, not a host
		}
		return HostOf(text), true
	}
	colon := strings.IndexByte(text, ':')
	if strings.HasPrefix(text, "[") {
		if end := strings.Index(text, "]:"); end > 0 {
			return CanonicalHost(text[1:end]), true
		}
	}
	if colon < 1 || strings.Contains(text[:colon], "/") || disk.IsAbs(strings.ReplaceAll(text, `\`, "/")) {
		return "", false
	}
	return HostOf(text[:colon]), true
}
