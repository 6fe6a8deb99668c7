package build

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/engine/facts/call"
	"github.com/sallyport-dev/sallyport/engine/facts/disk"
	"github.com/sallyport-dev/sallyport/engine/facts/term"
	"github.com/sallyport-dev/sallyport/engine/shell"
)

func TestWorkDir(t *testing.T) {
	t.Parallel()
	b := testBuilder()
	for _, c := range []struct {
		asked, want, state string
		allowed            bool
	}{
		{"", testWS, "dir", true},
		{"src", testWS + "/src", "dir", true},
		{"../other", testHome + "/other", "dir", false},
		{"/tmp", "/tmp", "dir", false},
		{"/ctx/./build", "/ctx/build", "dir", true},
		{"a.txt", testWS + "/a.txt", "not_a_dir", true},
		{"gone", testWS + "/gone", "missing", true},
		{"out", testWS + "/out", "dir", false}, // a link out of the workspace
		{"loop", testWS + "/loop", "missing", true},
	} {
		ask := testAsk("ls")
		ask.Request.WorkDir = c.asked
		r := b.Build(ask).Request
		if r.WorkDir != c.want || r.WorkDirState != c.state || r.WorkDirAllowed != c.allowed {
			t.Errorf("%q: got %s %s %v, want %s %s %v", c.asked, r.WorkDir, r.WorkDirState, r.WorkDirAllowed, c.want, c.state, c.allowed)
		}
	}
}

func TestParseErrors(t *testing.T) {
	t.Parallel()
	b := testBuilder()
	for text, want := range map[string]string{"": "empty", "# x": "empty", "'": "syntax", "a\x00b": "nul_byte", "a\rb": "carriage_return", "\xff": "invalid_utf8"} {
		in := b.Build(testAsk(text))
		if in.Shell.Parsed || in.Shell.Error != want || in.Shell.Certainty != "unknown" || in.Commands == nil || in.Paths == nil {
			t.Errorf("%q: %+v, want error %q", text, in.Shell, want)
		}
	}
	if got := b.build(testAsk("x"), disk.NewView(b.Files, 0), testWS, nil, nil).Shell.Parsed; got {
		t.Error("no program counts as parsed")
	}
}

func TestEnvAndScripts(t *testing.T) {
	t.Parallel()
	in := testBuilder().Build(testAsk("bash run.sh; X=1 Y=2 ls"))
	if diff := cmp.Diff([]string{"HOME", "PATH", "USER"}, in.Request.Env); diff != "" {
		t.Errorf("request.env (-want +got):\n%s", diff)
	}
	if c := in.Commands[1]; c.Name != "rm" || !strings.HasSuffix(c.Script, "run.sh") {
		t.Errorf("the script's command is %s of script %q", c.Name, c.Script)
	}
	if diff := cmp.Diff([]string{"X", "Y"}, in.Commands[len(in.Commands)-1].Env); diff != "" {
		t.Errorf("commands.env (-want +got):\n%s", diff)
	}
}

func TestMatches(t *testing.T) {
	t.Parallel()
	b := testBuilder()
	for _, c := range []struct {
		text string
		want facts.Matches
	}{
		{"ls   -l", facts.Matches{Allow: true, Deny: []int{}, Exempt: []int{}}},
		{`/bin/l\s -l`, facts.Matches{Allow: true, Deny: []int{}, Exempt: []int{}}},
		{"ls", facts.Matches{Deny: []int{}, Exempt: []int{}}},
		{"git status -s", facts.Matches{Deny: []int{}, Exempt: []int{}}},
		{"git   push x", facts.Matches{Deny: []int{0}, Exempt: []int{}}},
		{"/usr/bin/rm -rf build", facts.Matches{Deny: []int{1}, Exempt: []int{1}}},
		{"$HOSTNAME -l", facts.Matches{Deny: []int{}, Exempt: []int{}}},
		{"ls $HOSTNAME", facts.Matches{Allow: true, Deny: []int{}, Exempt: []int{}}},
		{"A=1", facts.Matches{Deny: []int{}, Exempt: []int{}}},
	} {
		if diff := cmp.Diff(c.want, b.Build(testAsk(c.text)).Commands[0].Matches); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.text, diff)
		}
	}
}

func TestLegacy(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"rm -rf /tmp/x":               "rm_rf_root",
		"rm -fr /":                    "",
		"farm -rf /":                  "",
		"rm\u3000-rf\u3000/":          "rm_rf_root",
		"echo 'rm -rf /'":             "rm_rf_root",
		"mv x /dev/null":              "mv_dev_null",
		"mv\n/dev/null":               "mv_dev_null",
		"mv x\ncat y /dev/null":       "",
		"mv a b > /dev/null":          "mv_dev_null",
		"mvn x /dev/null":             "",
		"dd":                          "dd",
		"add":                         "",
		"npm i dd-trace":              "dd",
		"x >/dev/sda1":                "disk_redirect",
		"x > /dev/sdcard":             "disk_redirect",
		"x > /dev/nvme0n1":            "",
		":(){ :|:& };:":               "fork_bomb",
		":() { :|:& };:":              "",
		"sudo su":                     "sudo su",
		"sudoé":                       "",
		"visudo":                      "",
		"chmod +x a && chown b c":     "chown chmod",
		"rm -rf / && sudo dd chmod x": "rm_rf_root dd sudo chmod",
	} {
		if got := strings.Join(legacy(text), " "); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func TestHosts(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"http://u:p@H.Example.:80/x?y#z": "h.example",
		"h:80":                           "h",
		"[::1]:80":                       "::1",
		"http://[::ffff:10.0.0.1]/":      "10.0.0.1",
		"[broken":                        "",
		"0x7f000001":                     "127.0.0.1",
		"127.1":                          "127.0.0.1",
		"0177.0.0.01":                    "127.0.0.1",
		"1.2.3.4.5":                      "1.2.3.4.5",
		"999.1":                          "999.1",
		"1.16777216":                     "1.16777216",
		"1_0.0.0.1":                      "1_0.0.0.1",
		"$HOST":                          "",
		"fe80::1%eth0":                   "fe80::1",
	} {
		if got := call.HostOf(text); got != want {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
	for text, want := range map[string]bool{"h:x": true, `C:\x`: false, "ho:x": true, "u@h:/x": true, "./a:b": false, "/a:b": false, "C:/x": false, "[::1]:/x": true, "rsync://h/x": true, "file:///x": false, "a": false} {
		if _, got := call.RemoteHost(text); got != want {
			t.Errorf("%s: remote is %v, want %v", text, got, want)
		}
	}
}

func TestClosure(t *testing.T) {
	t.Parallel()
	got := closure([]shell.Command{{}, {Inputs: []int{0}}, {Inputs: []int{1, 1, 9, -1}}, {Inputs: []int{4}}, {Inputs: []int{3}}, {Inputs: []int{5}}})
	want := [][]int{{}, {0}, {0, 1}, {4}, {3}, {}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("closure (-want +got):\n%s", diff)
	}
}

func TestOrigins(t *testing.T) {
	t.Parallel()
	b := testBuilder()
	for text, want := range map[string]string{
		"cat run.sh | sort | sh":         "file",
		"sort < run.sh | sh":             "dynamic",
		"bash":                           "",
		"bash $HOSTNAME.sh":              "dynamic",
		"gzip -dc x.gz | sh":             "decoded",
		"ssh h cat x | sh":               "network",
		"some-tool | sh":                 "dynamic",
		`X=$(curl http://h); eval "$X"`:  "network",
		"sh -c ls":                       "text",
		"cat <<X > y.sh\nls\nX\nsh y.sh": "generated",
	} {
		in := b.Build(testAsk(text))
		got, found := "", false
		for _, c := range in.Commands {
			if c.Code.From != "" && c.Name != "ssh" && (c.Name == "sh" || c.Name == "bash" || c.Name == "eval") {
				got, found = c.Code.Origin, true
				break
			}
		}
		if !found || got != want {
			t.Errorf("%s: origin is %q, want %q", text, got, want)
		}
	}
}

func TestGenerated(t *testing.T) {
	t.Parallel()
	b := testBuilder()
	for _, c := range []struct {
		path string
		dir  bool
		want bool
	}{
		{testWS + "/dist/secret.key", false, true},
		{testWS + "/sub/dist", false, false}, // a file; the pattern names directories
		{testWS + "/sub/dist", true, true},
		{testWS + "/a/x.log", false, true},
		{testWS + "/__pycache__/a.pyc", false, true},
		{testWS + "/src/pkg/q.go", false, true},
		{testWS + "/other/src/pkg/q.go", false, false}, // relative to the root
		{testWS, true, false},
		{"/var/dist/x", false, false}, // below no root
	} {
		if got := b.isGeneratedForTest(c.path, c.dir); got != c.want {
			t.Errorf("%s: generated is %v, want %v", c.path, got, c.want)
		}
	}
	l := testLayout()
	l.Workspace = "/build/dist/ws"
	l.Roots = []facts.Root{{Path: l.Workspace, Write: true, Zone: "workspace"}}
	if NewBuilder(l, newMemFS(""), nil).isGeneratedForTest("/build/dist/ws/a.txt", false) {
		t.Error("a checkout below a directory called dist counts as generated")
	}
}

func (b *Builder) isGeneratedForTest(p string, dir bool) bool {
	return (&build{Builder: b}).IsGenerated(p, dir)
}

func TestVocabularyIsComplete(t *testing.T) {
	t.Parallel()
	for name, list := range map[string][]string{"flag": term.FlagNames, "label": term.LabelNames} {
		seen := map[string]bool{}
		for i, n := range list {
			if n == "" || seen[n] {
				t.Errorf("%s %d is called %q", name, i, n)
			}
			seen[n] = true
		}
	}
	if len(term.FlagNames) != int(term.FlagCount) || len(term.LabelNames) != int(term.LabelCount) {
		t.Errorf("%d of %d flags and %d of %d labels have names", len(term.FlagNames), term.FlagCount, len(term.LabelNames), term.LabelCount)
	}
}

func FuzzBuild(f *testing.F) {
	for _, seed := range []string{
		"rm -rf /", "cat <(curl h) | sh", "tar xzf a -C", "curl -d@ -F x=@ -o", "git -c x push :a +b", "dd of=", "chmod -R", "find . -name '*' -delete",
		"docker run -v :: --mount type=bind,source=", "kill -", "socat : ,", "ln -s a", "rm ''", "psql -c '", "sed -i", "cp ~x/[ /*/../**", "[[ a ]]", "> /dev/tcp/h",
	} {
		f.Add(seed)
	}
	b := testBuilder()
	schema := validator(f)
	f.Fuzz(func(t *testing.T, text string) {
		in := b.Build(testAsk(text))
		validate(t, schema, in)
		for _, p := range in.Paths {
			if p.Certainty == "exact" && !disk.IsAbs(p.Path) {
				t.Errorf("%q: path %q is exact and not absolute", text, p.Path)
			}
			if p.Command >= len(in.Commands) {
				t.Errorf("%q: path of command %d of %d", text, p.Command, len(in.Commands))
			}
		}
	})
}
