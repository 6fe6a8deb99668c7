package docker

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/image"

	"github.com/sallyport-dev/sallyport/images"
	"github.com/sallyport-dev/sallyport/internal/leftout"
)

// builder is an engine for tests that build, with the images that they build on. Their images are gone after
// the test.
func builder(t *testing.T, on ...string) (*Engine, func(string) string) {
	t.Helper()
	leftout.NeedDocker(t, on...)
	e, err := Connect(context.Background(), Options{Environ: os.Environ(), Home: os.Getenv("HOME"), State: t.TempDir()})
	must(t, err)
	name := fmt.Sprintf("sallyport-test/%d-%s", os.Getpid(), strings.ToLower(t.Name()))
	t.Cleanup(func() {
		all, err := e.cli.ImageList(context.Background(), image.ListOptions{})
		must(t, err)
		for _, i := range all {
			if slices.ContainsFunc(i.RepoTags, func(tag string) bool { return strings.HasPrefix(tag, name) }) {
				_, err := e.cli.ImageRemove(context.Background(), i.ID, image.RemoveOptions{Force: true, PruneChildren: true})
				must(t, err)
			}
		}
		_ = e.Close()
	})
	return e, func(tag string) string { return name + ":" + tag }
}

func TestBuildImage(t *testing.T) {
	t.Parallel()
	e, name := builder(t, testImage())
	ctx := context.Background()
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "greeting"), []byte("hello"), 0o600))
	build := Build{
		Tag: name("one"), Context: dir, Args: map[string]string{"BASE": testImage()}, Labels: map[string]string{images.Label: "custom"},
		Dockerfile: []byte("ARG BASE=none\nFROM ${BASE}\nUSER root\nCOPY greeting /\nRUN cat /greeting; test ! -e /.sallyport.Dockerfile\n"),
	}
	var got told
	build.Report = got.report
	id, err := e.BuildImage(ctx, build)
	if err != nil || !strings.HasPrefix(id, "sha256:") {
		t.Fatal(id, err)
	}
	if !slices.Contains(got.lines, ">2/6 FROM ${BASE}") || !slices.Contains(got.lines, "hello") {
		t.Errorf("told %q", got.lines)
	}
	all, err := e.Images(ctx)
	must(t, err)
	if !slices.ContainsFunc(all, func(b Built) bool {
		return b.ID == id && b.Kind == "custom" && slices.Equal(b.Names, []string{name("one")}) &&
			b.Bytes > 0 && !b.Created.IsZero()
	}) {
		t.Errorf("%s is not listed: %+v", id, all)
	}

	build.Dockerfile = []byte("FROM sallyport-test.invalid/none:none\n")
	if _, err := e.BuildImage(ctx, build); err == nil || !strings.Contains(err.Error(), "--base debootstrap") {
		t.Errorf("a base that is not to be had: %v", err)
	}
	build.Dockerfile = []byte("ARG BASE=none\nFROM ${BASE}\nRUN echo so it goes >&2; exit 7\n")
	if _, err := e.BuildImage(ctx, build); err == nil || !strings.Contains(err.Error(), "returned a non-zero code: 7") || !slices.Contains(got.lines, "so it goes") {
		t.Errorf("a step that fails: %v, told %q", err, got.lines)
	}
	build.Context = filepath.Join(dir, "gone")
	if _, err := e.BuildImage(ctx, build); err == nil {
		t.Error("a directory that is not there was sent")
	}

	// A build ends with its context, and says that.
	ctx, cancel := context.WithCancel(ctx)
	build.Context, build.NoCache = "", true
	build.Dockerfile = []byte("ARG BASE=none\nFROM ${BASE}\nRUN echo begun; sleep 3600\n")
	build.Report = func(p Progress) {
		if p.Line == "begun" {
			cancel()
		}
	}
	if _, err := e.BuildImage(ctx, build); err == nil || !strings.Contains(err.Error(), "canceled") {
		t.Errorf("a build that was stopped: %v", err)
	}
}

func TestPruneImages(t *testing.T) {
	e, name := builder(t, testImage())
	ctx := context.Background()
	var ids []string
	for n := range 2 { // the second takes the name of the first
		id, err := e.BuildImage(ctx, Build{
			Tag: name("x"), Args: map[string]string{"BASE": testImage()}, Labels: map[string]string{images.Label: "custom"},
			Dockerfile: fmt.Appendf(nil, "ARG BASE\nFROM ${BASE}\nENV N=%d-%d\n", os.Getpid(), n),
		})
		must(t, err)
		ids = append(ids, id)
	}
	removed, err := e.PruneImages(ctx, false)
	must(t, err)
	has := func(id string) bool { return slices.ContainsFunc(removed, func(b Built) bool { return b.ID == id }) }
	if !has(ids[0]) || has(ids[1]) {
		t.Errorf("removed %+v of %q", removed, ids)
	}
	for n, want := range []bool{false, true} {
		if there, err := e.HasImage(ctx, ids[n]); err != nil || there != want {
			t.Errorf("image %d is there: %v, %v", n, there, err)
		}
	}
}

// debootstrapThat puts a program of that name before all others on PATH: a shell script.
func debootstrapThat(t *testing.T, does string) {
	t.Helper()
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "debootstrap"), []byte("#!/bin/sh\n"+does), 0o755))
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
}

func TestMakeBase(t *testing.T) {
	e, name := builder(t)
	if os.Geteuid() != 0 {
		if err := e.MakeBase(context.Background(), Base{Tag: name("x"), Suite: "trixie"}); err == nil || !strings.Contains(err.Error(), "sudo") {
			t.Errorf("without root: %v", err)
		}
		return
	}
	mirror := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodHead || r.URL.Path != "/debian-security/dists/trixie-security/InRelease" {
			w.WriteHeader(http.StatusNotFound)
		}
	}))
	defer mirror.Close()
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	debootstrapThat(t, `
[ "$*" = "--variant=minbase --include=ca-certificates trixie $4 $5" ] || { echo "called with $*" >&2; exit 9; }
echo "I: Retrieving everything"
mkdir -p "$4/etc/apt" "$4/bin" "$4/dev" "$4/var/cache/apt/archives"
echo "deb $5 trixie main" > "$4/etc/apt/sources.list"
echo 1 > "$4/dev/zero"; echo 1 > "$4/var/cache/apt/archives/x.deb"; echo 1 > "$4/bin/kept"
`)
	var got told
	base := Base{Tag: name("x"), Suite: "trixie", Mirror: mirror.URL + "/debian", Environ: os.Environ(), Report: got.report}
	must(t, e.MakeBase(context.Background(), base))
	if !slices.Contains(got.lines, "Retrieving everything") || !slices.Contains(got.lines, ">debootstrap trixie") {
		t.Errorf("told %q", got.lines)
	}
	found, err := e.cli.ImageInspect(context.Background(), base.Tag)
	must(t, err)
	if found.Config.Labels[images.Label] != "base" {
		t.Errorf("labels %v", found.Config.Labels)
	}
	files, text := exported(t, e, base.Tag)
	if !slices.Contains(files, "bin/kept") || slices.Contains(files, "var/cache/apt/archives/x.deb") {
		t.Errorf("it holds %q", files)
	}
	want := fmt.Sprintf("deb %[1]s/debian trixie main\ndeb %[1]s/debian-security trixie-security main\n", mirror.URL)
	if text["etc/apt/sources.list"] != want {
		t.Errorf("sources %q, want %q", text["etc/apt/sources.list"], want)
	}

	for _, tc := range []struct{ does, suite, want string }{
		{"echo 'E: Release signed by unknown key' >&2; exit 1", "trixie", "signed by unknown key"},
		{"exit 0", "trixie", "sources.list"},
		{"exit 0", "--unpack-tarball=x", "no release of Debian"},
	} {
		debootstrapThat(t, tc.does)
		err := e.MakeBase(context.Background(), Base{Tag: name("y"), Suite: tc.suite, Environ: os.Environ()})
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%q: %v, want %q", tc.does, err, tc.want)
		}
	}
	if there, err := e.HasImage(context.Background(), name("y")); there || err != nil {
		t.Errorf("half an image was made: %v", err)
	}
	// A program that goes on is ended with the context.
	debootstrapThat(t, "echo I: begun; exec sleep 3600")
	ctx, cancel := context.WithCancel(context.Background())
	err = e.MakeBase(ctx, Base{Tag: name("y"), Suite: "trixie", Environ: os.Environ(), Report: func(p Progress) {
		if p.Line == "begun" {
			cancel()
		}
	}})
	if err == nil || !strings.Contains(err.Error(), "canceled") {
		t.Errorf("a program that goes on: %v", err)
	}
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("left in the directory of temporary files: %v, %v", left, err)
	}
}

// exported returns the names of the files of an image, and what is in the small ones.
func exported(t *testing.T, e *Engine, ref string) (names []string, text map[string]string) {
	t.Helper()
	c, err := e.cli.ContainerCreate(context.Background(), &container.Config{Image: ref, Cmd: []string{"none"}}, nil, nil, nil, "")
	must(t, err)
	defer func() {
		must(t, e.cli.ContainerRemove(context.Background(), c.ID, container.RemoveOptions{Force: true}))
	}()
	all, err := e.cli.ContainerExport(context.Background(), c.ID)
	must(t, err)
	defer all.Close()
	text = map[string]string{}
	for r := tar.NewReader(all); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return names, text
		}
		must(t, err)
		names = append(names, h.Name)
		if h.Size < 4096 {
			b, err := io.ReadAll(r)
			must(t, err)
			text[h.Name] = string(b)
		}
	}
}
