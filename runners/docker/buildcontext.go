package docker

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/moby/patternmatcher"
	"github.com/moby/patternmatcher/ignorefile"
)

// sentDockerfile is the name under which a Dockerfile is sent: none that a directory has of its own.
const sentDockerfile = ".sallyport.Dockerfile"

// maxContext bounds the files that are sent with a Dockerfile, in bytes. More is nearly always a wrong
// directory.
const maxContext = 1 << 30

// packed returns a tar of a Dockerfile and the directory that it may copy from, made while it is read. done
// frees it.
func packed(dockerfile []byte, dir string) (r io.Reader, done func()) {
	pr, pw := io.Pipe()
	go func() {
		tw := tar.NewWriter(pw)
		err := tw.WriteHeader(&tar.Header{Name: sentDockerfile, Mode: 0o644, Size: int64(len(dockerfile))})
		if err == nil {
			_, err = tw.Write(dockerfile)
		}
		if err == nil && dir != "" {
			err = packDir(tw, dir)
		}
		if err == nil { // readers take a closed tar for a complete one
			err = tw.Close()
		}
		_ = pw.CloseWithError(err)
	}()
	return pr, func() { _ = pr.Close() }
}

// packDir adds a directory, without the files that its .dockerignore names. It follows no link.
func packDir(tw *tar.Writer, dir string) error {
	ignored, err := ignoredBy(filepath.Join(dir, ".dockerignore"))
	if err != nil {
		return err
	}
	var total int64
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		skip, err := ignored.MatchesOrParentMatches(name)
		if err != nil {
			return fmt.Errorf("match %s against .dockerignore: %w", name, err)
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		// A directory is looked into all the same where a pattern may take something of it back.
		if skip && d.IsDir() && !ignored.Exclusions() {
			return fs.SkipDir
		}
		if skip || !info.Mode().IsRegular() && !d.IsDir() && info.Mode()&fs.ModeSymlink == 0 {
			return nil
		}
		if total += info.Size(); total > maxContext {
			return fmt.Errorf("%s holds more than %d MiB: put the Dockerfile in a directory of its own, "+
				"or name the files that it does not need in .dockerignore", dir, maxContext>>20)
		}
		return packFile(tw, path, filepath.ToSlash(name), info)
	})
}

func ignoredBy(file string) (*patternmatcher.PatternMatcher, error) {
	text, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	patterns, err := ignorefile.ReadAll(bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", file, err)
	}
	m, err := patternmatcher.New(patterns)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", file, err)
	}
	return m, nil
}

// packFile adds one file, owned by root: its owner on this machine means nothing in the image.
func packFile(tw *tar.Writer, path, name string, info fs.FileInfo) error {
	link := ""
	if info.Mode()&fs.ModeSymlink != 0 {
		var err error
		if link, err = os.Readlink(path); err != nil {
			return err
		}
	}
	h, err := tar.FileInfoHeader(info, link)
	if err != nil {
		return err
	}
	h.Name, h.Uid, h.Gid, h.Uname, h.Gname = name, 0, 0, "", ""
	if err := tw.WriteHeader(h); err != nil || !info.Mode().IsRegular() {
		return err
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.CopyN(tw, f, h.Size) // cut growing files: the header is written
	return err
}
