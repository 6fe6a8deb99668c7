package config

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/sallyport-dev/sallyport/engine/lazyregexp"
)

// debianName is a name with a version or a release, or the path of a .deb file. It excludes words with
// another meaning to apt-get, such as a name with "-" behind it, which removes the package.
var debianName = lazyregexp.New(
	`^([a-z0-9][a-z0-9+.-]*[a-z0-9+](:[a-z0-9-]+)?([=/][A-Za-z0-9.+:~_-]+)?|/.*\.deb)$`)

// packages checks the packages to install before a container starts.
func (c checker) packages() {
	p := c.l.Docker.Packages
	for _, list := range []struct {
		key   string
		names []string
	}{{"system", p.System}, {"python", p.Python}, {"npm", p.NPM}} {
		for i, name := range list.names {
			key := fmt.Sprintf("docker.packages.%s[%d]", list.key, i)
			switch {
			case strings.TrimSpace(name) == "":
				c.problem(key, "the name is empty")
			case strings.HasPrefix(name, "-"):
				c.problem(key, "%q is an option, and no package", name)
			case strings.ContainsFunc(name, unicode.IsControl):
				c.problem(key, "%q holds a control character", name)
			case list.key == "system" && !debianName.MatchString(name):
				c.problem(
					key,
					"%q is not the name of a Debian package: write name, name=version, name/release, or the path of a "+
						".deb file", name)
			}
		}
	}
	if key, why := c.l.uninstallable(); why != "" {
		c.problem(key, "%s", why)
	}
}

// uninstallable says why packages cannot be installed for the runner in use, and which key is to blame; "" if
// they can.
func (l *Loaded) uninstallable() (key, why string) {
	p := l.Docker.Packages
	switch {
	case len(p.System) > 0 && l.Runner == "docker":
		return "docker.packages.system", "installing system packages needs \"runner: docker-sudo\""
	case (l.Runner == "docker" || l.Runner == "docker-sudo") && l.Docker.InstallNetwork() == "none" &&
		p.needNetwork():
		return "docker.packages",
			"installing packages needs a network, and there is none: set docker.packages.network to bridge; " +
				"commands " +
				"have docker.network all the same"
	default:
		return "", ""
	}
}

// Installable returns an error when the packages cannot be installed for the runner in use, which may be
// another than the file says.
func (l *Loaded) Installable() error {
	key, why := l.uninstallable()
	if why == "" {
		return nil
	}
	return l.Refuse([]Problem{l.At(key, why)})
}

// InstallNetwork is the network that packages are installed with.
func (d Docker) InstallNetwork() string {
	if d.Packages.Network == "same" {
		return d.Network
	}
	return d.Packages.Network
}

// needNetwork reports whether any package comes from elsewhere: every one that is not a file in the
// container.
func (p Packages) needNetwork() bool {
	return slices.ContainsFunc(slices.Concat(p.System, p.Python, p.NPM), func(name string) bool {
		return !path.IsAbs(strings.TrimPrefix(name, "file:"))
	})
}
