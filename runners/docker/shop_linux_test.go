package docker

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/docker/docker/api/types/image"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/images"
	"github.com/sallyport-dev/sallyport/internal/leftout"
)

// wheel writes a Python package in its packed form: one module that knows its version.
func wheel(t testing.TB, dir, name, version string) string {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	info := fmt.Sprintf("%s-%s.dist-info/", name, version)
	for file, text := range map[string]string{
		name + ".py":      fmt.Sprintf("version = %q\n", version),
		info + "METADATA": fmt.Sprintf("Metadata-Version: 2.1\nName: %s\nVersion: %s\n", name, version),
		info + "WHEEL":    "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
		info + "RECORD":   "",
	} {
		w, err := z.Create(file)
		must(t, err)
		_, err = w.Write([]byte(text))
		must(t, err)
	}
	must(t, z.Close())
	return placed(t, dir, fmt.Sprintf("%s-%s-py3-none-any.whl", name, version), b.Bytes())
}

// tarball writes an npm package: one program that says its version.
func tarball(t testing.TB, dir, name, version string) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for file, text := range map[string]string{
		"package/package.json": fmt.Sprintf(`{"name": %q, "version": %q, "bin": {%q: "main.js"}}`, name, version, name),
		"package/main.js":      fmt.Sprintf("#!/usr/bin/env node\nconsole.log(%q)\n", version),
	} {
		must(t, w.WriteHeader(&tar.Header{Name: file, Mode: 0o755, Size: int64(len(text)), ModTime: time.Unix(1e9, 0)}))
		_, err := w.Write([]byte(text))
		must(t, err)
	}
	must(t, w.Close())
	must(t, z.Close())
	return placed(t, dir, fmt.Sprintf("%s-%s.tgz", name, version), b.Bytes())
}

// deb writes a Debian package: one program that says its version.
func deb(t testing.TB, dir, name, version string) string {
	t.Helper()
	member := func(file, text string, mode int64) []byte {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		w := tar.NewWriter(z)
		must(t, w.WriteHeader(&tar.Header{Name: file, Mode: mode, Size: int64(len(text)), ModTime: time.Unix(1e9, 0), Format: tar.FormatGNU}))
		_, err := w.Write([]byte(text))
		must(t, err)
		must(t, w.Close())
		must(t, z.Close())
		return b.Bytes()
	}
	var b bytes.Buffer
	b.WriteString("!<arch>\n")
	control := fmt.Sprintf("Package: %s\nVersion: %s\nArchitecture: all\nMaintainer: Test <test@example.invalid>\nDescription: test\n", name, version)
	for _, m := range []struct {
		name string
		data []byte
	}{
		{"debian-binary", []byte("2.0\n")}, {"control.tar.gz", member("./control", control, 0o644)},
		{"data.tar.gz", member("./usr/bin/"+name, "#!/bin/sh\necho "+version+"\n", 0o755)},
	} {
		fmt.Fprintf(&b, "%-16s%-12d%-6d%-6d%-8s%-10d`\n", m.name, 1_000_000_000, 0, 0, "100644", len(m.data))
		b.Write(m.data)
		if len(m.data)%2 == 1 {
			b.WriteByte('\n')
		}
	}
	return placed(t, dir, fmt.Sprintf("%s_%s_all.deb", name, version), b.Bytes())
}

// placed writes a file that commands of any user can read and returns its path in the container.
func placed(t testing.TB, dir, name string, content []byte) string {
	t.Helper()
	must(t, os.WriteFile(filepath.Join(dir, name), content, 0o644))
	return "/packages/" + name
}

// shop is a lab with a directory of packages, which containers have as /packages.
type shop struct {
	*lab
	dir   string
	mu    sync.Mutex
	steps []string
}

// clean removes the images that this test made: their packages are those of its own directory.
func (s *shop) clean(t testing.TB) {
	e, err := Connect(context.Background(), s.o)
	must(t, err)
	defer e.Close()
	all, err := e.Images(context.Background())
	must(t, err)
	for _, i := range all { // the youngest first, so that none is the parent of another
		if strings.Contains(i.Holds, "sallyport-test-") || strings.Contains(i.Holds, "sallyport_test_") {
			_, err := e.cli.ImageRemove(context.Background(), i.ID, image.RemoveOptions{Force: true, PruneChildren: true})
			if err != nil && !strings.Contains(err.Error(), "No such image") {
				t.Logf("remove image: %v", err)
			}
		}
	}
}

// prepare is a session's wait for its image; it says how many steps were told.
func (s *shop) prepare(p Packages) (Image, int, error) {
	s.o.Packages = p
	r := s.runner()
	defer func() { must(s.t, r.Close()) }()
	told := 0
	r.Watch(func(p Progress) {
		s.mu.Lock()
		defer s.mu.Unlock()
		if p.Step != "" {
			told++
			s.steps = append(s.steps, p.Step)
		}
	})
	i, err := r.Prepare(context.Background(), s.spec())
	return i, told, err
}

func (s *shop) runIn(t testing.TB, text string) engine.Exit {
	t.Helper()
	env := s.open(s.spec())
	defer env.Close()
	return run(t, env, s.workspace, text)
}

// needs leaves a test out if the image is not one of ours, which have all that packages are installed with.
func (s *shop) needs(t testing.TB) {
	t.Helper()
	e, err := Connect(context.Background(), s.o)
	must(t, err)
	defer e.Close()
	found, err := e.cli.ImageInspect(context.Background(), s.o.Image)
	must(t, err)
	if !strings.HasPrefix(found.Config.Labels[images.Label], "runtime") {
		leftout.Skip(t, leftout.Docker, "the image is not the runtime image: build that with \"sallyport image build\"")
	}
}

func newShop(t testing.TB) *shop {
	t.Helper()
	s := &shop{lab: newLab(t), dir: filepath.Join(filepath.Dir(newDir(t)), "packages")}
	must(t, os.MkdirAll(s.dir, 0o755))
	s.o.Mounts = []Mount{{Source: s.dir, Target: "/packages"}}
	t.Cleanup(func() { s.clean(t) })
	return s
}

func newDir(t testing.TB) string {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	must(t, os.Chmod(filepath.Dir(dir), 0o755))
	return filepath.Join(dir, "x")
}
