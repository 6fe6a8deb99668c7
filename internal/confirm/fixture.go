package confirm

import (
	"path"
	"strings"

	"github.com/sallyport-dev/sallyport/engine/shell"
)

// The place where texts run.
const (
	Home = "/home/dev"
	Dir  = "/home/dev/app"
)

// node is one entry of the fixture; kind is "dir", "file", "run" or "link".
type node struct{ path, kind, content string }

func fixture() []node {
	return []node{
		{Home, "dir", ""},
		{Home + "/precious", "dir", ""},
		{Home + "/precious/data", "file", "DATA\n"},
		{Home + "/.bashrc", "file", "# rc\n"},
		{Home + "/.ssh", "dir", ""},
		{Home + "/.ssh/id_rsa", "file", "SECRETKEY\n"},
		{Dir, "dir", ""},
		{Dir + "/README.md", "file", "# app\n\nread me\n"},
		{Dir + "/requirements.txt", "file", "flask\nrequests\n"},
		{Dir + "/words.txt", "file", "one two\nthree\\four\n  five  \n"},
		{Dir + "/a b.txt", "file", "spaced\n"},
		{Dir + "/build", "dir", ""},
		{Dir + "/build/a.o", "file", "a\n"},
		{Dir + "/build/b.o", "file", "b\n"},
		{Dir + "/build/sub", "dir", ""},
		{Dir + "/build/sub/c.txt", "file", "c\n"},
		{Dir + "/src", "dir", ""},
		{Dir + "/src/main.py", "file", "print('x')\n"},
		{Dir + "/src/util.py", "file", "x = 1\n"},
		{Dir + "/scripts", "dir", ""},
		{Dir + "/scripts/deploy.sh", "run", "#!/bin/bash\necho deploy\ntool deploy \"$1\"\n"},
		{Dir + "/scripts/env.sh", "file", "TARGET=build\nclean() { tool clean \"$TARGET\"; }\n"},
		{Dir + "/link", "link", "src"},
	}
}

// Environment is the whole environment of each run, and of the reader.
func Environment() map[string]string {
	return map[string]string{"HOME": Home, "USER": "dev", "LOGNAME": "dev", "PATH": "/usr/bin:/bin",
		"LANG": "C.UTF-8"}
}

// real follows the fixture's links.
func real(p string) string {
	for _, n := range fixture() {
		if n.kind == "link" && (p == n.path || strings.HasPrefix(p, n.path+"/")) {
			return path.Join(path.Dir(n.path), n.content) + p[len(n.path):]
		}
	}
	return p
}

// options is the reader's knowledge of the place.
func options(posix bool) shell.Options {
	all := map[string]node{}
	for _, n := range fixture() {
		all[n.path] = n
		for d := path.Dir(n.path); d != "/"; d = path.Dir(d) {
			if _, ok := all[d]; !ok {
				all[d] = node{d, "dir", ""}
			}
		}
	}
	for _, d := range []string{"/", "/tmp", "/usr", "/usr/bin", "/usr/lib", "/bin", "/lib", "/dev", "/proc"} {
		all[d] = node{d, "dir", ""}
	}
	for _, f := range []string{"/dev/null", "/dev/full", "/dev/zero", "/dev/stdin", "/dev/stdout",
		"/dev/stderr", "/dev/fd"} {
		all[f] = node{f, "file", ""}
	}
	get := func(p string) node { return all[real(path.Clean(p))] }
	return shell.Options{
		Dir:   Dir,
		Env:   Environment(),
		POSIX: posix,
		ReadFile: func(p string) (string, bool) {
			n := get(p)
			return n.content, n.kind == "file" || n.kind == "run"
		},
		IsDir:  func(p string) bool { return get(p).kind == "dir" },
		IsFile: func(p string) bool { k := get(p).kind; return k == "file" || k == "run" },
	}
}

// history is the file of commands that an interactive Python keeps, if it can.
const history = Home + "/.python_history"

// Harm lists the changes of a run to the home directory outside of the workspace.
func Harm(r Run) []string {
	var list []string
	for _, p := range append(append([]string{}, r.Changed...), r.Gone...) {
		if strings.HasPrefix(p, Home+"/") && p != history && p != Dir && !strings.HasPrefix(p, Dir+"/") {
			list = append(list, p)
		}
	}
	return list
}
