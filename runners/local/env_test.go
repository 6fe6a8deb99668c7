package local_test

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sallyport-dev/sallyport/internal/leftout"
	"github.com/sallyport-dev/sallyport/runners/local"
)

// host is an environment with secrets in it.
func host() []string {
	return []string{
		"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=/home/u", "USER=u", "LANG=C.UTF-8", "LC_TIME=de_DE.UTF-8", "TZ=UTC",
		"SHELL=/bin/fish", "OPENAI_API_KEY=sk-1", "GITHUB_TOKEN=ghp", "BASH_ENV=/tmp/x", "LD_PRELOAD=/tmp/x.so",
		"BASH_FUNC_ls%%=() { echo no; }", "PYTHONHOME=/py", "OLDPWD=/", "=odd", "odd",
	}
}

func unixOnly(t *testing.T) {
	t.Helper()
	if runtime.GOOS == "windows" {
		leftout.Skip(t, leftout.Platform, "the paths of this test are those of a Unix: run it there")
	}
}

func prepared(t *testing.T, opts local.Options, workspace, workDir, text string) (string, map[string]string) {
	t.Helper()
	env := open(t, opts, workspace)
	defer env.Close()
	c, err := env.Prepare(text, workDir)
	if err != nil {
		t.Fatal(err)
	}
	if c.WorkDir != workDir || !slices.IsSorted(c.Env) {
		t.Errorf("working directory %q, environment %q", c.WorkDir, c.Env)
	}
	vars := map[string]string{}
	for _, kv := range c.Env {
		name, value, _ := strings.Cut(kv, "=")
		if _, twice := vars[name]; twice {
			t.Errorf("%s is there twice", name)
		}
		vars[name] = value
	}
	return c.Text, vars
}

func TestEnvironment(t *testing.T) {
	t.Parallel()
	unixOnly(t)
	dir := t.TempDir()
	file := filepath.Join(dir, "vars")
	content := "\xef\xbb\xbf# comment\nexport A=1\nB=\"two words\"\nC='$A'\nD=\"$A-x\"\nE=\n\nLANG=tr_TR # over the host's\nMULTI=\"a\nb\"\n"
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	basis := func(more map[string]string) map[string]string {
		m := map[string]string{
			"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/home/u", "USER": "u", "LANG": "C.UTF-8",
			"LC_TIME": "de_DE.UTF-8", "TZ": "UTC", "PWD": dir,
		}
		for k, v := range more {
			m[k] = v
		}
		return m
	}
	for _, tc := range []struct {
		name string
		opts local.Options
		want map[string]string
	}{
		{"allow list", local.Options{}, basis(nil)},
		{"named", local.Options{Env: []string{"GITHUB_TOKEN", "ABSENT"}}, basis(map[string]string{"GITHUB_TOKEN": "ghp"})},
		{
			"file",
			local.Options{EnvFile: file},
			basis(map[string]string{"A": "1", "B": "two words", "C": "$A", "D": "1-x", "E": "", "LANG": "tr_TR", "MULTI": "a\nb"}),
		},
		{"names of the file", local.Options{EnvFile: file, EnvFileNames: []string{"B"}}, basis(map[string]string{"B": "two words"})},
		{"no host", local.Options{Host: []string{}}, map[string]string{"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "PWD": dir}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if tc.opts.Host == nil {
				tc.opts.Host = host()
			}
			_, got := prepared(t, tc.opts, "", dir, "true")
			if shell := got["SHELL"]; !filepath.IsAbs(shell) || shell == "/bin/fish" {
				t.Errorf("SHELL=%s", shell)
			}
			delete(got, "SHELL")
			if d := cmp.Diff(tc.want, got); d != "" {
				t.Errorf("-want +got:\n%s", d)
			}
		})
	}
	t.Run("everything", func(t *testing.T) {
		if _, got := prepared(t, local.Options{Host: host(), PassAll: true}, "", dir, "true"); got["OPENAI_API_KEY"] != "sk-1" {
			t.Errorf("got %v", got)
		}
	})
}

func TestEnvironmentFileErrors(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "vars")
	if err := os.WriteFile(file, []byte("A=1\nB=2\nthis is s3cret\nC=3\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := local.New(local.Options{EnvFile: file})
	if err == nil || !strings.Contains(err.Error(), "line 3") || strings.Contains(err.Error(), "s3cret") {
		t.Errorf("got %v, want something about line 3 and no secret", err)
	}
}

func TestVenv(t *testing.T) {
	t.Parallel()
	unixOnly(t)
	workspace, named := t.TempDir(), filepath.Join(t.TempDir(), "env")
	sub, bare := filepath.Join(workspace, "sub"), t.TempDir()
	for _, dir := range []string{filepath.Join(workspace, ".venv/bin"), filepath.Join(sub, ".venv/bin"), filepath.Join(named, "bin"), filepath.Join(workspace, "other")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, tc := range []struct {
		name, venv, prefix, workspace, workDir, want string
	}{
		{"of the working directory", "auto", "", workspace, sub, sub + "/.venv"},
		{"of the workspace", "", "", workspace, workspace + "/other", workspace + "/.venv"},
		{"none there", "auto", "", bare, bare, ""},
		{"turned off", "none", "", workspace, sub, ""},
		{"named", named, "", workspace, sub, named},
		{"prefix wins", named, "uv run", workspace, sub, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			opts := local.Options{Venv: tc.venv, Prefix: tc.prefix, Host: host(), Env: []string{"PYTHONHOME"}}
			_, got := prepared(t, opts, tc.workspace, tc.workDir, "python x.py")
			if got["VIRTUAL_ENV"] != tc.want {
				t.Errorf("VIRTUAL_ENV=%s, want %s", got["VIRTUAL_ENV"], tc.want)
			}
			path, home := "/usr/local/bin:/usr/bin:/bin", "/py"
			if tc.want != "" {
				path, home = tc.want+"/bin:"+path, ""
			}
			if got["PATH"] != path || got["PYTHONHOME"] != home {
				t.Errorf("PATH=%s, PYTHONHOME=%s", got["PATH"], got["PYTHONHOME"])
			}
		})
	}
	if _, err := local.New(local.Options{Venv: filepath.Join(bare, "none")}); err == nil || !strings.Contains(err.Error(), "bin") {
		t.Errorf("a virtual environment that is not there: %v", err)
	}
}

func TestPrefix(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for text, want := range map[string]string{
		"pytest -q tests/a_b.py":    "pfx run pytest -q tests/a_b.py",
		"  python -m x  ":           "pfx run python -m x",
		"./x.sh --a=b,c":            "pfx run ./x.sh --a=b,c",
		"a; b":                      "pfx run bash -c 'a; b'",
		"a\nb":                      "pfx run bash -c 'a\nb'",
		"cd src":                    "pfx run bash -c 'cd src'",
		"time make":                 "pfx run bash -c 'time make'",
		"X=1 python x.py":           "pfx run bash -c 'X=1 python x.py'",
		`python -c "print('hi')"`:   `pfx run bash -c 'python -c "print('\''hi'\'')"'`,
		"ls *.py":                   "pfx run bash -c 'ls *.py'",
		"echo $HOME":                "pfx run bash -c 'echo $HOME'",
		"python x.py > out # done":  "pfx run bash -c 'python x.py > out # done'",
		"{ a; }":                    "pfx run bash -c '{ a; }'",
		"~/bin/x":                   "pfx run bash -c '~/bin/x'",
		"python x.py\tä":            "pfx run bash -c 'python x.py\tä'",
		"! false":                   "pfx run bash -c '! false'",
		"":                          "",
		"  ":                        "  ",
		"cat <<E\n$x\nE\n":          "pfx run bash -c 'cat <<E\n$x\nE\n'",
		"python x.py &":             "pfx run bash -c 'python x.py &'",
		"--help":                    "pfx run bash -c '--help'",
		"conda-thing a@b c:d e+f %": "pfx run conda-thing a@b c:d e+f %",
	} {
		if got, _ := prepared(t, local.Options{Prefix: " pfx run "}, "", dir, text); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

// TestPrefixRuns checks, with a prefix that passes on what it is given, that a text does the same
// with it as without.
func TestPrefixRuns(t *testing.T) {
	t.Parallel()
	unixOnly(t)
	for _, text := range []string{
		"printf %s, a b", "cd /; pwd", "echo 'it''s' \"$((1+1))\"", `printf '%s|' "a'b" 'c\d' $'e\nf'`, "x=1; echo $x | cat; exit 3",
		"cat <<'E'\n$x 'y'\nE\n", "echo a > /dev/null; echo b",
	} {
		want, got := output(t, local.Options{}, text), output(t, local.Options{Prefix: "env A=1"}, text)
		if got != want {
			t.Errorf("%q: got %q, without the prefix %q", text, got, want)
		}
	}
}

func TestPrepareRelative(t *testing.T) {
	t.Parallel()
	env := open(t, local.Options{}, "")
	defer env.Close()
	if _, err := env.Prepare("true", "sub"); err == nil {
		t.Error("a relative working directory was accepted")
	}
}
