package facts

import (
	"fmt"
	"strings"
)

func (s *spec) read(r row) error {
	s.listed, s.style, s.hook = true, r.style, r.hook
	var directives []string
	if err := words(r.does, &s.effects, &s.flags, &directives); err != nil {
		return err
	}
	if len(directives) > 0 {
		return fmt.Errorf("directive %s stands outside an option", directives[0])
	}
	for _, text := range strings.Split(r.args, ",") {
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		last := strings.HasPrefix(text, ">")
		ro, err := parseRole(strings.TrimPrefix(text, ">"))
		if err != nil {
			return err
		}
		if last {
			s.last = &ro
		} else {
			s.args = append(s.args, ro)
		}
	}
	for _, text := range strings.Split(r.opts, ";") {
		if strings.TrimSpace(text) == "" {
			continue
		}
		if err := s.readOption(text); err != nil {
			return fmt.Errorf("read option %q: %w", text, err)
		}
	}
	return nil
}

func (s *spec) readOption(text string) error {
	o := &option{}
	head, tail, _ := strings.Cut(text, ">")
	var directives []string
	if err := words(tail, &o.effects, &o.flags, &directives); err != nil {
		return err
	}
	for _, d := range directives {
		switch d {
		case "@first":
			o.noFirst = true
		case "@last":
			o.noLast = true
		case "@stop":
			o.stop = true
		default:
			return fmt.Errorf("no such directive %q", d)
		}
	}
	for _, word := range strings.Fields(head) {
		if value, ok := strings.CutPrefix(word, "="); ok {
			value, o.attached = strings.CutPrefix(value, "?")
			ro, err := parseRole(value)
			if err != nil {
				return err
			}
			o.value = &ro
			continue
		}
		if err := s.name(word, o); err != nil {
			return err
		}
	}
	return nil
}

func (s *spec) name(word string, o *option) error {
	bare := strings.TrimLeft(word, "-")
	if bare == word || bare == "" {
		return fmt.Errorf("%q is not an option", word)
	}
	if strings.HasPrefix(word, "--") || s.style == styleLong {
		if s.long == nil {
			s.long = make(map[string]*option)
		}
		s.long[bare] = o
		return nil
	}
	for _, c := range []byte(bare) {
		if c >= 128 || s.short[c] != nil {
			return fmt.Errorf("short option -%c stands there twice", c)
		}
		if s.short == nil {
			s.short = make(map[byte]*option)
		}
		s.short[c] = o
	}
	return nil
}

// words sorts effect and flag names; those with @ go to directives.
func words(text string, e *effect, f *bitset, directives *[]string) error {
next:
	for _, word := range strings.Fields(text) {
		if strings.HasPrefix(word, "@") {
			*directives = append(*directives, word)
			continue
		}
		for i, name := range effectNames {
			if name == word {
				*e |= 1 << i
				continue next
			}
		}
		for i, name := range flagNames {
			if name == word {
				f.add(uint8(i))
				continue next
			}
		}
		return fmt.Errorf("no such effect or flag %q", word)
	}
	return nil
}

func parseRole(text string) (role, error) {
	bare := strings.TrimRight(text, "!*?~|")
	a, ok := roleAccess[bare]
	if !ok {
		return role{}, fmt.Errorf("no such role %q", text)
	}
	marks := text[len(bare):]
	return role{
		word: bare, access: a,
		ofLink:    strings.Contains(marks, "!"),
		recursive: strings.Contains(marks, "*"),
		metadata:  strings.Contains(marks, "?"),
		remote:    strings.Contains(marks, "~"),
		stop:      strings.Contains(marks, "|") || bare == "cmd",
	}, nil
}
