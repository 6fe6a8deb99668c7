package docker

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/mount"

	"github.com/sallyport-dev/sallyport/runners/wire"
)

// accounts are the files by which a container knows the names of users and groups. Commands run under the ids
// of the workspace's owner; ssh, sudo and others need a name and a home for them.
type accounts struct {
	passwd, group string
	dir           string // where they lie on this machine, to be mounted; "" where they are copied in
}

// Paths of the accounts in a container.
const (
	passwdFile = "/etc/passwd"
	groupFile  = "/etc/group"
)

// accounts returns the files that a container needs besides those of its image; nil for none.
func (e *Engine) accounts(ctx context.Context, o Options, image Image, u wire.User) (*accounts, error) {
	have, err := e.accountsOf(ctx, o, image)
	if err != nil {
		return nil, fmt.Errorf("read the accounts of image %s: %w", image.Ref, err)
	}
	want := accounts{passwd: withUser(have.passwd, u), group: withGroup(have.group, u)}
	if want == have {
		return nil, nil
	}
	if o.Writable || o.State == "" || o.copies(e) {
		return &want, nil
	}
	want.dir = filepath.Join(o.State, "accounts", digest(want.passwd, want.group))
	return &want, errors.Join(keep(filepath.Join(want.dir, "passwd"), want.passwd),
		keep(filepath.Join(want.dir, "group"), want.group))
}

// accountsOf reads the accounts of an image, or returns those that an earlier session read: an image does not
// change.
func (e *Engine) accountsOf(ctx context.Context, o Options, image Image) (accounts, error) {
	var have accounts
	cache := func(name string) string { return filepath.Join(o.State, "accounts", digest(image.ID), name) }
	if o.State != "" {
		passwd, perr := os.ReadFile(cache("passwd"))
		group, gerr := os.ReadFile(cache("group"))
		if perr == nil && gerr == nil {
			return accounts{passwd: string(passwd), group: string(group)}, nil
		}
	}
	files, err := e.filesOf(ctx, image, passwdFile, groupFile)
	if err != nil {
		return have, err
	}
	have = accounts{passwd: files[passwdFile], group: files[groupFile]}
	if o.State == "" {
		return have, nil
	}
	return have, errors.Join(keep(cache("passwd"), have.passwd), keep(cache("group"), have.group))
}

// keep writes a file that others may read, whole or not at all.
func keep(file, text string) error {
	if have, err := os.ReadFile(file); err == nil && string(have) == text {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(file), ".new-")
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	err = errors.Join(err, f.Chmod(0o644), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), file)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}

// maxAccounts bounds a file of accounts.
const maxAccounts = 1 << 20

// filesOf reads files of an image, through a container that never runs. Those that are not there are "".
func (e *Engine) filesOf(ctx context.Context, image Image, names ...string) (map[string]string, error) {
	ctx, cancel := context.WithTimeout(ctx, engineTime)
	defer cancel()
	labels := map[string]string{labelState: e.state}
	maps.Copy(labels, self().labels()) // swept, should this process die now
	c, err := e.cli.ContainerCreate(ctx, &container.Config{Image: image.ID, Entrypoint: []string{program},
		Labels: labels}, &container.HostConfig{NetworkMode: "none"}, nil, nil, "")
	if err != nil {
		return nil, e.explain("make a container to read from", err)
	}
	defer func() { _ = e.discard(context.WithoutCancel(ctx), c.ID) }()
	out := map[string]string{}
	for _, name := range names {
		archive, _, err := e.cli.CopyFromContainer(ctx, c.ID, name)
		if errdefs.IsNotFound(err) {
			continue
		}
		if err != nil {
			return nil, e.explain("read "+name, err)
		}
		text, err := onlyFile(archive)
		_ = archive.Close()
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", name, err)
		}
		out[name] = text
	}
	return out, nil
}

// onlyFile reads the one file of an archive; "" if the entry is not a file.
func onlyFile(archive io.Reader) (string, error) {
	r := tar.NewReader(archive)
	h, err := r.Next()
	if err != nil || h.Typeflag != tar.TypeReg {
		return "", err
	}
	if h.Size > maxAccounts {
		return "", fmt.Errorf("it has more than %d bytes", maxAccounts)
	}
	text, err := io.ReadAll(r)
	return string(text), err
}

// mounts are those of the accounts. Programs that change accounts could not replace a file that is
// mounted: where they may, it is copied in.
func (a *accounts) mounts() []mount.Mount {
	if a == nil || a.dir == "" {
		return nil
	}
	bind := func(name, target string) mount.Mount {
		return mount.Mount{
			Type: mount.TypeBind, Source: filepath.Join(a.dir, name), Target: target, ReadOnly: true,
			BindOptions: &mount.BindOptions{Propagation: mount.PropagationRPrivate},
		}
	}
	return []mount.Mount{bind("passwd", passwdFile), bind("group", groupFile)}
}

// put copies the accounts into a container that was created and does not run yet, where they are not mounted.
// A container with a read-only root takes no copies: there the user has no name.
func (a *accounts) put(ctx context.Context, e *Engine, id string, readOnly bool) error {
	if a == nil || a.dir != "" || readOnly {
		return nil
	}
	var archive bytes.Buffer
	w := tar.NewWriter(&archive)
	for name, text := range map[string]string{passwdFile: a.passwd, groupFile: a.group} {
		err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: path.Base(name), Mode: 0o644,
			Size: int64(len(text))})
		if err == nil {
			_, err = w.Write([]byte(text))
		}
		if err != nil {
			return err
		}
	}
	if err := w.Close(); err != nil {
		return err
	}
	if err := e.cli.CopyToContainer(ctx, id, path.Dir(passwdFile), &archive,
		container.CopyToContainerOptions{}); err != nil {
		return e.explain("name the user in the container", err)
	}
	return nil
}

// withUser returns a passwd file in which a user has a line, and its home is that of commands.
func withUser(passwd string, u wire.User) string {
	lines := accountLines(passwd)
	uid, gid := strconv.Itoa(u.UID), strconv.Itoa(u.GID)
	for i, line := range lines {
		f := strings.Split(line, ":")
		if len(f) == 7 && f[2] == uid {
			f[5] = home
			lines[i] = strings.Join(f, ":")
			return strings.Join(lines, "\n") + "\n"
		}
	}
	return strings.Join(append(lines, freeName(lines, uid)+":*:"+uid+":"+gid+"::"+home+":/bin/sh"), "\n") + "\n"
}

// withGroup returns a group file in which the group of a user has a line.
func withGroup(group string, u wire.User) string {
	lines := accountLines(group)
	gid := strconv.Itoa(u.GID)
	if slices.ContainsFunc(lines, func(line string) bool {
		f := strings.Split(line, ":")
		return len(f) == 4 && f[2] == gid
	}) {
		return group
	}
	return strings.Join(append(lines, freeName(lines, gid)+":x:"+gid+":"), "\n") + "\n"
}

func accountLines(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

// freeName is a name that no line has.
func freeName(lines []string, number string) string {
	name := "sallyport"
	if slices.ContainsFunc(lines, func(line string) bool { return strings.HasPrefix(line, name+":") }) {
		name += number
	}
	return name
}

// owner says which process of which machine made a container.
type owner struct {
	machine string
	pid     int
	started string // tells it from another process that got its id later
}

// self is the owner that this process is.
func self() owner {
	return owner{machine: machine(), pid: os.Getpid(), started: startedAt(os.Getpid())}
}

func (o owner) labels() map[string]string {
	return map[string]string{labelMachine: o.machine, labelPID: strconv.Itoa(o.pid), labelStarted: o.started}
}

func ownerOf(labels map[string]string) owner {
	pid, _ := strconv.Atoi(labels[labelPID]) // 0, which nobody is
	return owner{labels[labelMachine], pid, labels[labelStarted]}
}

// dead reports whether the owner certainly lives no more. Of another machine that cannot be told.
func (o owner) dead() bool {
	return o.machine != "" && o.machine == machine() && (o.pid <= 0 || gone(o.pid, o.started))
}
