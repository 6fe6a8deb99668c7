package facts

import (
	"slices"
	"strings"

	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

// systemMounts are host directories that give a container the host.
var systemMounts = []string{"/", "/etc", "/usr", "/var", "/bin", "/sbin", "/lib", "/boot", "/dev", "/proc", "/sys", "/root", "/home", "/run", "/var/run", "/var/lib/docker", "/var/lib", "/Users", "/private", "/opt", "/host"}

// containerRun reads what of the host a container gets.
func containerRun(c *call) {
	for _, o := range c.options {
		if !o.given {
			continue
		}
		v := o.value.Text
		switch o.name {
		case "v", "volume":
			source, _, _ := strings.Cut(v, ":")
			c.mount(o.value, source, 0, strings.HasSuffix(v, ":ro"))
		case "mount":
			c.mountOption(o.value)
		case "pid", "ipc", "uts", "userns", "cgroupns", "net", "network":
			if v == "host" {
				c.flags.add(flagHostNamespace)
			}
		case "cap-add":
			switch strings.ToUpper(strings.TrimPrefix(strings.ToUpper(v), "CAP_")) {
			case "ALL", "SYS_ADMIN", "SYS_PTRACE", "SYS_MODULE", "SYS_RAWIO", "DAC_READ_SEARCH", "NET_ADMIN", "BPF":
				c.flags.add(flagPrivilegedContainer)
			}
		case "security-opt":
			if strings.Contains(v, "unconfined") || strings.Contains(v, "label=disable") || strings.Contains(v, "label:disable") {
				c.flags.add(flagPrivilegedContainer)
			}
		case "device":
			source, _, _ := strings.Cut(v, ":")
			if isDisk(exact(source)) || strings.HasPrefix(source, "/dev/mem") {
				c.flags.add(flagHostMount)
				c.path(exact(source), reads|writes)
			}
		}
	}
	c.image()
}

// mount notes a bind mount. A named volume has no slash in it.
func (c *call) mount(w value.Word, source string, skip int, readOnly bool) {
	if !strings.ContainsAny(source, "/.~") && w.Certainty == value.Exact {
		return
	}
	word := cut(w, skip)
	word.Text = source
	word.Prefix = word.Prefix[:min(len(source), len(word.Prefix))]
	if len(word.Prefix) == len(source) {
		word.Certainty = value.Exact
	}
	a := reads | writes
	if readOnly {
		a = reads
	}
	c.touch(word, role{word: "mount", access: a, recursive: true})
	p := source
	if len(p) > 1 {
		p = strings.TrimRight(p, "/")
	}
	if slices.Contains(systemMounts, p) || strings.HasSuffix(p, "docker.sock") || strings.HasSuffix(p, "containerd.sock") || p == "" {
		c.flags.add(flagHostMount)
	}
}

func (c *call) mountOption(w value.Word) {
	bind, readOnly, source, at := false, false, "", 0
	pos := 0
	for _, field := range strings.Split(w.Text, ",") {
		key, value, _ := strings.Cut(field, "=")
		switch key {
		case "type":
			bind = value == "bind"
		case "source", "src":
			source, at = value, pos+len(key)+1
		case "readonly", "ro":
			readOnly = value == "" || value == "true"
		}
		pos += len(field) + 1
	}
	if bind && source != "" {
		c.mount(w, source, at, readOnly)
	}
}

// image notes the registry that an image comes from when its name has one.
func (c *call) image() {
	name := c.operand(0)
	if host, rest, ok := strings.Cut(name, "/"); ok && rest != "" && strings.ContainsAny(host, ".:") {
		c.host(host)
	}
}

// containerCopy: NAME:PATH lies in a container of this machine, not elsewhere.
func containerCopy(c *call) {
	c.dropNamed()
	c.effects &^= doesNetwork
	for _, f := range []flag{flagRemote, flagUploads, flagDownloads} {
		c.flags.remove(f)
	}
	c.each(reads, func(t *touch) { t.recursive = true })
}

// podCopy: POD:PATH lies in the cluster.
func podCopy(c *call) {
	c.dropNamed()
	c.direction()
}

// dropNamed forgets the words that name a place in something else, NAME:PATH, of whatever length.
func (c *call) dropNamed() {
	c.hosts = nil
	kept := c.touches[:0]
	for _, t := range c.touches {
		if !isNamed(t.word.Text) {
			kept = append(kept, t)
		}
	}
	c.touches = kept
}

func isNamed(text string) bool {
	colon := strings.IndexByte(text, ':')
	return colon > 0 && !strings.ContainsAny(text[:colon], "/.")
}

// direction says whether a copy goes out or comes in.
func (c *call) direction() {
	for i, w := range c.operands {
		if !isNamed(w.Text) {
			continue
		}
		c.remoteWork()
		if len(c.operands) < 2 {
			return
		}
		if i == len(c.operands)-1 {
			c.flags.add(flagUploads)
		} else {
			c.flags.add(flagDownloads)
		}
	}
}

// composeDown: -v of rm removes anonymous volumes only; of compose down, the named ones.
func composeDown(c *call) {
	if len(c.sub) > 0 && c.sub[0] != "compose" && !c.has("volumes") || len(c.sub) > 0 && c.sub[len(c.sub)-1] == "rm" {
		c.flags.remove(flagDestroysData)
	}
	if c.allContainers() {
		c.flags.add(flagDestroysData)
	}
}

// destroyWords: virtual machines and stacks are destroyed by a word.
func destroyWords(c *call) {
	for _, w := range c.operands {
		switch w.Text {
		case "destroy", "undefine", "delete", "unregistervm", "purge", "--unregister", "rm", "vol-delete", "snapshot-delete":
			c.flags.add(flagDestroysData)
		}
	}
}

// allContainers reports a removal of all containers, pods or nodes of a swarm there are, by an option or by a list of them:
// rm -f $(docker ps -aq).
func (c *call) allContainers() bool {
	kind := c.sub[0]
	if kind == "compose" || listedWord("rmi image network builder buildx context machine manifest plugin secret config service stack node", kind) {
		return false
	}
	if c.flags.has(flagAll) {
		return true
	}
	for _, w := range c.operands {
		for _, i := range w.Inputs {
			if i < len(c.source.cmds) && slices.Contains(texts(c.source.cmds[i].Words), "ps") {
				return true
			}
		}
	}
	return slices.ContainsFunc(c.cmd.Inputs, func(i int) bool {
		return i < len(c.source.cmds) && c.source.cmds[i].Name == c.cmd.Name && slices.Contains(texts(c.source.cmds[i].Words), "ps")
	})
}
