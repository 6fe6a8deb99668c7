package docker

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sallyport-dev/sallyport/internal/leftout"
	"github.com/sallyport-dev/sallyport/runners/wire"
)

func TestAccounts(t *testing.T) {
	t.Parallel()
	const passwd, group = "root:x:0:0:root:/root:/bin/bash\nnode:x:1000:1000::/home/node:/bin/bash\n", "root:x:0:\nnode:x:1000:\n"
	for _, c := range []struct {
		name, passwd, group string
		user                wire.User
		wantUser, wantGroup string // what is different
	}{
		{"nobody known", passwd, group, wire.User{UID: 1234, GID: 1235}, passwd + "sallyport:*:1234:1235::/home/sallyport:/bin/sh\n", group + "sallyport:x:1235:\n"},
		{"another home", passwd, group, wire.User{UID: 1000, GID: 1000}, strings.Replace(passwd, "/home/node", "/home/sallyport", 1), group},
		{"the name is taken", "sallyport:x:1000:1000::/home/sallyport:/bin/bash\n", "", wire.User{UID: 7, GID: 8}, "sallyport:x:1000:1000::/home/sallyport:/bin/bash\nsallyport7:*:7:8::/home/sallyport:/bin/sh\n", "sallyport:x:8:\n"},
		{"all is there", "sallyport:x:1000:1000::/home/sallyport:/bin/bash\n", "sallyport:x:1000:\n", wire.User{UID: 1000, GID: 1000}, "sallyport:x:1000:1000::/home/sallyport:/bin/bash\n", "sallyport:x:1000:\n"},
		{"no files", "", "", wire.User{UID: 5, GID: 5}, "sallyport:*:5:5::/home/sallyport:/bin/sh\n", "sallyport:x:5:\n"},
		{"no line break at the end", "root:x:0:0:::", "x", wire.User{UID: 5, GID: 5}, "root:x:0:0:::\nsallyport:*:5:5::/home/sallyport:/bin/sh\n", "x\nsallyport:x:5:\n"},
	} {
		if got := withUser(c.passwd, c.user); got != c.wantUser {
			t.Errorf("%s: %q", c.name, got)
		}
		if got := withGroup(c.group, c.user); got != c.wantGroup {
			t.Errorf("%s: %q", c.name, got)
		}
	}
}

// TestUserWithAName holds that whoever owns the workspace is somebody in the container.
func TestUserWithAName(t *testing.T) {
	t.Parallel()
	leftout.NeedRoot(t) // to make a workspace of another user
	for name, l := range map[string]*lab{"docker": newLab(t), "docker-sudo": newSudoLab(t)} {
		must(t, os.Chown(l.workspace, 1234, 1235))
		env := l.open(l.spec())
		says(t, env, l.workspace, "id -u; id -g; getent passwd 1234 | cut -d: -f6; echo $HOME; touch ~/a a && stat -c %u:%g a", "1234\n1235\n/home/sallyport\n/home/sallyport\n1234:1235")
		says(t, env, l.workspace, "pip --version >/dev/null && touch /opt/venv/bin/x && echo may install", "may install")
		if name == "docker-sudo" {
			if x := elevated(t, env, l.workspace, "sudo -n sh -c 'useradd another && id -u'"); strings.TrimSpace(x.Stdout.Text) != "0" {
				t.Errorf("sudo: %d %q %q", x.Code, x.Stdout.Text, x.Stderr.Text)
			}
		}
		must(t, env.Close())
		if _, err := os.Stat(filepath.Join(l.workspace, "a")); err != nil {
			t.Error(err)
		}
	}
}
