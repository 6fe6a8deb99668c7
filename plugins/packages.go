package plugins

import (
	"context"
	"errors"
	"fmt"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/config"
	"github.com/sallyport-dev/sallyport/runners/docker"
)

// Prepare installs the packages of a configuration ahead of its sessions and returns the image that they will
// find.
func Prepare(ctx context.Context, l *config.Loaded, report docker.Report) (_ docker.Image, err error) {
	if !isDocker(l.Runner) {
		return docker.Image{}, fmt.Errorf("prepare an image: commands run in none: runner is %s", l.Runner)
	}
	opened, err := openDocker(l)
	if err != nil {
		return docker.Image{}, err
	}
	r, ok := opened.Runner.(*docker.Runner)
	if !ok {
		return docker.Image{}, fmt.Errorf("prepare an image: runner %s makes none", l.Runner)
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	r.Watch(report)
	return r.Prepare(ctx, engine.EnvironmentSpec{Agent: l.Agent, Layout: l.Layout()})
}
