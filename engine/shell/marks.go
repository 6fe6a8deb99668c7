package shell

import (
	"slices"

	"mvdan.cc/sh/v3/syntax"

	"github.com/sallyport-dev/sallyport/engine/shell/command"
)

// replicates reports whether a function starts itself more than once, or in the background
// or a pipe: then each call leaves more processes than it found. Other functions of the
// text that lead back to it count as it does. Plain recursion does not.
func (w *walker) replicates(fn *function) bool {
	starts, spawned := 0, 0
	var visit func(n syntax.Node, spawn bool)
	visit = func(n syntax.Node, spawn bool) {
		syntax.Walk(n, func(n syntax.Node) bool {
			if n == nil || !w.step(1) {
				return false
			}
			switch n := n.(type) {
			case *syntax.Stmt:
				if n.Background && !spawn {
					visit(n.Cmd, true)
					return false
				}
			case *syntax.BinaryCmd:
				if (n.Op == syntax.Pipe || n.Op == syntax.PipeAll) && !spawn {
					visit(n.X, true)
					visit(n.Y, true)
					return false
				}
			case *syntax.CmdSubst, *syntax.ProcSubst, *syntax.CoprocClause:
				if !spawn {
					spawn = true
				}
			case *syntax.FuncDecl:
				return false
			case *syntax.CallExpr:
				if len(n.Args) > 0 && w.leadsTo(n.Args[0].Lit(), fn.name, map[string]bool{}) {
					starts++
					if spawn {
						spawned++
					}
				}
			}
			return true
		})
	}
	visit(fn.decl.Body, false)
	return spawned > 0 && (starts > 1 || w.background(fn))
}

// background reports a body that puts itself into the background without a condition.
func (w *walker) background(fn *function) bool {
	block, ok := fn.decl.Body.Cmd.(*syntax.Block)
	return ok && slices.ContainsFunc(block.Stmts, func(s *syntax.Stmt) bool {
		call, plain := s.Cmd.(*syntax.CallExpr)
		return s.Background && plain && len(call.Args) > 0 && call.Args[0].Lit() == fn.name
	})
}

// leadsTo reports whether calling name ends up in target.
func (w *walker) leadsTo(name, target string, seen map[string]bool) bool {
	if name == target {
		return true
	}
	if name == "" || seen[name] {
		return false
	}
	seen[name] = true
	for _, fn := range w.defs {
		if fn.name != name {
			continue
		}
		found := false
		syntax.Walk(fn.decl.Body, func(n syntax.Node) bool {
			if call, ok := n.(*syntax.CallExpr); ok && len(call.Args) > 0 {
				found = found || w.leadsTo(call.Args[0].Lit(), target, seen)
			}
			return !found && w.step(1)
		})
		if found {
			return true
		}
	}
	return false
}

// talkers are programs that carry a connection between their input and output.
var talkers = map[string]bool{
	"nc": true, "ncat": true, "netcat": true, "nc.traditional": true, "nc.openbsd": true, "telnet": true, "socat": true, "cryptcat": true, "gs-netcat": true,
}

// socketShells marks shells whose input or output is a connection: a shell that takes its
// program from a pipe in which a talker stands too, and one with a socket in its redirects.
func (w *walker) socketShells() {
	talks := map[int]bool{}
	for i := range w.commands {
		c := &w.commands[i]
		openssl := c.Name == "openssl" && len(c.Words) > 1 && c.Words[1].Text == "s_client"
		if (talkers[c.Name] || openssl) && c.Pipeline.Length > 1 {
			talks[c.Pipeline.ID] = true
		}
	}
	for i := range w.commands {
		c := &w.commands[i]
		reads := c.Code.From == CodeSession || c.Code.From == CodeStdin
		if reads && (talks[c.Pipeline.ID] || slices.Contains(c.Marks, MarkSocket)) {
			w.mark(i, MarkSocketShell)
		}
	}
}

// ordinary reports names of programs that a text has no good reason to redefine.
func ordinary(name string) bool {
	if builtin(name) != nil || quiet[name] || command.Wraps(name) {
		return true
	}
	switch name {
	case "echo", "printf", "pwd", "ls", "cat", "grep", "sed", "dd", "tee", "tar", "curl", "wget", "make", "go", "cargo", "npm", "pip", "ps", "df", "du", "head", "tail",
		"sort", "cut", "tr", "wc", "which", "date", "hostname", "id", "whoami", "ssh-keygen", "scp", "rsync", "mount", "umount", "systemctl",
		"apt", "apt-get", "yum", "dnf", "brew", "crontab", "passwd", "pytest", "diff", "less", "vim", "vi", "nano", "man":
		return true
	default:
		return false
	}
}
