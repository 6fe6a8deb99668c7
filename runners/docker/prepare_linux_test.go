package docker

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/sallyport-dev/sallyport/internal/leftout"
	"github.com/sallyport-dev/sallyport/runners/mounts"
	"github.com/sallyport-dev/sallyport/runners/wire"
)

func TestPackagesAreInstalledOnce(t *testing.T) {
	s := newShop(t)
	s.needs(t)
	p := Packages{
		Python: []string{wheel(t, s.dir, "sallyport_test_a", "1.5")},
		NPM:    []string{tarball(t, s.dir, "sallyport-test-b", "2.0.1")},
	}
	first, told, err := s.prepare(p)
	if err != nil || told != 4 {
		t.Fatalf("%v; steps %q", err, s.steps)
	}
	const show = `python -c 'import sallyport_test_a as a; print(a.version)'; sallyport-test-b; ls -A ~ | grep -E 'npm|cache'; ls -ld /opt/venv/lib/node_modules/sallyport-test-b | cut -d' ' -f3`
	got := s.runIn(t, show)
	if got.Stdout.Text != "1.5\n2.0.1\nsallyport\n" {
		t.Errorf("got %q %q", got.Stdout.Text, got.Stderr.Text)
	}
	second, told, err := s.prepare(p)
	if err != nil || told != 0 || second.ID != first.ID {
		t.Errorf("%v; the second session has %s after %d steps, the first had %s", err, second.ID, told, first.ID)
	}
	// What was a file of the same name is another package.
	wheel(t, s.dir, "sallyport_test_a", "1.6")
	must(t, os.Rename(filepath.Join(s.dir, "sallyport_test_a-1.6-py3-none-any.whl"), filepath.Join(s.dir, "sallyport_test_a-1.5-py3-none-any.whl")))
	third, _, err := s.prepare(Packages{Python: p.Python})
	if err == nil && third.ID == first.ID {
		t.Error("a package that changed was taken from the cache")
	}
	if err != nil && !strings.Contains(err.Error(), "install python packages") { // pip notices that name and content differ
		t.Error(err)
	}
}

// TestPackageNamesAreWords: no name reaches a shell, and a constraint stays one.
func TestPackageNamesAreWords(t *testing.T) {
	s := newShop(t)
	s.needs(t)
	wheel(t, s.dir, "sallyport_test_c", "1.0")
	wheel(t, s.dir, "sallyport_test_c", "2.3")
	wheel(t, s.dir, "sallyport_test_c", "3.0")
	s.o.Given = []string{"PIP_NO_INDEX=1", "PIP_FIND_LINKS=/packages"}
	if _, _, err := s.prepare(Packages{Python: []string{"sallyport-test-c>=2,<3"}}); err != nil {
		t.Fatal(err)
	}
	got := s.runIn(t, `python -c 'import sallyport_test_c as c; print(c.version)'; ls /; ls -A ~`)
	if !strings.HasPrefix(got.Stdout.Text, "2.3\n") || strings.Contains(got.Stdout.Text, "=2") {
		t.Errorf("got %q %q", got.Stdout.Text, got.Stderr.Text)
	}
	for _, hostile := range []string{"sallyport-test-c; touch /opt/venv/owned", "$(touch /opt/venv/owned)", "--target=/opt/venv/owned"} {
		_, _, err := s.prepare(Packages{Python: []string{hostile}, Continue: false})
		if err == nil {
			t.Errorf("%q was installed", hostile)
		}
	}
	s.o.Packages = Packages{}
	if got := s.runIn(t, "ls /opt/venv"); strings.Contains(got.Stdout.Text, "owned") {
		t.Error("a name was run")
	}
	// Variables of the installation are not part of the image.
	e, err := Connect(context.Background(), s.o)
	must(t, err)
	defer e.Close()
	all, err := e.Images(context.Background())
	must(t, err)
	for _, i := range all {
		if !strings.Contains(i.Holds, "sallyport-test-c>=2,<3") {
			continue
		}
		found, err := e.cli.ImageInspect(context.Background(), i.ID)
		must(t, err)
		if slices.Contains(found.Config.Env, "PIP_NO_INDEX=1") || found.Config.User != "sallyport" || len(found.Config.Entrypoint) != 0 || !slices.Equal(found.Config.Cmd, []string{"/bin/bash"}) {
			t.Errorf("the image starts otherwise than the one it is made from: %+v", found.Config)
		}
		if found.Config.Labels[labelState] != "" || found.Config.Labels[labelPID] != "" || !strings.HasPrefix(found.Config.Labels[labelWritable], "/opt/venv") {
			t.Errorf("the image has labels of a container: %v", found.Config.Labels)
		}
	}
}

func TestSystemPackages(t *testing.T) {
	s := newShop(t)
	s.needs(t)
	s.o.Elevated, s.o.Image = true, testSudoImage()
	leftout.NeedDocker(t, s.o.Image)
	file := deb(t, s.dir, "sallyport-test-d", "4.2")
	if _, _, err := s.prepare(Packages{System: []string{file}}); err != nil {
		t.Fatal(err)
	}
	if got := s.runIn(t, "sallyport-test-d; dpkg-query -W -f '${Version}' sallyport-test-d"); got.Stdout.Text != "4.2\n4.2" {
		t.Errorf("got %q %q", got.Stdout.Text, got.Stderr.Text)
	}

	// From a repository, by name and version, where apt-get itself would take the newest.
	var index strings.Builder
	for _, version := range []string{"1.0", "2.0"} {
		file := path.Base(deb(t, s.dir, "sallyport-test-h", version))
		content, err := os.ReadFile(filepath.Join(s.dir, file))
		must(t, err)
		fmt.Fprintf(&index, "Package: sallyport-test-h\nVersion: %s\nArchitecture: all\nFilename: ./%s\nSize: %d\nSHA256: %x\n\n", version, file, len(content), sha256.Sum256(content))
	}
	placed(t, s.dir, "Packages", []byte(index.String()))
	lists := filepath.Join(newDir(t) + "-sources.list")
	must(t, os.WriteFile(lists, []byte("deb [trusted=yes] file:/packages ./\n"), 0o644))
	s.o.Mounts = append(s.o.Mounts, Mount{Source: lists, Target: "/etc/apt/sources.list"})
	if _, _, err := s.prepare(Packages{System: []string{"sallyport-test-h=1.0"}}); err != nil {
		t.Fatal(err)
	}
	if got := s.runIn(t, "sallyport-test-h"); got.Stdout.Text != "1.0\n" {
		t.Errorf("got %q %q", got.Stdout.Text, got.Stderr.Text)
	}
}

func TestPackagesThatFail(t *testing.T) {
	s := newShop(t)
	s.needs(t)
	good, bad := tarball(t, s.dir, "sallyport-test-e", "1.0.0"), "/opt/is-not-there.whl"
	_, _, err := s.prepare(Packages{Python: []string{bad}, NPM: []string{good}})
	if err == nil || !strings.Contains(err.Error(), "install python packages: the installer ended with status 1") ||
		!strings.Contains(err.Error(), "is-not-there.whl") || !strings.Contains(err.Error(), "docker.packages.on_failure") {
		t.Errorf("got %v", err)
	}
	if _, err := s.runner().Open(context.Background(), s.spec()); err == nil {
		t.Error("a session began without its packages")
	}
	if _, _, err := s.prepare(Packages{Python: []string{bad}, NPM: []string{good}, Continue: true}); err != nil {
		t.Errorf("with on_failure continue: %v", err)
	}
	if got := s.runIn(t, "sallyport-test-e"); got.Stdout.Text != "1.0.0\n" {
		t.Errorf("what could be installed is not there: %q %q", got.Stdout.Text, got.Stderr.Text)
	}
	e, err := Connect(context.Background(), s.o)
	must(t, err)
	defer e.Close()
	left, err := e.list(context.Background())
	must(t, err)
	for _, c := range left {
		if strings.HasPrefix(c.Name, "sallyport-install-") {
			t.Errorf("container %s is left", c.Name)
		}
	}
}

// TestInstallationOutlivesTheRequest: whoever waits may give up; what was begun is there for the next.
func TestInstallationOutlivesTheRequest(t *testing.T) {
	s := newShop(t)
	s.needs(t)
	s.o.Packages = Packages{NPM: []string{tarball(t, s.dir, "sallyport-test-f", "1.0.0")}}
	r := s.runner()
	began := make(chan struct{})
	var once sync.Once
	r.Watch(func(Progress) { once.Do(func() { close(began) }) })
	ctx, cancel := context.WithCancel(context.Background())
	go func() { <-began; cancel() }()
	if _, err := r.Open(ctx, s.spec()); err == nil || !strings.Contains(err.Error(), "image prepare") {
		t.Errorf("got %v", err)
	}
	// Two who wait for the same have it from one installation.
	var both sync.WaitGroup
	for range 2 {
		both.Go(func() {
			if _, err := r.Prepare(context.Background(), s.spec()); err != nil {
				t.Error(err)
			}
		})
	}
	both.Wait()
	must(t, r.Close())

	// And with the runner it ends.
	s.o.Packages = Packages{NPM: []string{tarball(t, s.dir, "sallyport-test-g", "1.0.0")}}
	r = s.runner()
	began, once = make(chan struct{}), sync.Once{}
	r.Watch(func(Progress) { once.Do(func() { close(began) }) })
	ended := make(chan error)
	go func() {
		_, err := r.Prepare(context.Background(), s.spec())
		ended <- err
	}()
	<-began
	must(t, r.Close())
	if err := <-ended; err == nil {
		t.Log("the installation was faster than the end of the runner")
	}
}

func TestKeysOfInstallations(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "a.whl"), []byte("1"), 0o600))
	binds := []mounts.Mount{{Source: dir, Target: "/packages"}, {Source: dir, Target: "/packages/open", Write: true}, {Source: dir, Target: "/packages/open/kept"}}
	key := func(from string, uid int, p Packages) string {
		t.Helper()
		k, err := p.steps()[0].key(Image{ID: from}, wire.User{UID: uid, GID: uid}, binds)
		must(t, err)
		return k
	}
	py := func(names ...string) Packages { return Packages{Python: names} }
	base := key("i", 1000, py("a", "b"))
	for name, other := range map[string]string{
		"image": key("j", 1000, py("a", "b")), "user": key("i", 1001, py("a", "b")), "names": key("i", 1000, py("a b")),
		"order": key("i", 1000, py("b", "a")), "kind": key("i", 1000, Packages{NPM: []string{"a", "b"}}),
	} {
		if other == base {
			t.Errorf("another %s, and the same key", name)
		}
	}
	if key("i", 1000, Packages{System: []string{"a"}}) != key("i", 1001, Packages{System: []string{"a"}}) {
		t.Error("who commands run as counts for packages of the system")
	}
	before := key("i", 1000, py("/packages/a.whl"))
	must(t, os.WriteFile(filepath.Join(dir, "a.whl"), []byte("2"), 0o600))
	if key("i", 1000, py("/packages/a.whl")) == before {
		t.Error("another content, and the same key")
	}
	if _, err := py("/packages/none.whl").steps()[0].key(Image{}, wire.User{UID: 1}, binds); err == nil {
		t.Error("a file that is not there has a key")
	}
	if _, err := py("/packages/open/a.whl").steps()[0].key(Image{}, wire.User{UID: 1}, binds); err == nil || !strings.Contains(err.Error(), "commands can write") {
		t.Errorf("a file that commands can change: %v", err)
	}
	if got := forInstaller(binds); !slices.Equal(got, binds[:1]) {
		t.Errorf("the installer gets %v", got)
	}
	if key("i", 1000, py("/elsewhere/a.whl")) == "" {
		t.Error("a file of the image has no key")
	}
}

// TestInstalledByACommand: what a command installs for itself is there for the next, though the image's root is read-only.
func TestInstalledByACommand(t *testing.T) {
	for _, user := range []string{"1000:1000", "4321:4321"} { // of the image, and not
		t.Run(user, func(t *testing.T) { installedByACommand(t, user) })
	}
}

func installedByACommand(t *testing.T, user string) {
	s := newShop(t)
	s.needs(t)
	s.o.User = user
	must(t, os.Chmod(s.workspace, 0o777))
	whl, tgz := wheel(t, s.dir, "sallyport_test_i", "1.5"), tarball(t, s.dir, "sallyport-test-j", "2.0.1")
	env := s.open(s.spec())
	defer env.Close()
	if got := run(t, env, s.workspace, "python -c 'import sallyport_test_i'"); got.Code == 0 {
		t.Fatal("it is there already")
	}
	if got := run(t, env, s.workspace, "pip install --no-index "+whl+" && npm install --global --offline "+tgz); got.Code != 0 {
		t.Fatalf("%q %q", got.Stdout.Text, got.Stderr.Text)
	}
	got := run(t, env, s.workspace, "python -c 'import sallyport_test_i as i; print(i.version)'; sallyport-test-j; node -e 'require(\"sallyport-test-j/main.js\")'; touch /usr/x")
	if got.Stdout.Text != "1.5\n2.0.1\n2.0.1\n" || !strings.Contains(got.Stderr.Text, "Read-only file system") {
		t.Errorf("got %q %q", got.Stdout.Text, got.Stderr.Text)
	}
}
