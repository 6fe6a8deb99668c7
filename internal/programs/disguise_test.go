package programs

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
)

// disguise writes a program so that its text does not show it. It makes files beside the text.
type disguise struct {
	rng   *rand.Rand
	files map[string]string
	named int
	names []string // of the ways
}

// file makes a file and returns its name.
func (d *disguise) file(prefix, text string) string {
	name := fmt.Sprint(prefix, len(d.files))
	d.files[name] = text
	return name
}

// name returns a word that nothing else is called by.
func (d *disguise) name() string {
	d.named++
	return fmt.Sprint("NAME", d.named)
}

// way is one way to write or to start something.
type way[T any] struct {
	name  string
	needs string // a program
	make  func(d *disguise, of T) string
}

func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

func quoteAll(words []string) string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = quote(w)
	}
	return strings.Join(out, " ")
}

// each spells every word.
func each(spell func(w string) string) func(*disguise, []string) string {
	return func(_ *disguise, words []string) string {
		out := make([]string, len(words))
		for i, w := range words {
			out[i] = spell(w)
		}
		return strings.Join(out, " ")
	}
}

// bytewise spells every byte.
func bytewise(format string) func(w string) string {
	return func(w string) string {
		var out strings.Builder
		for _, b := range []byte(w) {
			fmt.Fprintf(&out, format, b)
		}
		return out.String()
	}
}

func double(w string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, `$`, `\$`, "`", "\\`").Replace(w) + `"`
}

func backwards(s string) string {
	b := []byte(s)
	for i, j := 0, len(b)-1; i < j; i, j = i+1, j-1 {
		b[i], b[j] = b[j], b[i]
	}
	return string(b)
}

func list(words []string) string {
	text, err := json.Marshal(words)
	if err != nil {
		panic(err) // of texts it does not fail
	}
	return string(text)
}

// commas are words as those of a list of Perl or awk.
func commas(words []string) string { return strings.Trim(list(words), "[]") }

// spellings are texts of bash that start a program.
var spellings = []way[[]string]{
	{"plain", "", each(quote)},
	{"double quotes", "", each(double)},
	{"a backslash before each byte", "", each(func(w string) string {
		return strings.ReplaceAll(bytewise(`\%c`)(w), "\\\n", "$'\\n'")
	})},
	{"hexadecimal", "", each(func(w string) string { return "$'" + bytewise(`\x%02x`)(w) + "'" })},
	{"octal", "", each(func(w string) string { return "$'" + bytewise(`\%03o`)(w) + "'" })},
	{"empty quotes in between", "", each(func(w string) string { return bytewise(`''"%c"`)(w) })},
	{"variables", "", func(_ *disguise, words []string) string {
		var set, use strings.Builder
		for i, w := range words {
			fmt.Fprintf(&set, "w%d=%s; ", i, quote(w))
			fmt.Fprintf(&use, `"$w%d" `, i)
		}
		return set.String() + use.String()
	}},
	{"an array", "", func(_ *disguise, words []string) string { return "w=(" + quoteAll(words) + `); "${w[@]}"` }},
	{"positional words", "", func(_ *disguise, words []string) string { return "set -- " + quoteAll(words) + `; "$@"` }},
	{"halves", "", func(_ *disguise, words []string) string {
		h := len(words[0]) / 2
		return fmt.Sprintf(`a=%s; b=%s; "$a$b" %s`, quote(words[0][:h]), quote(words[0][h:]), quoteAll(words[1:]))
	}},
	{"a substitution", "", each(func(w string) string { return `"$(printf %s ` + quote(w) + `)"` })},
	{"printf -v", "", func(_ *disguise, words []string) string {
		return "printf -v w %b " + quote(bytewise(`\0%03o`)(words[0])) + `; "$w" ` + quoteAll(words[1:])
	}},
	{"indirection", "", func(_ *disguise, words []string) string {
		return "a=b; b=" + quote(words[0]) + `; "${!a}" ` + quoteAll(words[1:])
	}},
	{"braces", "", func(_ *disguise, words []string) string {
		return "{" + strings.ReplaceAll(each(quote)(nil, words), "' '", "','") + ",}"
	}},
	{"parameters cut", "", each(func(w string) string { return "\"$(x=zz" + quote(w) + `; printf %s "${x#zz}")"` })},
	{"replaced", "", func(_ *disguise, words []string) string {
		return "x=" + quote(strings.Join(strings.Split(words[0], ""), "_")) + `; "${x//_/}" ` + quoteAll(words[1:])
	}},
	{"read from a text", "", func(_ *disguise, words []string) string {
		return "mapfile -t w <<'END'\n" + strings.Join(words, "\n") + "\nEND\n" + `"${w[@]}"`
	}},
	{"read from a file", "", func(d *disguise, words []string) string {
		return "mapfile -t w < " + d.file("f", strings.Join(words, "\n")+"\n") + `; "${w[@]}"`
	}},
	{"backwards", "rev", each(func(w string) string { return `"$(printf '%s\n' ` + quote(backwards(w)) + ` | rev)"` })},
	{"base64", "base64", each(func(w string) string {
		return `"$(echo ` + base64.StdEncoding.EncodeToString([]byte(w)) + ` | base64 -d)"`
	})},
	{"an alias", "", func(_ *disguise, words []string) string {
		return "shopt -s expand_aliases; alias go=" + quote(quote(words[0])) + "; eval " + quote("go "+quoteAll(words[1:]))
	}},
	{"a function", "", func(_ *disguise, words []string) string { return `f() { "$@"; }; f ` + quoteAll(words) }},
	{"a command of bash before it", "", func(d *disguise, words []string) string {
		return []string{"command ", "exec ", "! ", "time "}[d.rng.IntN(4)] + quoteAll(words)
	}},
	{"a search of the path", "", func(_ *disguise, words []string) string {
		return `"$(type -P ` + quote(words[0]) + `)" ` + quoteAll(words[1:])
	}},
	{"a pattern", "", func(_ *disguise, words []string) string {
		n := words[0]
		return `p=$(type -P ` + quote(n) + `); "${p%/*}"/` + n[:len(n)-1] + "[" + n[len(n)-1:] + "] " + quoteAll(words[1:])
	}},
}

// starters are texts of bash in which another program starts it.
var starters = []way[[]string]{
	{"env", "", func(_ *disguise, words []string) string { return "env X=1 " + quoteAll(words) }},
	{"env -i", "", func(_ *disguise, words []string) string { return `env -i PATH="$PATH" ` + quoteAll(words) }},
	{"nice", "nice", func(_ *disguise, words []string) string { return "nice " + quoteAll(words) }},
	{"timeout", "timeout", func(_ *disguise, words []string) string { return "timeout 50 " + quoteAll(words) }},
	{"setsid", "setsid", func(_ *disguise, words []string) string { return "setsid -w " + quoteAll(words) }},
	{"nohup", "nohup", func(_ *disguise, words []string) string { return "nohup " + quoteAll(words) }},
	{"stdbuf", "stdbuf", func(_ *disguise, words []string) string { return "stdbuf -o0 " + quoteAll(words) }},
	{"flock", "flock", func(_ *disguise, words []string) string { return "flock lock " + quoteAll(words) }},
	{"taskset", "taskset", func(_ *disguise, words []string) string { return "taskset 3 " + quoteAll(words) }},
	{"xargs", "xargs", func(d *disguise, words []string) string {
		return "xargs -0 < " + d.file("f", strings.Join(words[1:], "\x00")) + " " + quote(words[0])
	}},
	{"xargs for all words", "xargs", func(_ *disguise, words []string) string {
		return `printf '%s\0' ` + quoteAll(words) + ` | xargs -0 env`
	}},
	{"xargs with a shell", "xargs", func(_ *disguise, words []string) string {
		return `printf '%s\0' ` + quoteAll(words) + ` | xargs -0 sh -c '"$0" "$@"'`
	}},
	{"find", "find", func(_ *disguise, words []string) string {
		return "find . -maxdepth 0 -exec " + quoteAll(words) + ` \;`
	}},
	{"find with a shell", "find", func(_ *disguise, words []string) string {
		return `find . -maxdepth 0 -exec sh -c '"$@"' - ` + quoteAll(words) + ` \;`
	}},
	{"python", "python3", func(d *disguise, words []string) string {
		return "python3 " + d.file("f", "import subprocess\nsubprocess.run("+list(words)+")\n")
	}},
	{"python -c", "python3", func(_ *disguise, words []string) string {
		return "python3 -c " + quote("import os; w = "+list(words)+"; os.execvp(w[0], w)")
	}},
	{"python, posix_spawn", "python3", func(d *disguise, words []string) string {
		return "python3 " + d.file("f", "import os\nw = "+list(words)+"\nos.posix_spawnp(w[0], w, os.environ)\nos.wait()\n")
	}},
	{"python, by getattr", "python3", func(d *disguise, words []string) string {
		return "python3 " + d.file("f", "import os, json\ngetattr(os, 'exe' + 'cvp')(*(lambda w: (w[0], w))(json.load(open('"+
			d.file("f", list(words))+"'))))\n")
	}},
	{"python, memory file of a script", "python3", func(d *disguise, words []string) string {
		return "python3 " + d.file("f", "import os\nm = os.memfd_create('m', 0)\nos.write(m, "+
			commas([]string{"#!/bin/sh\n" + quoteAll(words) + "\n"})+".encode())\nos.execv('/proc/self/fd/%d' % m, ['x'])\n")
	}},
	{"python, open descriptor", "python3", func(d *disguise, words []string) string {
		return "python3 " + d.file("f", "import os, shutil\nw = "+list(words)+
			"\nos.execve(os.open(shutil.which(w[0]), os.O_RDONLY), w, os.environ)\n")
	}},
	{"perl", "perl", func(d *disguise, words []string) string {
		return "perl " + d.file("f", "my @w = ("+strings.ReplaceAll(strings.ReplaceAll(commas(words), "$", `\$`), "@", `\@`)+"); system(@w);\n")
	}},
	{"perl -e", "perl", func(_ *disguise, words []string) string { return "perl -e 'exec @ARGV' -- " + quoteAll(words) }},
	{"node", "node", func(d *disguise, words []string) string {
		return "node " + d.file("f", "const [p, ...w] = "+list(words)+"; require('child_process').spawnSync(p, w)\n")
	}},
	{"ruby", "ruby", func(d *disguise, words []string) string { return "ruby " + d.file("f", "system(*"+list(words)+")\n") }},
	{"ruby -e", "ruby", func(_ *disguise, words []string) string { return "ruby -e 'exec(*ARGV)' -- " + quoteAll(words) }},
	{"ruby, posix_spawn", "ruby", func(d *disguise, words []string) string {
		return "ruby " + d.file("f", "Process.wait(Process.spawn(*"+list(words)+"))\n")
	}},
	{"parallel, of a file", "parallel", func(d *disguise, words []string) string {
		return "parallel -a " + d.file("f", quoteAll(words)+"\n")
	}},
	{"tcl", "tclsh", func(d *disguise, words []string) string {
		return "tclsh " + d.file("f", "catch {exec {*}[split [read [open "+d.file("f", strings.Join(words, "\n"))+"]] \"\\n\"]}\n")
	}},
	{"awk", "awk", func(d *disguise, words []string) string {
		return "awk -f " + d.file("f", "BEGIN { system("+commas([]string{quoteAll(words)})+") }\n")
	}},
	{"sed", "sed", func(d *disguise, words []string) string {
		return "echo " + quote(quoteAll(words)) + " | sed -n 's/^//e'"
	}},
	{"the dynamic loader", "ldd", func(_ *disguise, words []string) string {
		return `l=$(echo /lib64/ld-linux-*.so.2 /lib/ld-linux-*.so.1); for l in $l; do [ -e "$l" ] && break; done; ` +
			`"$l" /usr/bin/env ` + quoteAll(words)
	}},
	{"parallel", "parallel", func(_ *disguise, words []string) string { return "parallel ::: " + quote(quoteAll(words)) }},
	{"a link", "", func(_ *disguise, words []string) string {
		return `ln -s "$(type -P ` + quote(words[0]) + `)" ls; ./ls ` + quoteAll(words[1:])
	}},
	{"a link to a link", "", func(_ *disguise, words []string) string {
		return `ln -s "$(type -P ` + quote(words[0]) + `)" a; ln -s a b; PATH=. b ` + quoteAll(words[1:])
	}},
	{"another first word", "", func(_ *disguise, words []string) string {
		return "exec -a ls " + quoteAll(words)
	}},
	{"a directory like it", "", func(_ *disguise, words []string) string {
		return "cd /usr/local/bin; [ -e " + quote(words[0]) + " ] || cd /usr/bin; ./" + quoteAll(words)
	}},
	{"a script's line", "", func(d *disguise, words []string) string {
		return "./" + d.file("x", "#!/usr/bin/env -S sh -c "+quote(quoteAll(words))+"\n")
	}},
}

// outside leaves a repository.
const outside = "cd ..; unset GIT_DIR GIT_INDEX_FILE GIT_WORK_TREE GIT_PREFIX GIT_CONFIG_PARAMETERS\n"

// carriers are texts of bash that run a text of bash.
var carriers = []way[string]{
	{"bash -c", "", func(_ *disguise, text string) string { return "bash -c " + quote(text) }},
	{"bash -c, through env", "", func(_ *disguise, text string) string { return "env bash -c " + quote(text) }},
	{"a subshell", "", func(_ *disguise, text string) string { return "(\n" + text + "\n)" }},
	{"background", "", func(_ *disguise, text string) string { return "{\n" + text + "\n} & wait" }},
	{"eval", "", func(_ *disguise, text string) string { return "eval " + quote(text) }},
	{"eval of a file", "", func(d *disguise, text string) string { return `eval "$(cat ` + d.file("f", text) + `)"` }},
	{"a file", "", func(d *disguise, text string) string { return "bash " + d.file("f", text) }},
	{"a script", "", func(d *disguise, text string) string { return "./" + d.file("x", "#!/bin/bash\n"+text+"\n") }},
	{"a script of env", "", func(d *disguise, text string) string { return "./" + d.file("x", "#!/usr/bin/env bash\n"+text+"\n") }},
	{"a script without a first line", "", func(d *disguise, text string) string { return "./" + d.file("x", text+"\n") }},
	{"a script of a script", "", func(d *disguise, text string) string {
		via := d.file("x", "#!/bin/bash\nexec bash \"$1\"\n")
		return "./" + d.file("x", "#!./"+via+"\n"+text+"\n")
	}},
	{"source", "", func(d *disguise, text string) string { return ". ./" + d.file("f", text) }},
	{"written and run", "", func(d *disguise, text string) string {
		name := d.name()
		return "cat > " + name + " <<'" + name + "'\n" + text + "\n" + name + "\nbash " + name
	}},
	{"input", "", func(d *disguise, text string) string { return "bash < " + d.file("f", text) }},
	{"a pipe", "", func(d *disguise, text string) string { return "cat " + d.file("f", text) + " | bash" }},
	{"a here-document", "", func(d *disguise, text string) string {
		end := d.name()
		return "bash <<'" + end + "'\n" + text + "\n" + end
	}},
	{"a substitution", "", func(d *disguise, text string) string { return "bash <(cat " + d.file("f", text) + ")" }},
	{"base64", "base64", func(_ *disguise, text string) string {
		return "echo " + base64.StdEncoding.EncodeToString([]byte(text)) + " | base64 -d | bash"
	}},
	{"gzip", "gzip", func(d *disguise, text string) string { return "gzip -c < " + d.file("f", text) + " | gzip -dc | bash" }},
	{"rot13", "tr", func(d *disguise, text string) string {
		rot := strings.Map(func(r rune) rune {
			switch {
			case r >= 'a' && r <= 'z':
				return 'a' + (r-'a'+13)%26
			case r >= 'A' && r <= 'Z':
				return 'A' + (r-'A'+13)%26
			}
			return r
		}, text)
		return "tr A-Za-z N-ZA-Mn-za-m < " + d.file("f", rot) + " | bash"
	}},
	{"make", "make", func(d *disguise, text string) string {
		return "make -s -f " + d.file("m", "all:\n\t@bash "+d.file("f", text)+"\n")
	}},
	{"make, as it is read", "make", func(d *disguise, text string) string {
		return "make -s -f " + d.file("m", "X := $(shell bash "+d.file("f", text)+")\nall: ; @:\n")
	}},
	{"npm", "npm", func(d *disguise, text string) string {
		dir := d.name()
		d.files[dir+"/package.json"] = `{"name":"x","version":"1.0.0","scripts":{"x":"cd .. && bash ` + d.file("f", text) + `"}}`
		return "npm --prefix " + dir + " run -s x"
	}},
	{"a hook of git", "git", func(d *disguise, text string) string {
		r := d.name()
		d.files[r+"/.git/hooks/pre-commit"] = "#!/bin/bash\n" + outside + text + "\n"
		return "git init -q " + r + "; git -C " + r + " -c user.name=a -c user.email=a@b commit -q --allow-empty -m x"
	}},
	{"an alias of git", "git", func(d *disguise, text string) string {
		r := d.name()
		return "git init -q " + r + "; git -C " + r + " config alias.x '!bash ../" + d.file("f", outside+text) + "'; git -C " + r + " x"
	}},
	{"python", "python3", func(d *disguise, text string) string {
		return "python3 -c 'import os; os.system(\"bash " + d.file("f", text) + "\")'"
	}},
	{"python, of input", "python3", func(d *disguise, text string) string {
		return "echo 'import subprocess; subprocess.run([\"bash\", \"" + d.file("f", text) + "\"])' | python3"
	}},
	{"perl", "perl", func(d *disguise, text string) string { return "perl -e 'print `bash " + d.file("f", text) + "`'" }},
	{"ruby", "ruby", func(d *disguise, text string) string {
		return "ruby -e 'puts `bash " + d.file("f", text) + "`; spawn(\"true\"); Process.wait'"
	}},
	{"parallel", "parallel", func(d *disguise, text string) string { return "parallel bash ::: " + d.file("f", text) }},
	{"parallel, of input", "parallel", func(d *disguise, text string) string {
		return "echo bash " + d.file("f", text) + " | parallel -j1"
	}},
	{"node", "node", func(d *disguise, text string) string {
		return "node -e 'require(\"child_process\").execSync(\"bash " + d.file("f", text) + "\")'"
	}},
	{"xargs", "xargs", func(d *disguise, text string) string { return "echo " + d.file("f", text) + " | xargs bash" }},
	{"find", "find", func(d *disguise, text string) string {
		return "find . -maxdepth 1 -name " + d.file("f", text) + ` -exec bash {} \;`
	}},
	{"tar", "tar", func(d *disguise, text string) string {
		t := d.name()
		return "tar cf " + t + " " + d.file("f", text) + "; tar xf " + t + " --to-command='bash -s'"
	}},
	{"a trap", "", func(_ *disguise, text string) string { return "bash -c " + quote("trap "+quote(text)+" EXIT; true") }},
	{"script", "script", func(d *disguise, text string) string { return "script -qc 'bash " + d.file("f", text) + "' /dev/null" }},
	{"BASH_ENV", "", func(d *disguise, text string) string {
		return "BASH_ENV=" + d.file("f", "unset BASH_ENV\n"+text) + " bash -c true"
	}},
	{"an exported function", "", func(_ *disguise, text string) string {
		return "g() {\n" + text + "\n}; export -f g; bash -c g"
	}},
	{"a co-process", "", func(_ *disguise, text string) string { return "coproc {\n" + text + "\n}; wait" }},
	{"a loop", "", func(d *disguise, text string) string {
		return "for f in " + d.file("f", text) + "; do while :; do bash \"$f\"; break; done; done"
	}},
}

// copied are ways to start a program under another name. Programs are known by their names: it is not found.
var copied = []way[[]string]{
	{"a copy", "", func(_ *disguise, words []string) string {
		return `cat "$(type -P ` + quote(words[0]) + `)" > c; chmod +x c; ./c ` + quoteAll(words[1:])
	}},
	{"a hard link", "", func(_ *disguise, words []string) string {
		return `cat "$(type -P ` + quote(words[0]) + `)" > c; chmod +x c; ln c h; ./h ` + quoteAll(words[1:])
	}},
	{"a copy by the dynamic loader", "ldd", func(_ *disguise, words []string) string {
		return `cat "$(type -P ` + quote(words[0]) + `)" > c; chmod +x c; env ./c ` + quoteAll(words[1:])
	}},
	{"a memory file", "python3", func(d *disguise, words []string) string {
		return "python3 " + d.file("f", "import os, shutil\nw = "+list(words)+"\nm = os.memfd_create('m', 0)\n"+
			"os.write(m, open(shutil.which(w[0]), 'rb').read())\nos.execv('/proc/self/fd/%d' % m, ['x'] + w[1:])\n")
	}},
}

// disguised makes a text that starts a program: its words are spelled in some way or handed to another
// program, and the text is carried by others, one in the other.
func disguised(rng *rand.Rand, words []string, spelled, carried []way[[]string], by []way[string]) *disguise {
	d := &disguise{rng: rng, files: map[string]string{}}
	first := spelled
	if rng.IntN(3) == 0 {
		first = carried
	}
	w := first[rng.IntN(len(first))]
	text := w.make(d, words)
	d.names = append(d.names, w.name)
	for range rng.IntN(4) {
		c := by[rng.IntN(len(by))]
		text = c.make(d, text)
		d.names = append(d.names, c.name)
	}
	d.files["text"] = text
	return d
}
