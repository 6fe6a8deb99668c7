package docker

import (
	"archive/tar"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// told collects progress: steps marked with ">".
type told struct{ lines []string }

func (c *told) report(p Progress) {
	if p.Step != "" {
		c.lines = append(c.lines, ">"+p.Step)
	} else {
		c.lines = append(c.lines, p.Line)
	}
}

func TestMessages(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		answer, id, err string
		lines           []string
	}{
		"build": {
			answer: `{"stream":"Step 1/2 : FROM x\n"}{"stream":"\n"}{"stream":" ---> 12\nStep 2/2 : RUN  a   b\r\n"}{"aux":{"ID":"sha256:12"}}{"stream":"Successfully built 12\n"}`,
			id:     "sha256:12", lines: []string{">1/2 FROM x", "---> 12", ">2/2 RUN a b", "Successfully built 12"},
		},
		"pull":        {answer: `{"status":"Pulling","progress":"[=> ]"}{"aux":[1]}{"status":"Done"}`, lines: []string{"Pulling [=> ]", "Done"}},
		"error":       {answer: `{"stream":"x"}{"errorDetail":{"message":"no such thing\n"},"error":"e"}`, err: "no such thing", lines: []string{"x"}},
		"short error": {answer: `{"error":"e"}`, err: "e"},
		"cut":         {answer: `{"stream":"x"}{"str`, err: "read the engine's answer", lines: []string{"x"}},
		"no JSON":     {answer: `<html>`, err: "read the engine's answer"},
		"empty":       {},
	} {
		var got told
		id, err := Report(got.report).messages(strings.NewReader(tc.answer))
		if id != tc.id || (err == nil) != (tc.err == "") || err != nil && !strings.Contains(err.Error(), tc.err) {
			t.Errorf("%s: %q, %v; want %q, %q", name, id, err, tc.id, tc.err)
		}
		if d := cmp.Diff(tc.lines, got.lines); d != "" {
			t.Errorf("%s: -want +got:\n%s", name, d)
		}
		if _, err := Report(nil).messages(strings.NewReader(tc.answer)); (err == nil) != (tc.err == "") {
			t.Errorf("%s, told to nobody: %v", name, err)
		}
	}
}

func TestStepsAreShort(t *testing.T) {
	t.Parallel()
	var got told
	Report(got.report).stream("Step 1/1 : RUN " + strings.Repeat("ä", 200) + "\n")
	if len(got.lines) != 1 || len(got.lines[0]) > longStep+20 || strings.Contains(got.lines[0], "\uFFFD") {
		t.Errorf("got %q", got.lines)
	}
}

func TestUnreachableRegistry(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		`Get "https://registry.invalid/v2/": dial tcp: lookup registry.invalid: no such host`:               true,
		`pull access denied for x, repository does not exist or may require 'docker login'`:                 true,
		`manifest for x:y not found: manifest unknown`:                                                      true,
		`The command '/bin/sh -c curl x' returned a non-zero code: 6: dial tcp: lookup x: no such host`:     false,
		`The command '/bin/sh -c apt-get install -y nothing' returned a non-zero code: 100`:                 false,
		`Get "https://registry.invalid/v2/": net/http: TLS handshake timeout while asking registry.invalid`: true,
	} {
		if got := strings.Contains(unreachable(errors.New(text)).Error(), "--base debootstrap"); got != want {
			t.Errorf("%s: told of other bases: %v", text, got)
		}
	}
}

// contents reads a build's tar to its end.
func contents(t *testing.T, dockerfile, dir string) (map[string]string, error) {
	t.Helper()
	sent, done := packed([]byte(dockerfile), dir)
	defer done()
	got := map[string]string{}
	for r := tar.NewReader(sent); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return got, nil
		}
		if err != nil {
			return got, err
		}
		text, err := io.ReadAll(r)
		if err != nil {
			return got, err
		}
		if h.Uid != 0 || h.Uname != "" {
			t.Errorf("%s belongs to %d %s", h.Name, h.Uid, h.Uname)
		}
		got[h.Name] = string(text) + h.Linkname
	}
}

func TestBuildContext(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"Dockerfile": "FROM x", "app/main.py": "1", "app/.env": "s3cret", "big/a": "a", "big/b": "b", "big/keep": "c", ".git/config": "s3cret",
		".dockerignore": "# comment\n.git\n**/.env\nbig\n!big/keep\n",
	} {
		file := filepath.Join(dir, name)
		must(t, os.MkdirAll(filepath.Dir(file), 0o755))
		must(t, os.WriteFile(file, []byte(text), 0o600))
	}
	want := map[string]string{
		sentDockerfile: "FROM sent", ".dockerignore": "# comment\n.git\n**/.env\nbig\n!big/keep\n", "Dockerfile": "FROM x",
		"app": "", "app/main.py": "1", "big/keep": "c",
	}
	if os.Symlink("/etc/passwd", filepath.Join(dir, "link")) == nil {
		want["link"] = "/etc/passwd" // as a link, and not what it leads to
	}
	got, err := contents(t, "FROM sent", dir)
	if d := cmp.Diff(want, got); d != "" || err != nil {
		t.Errorf("%v, -want +got:\n%s", err, d)
	}
	got, err = contents(t, "FROM sent", "")
	if names := slices.Collect(maps.Keys(got)); err != nil || !slices.Equal(names, []string{sentDockerfile}) {
		t.Errorf("%v: without a directory there is %q", err, names)
	}
	must(t, os.WriteFile(filepath.Join(dir, ".dockerignore"), []byte("[\n"), 0o600))
	if _, err := contents(t, "", dir); err == nil || !strings.Contains(err.Error(), ".dockerignore") {
		t.Errorf("a pattern that is none: %v", err)
	}
	must(t, os.WriteFile(filepath.Join(dir, ".dockerignore"), nil, 0o600))
	must(t, os.Truncate(filepath.Join(dir, "big", "a"), maxContext+1))
	if _, err := contents(t, "", dir); err == nil || !strings.Contains(err.Error(), "holds more than 1024 MiB") {
		t.Errorf("a directory that was not meant: %v", err)
	}
}
