package runnertest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// surroundings checks what a command finds around it.
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
	t.Run("no terminal, own session", func(t *testing.T) {
		if x := p.run(t, "(exec 3</dev/tty) 2>/dev/null"); x.Code == 0 {
			t.Errorf("the command can open a terminal")
		}
		p.needsProc(t)
		if x := p.run(t, "read -r _ _ _ _ group session _ </proc/$$/stat; echo $((group == $$ && session == $$))"); x.Stdout.Text != "1\n" {
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
	t.Run("working directory", func(t *testing.T) { s.workDir(t, p) })
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
		if want := dir + "|"; !strings.HasPrefix(x.Stdout.Text, want) || !strings.HasSuffix(x.Stdout.Text, "/"+name+"\n") {
			t.Errorf("in %q: got %q", dir, x.Stdout.Text)
		}
	}
}
