package docker

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCredentialsInContainer looks at the credentials as a command does: all can be read, none can be changed.
func TestCredentialsInContainer(t *testing.T) {
	t.Run("user of the image", func(t *testing.T) { credentialsInContainer(t, 1000) })
	t.Run("another", func(t *testing.T) {
		if os.Geteuid() == 0 {
			credentialsInContainer(t, 4321)
		}
	})
}

func credentialsInContainer(t *testing.T, uid int) {
	l := newLab(t)
	dir := homeWith(t)
	if os.Geteuid() == 0 { // the operator is an ordinary user, who owns the workspace too
		for _, root := range []string{dir, l.workspace} {
			must(t, filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
				if err == nil {
					err = os.Chown(path, uid, uid)
				}
				return err
			}))
		}
	}
	l.o.Home, l.o.Environ = dir, append(os.Environ(), "DEPLOY_TOKEN=s3cret")
	o, warnings, err := l.o.Grant(Credentials{Mount: allKinds(), Env: []string{"DEPLOY_TOKEN"}}, l.workspace)
	if err != nil || len(warnings) != 0 {
		t.Fatalf("warnings %q, error %v", warnings, err)
	}
	l.o = o
	env := l.open(l.spec())
	defer env.Close()
	for _, p := range credentialPlaces() {
		at := home + "/" + p.path
		read := run(t, env, l.workspace, "cat $(find "+at+" -type f)")
		if !strings.Contains(read.Stdout.Text, "s3cret") {
			t.Errorf("%s cannot be read: %q %q", at, read.Stdout.Text, read.Stderr.Text)
		}
		wrote := run(t, env, l.workspace, "echo x >> $(find "+at+" -type f) ; rm -rf "+at+"; touch "+at+"/x")
		if strings.Count(wrote.Stderr.Text, "Read-only file system")+strings.Count(wrote.Stderr.Text, "busy") < 2 {
			t.Errorf("%s can be changed: %q", at, wrote.Stderr.Text)
		}
	}
	seen := run(t, env, l.workspace, `echo "$DEPLOY_TOKEN"; git config --global user.name; touch ~/.cache-of-mine && ls -d ~/.cache-of-mine`)
	if seen.Stdout.Text != "s3cret\ns3cret\n"+home+"/.cache-of-mine\n" {
		t.Errorf("got %q %q", seen.Stdout.Text, seen.Stderr.Text)
	}
	// The client of ssh looks its user up, and takes no key that others may read.
	key := run(t, env, l.workspace, "ssh -G example.invalid | grep -c identityfile; ssh-keygen -y -f ~/.ssh/id_ed25519")
	if strings.Contains(key.Stderr.Text, "No user exists") || strings.Contains(key.Stderr.Text, "UNPROTECTED") || strings.Contains(key.Stderr.Text, "ermission denied") {
		t.Errorf("ssh does not take the key: %q", key.Stderr.Text)
	}
	for kind := range credentialPlaces() {
		if _, err := o.credential(kind); err != nil {
			t.Errorf("%s: it is gone from this machine: %v", kind, err)
		}
	}
}
