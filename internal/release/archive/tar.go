// Package archive writes the files of a directory as a tar, or as a container image in the OCI layout. The
// same files and the same time give the same bytes. It asks no container engine.
package archive

import (
	"archive/tar"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"time"
)

// Entry is one file of a directory, with the mode that it has in a release.
type Entry struct {
	Name string // below the directory, with slashes
	file string
	Mode fs.FileMode // 0755 or 0644, with fs.ModeDir for a directory
	Size int64
}

// Entries lists the contents of a directory, sorted. Anything but files and directories is an error.
func Entries(dir string) (out []Entry, err error) {
	err = filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		if err != nil || file == dir {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, file)
		if err != nil {
			return err
		}
		e := Entry{Name: filepath.ToSlash(rel), file: file, Mode: 0o644, Size: info.Size()}
		switch {
		case d.IsDir():
			e.Mode, e.Size = 0o755|fs.ModeDir, 0
		case !info.Mode().IsRegular():
			return fmt.Errorf("%s: a release has files and directories only", file)
		case info.Mode()&0o100 != 0:
			e.Mode = 0o755
		}
		out = append(out, e)
		return nil
	})
	return out, err
}

// CopyTo writes the content of a file.
func (e Entry) CopyTo(w io.Writer) error {
	f, err := os.Open(e.file)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(w, f)
	return err
}

// WriteTar writes a directory with its entries below prefix; "" for none.
func WriteTar(w io.Writer, dir, prefix string, at time.Time) error {
	all, err := Entries(dir)
	if err != nil {
		return err
	}
	t := tar.NewWriter(w)
	for _, e := range all {
		h := &tar.Header{
			Typeflag: tar.TypeReg, Name: path.Join(prefix, e.Name), Mode: int64(e.Mode.Perm()), Size: e.Size,
			ModTime: at,
			Format:  tar.FormatPAX,
		}
		if e.Mode.IsDir() {
			h.Typeflag, h.Name = tar.TypeDir, h.Name+"/"
		}
		if err := t.WriteHeader(h); err != nil {
			return err
		}
		if e.Mode.IsDir() {
			continue
		}
		if err := e.CopyTo(t); err != nil {
			return err
		}
	}
	return t.Close()
}
