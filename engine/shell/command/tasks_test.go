package command

import (
	"slices"
	"testing"

	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

func TestStarted(t *testing.T) {
	for _, tc := range []struct {
		name, program string
		args          []string
		content       string
		want          []string
		open          bool
	}{
		{"first target", "make", nil, ".PHONY: x\nX ?= 1\nb: a\n\t@b $(X) $$HOME $@ $<\na: ; a\nc:\n\tc\n",
			[]string{"a", "b 1 $HOME b a"}, false},
		{"variable of the command line", "make", []string{"X=2", "b"}, "X := 1\nb:\n\tb ${X}\n",
			[]string{"b 2"}, false},
		{"variable of the environment", "make", nil, "b:\n\tb $(E) $(NONE)\nE ?= 1\n", []string{"b env "}, false},
		{"order of assignments", "make", nil, "X := 1\nY := $(X)\nX := 2\nX += 3\nb: ; b $(X) $(Y)\n",
			[]string{"b 2 3 1"}, false},
		{"branches that agree", "make", nil, "ifdef A\nX = 1\nelse\nX = 1\nendif\nb: ; b $(X)\n",
			[]string{"b 1"}, false},
		{"branches that differ", "make", nil, "ifdef A\nX = 1\nelse\nX = 2\nendif\nb: ; b $(X)\n",
			[]string{"b $(…)"}, true},
		{"variable of a target", "make", nil, "X = 1\nb: X = 2\nb: ; b $(X)\n", []string{"b $(…)"}, true},
		{"function", "make", nil, "b: ; rm $(wildcard *.o)\n", []string{"rm $(…)"}, true},
		{"substitution of the shell", "make", nil, "V := $(shell git describe)\nb: ; b $(V)\n",
			[]string{"git describe", "b $(git describe)"}, false},
		{"pattern", "make", []string{"b-x"}, "b-%: a-% ; b $* $<\na-x: ; a\nb-y: ; y\n",
			[]string{"a", "b x a-x"}, false},
		{"included", "make", []string{"i"}, "include more.mk\n", []string{"i"}, false},
		{"included, and missing", "make", []string{"b"}, "include none.mk\nb: ; b\n", []string{"b"}, true},
		{"included, and not readable", "make", nil, "include long.mk\nb: ; b\n", nil, true},
		{"not readable, behind the goal", "make", nil, "a: ; a\ninclude long.mk\nb: ; b\n", []string{"a"}, true},
		{"missing, and its first target the goal", "make", nil, "include none.mk\nb: ; b\n", nil, true},
		{"goal of a branch", "make", nil, "ifdef A\na: ; a\nelse\nb: ; b\nendif\nc: ; c\n", []string{"a", "b"}, false},
		{"goal of a branch or behind it", "make", nil, "ifdef A\na: ; a\nelse ifdef B\nb: ; b\nendif\nc: ; c\n",
			[]string{"a", "b", "c"}, false},
		{"goal of a branch in a branch", "make", nil, "ifdef A\nifdef B\na: ; a\nendif\nb: ; b\nendif\nc: ; c\n",
			[]string{"a", "b", "c"}, false},
		{"missing in a branch", "make", nil, "ifdef A\ninclude none.mk\na: ; a\nelse\nb: ; b\nendif\n",
			[]string{"b"}, true},
		{"named goal", "make", nil, "a: ; a\n.DEFAULT_GOAL := b\nb: ; b\n", []string{"b"}, false},
		{"named goal in a branch", "make", nil, "a: ; a\nifdef A\n.DEFAULT_GOAL := b\nendif\nb: ; b\n",
			[]string{"a", "b"}, false},
		{"rules that a function makes", "make", nil, "$(call rules,x)\nb: ; b\n", []string{"b"}, true},
		{"variables in a circle", "make", nil, "A = $(B)\nB = $(A)\nx: ; echo $(A)\n", []string{"echo $(…)"}, true},
		{"no shell", "make", nil, "SHELL = /usr/bin/python3\nb: ; b\n", []string{"b"}, true},
		{"shown", "make", []string{"-n"}, "b: ; b\n", nil, false},
		{"target that is missing", "make", []string{"z"}, "b: ; b\n", nil, false},
		{"patterns without an end", "make", []string{"a"}, "%: x% %%\n\tb\n", []string{"b"}, false},
		{"define", "make", nil, "define F\nx: y\nendef\nb: ; b\n", []string{"b"}, false},
		{"script", "npm", []string{"run", "b", "--", "-x", "a b"},
			`{"scripts": {"preb": "p", "b": "b", "c": "c"}}`, []string{"p", "b -x 'a b'"}, false},
		{"script by its name", "yarn", []string{"b"}, `{"scripts": {"b": "b", "postb": "q"}}`,
			[]string{"b", "q"}, false},
		{"installation", "npm", []string{"ci"}, `{"scripts": {"prepare": "p", "b": "b"}}`, []string{"p"}, false},
		{"several", "run-s", []string{"a", "b"}, `{"scripts": {"a": "a", "b": "b"}}`, []string{"a", "b"}, false},
		{"several by a pattern", "run-s", []string{"a:*"}, `{"scripts": {"a:b": "a"}}`, nil, true},
		{"list", "composer", []string{"b"}, `{"scripts": {"b": ["a", "b"]}}`, []string{"a", "b"}, false},
		{"broken", "npm", []string{"run", "b"}, `{"scripts"`, nil, true},
		{"first recipe", "just", nil, "v := 'x'\n# text\nb n='1': a\n  b {{v}} {{n}}\n@a:\n  @a\n",
			[]string{"a", "b x $(…)"}, true},
		{"alias", "just", []string{"d"}, "alias d := a\na:\n  a\nb:\n  b\n", []string{"a"}, false},
		{"recipe in another language", "just", nil, "a:\n  #!/usr/bin/env python3\n  print(1)\n",
			[]string{"#!/usr/bin/env python3", "print(1)"}, true},
		{"task", "task", []string{"b", "--", "-x"},
			"vars:\n  V: y\ntasks:\n  b:\n    deps: [a]\n    cmds:\n      - b {{.V}} {{.CLI_ARGS}}\n      - task: c\n  a: a\n  c:\n    cmd: c {{.W}}\n", []string{"a", "b y  -x", "c $(…)"}, true},
		{"lines of a task", "task", nil, "tasks:\n  default:\n    cmds:\n      - |\n          a: 1\n\n          b c\n      - cmd: d\n", []string{"a: 1", "b c", "d"}, false},
		{"compose", "docker", []string{"compose", "up"},
			"services:\n  a:\n    image: x\n    privileged: true\n    pid: host\n    volumes:\n      - ${X}/y:/y\n      - type: bind\n        source: /\n    cap_add: [SYS_ADMIN, \"A\"]\n    ports:\n      - 80:80\nvolumes:\n  d:\n", []string{`docker run --privileged --pid="host" --volume="${X}/y:/y" --volume="/:/mount" --cap-add="SYS_ADMIN" --cap-add="A" service`}, false},
		{"compose, listed", "docker", []string{"compose", "ps"}, "services:\n  a:\n    privileged: true\n",
			nil, false},
		{"image", "buildah", []string{"build", "."},
			"# x\nFROM h.example/a:1 AS b\nFROM b\nFROM --platform=x scratch\nFROM $IMAGE\nADD https://h.example/f /f\nADD g /\n" +
				"RUN rm -rf /var/lib/apt/lists/*\nRUN --security=insecure \\\n --network=host make\n",
			[]string{"docker pull h.example/a:1", "curl https://h.example/f", "docker run --privileged image",
				"docker run --network=host image"}, false},
		{"no image", "buildah", []string{"images"}, "FROM a\n", nil, false},
		{"no compose", "docker", []string{"run", "x"}, "services:\n  a:\n    privileged: true\n", nil, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := Start{
				Name: tc.program, Dir: "/w",
				Env: func(name string) (string, bool) { return map[string]string{"E": "env"}[name], name != "UNKNOWN" },
				Read: func(name string) (string, bool) {
					text, ok := map[string]string{"more.mk": "i:\n\ti\n"}[name]
					if name == "long.mk" {
						text = Unread
					}
					return text, ok
				},
			}
			for _, a := range tc.args {
				s.Args = append(s.Args, value.Literal(a))
			}
			texts, whole := BuildFiles(tc.program)[0].Started(tc.content, s)
			var got []string
			for _, v := range texts {
				got = append(got, v.Text())
			}
			if !slices.Equal(got, tc.want) || whole == tc.open {
				t.Errorf("got %q, whole %t; want %q", got, whole, tc.want)
			}
		})
	}
}
