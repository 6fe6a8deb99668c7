package docker

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sallyport-dev/sallyport/internal/leftout"
)

// homeWith makes a home directory with a credential of each kind. All hold the word s3cret.
func homeWith(t testing.TB) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	for name, mode := range map[string]os.FileMode{
		".ssh/id_ed25519": 0o600, ".gitconfig": 0o644, ".config/gh/hosts.yml": 0o600, ".npmrc": 0o600, ".pypirc": 0o600,
		".claude/settings.json": 0o600, ".codex/auth.json": 0o600, ".gemini/oauth.json": 0o600,
	} {
		file := filepath.Join(dir, name)
		must(t, os.MkdirAll(filepath.Dir(file), 0o700))
		must(t, os.WriteFile(file, []byte("[user]\n\tname = s3cret\n"), mode))
	}
	return dir
}

func allKinds() []string {
	return []string{"ssh_keys", "git_config", "gh_config", "npm_config", "pypi_config", "claude_config", "codex_config", "gemini_config"}
}

func TestCredentialMounts(t *testing.T) {
	t.Parallel()
	dir := homeWith(t)
	o, warnings, err := Options{Home: dir, User: "1000", Environ: nil}.Grant(Credentials{Mount: allKinds()}, dir)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	for _, p := range credentialPlaces() {
		want[home+"/"+p.path] = filepath.Join(dir, p.path)
	}
	got := map[string]string{}
	for _, m := range o.Mounts {
		if m.Write || !m.Given {
			t.Errorf("%+v: it can be written, or the guard does not know it", m)
		}
		got[m.Target] = m.Source
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	if mine := os.Geteuid() == 1000; runtime.GOOS != "windows" && !mine && !strings.Contains(strings.Join(warnings, "\n"), "cannot read") {
		t.Errorf("nobody is told that user 1000 cannot read the files of user %d: %q", os.Geteuid(), warnings)
	}
}

func TestCredentialsThatAreLeftOut(t *testing.T) {
	t.Parallel()
	empty, odd := t.TempDir(), t.TempDir()
	must(t, os.WriteFile(filepath.Join(odd, ".ssh"), nil, 0o600))
	must(t, os.Mkdir(filepath.Join(odd, ".npmrc"), 0o700))
	if err := os.Symlink(odd, filepath.Join(odd, ".claude")); err != nil {
		leftout.Skip(t, leftout.Platform, "no links can be made here: "+err.Error())
	}
	must(t, os.Symlink("/", filepath.Join(odd, ".codex")))
	for _, tc := range []struct{ home, kind, want string }{
		{empty, "git_config", "~/.gitconfig is not there"},
		{odd, "ssh_keys", "~/.ssh is a file and no directory"},
		{odd, "npm_config", "~/.npmrc is a directory and no file"},
		{odd, "claude_config", "which holds the whole home directory"},
		{odd, "codex_config", "which holds the whole home directory"},
		{empty, "house_keys", "no such kind"},
		{"", "ssh_keys", "no home directory"},
	} {
		o, warnings, err := Options{Home: tc.home}.Grant(Credentials{Mount: []string{tc.kind}}, empty)
		if len(o.Mounts) != 0 || err != nil || len(warnings) != 1 || !strings.Contains(warnings[0], tc.want) {
			t.Errorf("%s: mounts %v, warnings %q, error %v; want a warning about %q", tc.kind, o.Mounts, warnings, err, tc.want)
		}
	}
}

func TestCredentialVariables(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "vars")
	must(t, os.WriteFile(file, []byte("export A=file # comment\nB='two words'\nTOKEN=file\n"), 0o600))
	here := []string{"PATH=/here", "HOME=/here", "TOKEN=here", "KEY=s3cret", "LD_PRELOAD=/x.so", "BASH_ENV=/x", "BASH_FUNC_ls%%=() { :; }", "XDG_RUNTIME_DIR=/run/x", "DOCKER_HOST=unix:///x", "CERTS=" + file, "=odd", "odd"}
	for name, tc := range map[string]struct {
		c        Credentials
		want     []string
		warnings []string
	}{
		"none":     {Credentials{}, []string{"A=given"}, nil},
		"file":     {Credentials{EnvFile: file}, []string{"A=file", "B=two words", "TOKEN=file"}, nil},
		"some":     {Credentials{EnvFile: file, EnvFileNames: []string{"B", "GONE"}}, []string{"A=given", "B=two words"}, []string{"GONE"}},
		"named":    {Credentials{EnvFile: file, Env: []string{"TOKEN", "GONE"}}, []string{"A=file", "B=two words", "TOKEN=here"}, []string{"GONE"}},
		"all":      {Credentials{PassAll: true}, []string{"A=given", "KEY=s3cret", "TOKEN=here"}, []string{"pass_all: commands get these variables with whatever secrets are in them: KEY, TOKEN"}},
		"asked":    {Credentials{Env: []string{"PATH"}}, []string{"A=given", "PATH=/here"}, nil},
		"all, too": {Credentials{EnvFile: file, PassAll: true, Env: []string{"DOCKER_HOST"}}, []string{"A=file", "B=two words", "DOCKER_HOST=unix:///x", "KEY=s3cret", "TOKEN=here"}, []string{"A, B, DOCKER_HOST, KEY, TOKEN"}},
	} {
		t.Run(name, func(t *testing.T) {
			o, warnings, err := Options{Environ: here, Given: []string{"A=given"}}.Grant(tc.c, "")
			if d := cmp.Diff(tc.want, o.Given); d != "" || err != nil {
				t.Errorf("%v, -want +got:\n%s", err, d)
			}
			if len(warnings) != len(tc.warnings) {
				t.Fatalf("warnings %q, want %d", warnings, len(tc.warnings))
			}
			for i, w := range tc.warnings {
				if !strings.Contains(warnings[i], w) || strings.Contains(warnings[i], "s3cret") {
					t.Errorf("warning %q, want something about %q and no secret", warnings[i], w)
				}
			}
		})
	}
	must(t, os.WriteFile(file, []byte("A=1\nthis is s3cret\n"), 0o600))
	_, _, err := Options{}.Grant(Credentials{EnvFile: file}, "")
	if err == nil || !strings.Contains(err.Error(), "line 2") || strings.Contains(err.Error(), "s3cret") {
		t.Errorf("got %v, want something about line 2 and no secret", err)
	}
}
