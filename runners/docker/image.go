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

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/image"
)

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
	return fmt.Sprintf("build it with \"docker build\", get it with \"docker pull %s\", or set \"docker: {pull: missing}\"", o.Image)
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
