// Command pack writes one file of a release out of a directory: an archive (.tar.gz, .zip), or an image in
// the OCI layout (.oci.tar) whose only layer is the directory. The same files and the same time give the same
// bytes: entries are sorted and have no owner, and times and modes are made equal. It builds nothing and asks
// no container engine.
//
//	pack -time 1767225600 -platform linux/amd64 -version v0.1.0 dist/sallyport_0.1.0_linux_amd64.oci.tar DIR
package main

import (
	"archive/zip"
	"compress/gzip"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/sallyport-dev/sallyport/internal/release/archive"
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
		i := archive.Image{Name: title, Version: *version, System: system, Processor: processor, At: at,
			Program: "/usr/bin/sallyport", WorkDir: "/workspace"}
		write = func(w io.Writer) error { return i.Write(w, dir) }
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

func writeTarGz(w io.Writer, dir, prefix string, at time.Time) error {
	z, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err != nil {
		return err
	}
	return errors.Join(archive.WriteTar(z, dir, prefix, at), z.Close())
}

func writeZip(w io.Writer, dir, prefix string, at time.Time) error {
	all, err := archive.Entries(dir)
	if err != nil {
		return err
	}
	z := zip.NewWriter(w)
	for _, e := range all {
		if e.Mode.IsDir() {
			continue
		}
		h := &zip.FileHeader{Name: path.Join(prefix, e.Name), Method: zip.Deflate, Modified: at}
		h.SetMode(e.Mode)
		f, err := z.CreateHeader(h)
		if err != nil {
			return err
		}
		if err := e.CopyTo(f); err != nil {
			return err
		}
	}
	return z.Close()
}
