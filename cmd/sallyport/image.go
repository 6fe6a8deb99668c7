package main

import (
	"bytes"
	"context"
	"debug/elf"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sallyport-dev/sallyport/images"
	"github.com/sallyport-dev/sallyport/internal/release/archive"
	"github.com/sallyport-dev/sallyport/plugins"
	"github.com/sallyport-dev/sallyport/runners/docker"
)

func (a *app) imageCommand() *cobra.Command {
	return group(
		"image",
		"Build, list and prune the images of the runners docker and docker-sudo, and that of the supervisor",
		`  sallyport image build
  sallyport image list
  sallyport image supervisor --tag registry.example/supervisor:1 supervisor.tar
`,
		a.imageBuild(), a.imageSupervisor(), a.imagePrepare(), a.imageList(), a.imagePrune())
}

// imageFlags are the flags of image build.
type imageFlags struct {
	sudo, fresh             bool
	tag, base, mirror, file string
}

// debootstrap is the base that is made and not had from a registry.
const debootstrap = "debootstrap"

func (a *app) imageBuild() *cobra.Command {
	var f imageFlags
	cmd := &cobra.Command{
		Use:   "build",
		Short: "Build the runtime image, or one of your own",
		Long: `Build the runtime image, sallyport/runtime: Python, Node.js, git and a compiler on Debian. With --sudo
also sallyport/runtime-sudo, the same with sudo. With --file it builds an image of your own, which may copy
from the directory of its Dockerfile all files that .dockerignore does not name.

The image is built on debian:trixie-slim unless --base names another. Where no registry can be reached,
--base debootstrap makes the base from Debian's packages; that needs debootstrap and root here, once.`,
		Example: `  sallyport image build
  sallyport image build --sudo
  sudo sallyport image build --sudo --base debootstrap
  sallyport image build --file my-image/Dockerfile --tag my-image`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := f.check(); err != nil {
				return usageError{err}
			}
			ctx, interrupted := interruptible(cmd.Context())
			err := a.buildImages(ctx, f)
			if s := interrupted(); s != 0 {
				a.say("stopped")
				return exitStatus(128 + int(s))
			}
			return err
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&f.sudo, "sudo", false, "also build the image with sudo")
	flags.StringVar(&f.tag, "tag", "", "`tag` of the images (default latest); with --file the name of the image")
	flags.StringVar(&f.base, "base", "", "`image` to build on, or debootstrap")
	flags.StringVar(
		&f.mirror, "mirror", "", "`address` of the Debian packages for --base debootstrap: a dated one pins "+
			"them all")
	flags.StringVar(&f.file, "file", "", "`Dockerfile` of an image of your own")
	flags.BoolVar(&f.fresh, "no-cache", false, "make everything anew, a base of debootstrap too")
	return cmd
}

func (a *app) imageSupervisor() *cobra.Command {
	var tag, program string
	cmd := &cobra.Command{
		Use:   "supervisor FILE",
		Short: "Write an image with nothing but sallyport-supervisor",
		Long: `Write an image with the one file /usr/bin/sallyport-supervisor as an archive in the OCI
layout, for pods of sallyport-kubernetes. No container engine is asked. docker load, ctr images import,
skopeo and other tools take it.`,
		Example: `  sallyport image supervisor --tag registry.example/supervisor:1 supervisor.tar
  skopeo copy oci-archive:supervisor.tar docker://registry.example/supervisor:1`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usageError{errors.New("want the file to write")}
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			l, err := a.load()
			if err != nil {
				return err
			}
			if program == "" {
				program = plugins.Supervisor(l)
			}
			if err := writeSupervisor(args[0], program, tag); err != nil {
				return fmt.Errorf("write image: %w", err)
			}
			fmt.Fprintf(a.out, "%s  %s\n", tag, printable(args[0]))
			return nil
		},
	}
	cmd.Flags().StringVar(&tag, "tag", "sallyport/supervisor:latest", "`name` of the image with its tag")
	cmd.Flags().StringVar(&program, "program", "",
		"`file` of a sallyport-supervisor for Linux (default: beside sallyport)")
	return cmd
}

// writeSupervisor writes the image of a supervisor.
func writeSupervisor(file, program, tag string) error {
	name, version, ok := strings.Cut(tag[strings.LastIndex(tag, "/")+1:], ":")
	if !ok || name == "" || version == "" {
		return fmt.Errorf("--tag %q: write NAME:TAG", tag)
	}
	text, err := os.ReadFile(program)
	if err != nil {
		return fmt.Errorf("%w: build it (make build), or name it with --program", err)
	}
	i := archive.Image{
		Name: strings.TrimSuffix(tag, ":"+version), Version: version, System: "linux", At: time.Unix(0, 0).UTC(),
		Program: "/usr/bin/sallyport-supervisor", WorkDir: "/",
	}
	binary, err := elf.NewFile(bytes.NewReader(text))
	if err == nil {
		i.Processor = map[elf.Machine]string{elf.EM_X86_64: "amd64", elf.EM_AARCH64: "arm64"}[binary.Machine]
	}
	if i.Processor == "" {
		return fmt.Errorf("%s is no program of Linux for amd64 or arm64: name one with --program", program)
	}
	dir, err := os.MkdirTemp("", "sallyport-image-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }() // a copy
	if err := os.MkdirAll(filepath.Join(dir, "usr/bin"), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, i.Program), text, 0o755); err != nil {
		return err
	}
	out, err := os.Create(file)
	if err != nil {
		return err
	}
	return errors.Join(i.Write(out, dir), out.Close())
}

// engine connects to the engine of the configuration.
func (a *app) engine(ctx context.Context) (*docker.Engine, error) {
	l, err := a.load()
	if err != nil {
		return nil, err
	}
	return docker.Connect(ctx, plugins.DockerOptions(l))
}

func (f imageFlags) check() error {
	switch {
	case f.mirror != "" && f.base != debootstrap:
		return errors.New("--mirror is for --base debootstrap")
	case f.file == "":
		return nil
	case f.sudo:
		return errors.New("--sudo is not for --file: build it on sallyport/runtime-sudo:latest with --base")
	case f.tag == "":
		return errors.New("--file: name the image with --tag")
	default:
		return nil
	}
}

func (a *app) buildImages(ctx context.Context, f imageFlags) error {
	engine, err := a.engine(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = engine.Close() }()
	view := a.viewProgress()
	builds, err := a.plannedBuilds(ctx, engine, f, view)
	if err == nil {
		for _, b := range builds {
			began := time.Now()
			b.Report, b.NoCache = view.report, f.fresh
			id, failed := engine.BuildImage(ctx, b)
			if err = failed; err != nil {
				break
			}
			view.clear()
			fmt.Fprintf(a.out, "%s  %s  %.0f s\n", b.Tag, shortID(id), time.Since(began).Seconds())
		}
	}
	view.end(err)
	return err
}

// plannedBuilds lists the builds in their order, and makes their base if necessary.
func (a *app) plannedBuilds(ctx context.Context, e *docker.Engine, f imageFlags,
	view *progressView) ([]docker.Build, error) {
	args := map[string]string{}
	switch f.base {
	case "":
	case debootstrap:
		args["BASE"] = images.Base + ":" + images.Suite
		if err := a.makeBase(ctx, e, f, args["BASE"], view); err != nil {
			return nil, err
		}
	default:
		args["BASE"] = f.base
	}
	if f.file != "" {
		text, err := os.ReadFile(f.file)
		if err != nil {
			return nil, fmt.Errorf("read Dockerfile: %w", err)
		}
		tag := f.tag
		if !strings.Contains(tag[strings.LastIndex(tag, "/")+1:], ":") {
			tag += ":latest"
		}
		return []docker.Build{{Tag: tag, Dockerfile: text, Context: filepath.Dir(f.file), Args: args,
			Labels: map[string]string{images.Label: "custom"}}}, nil
	}
	if f.tag == "" {
		f.tag = "latest"
	}
	text, err := images.Dockerfile("runtime")
	if err != nil {
		return nil, err
	}
	builds := []docker.Build{{Tag: images.Runtime + ":" + f.tag, Dockerfile: text, Args: args}}
	if f.sudo {
		if text, err = images.Dockerfile("runtime-sudo"); err != nil {
			return nil, err
		}
		builds = append(builds, docker.Build{Tag: images.RuntimeSudo + ":" + f.tag, Dockerfile: text,
			Args: map[string]string{"BASE": builds[0].Tag}})
	}
	return builds, nil
}

// makeBase makes the base of Debian's packages, unless it exists: builds on the same base are in the engine's
// cache.
func (a *app) makeBase(ctx context.Context, e *docker.Engine, f imageFlags, tag string,
	view *progressView) error {
	there, err := e.HasImage(ctx, tag)
	if err != nil || there && !f.fresh {
		return err
	}
	began := time.Now()
	if err := e.MakeBase(ctx, docker.Base{Tag: tag, Suite: images.Suite, Mirror: f.mirror, Environ: os.Environ(),
		Report: view.report}); err != nil {
		return err
	}
	view.clear()
	fmt.Fprintf(a.out, "%s  %.0f s\n", tag, time.Since(began).Seconds())
	return nil
}

func (a *app) imagePrepare() *cobra.Command {
	var runner string
	cmd := &cobra.Command{
		Use:   "prepare",
		Short: "Install the packages of the configuration now, so that no session waits for it",
		Long: `Install the packages under docker.packages into an image from which the sessions of this
configuration start. Otherwise the first session does so. An existing image is left alone.`,
		Args: noArgs,
	}
	cmd.Flags().StringVar(&runner, "runner", "",
		"docker or docker-sudo: a `name` (default from the configuration)")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		l, err := a.loadFor("", runner)
		if err != nil {
			return err
		}
		ctx, interrupted := interruptible(cmd.Context())
		view := a.viewProgress()
		image, err := plugins.Prepare(ctx, l, view.report)
		view.clear()
		if s := interrupted(); s != 0 && err != nil {
			return exitStatus(128 + int(s))
		}
		if err != nil {
			return err
		}
		fmt.Fprintf(a.out, "%s  %s\n", printable(image.Ref), shortID(image.ID))
		return nil
	}
	return cmd
}

func (a *app) imagePrune() *cobra.Command {
	var all bool
	cmd := &cobra.Command{
		Use:   "prune",
		Short: "Remove images that sallyport built and that have no name any more",
		Long: `Remove images that sallyport built and whose name a newer image has taken. With --prepared also
those with packages in them; the next session that needs one installs the newest versions. Images of
containers stay.`,
		Args: noArgs,
	}
	cmd.Flags().BoolVar(&all, "prepared", false, "also images with the packages of a configuration")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		engine, err := a.engine(cmd.Context())
		if err != nil {
			return err
		}
		defer func() { _ = engine.Close() }()
		removed, err := engine.PruneImages(cmd.Context(), all)
		for _, b := range removed {
			fmt.Fprintf(a.out, "%s  %s  %s\n", shortID(b.ID), b.Kind, printable(strings.Join(b.Names, ", ")))
		}
		return err
	}
	return cmd
}

func (a *app) imageList() *cobra.Command {
	cmd := &cobra.Command{Use: "list", Short: "List the images that sallyport built", Args: noArgs}
	f := formatFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		engine, err := a.engine(cmd.Context())
		if err != nil {
			return err
		}
		defer func() { _ = engine.Close() }()
		built, err := engine.Images(cmd.Context())
		if err != nil {
			return err
		}
		if *f == formatJSON {
			return writeIndented(a.out, built)
		}
		rows := make([][]string, len(built))
		for i, b := range built {
			name := strings.Join(b.Names, ", ")
			if name == "" {
				name = "-"
			}
			rows[i] = []string{name, shortID(b.ID), b.Kind, fmt.Sprintf("%d MB", b.Bytes/1e6),
				b.Created.Format(time.DateTime), shorten(b.Holds, 60)}
		}
		return writeTable(a.out, []string{"NAME", "ID", "KIND", "SIZE", "CREATED (UTC)", "PACKAGES"}, rows)
	}
	return cmd
}

// shortID is the form of an image's id that people are used to.
func shortID(id string) string {
	id = strings.TrimPrefix(id, "sha256:")
	return id[:min(12, len(id))]
}
