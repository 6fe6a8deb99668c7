package docker

import (
	"context"
	"encoding/json"
	"slices"
	"testing"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/mount"
	"github.com/docker/docker/api/types/network"
	"github.com/docker/go-connections/nat"
)

// TestChecks holds that a container passes every check, and that each check fails when what it is about is
// weakened, and no other does.
func TestChecks(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.o.Memory, l.o.CPUs = 512<<20, 1
	env := l.open(l.spec())
	defer env.Close()
	o := env.r.o
	found, err := env.e.cli.ContainerInspect(context.Background(), env.id)
	must(t, err)
	all, err := env.Hardening(context.Background())
	must(t, err)
	for _, c := range all {
		if !c.OK {
			t.Errorf("%s: %s: %s", c.Name, c.Detail, c.Mend)
		}
	}
	if len(all) < 22 {
		t.Errorf("%d checks", len(all))
	}
	weak := map[string]func(c *container.InspectResponse){
		"not privileged":                func(c *container.InspectResponse) { c.HostConfig.Privileged = true },
		"all capabilities dropped":      func(c *container.InspectResponse) { c.HostConfig.CapDrop = nil },
		"no further capabilities added": func(c *container.InspectResponse) { c.HostConfig.CapAdd = append(c.HostConfig.CapAdd, "CAP_SYS_ADMIN") },
		"no new privileges":             func(c *container.InspectResponse) { c.HostConfig.SecurityOpt = c.HostConfig.SecurityOpt[1:] },
		"system calls filtered":         func(c *container.InspectResponse) { c.HostConfig.SecurityOpt[1] = "seccomp=unconfined" },
		"AppArmor and SELinux not turned off": func(c *container.InspectResponse) {
			c.HostConfig.SecurityOpt = append(c.HostConfig.SecurityOpt, "apparmor=unconfined")
		},
		"network as configured":               func(c *container.InspectResponse) { c.HostConfig.NetworkMode = "bridge" },
		"no further networks":                 func(c *container.InspectResponse) { c.NetworkSettings.Networks["other"] = &network.EndpointSettings{} },
		"own process ids":                     func(c *container.InspectResponse) { c.HostConfig.PidMode = "host" },
		"own interprocess communication":      func(c *container.InspectResponse) { c.HostConfig.IpcMode = "host" },
		"own host name":                       func(c *container.InspectResponse) { c.HostConfig.UTSMode = "host" },
		"users as the engine maps them":       func(c *container.InspectResponse) { c.HostConfig.UsernsMode = "host" },
		"own control group":                   func(c *container.InspectResponse) { c.HostConfig.CgroupParent = "/" },
		"no ports published":                  func(c *container.InspectResponse) { c.HostConfig.PortBindings = nat.PortMap{"80/tcp": nil} },
		"processes bounded":                   func(c *container.InspectResponse) { c.HostConfig.PidsLimit = nil },
		"memory as configured, swap included": func(c *container.InspectResponse) { c.HostConfig.MemorySwap = -1 },
		"processors as configured":            func(c *container.InspectResponse) { c.HostConfig.NanoCPUs = 0 },
		"open files bounded, no core dumps":   func(c *container.InspectResponse) { c.HostConfig.Ulimits = c.HostConfig.Ulimits[:1] },
		"out of memory ends a command":        func(c *container.InspectResponse) { on := true; c.HostConfig.OomKillDisable = &on },
		"root read-only":                      func(c *container.InspectResponse) { c.HostConfig.ReadonlyRootfs = false },
		"mounts as planned": func(c *container.InspectResponse) {
			c.Mounts = append(c.Mounts, container.MountPoint{Type: mount.TypeBind, Source: "/srv", Destination: "/srv", Propagation: mount.PropagationRPrivate})
		},
		"mounts are private": func(c *container.InspectResponse) { bindOf(c).Propagation = mount.PropagationRShared },
		"no sockets of the machine": func(c *container.InspectResponse) {
			c.HostConfig.Mounts = append(c.HostConfig.Mounts, mount.Mount{Type: mount.TypeBind, Source: "/x/docker.sock", Target: "/s"})
			c.Mounts = append(c.Mounts, container.MountPoint{Type: mount.TypeBind, Source: "/x/docker.sock", Destination: "/s", Propagation: mount.PropagationRPrivate})
		},
		"file systems in memory bounded, without set-id and devices": func(c *container.InspectResponse) { c.HostConfig.Tmpfs["/tmp"] = "rw" },
		"no devices": func(c *container.InspectResponse) {
			c.HostConfig.Devices = []container.DeviceMapping{{PathOnHost: "/dev/kvm"}}
		},
		"kernel's files hidden":               func(c *container.InspectResponse) { c.HostConfig.MaskedPaths = []string{} },
		"never restarted by the engine":       func(c *container.InspectResponse) { c.HostConfig.RestartPolicy.Name = "always" },
		"the supervisor is its first process": func(c *container.InspectResponse) { c.Config.Entrypoint = []string{"/bin/sh"} },
		"the engine keeps no output":          func(c *container.InspectResponse) { c.HostConfig.LogConfig.Type = "json-file" },
	}
	for _, c := range all {
		if weak[c.Name] == nil {
			t.Errorf("%s: nothing weakens it", c.Name)
		}
	}
	text, err := json.Marshal(found)
	must(t, err)
	for name, weaken := range weak {
		var c container.InspectResponse
		must(t, json.Unmarshal(text, &c))
		weaken(&c)
		var failed []string
		for _, check := range Checks(c, o) {
			if !check.OK {
				failed = append(failed, check.Name)
				if check.Mend == "" || check.Detail == "" {
					t.Errorf("%s: no words: %+v", name, check)
				}
			}
		}
		if !slices.Equal(failed, []string{name}) {
			t.Errorf("%s is weakened: %q fail", name, failed)
		}
	}
	if c := Checks(container.InspectResponse{}, o); len(c) != 1 || c[0].OK {
		t.Errorf("nothing described: %v", c)
	}
}

func bindOf(c *container.InspectResponse) *container.MountPoint {
	for i := range c.Mounts {
		if c.Mounts[i].Type == mount.TypeBind {
			return &c.Mounts[i]
		}
	}
	panic("a container has bind mounts")
}
