package bubblewrap

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/runners/mounts"
)

// supervisorAt is where the supervisor lies in a sandbox: /run is empty but for it.
const supervisorAt = "/run/sallyport/sallyport-supervisor"

// host is the part of the host that the base of a view is made from.
type host struct {
	home    string
	temp    string // $TMPDIR
	user    string
	uid     int
	gid     int
	network bool
	scratch int64
}

// systemPlaces hold programs and their dependencies. None of them belongs to a user.
func systemPlaces() []string {
	return []string{"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/nix/store",
		"/gnu/store", "/run/current-system"}
}

// configuration is the part of /etc that programs read to start, to speak a language, to trust certificates
// and to choose among alternatives. The rest of it, keys and passwords among it, is not there.
func configuration() []string {
	return strings.Fields(`ld.so.cache alternatives localtime timezone locale.alias locale.conf
		ssl/certs ssl/openssl.cnf ssl/cert.pem pki/ca-trust pki/tls/certs pki/tls/cert.pem pki/tls/openssl.cnf crypto-policies
		os-release debian_version lsb-release redhat-release alpine-release
		bash.bashrc profile inputrc mime.types magic fonts services protocols host.conf gai.conf gitattributes java* wgetrc`)
}

// base puts the system into a view: programs, devices, processes, a small /etc, and empty places to write to.
func (v *view) base(h host) {
	for _, p := range systemPlaces() {
		v.system(p)
	}
	v.add(mount{kind: directory, at: "/etc"})
	for _, name := range configuration() {
		found, _ := filepath.Glob("/etc/" + name) // the pattern is ours
		for _, p := range found {
			v.system(p)
		}
	}
	v.add(mount{kind: content, at: "/etc/passwd", data: []byte(h.passwd())})
	v.add(mount{kind: content, at: "/etc/group", data: []byte(h.group())})
	v.add(mount{kind: content, at: "/etc/nsswitch.conf",
		data: []byte("passwd: files\ngroup: files\nhosts: files dns\nservices: files\nprotocols: files\n")})
	v.add(mount{kind: content, at: "/etc/hosts",
		data: read("/etc/hosts", "127.0.0.1 localhost\n::1 localhost\n")})
	if h.network {
		v.add(mount{kind: content, at: "/etc/resolv.conf", data: read("/etc/resolv.conf", "")})
	}
	v.add(mount{kind: scratch, at: "/run", size: 1 << 20, mode: "0755"})
	v.add(mount{kind: directory, at: "/var"})
	v.add(mount{kind: symlink, at: "/var/run", source: "../run"})
	v.add(mount{kind: scratch, at: "/tmp", size: h.scratch, mode: "1777"})
	v.add(mount{kind: scratch, at: "/var/tmp", size: h.scratch,
		mode: "1777"}) // no link: the workspace may lie below it
	if clean(h.home) && h.home != "/" {
		v.add(mount{kind: scratch, at: h.home, size: h.scratch, mode: "0700"})
	}
	if clean(h.temp) && within(h.temp, "/tmp") && h.temp != "/tmp" {
		v.add(mount{kind: directory, at: h.temp})
	}
}

// system shows a place of the host as it is: a symlink as one, if its target is shown too.
func (v *view) system(p string) {
	info, err := os.Lstat(p)
	if err != nil {
		return
	}
	if info.Mode()&os.ModeSymlink == 0 {
		v.original(p, p, info)
		return
	}
	target, err := filepath.EvalSymlinks(p)
	if err != nil {
		return
	}
	if _, ok := v.shown(target); ok {
		if as, err := os.Readlink(p); err == nil {
			v.add(mount{kind: symlink, at: p, source: as})
		}
		return
	}
	if info, err = os.Lstat(target); err == nil {
		v.original(p, target, info)
	}
}

// smallFile is up to how many bytes a file is copied into a view: that is cheaper than a mount.
const smallFile = 256 << 10

// original shows a place of the host's system, at its own path or another.
func (v *view) original(at, source string, info os.FileInfo) {
	if info.Mode().IsRegular() && info.Size() <= smallFile {
		if b, err := os.ReadFile(source); err == nil {
			v.add(mount{kind: content, at: at, data: b})
		}
		return
	}
	v.add(mount{kind: readOnly, at: at, source: source})
}

// passwd has a line for the user, since programs look up their own user.
func (h host) passwd() string {
	line := func(name string, uid, gid int, home string) string {
		return fmt.Sprintf("%s:x:%d:%d::%s:/bin/sh\n", name, uid, gid, home)
	}
	out := line("nobody", 65534, 65534, "/nonexistent")
	if h.uid == 65534 {
		out = ""
	}
	if h.uid != 0 {
		out = line("root", 0, 0, "/nonexistent") + out
	}
	return line(h.name(), h.uid, h.gid, field(h.home)) + out
}

func (h host) group() string {
	out := fmt.Sprintf("%s:x:%d:\n", h.name(), h.gid)
	if h.gid != 0 {
		out += "root:x:0:\n"
	}
	if h.gid != 65534 {
		out += "nogroup:x:65534:\n"
	}
	return out
}

func (h host) name() string {
	if n := field(h.user); n != "" {
		return n
	}
	return "user"
}

// field is a text as one field of a line of /etc/passwd.
func field(s string) string {
	if strings.ContainsAny(s, ":\n") {
		return ""
	}
	return s
}

// read returns a small file of the host, or the given replacement.
func read(path, otherwise string) []byte {
	b, err := os.ReadFile(path)
	if err != nil || len(b) > 1<<20 {
		return []byte(otherwise)
	}
	return b
}

// grant puts the granted places into a view, and says which of them cannot be.
func (v *view) grant(roots []facts.Root, resolved map[string]mounts.Place) error {
	for _, r := range roots {
		p := resolved[r.Path]
		if err := confinable(p.Path, r.Write); err != nil {
			return fmt.Errorf("%s: %w", r.Path, err)
		}
		v.uncover(p.Path)
	}
	for _, r := range roots {
		p := resolved[r.Path]
		v.bind(p.Path, r.Write)
		for _, l := range p.Links {
			if m, ok := v.shown(l.At); !ok || m.kind == scratch {
				v.add(mount{kind: symlink, at: l.At, source: l.Target})
			}
		}
	}
	return nil
}

// bind shows a place of the host at its own path.
func (v *view) bind(path string, write bool) {
	kind := readOnly
	if write {
		kind = writable
	}
	v.add(mount{kind: kind, at: path, source: path})
}

// uncover removes the places from the base that a granted place shows by itself. Empty places that hide
// something stay, but for the home of a user with a granted home.
func (v *view) uncover(granted string) {
	kept := v.mounts[:0]
	for _, m := range v.mounts {
		hides := (m.at == "/tmp" || m.at == "/var/tmp") && granted != m.at || within(m.at, "/run")
		if !within(m.at, granted) || hides {
			kept = append(kept, m)
		}
	}
	v.mounts = kept
}

// confinable says why a granted place leaves nothing to confine.
func confinable(p string, write bool) error {
	switch {
	case p == "/" && write:
		return unavailable("grant less than the whole system for writing",
			"the whole system is granted for writing")
	case within(p, "/proc") || within(p, "/sys") || p == "/dev" || p == "/run" || p == "/var/run":
		return unavailable("take it out of the configuration",
			"%s is how processes reach each other and the kernel", p)
	}
	return nil
}
