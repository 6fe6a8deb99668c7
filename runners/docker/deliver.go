package docker

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path"
	"runtime"
	"strings"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/mount"
	"github.com/docker/docker/api/types/volume"
)

// copies reports whether the supervisor comes into the container by way of a volume: where the engine
// does not see the files of this machine, or sees but some of them.
func (o Options) copies(e *Engine) bool {
	return o.Copy || !o.Mount && (!e.at.local() || runtime.GOOS != "linux")
}

// delivery is how the supervisor's program comes to be in a container.
type delivery struct {
	file    string // on this machine
	volume  string // "" for a mount of the file
	size    int64
	version string // tells one program from another
}

// delivery finds the program and says how it is delivered.
func (o Options) delivery(e *Engine) (delivery, error) {
	const mend = "put sallyport-supervisor beside sallyport, or name it under supervisor"
	info, err := os.Stat(o.Supervisor)
	switch {
	case err != nil:
		return delivery{}, fmt.Errorf("find the supervisor: %w: %s", err, mend)
	case !info.Mode().IsRegular():
		return delivery{}, fmt.Errorf("find the supervisor: %s is no file: %s", o.Supervisor, mend)
	}
	d := delivery{file: real(o.Supervisor), size: info.Size(), version: fileVersion(o.Supervisor)}
	if !o.copies(e) {
		return d, nil
	}
	f, err := os.Open(d.file)
	if err != nil {
		return delivery{}, fmt.Errorf("read the supervisor: %w", err)
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return delivery{}, fmt.Errorf("read the supervisor: %w", err)
	}
	d.version = fmt.Sprintf("%x", sum.Sum(nil)[:8])
	d.volume = "sallyport-supervisor-" + d.version + "-" + e.state
	return d, nil
}

// mount is the part that the container gets.
func (d delivery) mount() mount.Mount {
	if d.volume == "" {
		return mount.Mount{
			Type: mount.TypeBind, Source: d.file, Target: program, ReadOnly: true,
			BindOptions: &mount.BindOptions{Propagation: mount.PropagationRPrivate},
		}
	}
	return mount.Mount{
		Type: mount.TypeVolume, Source: d.volume, Target: path.Dir(program), ReadOnly: true,
		VolumeOptions: &mount.VolumeOptions{NoCopy: true},
	}
}

// supply makes sure that the volume of a container that was just made holds the program. A volume that
// somebody was interrupted at filling is filled again.
func (e *Engine) supply(ctx context.Context, p *plan, id string) error {
	if p.delivery.volume == "" {
		return nil
	}
	there, err := e.cli.ContainerStatPath(ctx, id, program)
	if err == nil && there.Size == p.delivery.size && there.Mode&0o111 != 0 {
		return nil
	}
	if err := e.fill(ctx, p); err != nil {
		return fmt.Errorf("copy the supervisor to the engine: %w", err)
	}
	return nil
}

// volume makes the volume of a delivery, if there is none.
func (e *Engine) volume(ctx context.Context, p *plan) error {
	if p.delivery.volume == "" {
		return nil
	}
	_, err := e.cli.VolumeCreate(ctx, volume.CreateOptions{ // returns the one that is there
		Name: p.delivery.volume, Labels: map[string]string{labelState: e.state},
	})
	if err != nil {
		return e.explain("make a volume for the supervisor", err)
	}
	return nil
}

// fill puts the program into the volume, through a container that never runs: the one that will cannot
// write there.
func (e *Engine) fill(ctx context.Context, p *plan) error {
	text, err := os.ReadFile(p.delivery.file)
	if err != nil {
		return err
	}
	var archive bytes.Buffer
	w := tar.NewWriter(&archive)
	err = w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: path.Base(program), Mode: 0o755,
		Size: int64(len(text))})
	if err == nil {
		_, err = w.Write(text)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		return err
	}
	labels := map[string]string{labelState: e.state, labelRunner: p.labels[labelRunner]}
	for name, value := range self().labels() {
		labels[name] = value // swept, should this process die now
	}
	c, err := e.cli.ContainerCreate(ctx,
		&container.Config{Image: p.image.ID, Entrypoint: []string{program}, Labels: labels},
		&container.HostConfig{NetworkMode: "none", Mounts: []mount.Mount{{
			Type: mount.TypeVolume, Source: p.delivery.volume, Target: path.Dir(program),
			VolumeOptions: &mount.VolumeOptions{NoCopy: true},
		}}}, nil, nil, "")
	if err != nil {
		return e.explain("make a container to copy with", err)
	}
	err = e.cli.CopyToContainer(ctx, c.ID, path.Dir(program), &archive, container.CopyToContainerOptions{})
	if derr := e.discard(context.WithoutCancel(ctx), c.ID); err == nil {
		err = derr
	}
	return err
}

// pruneVolumes removes the volumes that no container uses.
func (e *Engine) pruneVolumes(ctx context.Context) error {
	all, err := e.cli.VolumeList(ctx, volume.ListOptions{Filters: stateFilter(e.state)})
	if err != nil {
		return e.explain("list volumes", err)
	}
	for _, v := range all.Volumes {
		err := e.cli.VolumeRemove(ctx, v.Name, false)
		if err != nil && !errdefs.IsNotFound(err) && !errdefs.IsConflict(err) &&
			!strings.Contains(err.Error(), "in use") {
			return e.explain("remove volume "+v.Name, err)
		}
	}
	return nil
}
