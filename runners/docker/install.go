package docker

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/mount"
	"github.com/docker/docker/api/types/strslice"
	"github.com/docker/docker/pkg/stdcopy"

	"github.com/sallyport-dev/sallyport/runners/mounts"
	"github.com/sallyport-dev/sallyport/runners/wire"
)

// install installs the packages of a step in a separate container and keeps that as an image. The container
// has nothing of the workspace: it gets the mounts of a session that commands cannot write to, and the
// operator's variables, which the image does not.
func (e *Engine) install(ctx context.Context, o Options, from Image, u wire.User, binds []mounts.Mount,
	s step, key string, report Report) error {
	config, host := o.installer(from, u, binds)
	config.Labels = map[string]string{labelState: e.state, labelRunner: o.name(), labelSpec: key,
		labelKeep: "false"}
	maps.Copy(config.Labels, self().labels())
	// The engine goes on after a cancelled request, and the container would be unknown: so wait for the
	// answer.
	creating, cancel := context.WithTimeout(context.WithoutCancel(ctx), engineTime)
	defer cancel()
	name := fmt.Sprintf("sallyport-install-%s-%08x", key,
		rand.Uint32()) // one that was left behind is in nobody's way
	made, err := e.cli.ContainerCreate(creating, config, host, nil, nil, name)
	if err != nil {
		return e.explain("make the container to install in", err)
	}
	defer func() { _ = e.discard(context.WithoutCancel(ctx), made.ID) }()
	if err := e.start(ctx, made.ID); err != nil {
		return err
	}
	if err := e.runInstaller(ctx, o, made.ID, u, s, report); err != nil {
		return err
	}
	return e.keep(ctx, made.ID, from, s, key)
}

// installer is the container of an installation: like that of a session but for its network, a writable root,
// and the rights of root that package managers need.
func (o Options) installer(from Image, u wire.User, binds []mounts.Mount) (*container.Config,
	*container.HostConfig) {
	network := o.Packages.Network
	if network == "" {
		network = o.Network
	}
	elevated := o
	elevated.Elevated = true
	config := &container.Config{
		Image: from.ID, User: "0:0", WorkingDir: "/",
		// It ends by itself when nobody is left to end it.
		Entrypoint:  strslice.StrSlice{"sleep", strconv.Itoa(int((installTime + time.Minute).Seconds()))},
		Cmd:         strslice.StrSlice{},
		Healthcheck: &container.HealthConfig{Test: []string{"NONE"}},
	}
	host := &container.HostConfig{
		NetworkMode:   container.NetworkMode(network),
		RestartPolicy: container.RestartPolicy{Name: container.RestartPolicyDisabled},
		LogConfig:     container.LogConfig{Type: "none"}, CapDrop: strslice.StrSlice{"ALL"},
		CapAdd:      elevated.capabilities(),
		SecurityOpt: []string{"no-new-privileges"}, IpcMode: container.IPCModePrivate, Runtime: o.Runtime,
		Tmpfs: map[string]string{
			"/tmp": "rw,nosuid,nodev,exec,mode=1777",
			home:   fmt.Sprintf("rw,nosuid,nodev,exec,mode=0700,uid=%d,gid=%d", u.UID, u.GID),
		},
		Resources: container.Resources{Memory: o.Memory, MemorySwap: o.Memory, NanoCPUs: int64(o.CPUs * 1e9),
			PidsLimit: &o.PIDs},
	}
	for _, m := range binds {
		host.Mounts = append(host.Mounts, mount.Mount{
			Type: mount.TypeBind, Source: m.Source, Target: m.Target, ReadOnly: true,
			BindOptions: &mount.BindOptions{Propagation: mount.PropagationRPrivate},
		})
	}
	return config, host
}

// runInstaller runs one installer to its end. Its variables are those of the call and not of the container,
// which would be kept.
func (e *Engine) runInstaller(ctx context.Context, o Options, id string, u wire.User, s step,
	report Report) error {
	as := s.user(u)
	x, err := e.cli.ContainerExecCreate(ctx, id, container.ExecOptions{
		User: fmt.Sprintf("%d:%d", as.UID, as.GID), Cmd: s.command, WorkingDir: "/", AttachStdout: true,
		AttachStderr: true,
		Env: slices.Concat([]string{"HOME=" + home, "DEBIAN_FRONTEND=noninteractive", "LANG=C.UTF-8"},
			o.Given),
	})
	if err != nil {
		return e.explain("start "+s.command[0], err)
	}
	stream, err := e.cli.ContainerExecAttach(ctx, x.ID, container.ExecAttachOptions{})
	if err != nil {
		return e.explain("start "+s.command[0], err)
	}
	defer stream.Close()
	defer context.AfterFunc(ctx, stream.Close)() // the reading below heeds no context
	out := &outputLines{report: report}
	if _, err := stdcopy.StdCopy(out, out, stream.Reader); err != nil && ctx.Err() == nil {
		return e.explain("read what "+s.command[0]+" says", err)
	}
	ended, err := e.cli.ContainerExecInspect(ctx, x.ID)
	switch {
	case err != nil:
		return e.explain("ask how "+s.command[0]+" ended", err)
	case ended.Running:
		return fmt.Errorf("%s has closed its output and goes on", s.command[0])
	case ended.ExitCode != 0:
		return fmt.Errorf("the installer ended with status %d: %s", ended.ExitCode, strings.Join(out.last(), " | "))
	default:
		return nil
	}
}

// keep makes an image of the container, which starts as the one did that it was made from.
func (e *Engine) keep(ctx context.Context, id string, from Image, s step, key string) error {
	was, err := e.cli.ImageInspect(ctx, from.ID)
	if err != nil {
		return e.explain("look at image "+from.Ref, err)
	}
	config := &container.Config{Labels: preparedLabels(s, key), Entrypoint: strslice.StrSlice{}}
	if was.Config != nil {
		config.User, config.WorkingDir, config.Cmd = was.Config.User, was.Config.WorkingDir, was.Config.Cmd
		config.Entrypoint = append(config.Entrypoint, was.Config.Entrypoint...)
	}
	_, err = e.cli.ContainerCommit(ctx, id, container.CommitOptions{
		Reference: preparedName + ":" + key, Comment: "sallyport: " + s.kind + " packages", Config: config,
	})
	if err != nil {
		return e.explain("keep installed packages", err)
	}
	return nil
}

// outputLines tells output line by line and keeps the last ones.
type outputLines struct {
	report Report
	begun  []byte
	kept   []string
}

const (
	keptLines = 5
	// longKept is where a line is cut that is kept for an error, in bytes.
	longKept = 240
	// longLine is where a line is cut that does not end, in bytes.
	longLine = 4 << 10
)

var _ io.Writer = (*outputLines)(nil)

// Write never fails.
func (l *outputLines) Write(b []byte) (int, error) {
	l.begun = append(l.begun, b...)
	for {
		i := bytes.IndexAny(l.begun, "\r\n")
		if i < 0 && len(l.begun) < longLine {
			return len(b), nil
		}
		if i < 0 {
			i = len(l.begun) - 1
		}
		l.take(string(l.begun[:i+1]))
		l.begun = l.begun[i+1:]
	}
}

func (l *outputLines) take(text string) {
	text = strings.ToValidUTF8(strings.TrimSpace(text), "\uFFFD")
	if text == "" {
		return
	}
	l.report.line(text)
	if len(text) > longKept {
		text = strings.ToValidUTF8(text[:longKept], "") + "…"
	}
	if l.kept = append(l.kept, text); len(l.kept) > keptLines {
		l.kept = l.kept[1:]
	}
}

// last returns the last lines, with the one that did not end.
func (l *outputLines) last() []string {
	l.take(string(l.begun))
	l.begun = nil
	return l.kept
}
