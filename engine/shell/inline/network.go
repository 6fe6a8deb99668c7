package inline

import (
	"slices"
	"strings"
)

func connects(k Kind, n int, keys ...string) handler {
	return func(c *call) {
		v, ok := c.arg(n, keys...)
		if !ok {
			return
		}
		for _, a := range v.texts() {
			c.add(k, a)
		}
	}
}

// sent are the keywords that give data to send.
var sent = set("data files json body content")

// sends is fetch, or an upload when one of the keywords, or with always the argument behind the address, gives data
// to send that are more than literals.
func sends(always bool, n int, keys ...string) handler {
	return func(c *call) {
		k, at := Network, 0
		for _, a := range c.args {
			if (sent[a.key] || a.splat || always && a.key == "" && at > n) && !c.literal(a) {
				k = Upload
			}
			if a.key == "" {
				at++
			}
		}
		connects(k, n, keys...)(c)
	}
}

// literal reports an argument that is written out, as curl -d TEXT is.
func (c *call) literal(a argument) bool {
	for i := a.from; i < a.to; i++ {
		switch t := &c.s.toks[min(i, len(c.s.toks)-1)]; {
		case t.kind == tokIdent && !t.word("True") && !t.word("False") && !t.word("None") && t.text != a.key,
			t.kind == tokString && len(t.pieces) > 0, t.kind == tokRegex:
			return false
		}
	}
	return a.from < a.to && !a.splat
}

// download reports a fetch into a file.
func download(from, to int, keys ...string) handler {
	return func(c *call) {
		connects(Network, from, "url")(c)
		if v, ok := c.arg(to, keys...); ok {
			c.add(Write, c.paths(v)...)
		}
	}
}

// hostPort reports a raw connection to the host and port with these numbers, or to the pair of them.
func hostPort(k Kind, host, port int) handler {
	return func(c *call) {
		h, ok := c.arg(host, "host")
		p, _ := c.arg(port, "port")
		if !ok {
			return
		}
		if h.kind == list { // (host, port)
			p = value{}
			if len(h.list) > 1 {
				p = h.list[1]
			}
			if len(h.list) > 0 {
				h = h.list[0]
			}
		}
		c.s.ev.socket = true
		c.add(k, address(h, p))
	}
}

// socketAddress is hostPort for a method of a socket, which may be one of the file system.
func socketAddress(k Kind) handler {
	return func(c *call) {
		if v, ok := c.arg(0); !ok || !c.socketFile(k, v) {
			hostPort(k, 0, -1)(c)
		}
	}
}

// connectPair is hostPort for a method of an unknown object: only a pair of host and port is one.
func connectPair(k Kind) handler {
	return func(c *call) {
		v, ok := c.arg(0)
		switch {
		case ok && v.kind == list && len(v.list) == 2:
			hostPort(k, 0, 1)(c)
		case ok:
			c.socketFile(k, v)
		}
	}
}

// socketFile reports a socket of the file system, which is named by one text with a slash.
func (c *call) socketFile(k Kind, v value) bool {
	file := func(a Arg) bool { return strings.Contains(a.Text, "/") && !strings.Contains(a.Text, "://") }
	if v.kind == list || !slices.ContainsFunc(v.texts(), file) {
		return false
	}
	if k == Listen {
		k = Write
	} else {
		k = Read
	}
	c.add(k, c.paths(v)...)
	return true
}

func address(host, port value) Arg {
	h := host.texts()[0]
	if p, ok := port.exact(); ok && h.Exact && p != "" && isDigit(p[0]) {
		h.Text += ":" + p
	}
	return h
}

// rawSocket reports the making of a socket.
func rawSocket(c *call) {
	c.s.ev.socket = true
	c.add(Socket)
}

// duplicates notes that a descriptor takes the place of another.
func duplicates(c *call) {
	if c.s.ev.dup == 0 {
		c.s.ev.dup = c.pos + 1
	}
}

// receives notes that the program reads data of a peer.
func receives(c *call) { c.s.ev.receives = true }

// evidence are the signs of a shell on a socket.
type evidence struct {
	socket   bool // a raw socket is opened
	receives bool // something is read from a connection
	dup      int  // offset+1 of a descriptor that replaces another
	pipes    int  // offset+1 of a pipe between a connection and a process
	run      int  // offset+1 of the first command that is run
	unknown  int  // … of the first command that is not known at all
	redirect int  // … of the first shell text with numbered descriptors: "sh <&3"
}

// command notes a command that is run.
func (e *evidence) command(c *call, v value) {
	set := func(at *int) {
		if *at == 0 {
			*at = c.pos + 1
		}
	}
	set(&e.run)
	if v.kind == list && len(v.list) > 0 {
		v = v.list[0]
	}
	if !v.known() {
		set(&e.unknown)
	}
	for _, a := range v.texts() {
		if descriptors(a.Text) {
			set(&e.redirect)
		}
	}
	for _, a := range c.args { // a socket, or the word for it, among the arguments
		for i := a.from; i < a.to && i < len(c.s.toks) && c.s.b.step(); i++ {
			if w := c.s.toks[i].text; c.s.toks[i].kind == tokIdent && (w == "TCPSocket" || w == "UNIXSocket" || w == "TCPServer" || w == "fileno" || w == "fsockopen") {
				set(&e.dup)
			}
		}
	}
}

// descriptors reports whether a shell text connects its streams to a descriptor from 3 on.
func descriptors(s string) bool {
	for i := 0; i+2 < len(s); i++ {
		if (s[i] == '<' || s[i] == '>') && s[i+1] == '&' && s[i+2] >= '3' && s[i+2] <= '9' {
			return true
		}
	}
	return false
}

// conclude adds the findings that only the whole program shows.
func (s *scan) conclude() {
	var at int
	switch e := &s.ev; {
	case !e.socket:
		return
	case e.redirect > 0:
		at = e.redirect
	case e.dup > 0 && e.run > 0:
		at = e.run
	case e.dup > 0:
		at = e.dup
	case e.pipes > 0 && e.run > 0:
		at = e.pipes
	case e.unknown > 0 && e.receives:
		at = e.unknown
	default:
		return
	}
	s.add(Call{Kind: SocketShell, Name: "socket", Offset: at - 1})
}
