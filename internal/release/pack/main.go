// Command pack writes one file of a release out of a directory: an archive (.tar.gz, .zip), or an image in
// the OCI layout (.oci.tar) whose only layer is the directory. The same files and the same time give the same
// bytes: entries are sorted and have no owner, and times and modes are made equal. It builds nothing and asks
// no container engine.
//
//	pack -time 1767225600 -platform linux/amd64 -version v0.1.0 dist/sallyport_0.1.0_linux_amd64.oci.tar DIR
package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintf(os.Stderr, "pack: %v\n", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	flags := flag.NewFlagSet("pack", flag.ContinueOnError)
	epoch := flags.Int64("time", 0, "time of every entry, in `seconds` since 1970")
	platform := flags.String("platform", "linux/amd64", "`system/processor` of an image")
	version := flags.String("version", "", "`version` that an image is labelled with")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() != 2 {
		return errors.New("want the file to write and the directory to read")
	}
	out, dir := flags.Arg(0), flags.Arg(1)
	at := time.Unix(*epoch, 0).UTC()
	name := filepath.Base(out)
	var write func(io.Writer) error
	if base, ok := strings.CutSuffix(name, ".oci.tar"); ok {
		system, processor, _ := strings.Cut(*platform, "/")
		title, _, _ := strings.Cut(base, "_")
		i := image{name: title, version: *version, system: system, processor: processor, at: at}
		write = func(w io.Writer) error { return i.write(w, dir) }
	} else if base, ok := strings.CutSuffix(name, ".tar.gz"); ok {
		write = func(w io.Writer) error { return writeTarGz(w, dir, base, at) }
	} else if base, ok := strings.CutSuffix(name, ".zip"); ok {
		write = func(w io.Writer) error { return writeZip(w, dir, base, at) }
	} else {
		return fmt.Errorf("%s: the name must end in .tar.gz, .zip or .oci.tar", name)
	}
	f, err := os.Create(out)
	if err != nil {
		return err
	}
	return errors.Join(write(f), f.Close())
}

// entry is one file of a directory, with the mode that it has in a release.
type entry struct {
	name string // below the directory, with slashes
	file string
	mode fs.FileMode // 0755 or 0644, with fs.ModeDir for a directory
	size int64
}

// entries lists the contents of a directory, sorted. Anything but files and directories is an error.
func entries(dir string) (out []entry, err error) {
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
		e := entry{name: filepath.ToSlash(rel), file: file, mode: 0o644, size: info.Size()}
		switch {
		case d.IsDir():
			e.mode, e.size = 0o755|fs.ModeDir, 0
		case !info.Mode().IsRegular():
			return fmt.Errorf("%s: a release has files and directories only", file)
		case info.Mode()&0o100 != 0:
			e.mode = 0o755
		}
		out = append(out, e)
		return nil
	})
	return out, err
}

func (e entry) copyTo(w io.Writer) error {
	f, err := os.Open(e.file)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(w, f)
	return err
}

// writeTar writes a directory with its entries below prefix; "" for none.
func writeTar(w io.Writer, dir, prefix string, at time.Time) error {
	all, err := entries(dir)
	if err != nil {
		return err
	}
	t := tar.NewWriter(w)
	for _, e := range all {
		h := &tar.Header{
			Typeflag: tar.TypeReg, Name: path.Join(prefix, e.name), Mode: int64(e.mode.Perm()), Size: e.size,
			ModTime: at,
			Format:  tar.FormatPAX,
		}
		if e.mode.IsDir() {
			h.Typeflag, h.Name = tar.TypeDir, h.Name+"/"
		}
		if err := t.WriteHeader(h); err != nil {
			return err
		}
		if e.mode.IsDir() {
			continue
		}
		if err := e.copyTo(t); err != nil {
			return err
		}
	}
	return t.Close()
}

func writeTarGz(w io.Writer, dir, prefix string, at time.Time) error {
	z, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err != nil {
		return err
	}
	return errors.Join(writeTar(z, dir, prefix, at), z.Close())
}

func writeZip(w io.Writer, dir, prefix string, at time.Time) error {
	all, err := entries(dir)
	if err != nil {
		return err
	}
	z := zip.NewWriter(w)
	for _, e := range all {
		if e.mode.IsDir() {
			continue
		}
		h := &zip.FileHeader{Name: path.Join(prefix, e.name), Method: zip.Deflate, Modified: at}
		h.SetMode(e.mode)
		f, err := z.CreateHeader(h)
		if err != nil {
			return err
		}
		if err := e.copyTo(f); err != nil {
			return err
		}
	}
	return z.Close()
}
