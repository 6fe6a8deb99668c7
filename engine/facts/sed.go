package facts

import "strings"

// sedScript: a script of sed can run programs (the command e, the flag e of s///), write files (w, W, the flag w)
// and read them (r, R); see sed(1) of GNU. Other commands touch nothing.
func sedScript(c *call) {
	script := ""
	for _, o := range c.options {
		switch {
		case !o.given:
		case o.name == "e" || o.full == "--expression":
			script += "\n" + o.value.Text
		case o.name == "f" || o.full == "--file":
			script += "\n" + c.source.text(o.value)
		}
	}
	if script == "" && !c.noFirst {
		script = c.operand(0)
	}
	s := sedReader{text: script}
	for s.next() {
		if s.runs {
			c.flags.add(flagEscape)
			c.effects |= doesExecute
		}
		if s.file != "" {
			c.path(exact(s.file), s.access)
			c.effects |= effect(s.access)
		}
	}
	sedInPlace(c)
}

// sedReader goes through the commands of a script one by one.
type sedReader struct {
	text string
	runs bool   // the command runs a program
	file string // the file that the command names

	access access // what it does with that
}

// next reads one command and reports whether there was one.
func (s *sedReader) next() bool {
	s.runs, s.file = false, ""
	s.text = strings.TrimLeft(s.text, " \t\n;{}")
	s.address()
	if s.text == "" {
		return false
	}
	command := s.text[0]
	s.text = s.text[1:]
	switch command {
	case 'e':
		s.line()
		s.runs = true
	case 'w', 'W':
		s.file, s.access = s.line(), writes
	case 'r', 'R':
		s.file, s.access = s.line(), reads
	case 'a', 'i', 'c': // a backslash at its end continues the text on the next line
		for strings.HasSuffix(s.line(), "\\") && s.text != "" {
		}
	case ':', 'b', 't', 'T', '#':
		s.line()
	case 's', 'y':
		s.substitute(command == 's')
	}
	return true
}

// address skips what stands in front of a command: numbers, $, /patterns/ and what joins them.
func (s *sedReader) address() {
	for s.text != "" {
		switch b := s.text[0]; {
		case strings.IndexByte("0123456789$,~+! \tI", b) >= 0:
			s.text = s.text[1:]
		case b == '/':
			s.text = s.text[1:]
			s.upTo('/')
		case b == '\\' && len(s.text) > 1:
			delimiter := s.text[1]
			s.text = s.text[2:]
			s.upTo(delimiter)
		default:
			return
		}
	}
}

// substitute reads s/pattern/replacement/flags or y/from/to/.
func (s *sedReader) substitute(flags bool) {
	if s.text == "" {
		return
	}
	delimiter := s.text[0]
	s.text = s.text[1:]
	s.upTo(delimiter)
	s.upTo(delimiter)
	for flags && s.text != "" && s.text[0] != ';' && s.text[0] != '\n' && s.text[0] != '}' {
		flag := s.text[0]
		s.text = s.text[1:]
		switch flag {
		case 'e':
			s.runs = true
		case 'w':
			s.file, s.access = s.line(), writes
			return
		}
	}
}

// upTo skips what stands before an unescaped delimiter, and the delimiter.
func (s *sedReader) upTo(delimiter byte) {
	for i := 0; i < len(s.text); i++ {
		switch s.text[i] {
		case '\\':
			i++
		case delimiter:
			s.text = s.text[i+1:]
			return
		}
	}
	s.text = ""
}

// line takes the rest of the line.
func (s *sedReader) line() string {
	line, rest, _ := strings.Cut(s.text, "\n")
	s.text = rest
	return strings.TrimSpace(line)
}
