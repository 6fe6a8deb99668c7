package config

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestProblems shows what is refused and what an operator reads. Each text is otherwise sound.
func TestProblems(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ text, want string }{
		{"", `1:1: the file is empty: it needs at least the line "version: 1"`},
		{"# only a comment\n", `1:1: the file is empty`},
		{"agent: x\n", `1:1: missing key "version"`},
		{"version: 2\n", `1:10: version: unknown value "2": one of 1`},
		{"version: \"1\"\n", `1:10: version: want a number, found "1"`},
		{"version: 1\nagnet: x\n", `2:1: agnet: unknown key: did you mean "agent"?`},
		{"version: 1\nxyzzyplugh: x\n", `2:1: xyzzyplugh: unknown key: one of version, agent`},
		{"version: 1\nlimits: {outputs: 1MiB}\n", `2:10: limits.outputs: unknown key: did you mean "output"?`},
		{"version: 1\nversion: 1\n", `2:1: version: the key is there twice`},
		{"version: 1\nagent: [a]\n", `2:8: agent: want text, found a list`},
		{"version: 1\nagent: 7\n", `2:8: agent: want text, found the number 7: write it in quotes`},
		{"version: 1\nagent: true\n", `2:8: agent: want text, found true: write it in quotes`},
		{"version: 1\nagent: \"a b\"\n", `2:8: agent: "a b" is not a name`},
		{"version: 1\nmode: enforec\n", `2:7: mode: unknown value "enforec": did you mean "enforce"?`},
		{"version: 1\nprofile: loose\n",
			`2:10: profile: unknown value "loose": one of standard, team, strict, readonly, massgen`},
		{"version: 1\nrunner: dokcer\n", `2:9: runner: no runner named "dokcer": did you mean "docker"?`},
		{"version: 1\ntimeout: 60\n", `2:10: timeout: "60" has no unit: write 60s for seconds`},
		{"version: 1\ntimeout: soon\n", `2:10: timeout: "soon" is not a duration: write it as 90s, 5m or 1h30m`},
		{"version: 1\ntimeout: 0s\n", `2:10: timeout: must be greater than zero`},
		{"version: 1\ntimeout: -5s\n", `2:10: timeout: must be greater than zero`},
		{"version: 1\ntimeout: 2h\n", `2:10: timeout: 2h is more than limits.max_timeout, which is 1h`},
		{"version: 1\nlimits: {max_timeout: 30s}\n", `1:1: timeout: 1m is more than limits.max_timeout, which is 30s`},
		{"version: 1\nlimits: {grace: 0s}\n", `2:17: limits.grace: must be greater than zero`},
		{"version: 1\nlimits: {output: 1XB}\n", `2:18: limits.output: "1XB" has an unknown unit`},
		{"version: 1\nlimits: {output: lots}\n", `2:18: limits.output: "lots" is not a size`},
		{"version: 1\nlimits: {output: 9999999999t}\n", `2:18: limits.output: "9999999999t" is too large`},
		{"version: 1\nlimits: {output: 12}\n", `2:18: limits.output: 12 is out of range: from 1024 to 1073741824`},
		{"version: 1\nlimits: {background: -1}\n", `2:22: limits.background: -1 is out of range`},
		{"version: 1\nlimits: {background: 1e9}\n", `2:22: limits.background: want a number, found the number 1e9`},
		{"version: 1\nlimits: 5\n", `2:9: limits: want keys and values, found the number 5`},
		{"version: 1\nworkspace: nowhere\n", `nowhere does not exist: create it or correct the path`},
		{"version: 1\nworkspace: notes.txt\n", `notes.txt is not a directory`},
		{"version: 1\nworkspace: \"\"\n", `2:12: workspace: the path is empty`},
		{"version: 1\nworkspace: $HOME/x\n", `2:12: workspace: variables are not expanded: write "$HOME/x" out`},
		{"version: 1\npaths: [./reference]\n", `2:9: paths[0]: want keys and values, found "./reference"`},
		{"version: 1\npaths: ./reference\n", `2:8: paths: want a list, found "./reference": write [./reference]`},
		{"version: 1\npaths: [{access: read}]\n", `2:9: paths[0]: missing key "path"`},
		{"version: 1\npaths: [{path: }]\n", `2:16: paths[0].path: the path is empty`},
		{"version: 1\npaths: [{path: nowhere}]\n", `nowhere does not exist: create it or correct the path, or set "optional: true"`},
		{"version: 1\npaths: [{path: shared, access: rw}]\n", `2:32: paths[0].access: unknown value "rw": one of read, write`},
		{"version: 1\npaths: [{path: shared}, {path: ./shared/}]\n", `2:32: paths[1].path: `},
		{"version: 1\nworkspace: work\npaths: [{path: work}]\n", `is already granted by workspace`},
		{"version: 1\npaths: [{path: shared, protected: [../work]}]\n", `2:36: paths[0].protected[0]: `},
		{"version: 1\npaths: [{path: shared, protected: [.]}]\n", `it is the granted place itself`},
		{"version: 1\npaths: [{path: notes.txt, protected: [a]}]\n", `is a file: nothing lies below it`},
		{"version: 1\npaths: [{path: shared, optional: yes}]\n", `2:34: paths[0].optional: want true or false, found "yes"`},
		{"version: 1\npaths: [~]\n", `2:9: paths[0]: the entry is empty`},
		{"version: 1\ncommands: {allow: [\"\"]}\n", `the pattern is empty`},
		{"version: 1\ncommands: {deny: [\"(?!git)x\"]}\n", `"(?!git)x": negative lookahead (?!…) is not in RE2`},
		{"version: 1\ncommands: {deny: [\"(?<=a)x\"]}\n", `lookbehind (?<=…) is not in RE2`},
		{"version: 1\ncommands: {deny: ['(a)\\1']}\n", `backreference \1 is not in RE2`},
		{"version: 1\ncommands: {deny: ['(?P<n>a)(?P=n)']}\n", `backreference (?P=…) is not in RE2`},
		{"version: 1\ncommands: {deny: ['a++']}\n", `possessive repetition ++ is not in RE2: use +`},
		{"version: 1\ncommands: {deny: ['a{1001}']}\n", `repetition {1001} is too large`},
		{"version: 1\ncommands: {deny: ['a\\Z']}\n", `\Z is not in RE2: use \z`},
		{"version: 1\ncommands: {deny: ['(']}\n", `2:19: commands.deny[0]: "(": missing closing ): (`},
		{"version: 1\ncommands: {deny: ['a)(b']}\n", `unexpected )`},
		{"version: 1\nrules: {permissions: ask}\n", `2:22: rules.permissions: "permissions" is not a rule id: write it as category/rule`},
		{"version: 1\nrules: {a/b: loud}\n", `2:14: rules.a/b: unknown value "loud": one of off, warn, ask, deny`},
		{"version: 1\nrules: {a/b: }\n", `the level is missing`},
		{"version: 1\nrules: {a/b: off, a/b: deny}\n", `2:19: rules.a/b: the key is there twice`},
		{"version: 1\nexemptions: [{rule: a/b, match: x, reason: y}]\n", `2:14: exemptions[0]: missing key "expires"`},
		{"version: 1\nexemptions: [{rule: a/b, match: x, reason: \" \", expires: 2026-12-31}]\n", `the reason is empty`},
		{"version: 1\nexemptions: [{rule: a/b, match: x, reason: y, expires: never}]\n", `"never" is not a date`},
		{"version: 1\nexemptions: [{rule: a/b, match: , reason: y, expires: 2026-12-31}]\n", `2:33: exemptions[0].match: the pattern is empty`},
		{"version: 1\nexemptions: [{rule: ab, match: x, reason: y, expires: 2026-12-31}]\n", `"ab" is not a rule id`},
		{"version: 1\nexemptions: [{rule: a/b, match: x, reason: y, expires: }]\n", `exemptions[0].expires: the date is empty`},
		{"version: 1\nlabels: {Big: [a]}\n", `"Big" is no label: use lower-case letters, digits and underscores`},
		{"version: 1\nlabels: {big: [\"[a\"]}\n", `labels.big[0]: "[a" is not a pattern of paths`},
		{"version: 1\ngenerated: [\"[a\"]\n", `2:13: generated[0]: "[a" is not a file name pattern`},
		{"version: 1\npolicies: [nowhere]\n", `nowhere does not exist`},
		{"version: 1\npolicies: [\"http://example.com/b.tar.gz\"]\n", `http is taken from this machine only`},
		{"version: 1\npolicies: [\"ftp://example.com/b.tar.gz\"]\n", `the scheme ftp is not taken`},
		{"version: 1\npolicies: [\"https://user:secret@example.com/b.tar.gz\"]\n", `it holds a password or a name: use token_file`},
		{"version: 1\npolicies: [\"https://example.com/b.tar.gz?key=1\"]\n", `it holds a query`},
		{"version: 1\npolicies: [\"https://example.com/a/../b.tar.gz\"]\n", `is not a plain path`},
		{"version: 1\npolicies: [\"https://example.com/a%2fb.tar.gz\"]\n", `is not a plain path`},
		{"version: 1\npolicies: [\"https://example.com\"]\n", `names a server and no bundle on it`},
		{"version: 1\npolicies: [\"https:///b.tar.gz\"]\n", `is not an address`},
		{"version: 1\npolicy_servers: [{url: \"http://example.com\"}]\n", `policy_servers[0].url: http is taken from this machine only`},
		{"version: 1\npolicy_servers: [{url: \"https://a.example\"}, {url: \"https://a.example/\"}]\n", `policy_servers[1].url: https://a.example is there already`},
		{"version: 1\npolicy_servers: [{url: \"https://a.example\", cert_file: /etc/passwd}]\n", `cert_file and key_file belong together`},
		{"version: 1\npolicy_servers: [{url: \"https://a.example\", token_file: nowhere}]\n", `policy_servers[0].token_file`},
		{"version: 1\npolicy_servers: [{url: \"https://a.example\", discovery: ../x}]\n", `is not a plain path below url`},
		{"version: 1\npolicy_servers: [{url: \"https://a.example\", polling: {min: 10ms}}]\n", `polling.min: 10ms: want whole seconds`},
		{"version: 1\npolicy_servers: [{url: \"https://a.example\", polling: {max: 30s}}]\n", `30s is less than polling.min, which is 1m`},
		{"version: 1\npolicies: [\"https://a.example/x.tar.gz\"]\npolicy_servers: [{url: \"https://a.example\", discovery: d.tar.gz}]\n", `are named by its discovery bundle`},
		{"version: 1\nplugins: [nowhere.wasm]\n", `nowhere.wasm does not exist`},
		{"version: 1\nenvironment: {venv: nowhere}\n", `nowhere does not exist`},
		{"version: 1\nenvironment: {venv: \"\"}\n", `want auto, none or a directory`},
		{"version: 1\nenvironment: {prefix: \"a\\nb\"}\n", `it must be one line`},
		{"version: 1\nenvironment: {env_file: nowhere}\n", `nowhere does not exist`},
		{"version: 1\nenvironment: {env_file_names: [A]}\n", `there is no env_file to take them from`},
		{"version: 1\nenvironment: {env: [\"A=1\"]}\n", `2:21: environment.env[0]: "A=1" is not the name of a variable`},
		{"version: 1\ndocker: {memory: 1m}\n", `1MiB is too little`},
		{"version: 1\ndocker: {pids: 70}\n", `70 is out of range: from 100`},
		{"version: 1\ndocker: {cpus: -1}\n", `-1 is out of range`},
		{"version: 1\ndocker: {cpus: 1025}\n", `1025 is out of range: from 0 to 1024`},
		{"version: 1\ndocker: {cpus: many}\n", `2:16: docker.cpus: want a number, found "many"`},
		{"version: 1\ndocker: {mounts: [{target: /x}]}\n", `missing key "source"`},
		{"version: 1\ndocker: {mounts: [{source: shared, target: x}]}\n", `"x" is not an absolute path`},
		{"version: 1\ndocker: {credentials: {mount: [house_keys]}}\n", `unknown value "house_keys"`},
		{"version: 1\nrunner: docker\ndocker: {packages: {system: [jq]}}\n", `installing system packages needs "runner: docker-sudo"`},
		{"version: 1\nrunner: docker\ndocker: {packages: {python: [requests]}}\n", `3:20: docker.packages: installing packages needs a network, and there is none: set docker.packages.network to bridge`},
		{"version: 1\nrunner: docker\ndocker: {network: bridge, packages: {network: none, npm: [typescript]}}\n", `needs a network`},
		{"version: 1\ndocker: {packages: {network: lan}}\n", `unknown value "lan"`},
		{"version: 1\ndocker: {packages: {on_failure: warn}}\n", `unknown value "warn"`},
		{"version: 1\ndocker: {packages: {python: [\"--index-url=https://x\"]}}\n", `docker.packages.python[0]: "--index-url=https://x" is an option, and no package`},
		{"version: 1\ndocker: {packages: {npm: [-g]}}\n", `docker.packages.npm[0]: "-g" is an option`},
		{"version: 1\ndocker: {packages: {python: [\" \"]}}\n", `the name is empty`},
		{"version: 1\ndocker: {packages: {python: [\"a\\nb\"]}}\n", `control character`},
		{"version: 1\ndocker: {packages: {system: [curl-]}}\n", `"curl-" is not the name of a Debian package`},
		{"version: 1\ndocker: {packages: {system: [\"lib.*\"]}}\n", `is not the name of a Debian package`},
		{"version: 1\ndocker: {packages: {system: [\"jq; id\"]}}\n", `is not the name of a Debian package`},
		{"version: 1\ndocker: {credentials: {env_file_names: [A]}}\n", `there is no env_file`},
		{"version: 1\nrunners: {local: {command: [x]}}\n", `local is a runner of sallyport's own`},
		{"version: 1\nrunners: {B: {command: [x]}}\n", `"B" is not a name`},
		{"version: 1\nrunners: {b: {command: []}}\n", `the command line is empty`},
		{"version: 1\nrunners: {b: {workspace: /w}}\n", `the command line is empty`},
		{"version: 1\nrunners: {b: {command: [x], plugin: m.yaml}}\n", `name either a plugin, with args, or a command`},
		{"version: 1\nrunners: {b: {command: [x], args: [y]}}\n", `write them into the command line`},
		{"version: 1\nrunners: {b: {command: [./reach]}}\n", `"./reach" is neither a name nor an absolute path`},
		{"version: 1\nrunners: {b: {command: [ssh], workspace: work}}\n", `"work" is not an absolute path`},
		{"version: 1\nrunners: {b: {command: [ssh], isolation: total}}\n", `unknown value "total"`},
		{"version: 1\naudit: {checkpoint: {every: 0s}}\n", `2:29: audit.checkpoint.every: must be greater than zero`},
		{"version: 1\naudit: {redact: [\"(?=x)\"]}\n", `lookahead (?=…) is not in RE2`},
		{"version: 1\nagent: &a x\n", `anchors and aliases are not taken`},
		{"version: 1\n<<: {agent: x}\n", `a key must be plain text`},
		{"version: 1\nagent: !!str x\n", `the tag !!str is not taken`},
		{"version: 1\n7: x\n", `a key must be plain text`},
		{"version: 1\n---\nversion: 1\n", `a second document begins here`},
		{"version: 1\nagent: \"x\n", `not valid YAML`},
		{"version: 1\n\tagent: x\n", `2:1: not valid YAML: found a tab`},
		{"[1]\n", `1:1: want keys and values, found a list`},
	} {
		_, err := parse(t, test.text)
		if err == nil {
			t.Errorf("%q: no error, want %q", test.text, test.want)
		} else if !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q:\n got %s\nwant %s", test.text, err, test.want)
		} else if n := strings.Count(err.Error(), "\n"); n > 0 {
			t.Errorf("%q: one mistake is told %d times:\n%s", test.text, n+1, err)
		}
	}
}

func TestAllProblemsAtOnceInOrder(t *testing.T) {
	t.Parallel()
	_, err := parse(t, "version: 1\npaths: [{path: gone}]\nmode: x\ntimeout: -1s\nagnet: y\ncommands: {deny: ['(?=a)']}\n")
	var lines []string
	var problems *Error
	if !errors.As(err, &problems) {
		t.Fatalf("error %v, want a list of problems", err)
	}
	for _, p := range problems.Problems {
		lines = append(lines, p.Key)
	}
	want := []string{"paths[0].path", "mode", "timeout", "agnet", "commands.deny[0]"}
	if diff := cmp.Diff(want, lines); diff != "" {
		t.Errorf("problems (-want +got):\n%s\n%s", diff, err)
	}
}
