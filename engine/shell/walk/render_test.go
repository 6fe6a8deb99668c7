package walk

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/sallyport-dev/sallyport/engine/shell"
	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

// render writes a command on one line, so that tables of tests can be read:
//
//	^rm -rf /x <$y> >out [sudo, bash -c] {/dir} (sh stdin) partial &!mark
//
// ^ elevated, <text> not known, prefix<text> partly known, ~text a pattern, [via], {directory}
// where it is not /w, (language source) of code with ? when it could not be looked through
// and * when it was decoded, the certainty where it is not exact, & background, !mark.
func render(c shell.Command) string {
	var b strings.Builder
	if c.Elevated {
		b.WriteByte('^')
	}
	var parts []string
	if len(c.Words) > 0 && c.Name != c.Words[0].Text {
		parts = append(parts, c.Name+":")
	}
	for _, w := range c.Words {
		parts = append(parts, renderWord(w))
	}
	if len(c.Words) == 0 {
		for _, a := range c.Assigns {
			parts = append(parts, a.Name+"="+renderWord(a.Value))
		}
	}
	for _, r := range c.Redirects {
		mode := map[shell.RedirectMode]string{shell.RedirectRead: "<", shell.RedirectWrite: ">", shell.RedirectAppend: ">>", shell.RedirectReadWrite: "<>", shell.RedirectDup: "&", shell.RedirectHere: "<<"}[r.Mode]
		fd := ""
		if r.FD > 1 || r.Mode == shell.RedirectDup {
			fd = strconv.Itoa(r.FD)
		}
		if r.Mode == shell.RedirectHere {
			parts = append(parts, fd+mode+renderWord(r.Body))
		} else {
			parts = append(parts, fd+mode+renderWord(r.Target))
		}
	}
	if len(c.Via) > 0 {
		parts = append(parts, "["+strings.Join(c.Via, ", ")+"]")
	}
	switch {
	case !c.Dir.Known:
		parts = append(parts, "{?}")
	case c.Dir.Path != "/w":
		parts = append(parts, "{"+c.Dir.Path+"}")
	}
	if c.Code.From != shell.CodeNone {
		code := "(" + c.Code.Language + " " + string(c.Code.From)
		if !c.Code.Static {
			code += "?"
		}
		parts = append(parts, code+")")
	}
	if c.Certainty != value.Exact {
		parts = append(parts, c.Certainty.String())
	}
	if c.Background {
		parts = append(parts, "&")
	}
	for _, m := range c.Marks {
		parts = append(parts, "!"+string(m))
	}
	b.WriteString(strings.Join(parts, " "))
	return b.String()
}

func renderWord(w value.Word) string {
	text := w.Text
	switch {
	case w.Certainty == value.Exact && (text == "" || strings.ContainsAny(text, " \t\n\\\"")):
		text = fmt.Sprintf("%q", text)
	case w.Certainty != value.Exact:
		text = strings.ReplaceAll(w.Prefix+"<"+text[len(w.Prefix):]+">", "\n", `\n`)
	}
	if w.Glob {
		return "~" + text
	}
	return text
}

func renderAll(p *shell.Program) []string {
	list := make([]string, len(p.Commands))
	for i, c := range p.Commands {
		list[i] = render(c)
	}
	return list
}

// testOptions is the place where the tables' texts would run.
func testOptions() shell.Options {
	files := map[string]string{
		"/w/x.sh":     "#!/bin/bash\nrm -rf \"$1\"\n",
		"/w/twice.sh": "#!/bin/sh\n$0 & $0 &\n",
		"/w/x.py":     "import shutil\nshutil.rmtree('/etc')\n",
		"/w/plain":    "touch made\n",
		"/w/lib.sh":   "TARGET=/srv/data\nclean() { rm -r \"$TARGET\"; }\n",
		"/w/lib.mk":   "clean:\n\trm b\n",
		"/w/bin/elf":  "\x7fELF\x02\x01",
	}
	return shell.Options{
		Dir: "/w",
		Env: map[string]string{"HOME": "/home/u", "USER": "u", "PATH": "/usr/bin:/bin"},
		ReadFile: func(path string) (string, bool) {
			text, ok := files[path]
			return text, ok
		},
		IsDir: func(path string) bool {
			return files[path] == "" && !strings.Contains(path, "nosuch") && !strings.Contains(path, ".sh") && !strings.HasSuffix(path, "/ls")
		},
		IsFile: func(path string) bool { return files[path] != "" },
	}
}
