package main

import (
	"fmt"
	"strings"

	"github.com/sallyport-dev/sallyport/engine/config"
)

// placeFor describes the place of commands for an agent, which need not learn its limits from failures.
func placeFor(l *config.Loaded) string {
	sudo := l.Runner == "docker-sudo"
	if l.Runner != "docker" && !sudo {
		return ""
	}
	var b strings.Builder
	b.WriteString("Commands run in a container of your session. The workspace and the other granted places are there under the paths that they have outside; other files of this machine are not there. What you install stays until the session ends.")
	if l.Docker.Network == "none" {
		b.WriteString(" There is no network: nothing can be fetched, so say what is missing and do not retry.")
	} else {
		fmt.Fprintf(&b, " The network is %q.", l.Docker.Network)
	}
	if sudo {
		b.WriteString(" sudo works there, for what the policies let pass: sudo apt-get install.")
	} else {
		b.WriteString(" There is no sudo: pip install and npm install -g work as you are; for system packages ask the person to add them (docker.packages.system, runner docker-sudo) or to choose another image.")
	}
	var given []string
	for _, kind := range []struct {
		name  string
		words []string
	}{{"Debian", l.Docker.Packages.System}, {"Python", l.Docker.Packages.Python}, {"npm", l.Docker.Packages.NPM}} {
		if len(kind.words) > 0 {
			given = append(given, kind.name+": "+strings.Join(kind.words, ", "))
		}
	}
	if len(given) > 0 {
		b.WriteString(" Installed beforehand: " + strings.Join(given, "; ") + ".")
	}
	return b.String()
}
