package command_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sallyport-dev/sallyport/engine/shell/command"
	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

// arguments reads a command line whose words "|" separates. A word that begins with "$" is not known, and of
// one with a "$" in it the beginning is.
func arguments(line string) []value.Arg {
	var out []value.Arg
	for _, word := range strings.Split(line, "|") {
		known, unknown, partly := strings.Cut(word, "$")
		switch {
		case !partly:
			out = append(out, value.Literal(word))
		case known == "":
			out = append(out, value.OpaqueArg("$"+unknown, nil))
		default:
			out = append(out, value.NewArg(slices.Concat(value.Known(known), value.Opaque("$"+unknown, nil)), word))
		}
	}
	return out
}

var kinds = map[command.Kind]string{
	command.Words: "words", command.Text: "text", command.Input: "input", command.File: "file",
	command.Module: "module", command.Session: "session", command.Name: "name", command.Nothing: "nothing",
}

// render writes a Run as the tables have it: its kind, what runs, and in brackets its place.
func render(r command.Run) string {
	out := kinds[r.Kind]
	if r.Lang != "" {
		out += " " + r.Lang
	}
	if len(r.Text) > 0 {
		out += ": " + r.Text.Text()
	}
	if len(r.Args) > 0 {
		out += ": " + strings.Join(value.Texts(r.Args), "|")
	}
	for _, flag := range []struct {
		set  bool
		name string
	}{
		{r.Given, "given"}, {r.Unsure, "unsure"}, {r.Elevated, "elevated"}, {r.Behind, "behind"}, {r.Socket, "socket"},
		{r.Away, "away"}, {r.Foreign, "foreign"}, {r.Moved, "moved"}, {r.Dir != nil, "dir"}, {r.Empty, "empty"},
		{r.Unset != nil, "unset"}, {len(r.Assigns) > 0, "assigns"},
	} {
		if flag.set {
			out += " [" + flag.name + "]"
		}
	}
	return out
}

func TestRuns(t *testing.T) {
	for _, c := range []struct {
		line string
		want []string
	}{
		{"sudo|-u|root|rm|x", []string{"words: rm|x [elevated]"}},
		{"sudo|A=1|rm|x", []string{"words: rm|x [elevated] [assigns]"}},
		{"sudo|-i", []string{"input sh [elevated]"}},
		{"sudo|-s|rm|x", []string{"text sh: rm x [elevated]"}},
		{"su|-c|rm x|root", []string{"text sh: rm x [elevated]"}},
		{"env|-i|A=1|rm|x", []string{"words: rm|x [empty] [assigns]"}},
		{"env|-u|A|-C|/d|rm|x", []string{"words: rm|x [dir] [unset]"}},
		{"env|-S|rm x", []string{"text bash: rm x"}},
		{"env|-S|rm\\_x", []string{"text bash: rm\\_x [unsure]"}},
		{"timeout|-k|5|10|rm|$x", []string{"words: rm|$x"}},
		{"timeout|10", nil},
		{"nohup|rm|x", []string{"words: rm|x [behind]"}},
		{"command|-v|ls", []string{"name: /ls\n"}},
		{"command|rm|x", []string{"words: rm|x"}},
		{"flock|l|-c|rm x", []string{"text sh: rm x"}},
		{"script|-qc|rm x|f", []string{"text sh: rm x"}},
		{"find|a|-name|b|-exec|rm|{}|;", []string{"words: rm|a/{}"}},
		{"find|a|-execdir|rm|{}|;|-ok|ls|{}|;", []string{"words: rm|a/{} [moved]", "words: ls|a/{}"}},
		{"ssh|-p|22|host|rm|x", []string{"text sh: rm x [foreign]"}},
		{"ssh|-o|ProxyCommand=nc a|host", []string{"text sh: nc a", "input sh [given] [foreign]"}},
		{"docker|run|-v|/:/m|--rm|alpine|rm|x", []string{"words: rm|x [foreign]"}},
		{"docker|exec|-it|c|sh|-c|rm x", []string{"words: sh|-c|rm x [foreign]"}},
		{"docker|ps", nil},
		{"kubectl|exec|pod|--|rm|x", []string{"words: rm|x [foreign]"}},
		{"git|-c|alias.x=!rm y|x", []string{"text sh: rm y"}},
		{"git|rebase|-x|make|HEAD~2", []string{"text sh: make"}},
		{"git|submodule|foreach|rm|x", []string{"text sh: rm x [moved]"}},
		{"git|status", nil},
		{"nc|-e|/bin/sh|host|1", []string{"text sh: /bin/sh [socket]"}},
		{"socat|tcp:h:1|exec:sh", []string{"text sh: sh [socket]"}},
		{"npx|-y|rimraf@5|x", []string{"words: rimraf|x"}},
		{"npm|exec|--|rimraf|x", []string{"words: rimraf|x"}},
		{"npm|install", nil},
		{"uv|run|x.py", []string{"words: python|x.py"}},
		{"busybox|rm|x", []string{"words: rm|x"}},
		{"tmux|send-keys|rm x|Enter", []string{"text sh: rm x"}},
		{"screen|-S|a|-X|stuff|rm x^M", []string{"text sh: rm x\n"}},
		{"screen|-X|exec|.!.|rm|x", []string{"words: rm|x"}},
		{"screen|-X|screen|-t|a|rm|x", []string{"words: rm|x"}},
		{"screen|-X|quit", nil},
		{"screen|-dmS|a|rm|x", []string{"words: rm|x"}},
		{"coreutils|--coreutils-prog=rm|x", []string{"words: rm|x"}},
		{"coreutils|--help", nil},
		{"ip|netns|exec|n|rm|x", []string{"words: rm|x [elevated]"}},
	} {
		args := arguments(c.line)
		carrier, ok := command.CarrierOf(nil, args[0].Text)
		if !ok {
			t.Errorf("%s: no carrier", c.line)
			continue
		}
		var got []string
		for _, r := range carrier.Runs(args[0].Text, args[1:], func(int) bool { return true }) {
			got = append(got, render(r))
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", c.line, diff)
		}
	}
}

func TestRead(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{"bash|-c|rm x|a|b", "text bash: rm x: a|b"},
		{"bash|-euxo|pipefail|-c|rm x", "text bash: rm x"},
		{"bash|-c", "text bash"},
		{"bash|x.sh|a", "file bash: x.sh|a"},
		{"bash|-s|a", "input bash: bash|a"},
		{"bash|--posix|x.sh", "file sh: x.sh"},
		{"bash|--rcfile|f|-ic|:", "text bash: : +rc"},
		{"bash|--rcfile|f|-c|:", "text bash: :"},
		{"fish|-C|rm x|y", "file fish: y +before text fish: rm x"},
		{"sh", "input sh: sh"},
		{"bash|--version", "nothing"},
		{"scala|-version", "nothing"},
		{"tclsh|--version", "input tcl"},
		{"python3|-c|x", "text python: x"},
		{"python3|-ic|x", "text python: x +inspects"},
		{"python3|-i|x.py", "file python: x.py +inspects"},
		{"python3|-m|http.server|1", "module python: http.server|1"},
		{"python3|-mpdb|x.py", "file python: x.py +inspects"},
		{"python3|-m|timeit|-s|a|b", "text python: a\nb"},
		{"python3", "input python"},
		{"perl|-i.bak|-pe|s/a/b/|f", "text perl: s/a/b/"},
		{"perl|-MPOSIX|-e|x", "text perl: x +before module perl: POSIX"},
		{"ruby|-r./a|-e|x", "text ruby: x +before file ruby: ./a"},
		{"node|-r|fs|-e|x", "text node: x +before module node: fs"},
		{"awk|-v|a=b|{print}|f", "text awk: BEGIN{a=\"b\"}\n{print}"},
		{"awk|-f|p.awk|f", "file awk: p.awk"},
		{"php|-d|auto_prepend_file=a.php|b.php", "file php: b.php +before file php: a.php"},
		{"deno|eval|x", "text node: x"},
		{"deno|run|-A|x.ts", "file node: x.ts"},
		{"bun|install", "nothing node"},
		{"python3|-c|$x", "text python: $x"},
		{"python3|$x", "file python: $x"},
	} {
		args := arguments(c.line)
		p, ok := command.InterpreterOf(nil, args[0].Text)
		if !ok {
			t.Errorf("%s: no interpreter", c.line)
			continue
		}
		in := p.Read(args[0].Text, args[1:])
		got := render(in.Run)
		if in.Options.RC != nil {
			got += " +rc"
		}
		for _, r := range in.Before {
			got += " +before " + render(r)
		}
		if in.Inspects {
			got += " +inspects"
		}
		if got != c.want {
			t.Errorf("%s\ngot  %s\nwant %s", c.line, got, c.want)
		}
	}
}

func TestReadXargs(t *testing.T) {
	xargs, _ := command.CarrierOf(nil, "xargs")
	for _, c := range []struct {
		line string
		want command.XargsLine
	}{
		{"rm|-f", command.XargsLine{Known: true}},
		{"-0|-n|2|rm", command.XargsLine{Known: true, Split: "\x00", Each: 2}},
		{"-I|@|mv|@|x", command.XargsLine{Known: true, Replace: true}},
		{"--arg|f|rm", command.XargsLine{Known: true, Reads: true}},
		{"--max|1|rm", command.XargsLine{Each: 1}},
		{"-n|$x|rm", command.XargsLine{Known: true, Each: -1}},
		{"-o|vi", command.XargsLine{Known: true, Terminal: true}},
	} {
		got := xargs.ReadXargs(arguments(c.line))
		got.Command, got.Mark, got.File = nil, value.Arg{}, value.Arg{}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", c.line, diff)
		}
	}
}

// A script that a manager of packages stores begins where its text begins.
func TestStoredScript(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		line, script string // "" for none
		whole        bool
	}{
		{"npm pkg set scripts.x=tool", "tool", false},
		{"pnpm pkg set scripts[x]=tool", "tool", false},
		{"npm pkg set scripts={}", "{}", true},
		{"npm pkg set type=module", "", false},
		{"npm set scripts.x=tool", "", false},
		{"composer config scripts.x tool", "tool", false},
		{"composer config name tool", "", false},
	} {
		words := strings.Fields(c.line)
		last := len(words) - 2
		at, whole := command.StoredScript(words[0], words[1:], last)
		if script := words[1:][last]; (at >= 0) != (c.script != "") || at >= 0 && script[at:] != c.script || whole != c.whole {
			t.Errorf("%s: %d, %v", c.line, at, whole)
		}
	}
}
