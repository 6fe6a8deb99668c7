package docker

import (
	"fmt"
	"slices"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/mount"
	"github.com/docker/docker/api/types/strslice"
	"github.com/docker/go-units"
)

// config describes the process of the container: a supervisor that only idles. Nothing of the image's own
// starts.
func (o Options) config(p *plan) *container.Config {
	return &container.Config{
		Image:      p.image.ID, // and not its name, which may mean another one by now
		Hostname:   "sallyport",
		User:       "0:0", // of the supervisors; see capabilities
		Entrypoint: strslice.StrSlice{program, "--init"},
		Cmd:        strslice.StrSlice{},
		WorkingDir: "/",
		Env:        []string{"HOME=" + home},
		StopSignal: "SIGTERM",
		Healthcheck: &container.HealthConfig{
			Test: []string{"NONE"}, // the image's own would run beside judged commands
		},
	}
}

// capabilities are those of the supervisor: to become the user of a command, and to end that user's
// processes. Commands have none of them, since they run as another user. With sudo they cover the needs of
// package managers inside the container, and nothing that reaches out of it.
func (o Options) capabilities() []string {
	caps := []string{"KILL", "SETGID", "SETUID"}
	if o.Elevated {
		caps = append(caps, "AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "SYS_CHROOT")
	}
	slices.Sort(caps)
	return caps
}

// hostConfig confines the container.
func (o Options) hostConfig(p *plan) *container.HostConfig {
	limit := func(name string, n int64) *container.Ulimit { return &units.Ulimit{Name: name, Soft: n, Hard: n} }
	h := &container.HostConfig{
		NetworkMode:    container.NetworkMode(o.Network),
		RestartPolicy:  container.RestartPolicy{Name: container.RestartPolicyDisabled},
		LogConfig:      container.LogConfig{Type: "none"}, // output is kept and recorded by sallyport
		CapDrop:        strslice.StrSlice{"ALL"},
		CapAdd:         o.capabilities(),
		IpcMode:        container.IPCModePrivate,
		ReadonlyRootfs: !o.Writable,
		Runtime:        o.Runtime,
		Tmpfs:          map[string]string{},
		ShmSize:        64 << 20,
		Resources: container.Resources{
			Memory:     o.Memory,
			MemorySwap: o.Memory, // none beyond it
			NanoCPUs:   int64(o.CPUs * 1e9),
			PidsLimit:  &o.PIDs,
			Ulimits:    []*container.Ulimit{limit("nofile", o.Files), limit("core", 0)},
		},
	}
	if !o.Elevated {
		h.SecurityOpt = append(h.SecurityOpt, "no-new-privileges")
	}
	if p.profile != "" {
		h.SecurityOpt = append(h.SecurityOpt, "seccomp="+p.profile)
	}
	if o.FileSize > 0 {
		h.Ulimits = append(h.Ulimits, limit("fsize", o.FileSize))
	}
	o.writable(p, h)
	for _, b := range p.binds {
		h.Mounts = append(h.Mounts, mount.Mount{
			Type: mount.TypeBind, Source: b.Source, Target: b.Target, ReadOnly: !b.Write,
			BindOptions: &mount.BindOptions{Propagation: mount.PropagationRPrivate},
		})
	}
	h.Mounts = append(append(h.Mounts, p.accounts.mounts()...), p.delivery.mount())
	return h
}

// writable adds the places that commands can write to in any environment: /tmp in memory, and the home and
// the image's other volumes, which the engine fills from the image and which go with the container.
func (o Options) writable(p *plan, h *container.HostConfig) {
	size := fmt.Sprintf("size=%d", o.Temporary)
	h.Tmpfs["/tmp"] = "rw,nosuid,nodev,exec,mode=1777," + size
	if !o.Writable {
		h.Tmpfs["/var/tmp"] = "rw,nosuid,nodev,exec,mode=1777," + size
		h.Tmpfs["/run"] = "rw,nosuid,nodev,noexec,mode=0755,size=" + fmt.Sprint(16<<20)
	}
	volumes := p.image.Writable
	if !slices.Contains(volumes, home) {
		h.Tmpfs[home] = fmt.Sprintf("rw,nosuid,nodev,exec,mode=0700,uid=%d,gid=%d,%s", p.user.UID, p.user.GID, size)
	}
	for _, dir := range volumes {
		h.Mounts = append(h.Mounts, mount.Mount{
			Type: mount.TypeVolume, Target: dir,
			VolumeOptions: &mount.VolumeOptions{Labels: map[string]string{labelState: p.stateID}}, // prune knows it by that when somebody else removed its container
		})
	}
}
