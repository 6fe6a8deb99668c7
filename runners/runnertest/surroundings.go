package runnertest

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
)

// surroundings checks the environment of a command.
func (s *suite) surroundings(t *testing.T) {
	p := s.place(t)
	t.Run("environment", func(t *testing.T) {
		c := p.command(t, "env")
		x := p.end(t, c)
		if strings.Contains(x.Stdout.Text, planted) || strings.Contains(x.Stdout.Text, "sk-do-not-leak") {
			t.Errorf("a variable of this process reached the command")
		}
		lines := strings.Split(x.Stdout.Text, "\n")
		if !slices.Contains(lines, "SALLYPORT_COMMAND="+c.ID) {
			t.Errorf("no marker in %q", lines)
		}
		for _, kv := range lines {
			name, _, _ := strings.Cut(kv, "=")
			given := func(e string) bool { return strings.HasPrefix(e, name+"=") }
			switch name {
			case "", "_", "SHLVL", "PWD", "OLDPWD", "SALLYPORT_COMMAND": // of the shell, and ours
			default:
				if !slices.ContainsFunc(c.Env, given) {
					t.Errorf("variable %s was not given", name)
				}
			}
		}
	})
	t.Run("a given variable arrives", func(t *testing.T) {
		c := p.command(t, `printf %s "$GIVEN"`)
		c.Env = append(c.Env, "GIVEN=a b\nc=d ü", "SALLYPORT_COMMAND=forged")
		if x := p.end(t, c); x.Stdout.Text != "a b\nc=d ü" {
			t.Errorf("got %q", x.Stdout.Text)
		}
	})
	t.Run("large environment", func(t *testing.T) {
		c := p.command(t, `printf %s "$V999"`)
		for i := range 1000 {
			c.Env = append(c.Env, fmt.Sprintf("V%d=%0100d", i, i))
		}
		if x := p.end(t, c); x.Stdout.Text != fmt.Sprintf("%0100d", 999) {
			t.Errorf("got %q", x.Stdout.Text)
		}
	})
	t.Run("standard input is empty", func(t *testing.T) {
		if x := p.run(t, "cat; read -r line; echo $?"); x.Stdout.Text != "1\n" {
			t.Errorf("got %q", x.Stdout.Text)
		}
	})
	t.Run("standard input is what was given", func(t *testing.T) { s.input(t, p) })
	t.Run("no terminal, own session", func(t *testing.T) {
		if x := p.run(t, "(exec 3</dev/tty) 2>/dev/null"); x.Code == 0 {
			t.Errorf("the command can open a terminal")
		}
		p.needsProc(t)
		if x := p.run(t,
			"read -r _ _ _ _ group session _ </proc/$$/stat; echo $((group == $$ && session "+
				"== $$))"); x.Stdout.Text != "1\n" {
			t.Errorf("the shell leads neither its session nor its group: %q", x.Stdout.Text)
		}
	})
	t.Run("no open files", func(t *testing.T) {
		p.needsProc(t)
		// 3 is the directory that ls itself reads.
		if x := p.run(t, "ls /proc/self/fd"); x.Stdout.Text != "0\n1\n2\n3\n" {
			t.Errorf("descriptors %q", x.Stdout.Text)
		}
	})
	t.Run("timers on time", func(t *testing.T) {
		p.needsProc(t)
		// The kernel's own, which this process has, too.
		if x := p.run(t, "cat /proc/self/timerslack_ns"); x.Stdout.Text != "50000\n" {
			t.Errorf("timers may be %q ns late", x.Stdout.Text)
		}
	})
	t.Run("working directory", func(t *testing.T) { s.workDir(t, p) })
}

// descriptors checks commands that close or reopen theirs.
func (s *suite) descriptors(t *testing.T) {
	p := s.place(t)
	for text, want := range map[string]struct {
		code        int
		stdout, err string
	}{
		"exec >&- 2>&-; sleep 0.1; exit 3": {3, "", ""},
		"exec <&-; exit 4":                 {4, "", ""},
		"for i in 0 1 2 3 4 5 6 7 8 9; do eval \"exec $i>&-\"; done; exit 5":         {5, "", ""},
		"echo a; exec >/dev/null; echo b; exec >&2; echo c":                          {0, "a\n", "c\n"},
		"exec 3>&1 >&-; echo x >&3":                                                  {0, "x\n", ""},
		"exec 3>&1 1>&2 2>&3; echo out; echo err >&2":                                {0, "err\n", "out\n"},
		"(exec >&- 2>&-; sleep 5) & echo done":                                       {0, "done\n", ""},
		"exec 2>&1; echo a; echo b >&2":                                              {0, "a\nb\n", ""},
		"test -c /dev/full || exit 6; exec >/dev/full; echo x 2>/dev/null || exit 6": {6, "", ""},
	} {
		if x := p.run(t, text); x.Code != want.code || x.Stdout.Text != want.stdout || x.Stderr.Text != want.err {
			t.Errorf("%s: code %d, stdout %q, stderr %q; want %+v", text, x.Code, x.Stdout.Text, x.Stderr.Text, want)
		}
	}
}

// input checks that a command reads its input, up to its end, and that a reader with more data, or one that
// waits, holds nothing up.
func (s *suite) input(t *testing.T, p *place) {
	c := p.command(t, "cat; echo end")
	c.Stdin = strings.NewReader("one\x00two\xff\n")
	if x := p.end(t, c); x.Code != 0 || x.Stdout.Bytes != int64(len("one\x00two\xff\nend\n")) ||
		x.Stdout.SHA256 != digest("one\x00two\xff\nend\n") {
		t.Errorf("%+v", x)
	}
	large := strings.Repeat("0123456789abcde\n", 1<<17) // 2 MiB
	c = p.command(t, "cat")
	c.Stdin = strings.NewReader(large)
	if x := p.end(t, c); x.Stdout.Bytes != int64(len(large)) || x.Stdout.SHA256 != digest(large) {
		t.Errorf("%d bytes came back of %d", x.Stdout.Bytes, len(large))
	}
	c = p.command(t, "read -r line; echo $line")
	c.Stdin = strings.NewReader(large)
	if x := p.end(t, c); x.Stdout.Text != "0123456789abcde\n" {
		t.Errorf("a command that reads one line: %+v", x)
	}
	waiting, giving := io.Pipe()
	defer func() { _ = giving.Close() }()
	c = p.command(t, "read -r line; echo $line")
	c.Stdin = waiting
	proc := p.start(t, c)
	if _, err := io.WriteString(giving, "first\n"); err != nil {
		t.Fatal(err)
	}
	if x := proc.Wait(); x.Stdout.Text != "first\n" || x.Error != nil || x.Survivors != 0 {
		t.Errorf("a reader that waits for ever: %+v", x)
	}
}

func (s *suite) workDir(t *testing.T, p *place) {
	base := strings.TrimSpace(p.run(t, "mktemp -d").Stdout.Text)
	if base == "" {
		t.Fatal("no temporary directory in the environment")
	}
	defer p.run(t, "rm -r -- '"+base+"'")
	for _, name := range []string{"plain", "with blank", "ümläut 目录", "-dash", "new\nline", "quo'te"} {
		dir := base + "/" + name
		mk := p.command(t, `mkdir -- "$DIR"`)
		mk.Env = append(mk.Env, "DIR="+dir)
		p.end(t, mk)
		c, err := p.env.Prepare(`printf '%s|' "$PWD"; pwd -P`, dir)
		if err != nil {
			t.Fatalf("prepare in %q: %v", dir, err)
		}
		basis := p.command(t, ":")
		c.ID, c.Timeout, c.Output = basis.ID, basis.Timeout, basis.Output
		x := p.end(t, c)
		if want := dir + "|"; !strings.HasPrefix(x.Stdout.Text, want) ||
			!strings.HasSuffix(x.Stdout.Text, "/"+name+"\n") {
			t.Errorf("in %q: got %q", dir, x.Stdout.Text)
		}
	}
}
