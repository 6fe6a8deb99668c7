package docker

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/mount"
)

// Check is one property that keeps a container in bounds, as the engine itself describes it.
type Check struct {
	Name   string
	Detail string // the finding
	Mend   string // the fix, if OK is false
	OK     bool
}

// Checks examines a container as the engine describes it. o is its specification: an operator's choice, such
// as a network, is reported and is no failure. Each property is taken from the container, not from the
// request that created it.
func Checks(found container.InspectResponse, o Options) []Check {
	if found.ContainerJSONBase == nil || found.HostConfig == nil || found.Config == nil {
		return []Check{{Name: "description", Detail: "the engine does not describe the container",
			Mend: "use an engine with API 1.41 or later"}}
	}
	c := checks{found: found, host: found.HostConfig, o: o}
	return slices.Concat(c.rights(), c.namespaces(), c.limits(), c.files(), c.rest())
}

type checks struct {
	found container.InspectResponse
	host  *container.HostConfig
	o     Options
}

// mendAgain fixes most findings: settings come from here, so a container that differs was changed.
const mendAgain = "remove the container (sallyport env rm); it is made anew at the next request"

func check(name string, ok bool, detail string) Check {
	c := Check{Name: name, Detail: detail, OK: ok}
	if !ok {
		c.Mend = mendAgain
	}
	return c
}

// rights checks the privileges of processes.
func (c checks) rights() []Check {
	added := bare(c.host.CapAdd)
	extra := slices.DeleteFunc(slices.Clone(added),
		func(s string) bool { return slices.Contains(c.o.capabilities(), s) })
	dropped := slices.ContainsFunc(c.host.CapDrop, func(s string) bool { return strings.EqualFold(s, "ALL") })
	option := func(name string) (string, bool) {
		for _, s := range c.host.SecurityOpt {
			if n, v, _ := strings.Cut(strings.Replace(s, ":", "=", 1), "="); n == name {
				return v, true
			}
		}
		return "", false
	}
	v, newPrivileges := option("no-new-privileges")
	newPrivileges = newPrivileges && (v == "" || v == "true")
	nnp := check("no new privileges", newPrivileges || c.o.Elevated, onOff(newPrivileges))
	if c.o.Elevated {
		nnp.Detail = "set by the supervisor for all but elevated commands"
	}
	seccomp, named := option("seccomp")
	confined, labels := true, "the engine's default"
	for _, name := range []string{"apparmor", "label"} {
		if v, ok := option(name); ok {
			confined, labels = confined && v != "unconfined" && v != "disable", name+" "+v
		}
	}
	return []Check{
		check("not privileged", !c.host.Privileged, onOff(!c.host.Privileged)),
		check("all capabilities dropped", dropped, defaultTo(strings.Join(c.host.CapDrop, " "), "none")),
		check("no further capabilities added", len(extra) == 0, "the supervisor has "+strings.Join(added, " ")),
		nnp,
		check("system calls filtered", !named || seccomp != "unconfined", filterOf(named, seccomp)),
		check("AppArmor and SELinux not turned off", confined, labels),
	}
}

// namespaces checks the namespaces that it shares with the machine.
func (c checks) namespaces() []Check {
	mode := string(c.host.NetworkMode)
	var others []string
	if c.found.NetworkSettings != nil {
		for name := range c.found.NetworkSettings.Networks {
			if name != c.o.Network {
				others = append(others, name)
			}
		}
	}
	return []Check{
		check("network as configured", mode == c.o.Network, defaultTo(mode, "the engine's default")),
		check("no further networks", len(others) == 0, defaultTo(strings.Join(others, " "), "none")),
		check("own process ids", !c.host.PidMode.IsHost() && !c.host.PidMode.IsContainer(),
			defaultTo(string(c.host.PidMode), "private")),
		check("own interprocess communication", c.host.IpcMode.IsPrivate() || c.host.IpcMode.IsNone(),
			string(c.host.IpcMode)),
		check("own host name", !c.host.UTSMode.IsHost(), defaultTo(string(c.host.UTSMode), "private")),
		check("users as the engine maps them", !c.host.UsernsMode.IsHost(),
			defaultTo(string(c.host.UsernsMode), "the engine's default")),
		check("own control group", c.host.CgroupParent == "",
			defaultTo(string(c.host.CgroupnsMode), "the engine's default")),
		check("no ports published", len(c.host.PortBindings) == 0 && !c.host.PublishAllPorts,
			strconv.Itoa(len(c.host.PortBindings))),
	}
}

// limits checks its resource limits.
func (c checks) limits() []Check {
	pids := int64(0)
	if c.host.PidsLimit != nil {
		pids = *c.host.PidsLimit
	}
	noSwap := c.host.Memory == 0 || c.host.MemorySwap == c.host.Memory
	ulimit := func(name string) (int64, bool) {
		for _, u := range c.host.Ulimits {
			if strings.TrimPrefix(strings.ToLower(u.Name), "rlimit_") == name { // as Podman names it
				return u.Hard, true
			}
		}
		return 0, false
	}
	files, bounded := ulimit("nofile")
	core, noCore := ulimit("core")
	return []Check{
		check("processes bounded", pids > 0 && pids <= c.o.PIDs, strconv.FormatInt(pids, 10)),
		check("memory as configured, swap included", c.host.Memory == c.o.Memory && noSwap,
			bytesOr(c.host.Memory, "not limited")),
		check("processors as configured", c.host.NanoCPUs == int64(c.o.CPUs*1e9), cpus(c.host.NanoCPUs)),
		check("out of memory ends a command", c.host.OomKillDisable == nil || !*c.host.OomKillDisable,
			"by the kernel"),
		check("open files bounded, no core dumps", bounded && files > 0 && files <= c.o.Files && noCore &&
			core == 0, strconv.FormatInt(files, 10)),
	}
}

// files checks the files that it can see and write.
func (c checks) files() []Check {
	root := check("root read-only", c.host.ReadonlyRootfs || c.o.Writable, onOff(c.host.ReadonlyRootfs))
	if c.o.Writable && !c.host.ReadonlyRootfs {
		root.Detail = "writable, as configured"
	}
	var shared, socket, sized []string
	for _, m := range c.found.Mounts {
		if m.Type == mount.TypeBind && m.Propagation != "" && m.Propagation != mount.PropagationRPrivate &&
			m.Propagation != mount.PropagationPrivate {
			shared = append(shared, m.Destination)
		}
		if strings.HasSuffix(m.Source, ".sock") {
			socket = append(socket, m.Source)
		}
	}
	for at, options := range c.host.Tmpfs {
		if !strings.Contains(options, "size=") || !strings.Contains(options, "nosuid") ||
			!strings.Contains(options, "nodev") {
			sized = append(sized, at)
		}
	}
	unplanned := c.unplanned()
	return []Check{
		root,
		check("mounts as planned", len(unplanned) == 0,
			defaultTo(strings.Join(unplanned, ", "), fmt.Sprintf("%d", len(c.found.Mounts)))),
		check("mounts are private", len(shared) == 0, defaultTo(strings.Join(shared, ", "), "all")),
		check("no sockets of the machine", len(socket) == 0, defaultTo(strings.Join(socket, ", "), "none")),
		check("file systems in memory bounded, without set-id and devices", len(sized) == 0,
			defaultTo(strings.Join(sized, ", "), "all")),
		check("kernel's files hidden", len(c.host.MaskedPaths) > 0 && len(c.host.ReadonlyPaths) > 0,
			fmt.Sprintf("%d hidden, %d read-only", len(c.host.MaskedPaths), len(c.host.ReadonlyPaths))),
		check("no devices", len(c.host.Devices) == 0 && len(c.host.DeviceRequests) == 0 &&
			len(c.host.DeviceCgroupRules) == 0, strconv.Itoa(len(c.host.Devices)+len(c.host.DeviceRequests))),
	}
}

// unplanned returns the mounts that differ from the requested ones, as the engine reports them.
func (c checks) unplanned() []string {
	asked := map[string]mount.Mount{}
	for _, m := range c.host.Mounts {
		asked[m.Target] = m
	}
	var odd []string
	for _, m := range c.found.Mounts {
		a, ok := asked[m.Destination]
		switch {
		case m.Type == mount.TypeTmpfs:
		case m.Type == mount.TypeVolume && hasKey(c.found.Config.Volumes,
			m.Destination): // of the image, kept by the engine
		case !ok, a.Type != m.Type, m.RW && a.ReadOnly, m.Type == mount.TypeBind &&
			path.Clean(a.Source) != path.Clean(m.Source):
			odd = append(odd, m.Source+" at "+m.Destination)
		}
	}
	return append(odd, c.host.Binds...) // we never use them
}

// filterOf says which filter of system calls a container has.
func filterOf(named bool, value string) string {
	switch {
	case !named:
		return "the engine's default"
	case strings.HasPrefix(value, "{"):
		return "the engine's default list, and no file may be made that runs as its owner"
	default:
		return value
	}
}

func hasKey(set map[string]struct{}, key string) bool {
	_, ok := set[key]
	return ok
}

// rest is how it lives.
func (c checks) rest() []Check {
	restart := c.host.RestartPolicy.Name
	supervised := len(c.found.Config.Entrypoint) == 2 && c.found.Config.Entrypoint[0] == program &&
		c.found.Config.Entrypoint[1] == "--init"
	return []Check{
		check("never restarted by the engine", restart == "" || restart == container.RestartPolicyDisabled,
			defaultTo(string(restart), "no")),
		check("the supervisor is its first process", supervised && len(c.found.Config.Cmd) == 0,
			strings.Join(c.found.Config.Entrypoint, " ")),
		check("the engine keeps no output", c.host.LogConfig.Type == "none", c.host.LogConfig.Type),
	}
}

// bare returns capabilities without their prefix, in order.
func bare(caps []string) []string {
	out := make([]string, len(caps))
	for i, c := range caps {
		out[i] = strings.TrimPrefix(strings.ToUpper(c), "CAP_")
	}
	slices.Sort(out)
	return out
}

func onOff(on bool) string {
	if on {
		return "yes"
	}
	return "no"
}

func defaultTo(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

func bytesOr(n int64, otherwise string) string {
	if n == 0 {
		return otherwise
	}
	return strconv.FormatInt(n, 10) + " bytes"
}

func cpus(nano int64) string {
	if nano == 0 {
		return "not limited"
	}
	return strconv.FormatFloat(float64(nano)/1e9, 'g', -1, 64)
}
