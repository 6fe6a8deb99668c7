//go:build unix

package mounts

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// machine is a home directory with what is usually in one, and places that may be mounted.
type machine struct {
	home, work, state string
	guard             Guard
}

func newMachine(t *testing.T) machine {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	m := machine{home: filepath.Join(root, "people", "ann"), work: filepath.Join(root, "people", "ann", "work"), state: filepath.Join(root, "state")}
	for _, dir := range []string{
		m.work, filepath.Join(m.work, "src"), m.state, filepath.Join(m.home, ".ssh"), filepath.Join(m.home, ".config", "gh"), filepath.Join(m.home, ".docker", "run"),
		filepath.Join(m.home, ".config", "nvim"), filepath.Join(m.work, "tools"),
	} {
		must(t, os.MkdirAll(dir, 0o755))
	}
	m.guard = Guard{Home: m.home, Own: []string{m.state}, Sockets: []string{filepath.Join(m.home, "engine.sock")}}
	return m
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestDangerousSources holds that none of these is accepted, read-only or not.
func TestDangerousSources(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	socket := filepath.Join(m.work, "agent.sock")
	l, err := net.Listen("unix", socket)
	must(t, err)
	t.Cleanup(func() { l.Close() })
	pipe := filepath.Join(m.work, "pipe")
	must(t, syscall.Mkfifo(pipe, 0o600))
	h := m.home
	corpus := []string{
		// the machine, however it is written
		"/", "//", "/.", "/..", "/./", "/usr/..", "/tmp/../", "/home/../../",
		// the system, and what lies around it
		"/etc", "/etc/", "/etc/.", "//etc", "/ETC", "/Etc/Shadow", "/etc/shadow", "/etc/ssh", "/tmp/../etc", "/etc/../etc/sudoers.d", "/private/etc",
		"/usr", "/usr/", "/bin", "/sbin", "/lib", "/lib64", "/boot", "/boot/grub", "/opt", "/var", "/var/lib", "/var/log", "/var/spool/cron",
		"/dev", "/dev/sda", "/dev/mem", "/dev/shm", "/proc", "/proc/1/root", "/proc/self", "/sys", "/sys/fs/cgroup", "/sys/kernel",
		"/run", "/run/secrets", "/run/user/1000", "/run/user/1000/docker.sock", "/run/user/1000/podman/podman.sock", "/var/run", "/var/run/", "/VAR/RUN/docker.sock",
		// engines
		"/var/run/docker.sock", "/run/docker.sock", "/run/containerd/containerd.sock", "/run/podman/podman.sock", "/run/crio/crio.sock",
		"/var/lib/docker", "/var/lib/docker/volumes", "/var/lib/containerd", "/var/lib/containers/storage", "/var/lib/kubelet/pods",
		h + "/.docker/run", h + "/.docker/run/docker.sock", h + "/.docker", h + "/.colima", h + "/.colima/default/docker.sock", h + "/.local/share/containers",
		h + "/engine.sock", socket, pipe,
		// what is everybody's
		"/tmp", "/tmp/", "/var/tmp", "/home", "/home/", "/home/ann", "/Users", "/Users/ann", "/root", "/root/", "/mnt", "/media", "/srv",
		"/mnt/c", "/mnt/c/Users", "/mnt/c/Users/ann", "/mnt/c/users/ann/.ssh", "/System/Volumes/Data/Users/ann",
		// home directories and what holds them
		h, h + "/", h + "/.", m.work + "/..", filepath.Dir(h), filepath.Dir(filepath.Dir(h)),
		// keys and passwords, and what holds them
		h + "/.ssh", h + "/.ssh/", h + "/.SSH", h + "/.ssh/id_ed25519", h + "/.ssh/../.ssh", h + "/.aws/credentials", h + "/.azure", h + "/.gnupg", h + "/.kube/config",
		h + "/.netrc", h + "/.npmrc", h + "/.pypirc", h + "/.git-credentials", h + "/.password-store/x", h + "/.config", h + "/.config/gh", h + "/.config/gcloud",
		h + "/.local", h + "/.local/share", h + "/.local/share/keyrings", h + "/.mozilla", h + "/.claude", h + "/.codex", h + "/Library", h + "/Library/Keychains",
		h + "/.bashrc", h + "/.gitconfig", h + "/.config/systemd/user", "/elsewhere/.ssh", "/backup/home/.aws", "/mnt/disk/bob/.gnupg/private-keys-v1.d",
		// sallyport's own
		m.state, m.state + "/", m.state + "/audit", filepath.Dir(m.state),
		// not absolute
		"", ".", "..", "etc", "~", "~/.ssh", "./../etc",
	}
	for _, place := range corpus {
		for _, write := range []bool{false, true} {
			err := m.guard.Refuse(place, write)
			if err == nil {
				t.Errorf("%s is accepted (write %v)", place, write)
			} else if n := strings.Count(err.Error(), ": "); n < 1 {
				t.Errorf("%s: %v: no mend", place, err)
			}
		}
	}
	if len(corpus) < 60 {
		t.Errorf("the corpus has %d cases", len(corpus))
	}
}

// TestWrittenSystem holds that what may be read of the system may not be written to.
func TestWrittenSystem(t *testing.T) {
	t.Parallel()
	g := newMachine(t).guard
	for _, place := range []string{"/usr/local/bin", "/usr/share", "/lib/modules", "/var/log/app", "/nix/store"} {
		if err := g.Refuse(place, true); err == nil {
			t.Errorf("%s is accepted for writing", place)
		}
		if err := g.Refuse(place, false); err != nil {
			t.Errorf("read-only: %v", err)
		}
	}
}

// TestUsualSources holds that the guard is no nuisance.
func TestUsualSources(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	for _, place := range []string{
		m.work, m.work + "/src", m.work + "/tools", m.home + "/.config/nvim", m.work + "/.claude", m.work + "/.npmrc", "/home/ann/project", "/Users/ann/dev/x",
		"/root/project", "/srv/data", "/opt/tools", "/mnt/disk/data", "/mnt/c/Users/ann/dev", "/data", "/workspace", "/tmp/scratch", "/var/www/site",
		"/var/lib/jenkins/workspace/x", "/usr2/x", "/etcetera", "/home2", "/varnish/x", "/nonexistent",
	} {
		if err := m.guard.Refuse(place, true); err != nil {
			t.Errorf("%v", err)
		}
	}
}
