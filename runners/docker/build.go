package docker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/build"
	"github.com/docker/docker/api/types/filters"
	"github.com/docker/docker/api/types/image"

	"github.com/sallyport-dev/sallyport/images"
)

// Build says which image to build.
type Build struct {
	Tag        string            // its name, with a tag
	Dockerfile []byte            // the text
	Context    string            // directory that it may copy from; "" for none
	Args       map[string]string // build arguments
	Labels     map[string]string
	NoCache    bool
	Report     Report
}

// BuildImage builds an image and returns its id. The engine pulls the base image if it is absent.
func (e *Engine) BuildImage(ctx context.Context, b Build) (string, error) {
	args := map[string]*string{}
	for name, value := range b.Args {
		args[name] = &value
	}
	sent, done := packed(b.Dockerfile, b.Context)
	defer done()
	answer, err := e.cli.ImageBuild(ctx, sent, build.ImageBuildOptions{
		Tags: []string{b.Tag}, Dockerfile: sentDockerfile, BuildArgs: args, Labels: b.Labels,
		NoCache: b.NoCache, Remove: true, ForceRemove: true,
		Version: build.BuilderV1, // the newer one speaks a protocol of its own and is an extra package on Debian
	})
	if err != nil {
		return "", e.explain("build image "+b.Tag, err)
	}
	defer answer.Body.Close()
	id, err := b.Report.messages(answer.Body)
	if ctx.Err() != nil {
		return "", fmt.Errorf("build image %s: %w", b.Tag, ctx.Err())
	}
	if err != nil {
		return "", e.explain("build image "+b.Tag, unreachable(err))
	}
	return id, nil
}

// unreachable adds the fix to an error of an image that a registry did not deliver.
func unreachable(err error) error {
	text := err.Error()
	for _, sign := range []string{"no such host", "dial tcp", "i/o timeout", "TLS handshake timeout",
		"connection refused", "pull access denied", "manifest unknown"} {
		if strings.Contains(text, sign) && (strings.Contains(text, "/v2/") ||
			strings.Contains(text, "pull access") || strings.Contains(text, "manifest")) {
			return fmt.Errorf(
				"%w: the image it is built on is neither here nor to be had: name another with --base, or make one of "+
					"Debian's packages with --base debootstrap", err)
		}
	}
	return err
}

// HasImage reports whether the engine has an image.
func (e *Engine) HasImage(ctx context.Context, ref string) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, engineTime)
	defer cancel()
	_, err := e.cli.ImageInspect(ctx, ref)
	if errdefs.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, e.explain("look for image "+ref, err)
	}
	return true, nil
}

// Built is an image of ours that the engine has.
type Built struct {
	ID      string    `json:"id"`
	Names   []string  `json:"names"` // with tags; none when another image has taken them
	Kind    string    `json:"kind"`  // runtime, runtime-sudo, base, custom or prepared
	Holds   string    `json:"holds"` // of a prepared one: its packages
	Bytes   int64     `json:"bytes"`
	Created time.Time `json:"created"`
}

// Images lists the images that sallyport built, the youngest first.
func (e *Engine) Images(ctx context.Context) ([]Built, error) {
	ctx, cancel := context.WithTimeout(ctx, engineTime)
	defer cancel()
	found, err := e.cli.ImageList(
		ctx, image.ListOptions{Filters: filters.NewArgs(filters.Arg("label", images.Label))})
	if err != nil {
		return nil, e.explain("list images", err)
	}
	all := make([]Built, len(found))
	for i, f := range found {
		all[i] = Built{ID: f.ID, Names: named(f.RepoTags), Kind: f.Labels[images.Label],
			Holds: f.Labels[labelPackages], Bytes: f.Size, Created: time.Unix(f.Created, 0).UTC()}
	}
	return all, nil
}

// PruneImages removes sallyport's images that have no name any more, and with prepared those that hold
// packages. It keeps images that a container or another image needs, and returns those that it removed.
func (e *Engine) PruneImages(ctx context.Context, prepared bool) ([]Built, error) {
	all, err := e.Images(ctx)
	if err != nil {
		return nil, err
	}
	var removed []Built
	for _, b := range all { // the youngest first, so that a parent goes after its child
		if len(b.Names) > 0 && (!prepared || b.Kind != "prepared") {
			continue
		}
		_, err := e.cli.ImageRemove(ctx, b.ID, image.RemoveOptions{PruneChildren: true})
		switch {
		case err == nil:
			removed = append(removed, b)
		case errdefs.IsConflict(err) || errdefs.IsNotFound(err): // in use, or gone with another
		default:
			return removed, e.explain("remove image "+short(strings.TrimPrefix(b.ID, "sha256:")), err)
		}
	}
	return removed, nil
}

func named(tags []string) []string {
	names := []string{}
	for _, t := range tags {
		if t != "<none>:<none>" {
			names = append(names, t)
		}
	}
	return names
}

// importImage makes an image of a tar of its whole file system.
func (e *Engine) importImage(ctx context.Context, tar io.Reader, ref string, changes []string,
	report Report) error {
	body, err := e.cli.ImageImport(ctx, image.ImportSource{Source: tar, SourceName: "-"}, ref,
		image.ImportOptions{Changes: changes})
	if err != nil {
		return e.explain("import image "+ref, err)
	}
	defer body.Close()
	if _, err := report.messages(body); err != nil {
		return e.explain("import image "+ref, err)
	}
	return nil
}

// Image is the image of a container.
type Image struct {
	Ref      string   // by which it was asked for
	ID       string   // digest of its content
	OS, Arch string   // its platform
	Env      []string // variables of every process, NAME=value
	Writable []string // directories in it that any user may write to
}

// image finds the image that the options name, and pulls an absent one where they say so.
func (e *Engine) image(ctx context.Context, o Options, tell func(string, map[string]any)) (Image, error) {
	i, err := e.Image(ctx, o.Image)
	if err == nil || !errdefs.IsNotFound(err) {
		return i, err
	}
	if o.Pull != "missing" {
		return Image{}, fmt.Errorf("image %s is not there: %s", o.Image, o.howToGet())
	}
	tell("pull", map[string]any{"image": o.Image})
	if err := e.pull(ctx, o.Image); err != nil {
		return Image{}, fmt.Errorf("pull image %s: %w: %s", o.Image, err, o.howToGet())
	}
	return e.Image(ctx, o.Image)
}

// howToGet says how an absent image comes to be there.
func (o Options) howToGet() string {
	switch o.Image {
	case RuntimeImage:
		return "build it with \"sallyport image build\""
	case RuntimeSudoImage:
		return "build it with \"sallyport image build --sudo\""
	}
	if o.Pull == "missing" {
		return "correct docker.image, or get it there by \"docker build\" or \"docker load\""
	}
	return fmt.Sprintf("build it with \"docker build\", get it with \"docker pull %s\", or set \"docker: "+
		"{pull: missing}\"", o.Image)
}

// Image looks at an image of the engine.
func (e *Engine) Image(ctx context.Context, ref string) (Image, error) {
	ctx, cancel := context.WithTimeout(ctx, engineTime)
	defer cancel()
	found, err := e.cli.ImageInspect(ctx, ref)
	if err != nil {
		return Image{}, e.explain("look at image "+ref, err)
	}
	return imageOf(ref, found), nil
}

func imageOf(ref string, found image.InspectResponse) Image {
	i := Image{Ref: ref, ID: found.ID, OS: found.Os, Arch: found.Architecture}
	if found.Config != nil {
		i.Env = found.Config.Env
		for _, dir := range strings.Fields(found.Config.Labels[labelWritable]) {
			if path.IsAbs(dir) && path.Clean(dir) != "/" && !slices.Contains(i.Writable, path.Clean(dir)) {
				i.Writable = append(i.Writable, path.Clean(dir))
			}
		}
	}
	return i
}

// pull pulls an image. The engine tells how it goes in lines of JSON, errors too.
func (e *Engine) pull(ctx context.Context, ref string) error {
	lines, err := e.cli.ImagePull(ctx, ref, image.PullOptions{})
	if err != nil {
		return err
	}
	defer lines.Close()
	for d := json.NewDecoder(lines); ; {
		var line struct{ Error string }
		switch err := d.Decode(&line); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case line.Error != "":
			return errors.New(line.Error)
		}
	}
}
