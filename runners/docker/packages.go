package docker

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sallyport-dev/sallyport/runners/mounts"
	"github.com/sallyport-dev/sallyport/runners/wire"
)

// Packages are installed before a container is created. The operator asks for them, in the configuration: an
// agent has no part in it, so nothing is judged, and the log of the environment records it.
type Packages struct {
	System, Python, NPM []string
	Network             string // of the installation; "" for that of the container
	Continue            bool   // skip packages that cannot be installed
}

// step is one call of one installer.
type step struct {
	kind     string // system, python, npm
	names    []string
	command  []string // words: no shell reads a name
	elevated bool
}

// aptScript is the one installer that needs two commands. The names are its arguments.
const aptScript = `for name; do case "$name" in /*) ;; *) apt-get update -q || exit; break ;; esac; done
apt-get install -q --yes --no-install-recommends -o Dpkg::Use-Pty=0 -- "$@" && rm -rf /var/lib/apt/lists/*`

// steps are the installations in their order: others are built with the system's packages.
func (p Packages) steps() []step {
	all := []step{
		{"system", p.System, []string{"/bin/sh", "-c", aptScript, "sh"}, true},
		{"python", p.Python, []string{"python3", "-m", "pip", "install", "--no-input",
			"--disable-pip-version-check", "--no-cache-dir", "--"}, false},
		{"npm", p.NPM, []string{"npm", "install", "--global", "--no-audit", "--no-fund", "--no-update-notifier",
			"--"}, false},
	}
	var steps []step
	for _, s := range all {
		if len(s.names) > 0 {
			s.command = append(s.command, s.names...)
			steps = append(steps, s)
		}
	}
	return steps
}

// user is the user of an installer: that of commands, so that they can change its files; root for the
// system's packages.
func (s step) user(u wire.User) wire.User {
	if s.elevated {
		return wire.User{}
	}
	return u
}

// key identifies an installation: its image, its user, its packages. A package that is a file in one of the
// mounts counts by its content.
func (s step) key(from Image, u wire.User, binds []mounts.Mount) (string, error) {
	parts := []string{"1", from.ID, s.kind, fmt.Sprint(s.user(u))}
	for _, name := range s.names {
		parts = append(parts, name)
		file := strings.TrimPrefix(name, "file:")
		if !path.IsAbs(file) {
			continue
		}
		m, ok := deepest(binds, path.Clean(file))
		switch {
		case !ok: // it is a file of the image
			continue
		case m.Write:
			return "", fmt.Errorf(
				"package %s lies where commands can write, and they could change it: put it elsewhere and name that "+
					"under docker.mounts", name)
		}
		content, err := contentOf(filepath.Join(m.Source,
			filepath.FromSlash(strings.TrimPrefix(path.Clean(file), m.Target))))
		if err != nil {
			return "", fmt.Errorf("package %s: %w", name, err)
		}
		parts = append(parts, content)
	}
	return digest(parts...), nil
}

// deepest returns the mount that shows a path of the container.
func deepest(binds []mounts.Mount, target string) (found mounts.Mount, ok bool) {
	for _, m := range binds {
		if within(target, m.Target) && (!ok || len(m.Target) >= len(found.Target)) {
			found, ok = m, true
		}
	}
	return found, ok
}

func within(target, dir string) bool { return target == dir || strings.HasPrefix(target, dir+"/") }

// forInstaller keeps those mounts of a session that commands cannot write to: an installer must not run a
// file of an agent.
func forInstaller(binds []mounts.Mount) []mounts.Mount {
	var kept []mounts.Mount
	for _, b := range binds {
		if m, _ := deepest(binds, b.Target); !m.Write &&
			!slices.ContainsFunc(binds, func(o mounts.Mount) bool { return o.Write && within(b.Target, o.Target) }) {
			kept = append(kept, b)
		}
	}
	return kept
}

// contentOf is a digest of a file, or of all the files below a directory.
func contentOf(root string) (string, error) {
	h := sha256.New()
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, file)
		if err != nil {
			return err
		}
		fmt.Fprintf(h, "%d:%s,%d:", len(rel), rel, info.Size())
		f, err := os.Open(file)
		if err != nil {
			return err
		}
		defer f.Close()
		_, err = io.Copy(h, f)
		return err
	})
	return hex.EncodeToString(h.Sum(nil)), err
}
