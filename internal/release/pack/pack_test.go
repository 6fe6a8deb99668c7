package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "github.com/opencontainers/image-spec/specs-go/v1"
)

// tree makes a directory with what a release has, touched at some time and with the modes of some umask.
func tree(t *testing.T, at time.Time, executable, plain fs.FileMode) string {
	t.Helper()
	dir := t.TempDir()
	for _, f := range []struct {
		name string
		mode fs.FileMode
	}{{"usr/bin/tool", executable}, {"usr/share/doc.txt", plain}} {
		file := filepath.Join(dir, f.name)
		err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(f.name), 0o600),
			os.Chmod(file, f.mode), os.Chtimes(file, at, at))
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func packed(t *testing.T, name, dir string) []byte {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	err := run([]string{"-time", "1767225600", "-platform", "linux/arm64", "-version", "v1.2.3", file, dir})
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestSameBytes packs two directories that differ in nothing but place, times and umask.
func TestSameBytes(t *testing.T) {
	t.Parallel()
	one := tree(t, time.Unix(1e9, 0), 0o755, 0o644)
	other := tree(t, time.Unix(1.5e9, 0), 0o700, 0o600)
	for _, name := range []string{"a_1_linux_arm64.tar.gz", "a_1_windows_amd64.zip", "a_1_linux_arm64.oci.tar"} {
		if !bytes.Equal(packed(t, name, one), packed(t, name, other)) {
			t.Errorf("%s: the bytes differ", name)
		}
	}
	if err := os.WriteFile(filepath.Join(other, "usr/bin/tool"), []byte("changed"), 0o600); err != nil {
		t.Fatal(err)
	}
	if bytes.Equal(packed(t, "a.tar.gz", one), packed(t, "a.tar.gz", other)) {
		t.Error("a changed file changes nothing")
	}
}

func TestArchives(t *testing.T) {
	t.Parallel()
	dir := tree(t, time.Unix(1e9, 0), 0o700, 0o600)
	want := []string{"a_1/usr/bin/tool -rwxr-xr-x", "a_1/usr/share/doc.txt -rw-r--r--"}
	plain, err := gzip.NewReader(bytes.NewReader(packed(t, "a_1.tar.gz", dir)))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for from := tar.NewReader(plain); ; {
		h, err := from.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.Typeflag == tar.TypeReg {
			got = append(got, h.Name+" "+h.FileInfo().Mode().String())
		}
		if !h.ModTime.Equal(time.Unix(1767225600, 0)) || h.Uid != 0 || h.Uname != "" {
			t.Errorf("%s: of %v, owner %d %q", h.Name, h.ModTime, h.Uid, h.Uname)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	archive := packed(t, "a_1.zip", dir)
	z, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		t.Fatal(err)
	}
	got = nil
	for _, f := range z.File {
		got = append(got, f.Name+" "+f.Mode().String())
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestImage holds that an image names blobs that are there, under their digests, and is for its platform.
func TestImage(t *testing.T) {
	t.Parallel()
	files := map[string][]byte{}
	dir := tree(t, time.Unix(1e9, 0), 0o755, 0o644)
	from := tar.NewReader(bytes.NewReader(packed(t, "a_1_linux_arm64.oci.tar", dir)))
	for {
		h, err := from.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if files[h.Name], err = io.ReadAll(from); err != nil {
			t.Fatal(err)
		}
	}
	read := func(d v1.Descriptor, into any) {
		t.Helper()
		text := files["blobs/sha256/"+d.Digest.Encoded()]
		if d.Digest != d.Digest.Algorithm().FromBytes(text) || d.Size != int64(len(text)) {
			t.Errorf("%s is not the blob of its digest", d.Digest)
		}
		if into != nil {
			if err := json.Unmarshal(text, into); err != nil {
				t.Fatal(err)
			}
		}
	}
	var index v1.Index
	if err := json.Unmarshal(files[v1.ImageIndexFile], &index); err != nil {
		t.Fatal(err)
	}
	var manifest v1.Manifest
	read(index.Manifests[0], &manifest)
	var config v1.Image
	read(manifest.Config, &config)
	read(manifest.Layers[0], nil)
	if config.Architecture != "arm64" || config.OS != "linux" ||
		!slices.Equal(config.Config.Entrypoint, []string{"/usr/bin/sallyport"}) {
		t.Errorf("%+v", config)
	}
	plain, err := gzip.NewReader(bytes.NewReader(files["blobs/sha256/"+manifest.Layers[0].Digest.Encoded()]))
	if err != nil {
		t.Fatal(err)
	}
	layer, err := io.ReadAll(plain)
	if err != nil {
		t.Fatal(err)
	}
	if id := config.RootFS.DiffIDs[0]; id != id.Algorithm().FromBytes(layer) {
		t.Error("the layer is not the one that the configuration names")
	}
	if !strings.Contains(string(files["manifest.json"]), `"RepoTags":["a:v1.2.3"]`) {
		t.Errorf("docker load finds no name: %s", files["manifest.json"])
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	dir := tree(t, time.Unix(1e9, 0), 0o755, 0o644)
	if err := run([]string{filepath.Join(t.TempDir(), "a.rar"), dir}); err == nil {
		t.Error("an unknown form was written")
	}
	if err := os.Symlink("/etc/passwd", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	err := run([]string{filepath.Join(t.TempDir(), "b.tar.gz"), dir})
	if err == nil || !strings.Contains(err.Error(), "link") {
		t.Errorf("a link was packed: %v", err)
	}
}
