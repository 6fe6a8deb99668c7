package files

import (
	"errors"
	"io/fs"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/internal/leftout"
)

// small mounts a file system of 64 KiB on a directory of the test.
func small(t *testing.T) string {
	t.Helper()
	leftout.NeedRoot(t)
	dir := scratch(t)
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=64k"); err != nil {
		leftout.Skip(t, leftout.Root, "no small file system can be mounted here: "+err.Error())
	}
	t.Cleanup(func() {
		if err := unix.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	return dir
}

func TestFullDisk(t *testing.T) {
	t.Parallel()
	ways(t, func(t *testing.T, h Host) {
		dir := small(t)
		put(t, dir+"/f", "old")
		big := strings.Repeat("x", 1<<20)
		for _, name := range []string{"/f", "/new"} {
			err := write(h, dir+name, big, engine.WriteOptions{Replace: true})
			if want := "write " + dir + name + ": no space left on device: free some space there, or write elsewhere"; err == nil || err.Error() != want {
				t.Errorf("got  %v\nwant %s", err, want)
			}
			if !errors.Is(err, unix.ENOSPC) {
				t.Errorf("%v is not ENOSPC", err)
			}
		}
		if got := content(t, dir+"/f"); got != "old" {
			t.Errorf("the file holds %.20q", got)
		}
		if diff := cmp.Diff([]string{"f"}, names(t, dir)); diff != "" {
			t.Error(diff)
		}
		root, err := os.OpenRoot(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer root.Close()
		d := draft{dir: root, name: "draft"}
		if _, err := d.fill(strings.NewReader(big[:40<<10])); err != nil {
			t.Fatal(err)
		}
		if err := byCopy(&d, "copied"); !errors.Is(err, unix.ENOSPC) || exists(dir+"/copied") {
			t.Errorf("half a copy stayed: %v", err)
		}
	})
}

func TestReadOnlyFileSystem(t *testing.T) {
	t.Parallel()
	dir := small(t)
	put(t, dir+"/f", "old")
	if err := unix.Mount("", dir, "", unix.MS_REMOUNT|unix.MS_RDONLY, ""); err != nil {
		t.Fatal(err)
	}
	for text, err := range map[string]error{
		"write " + dir + "/f":          write(Host{}, dir+"/f", "new", engine.WriteOptions{Replace: true}),
		"delete " + dir + "/f":         Host{}.Remove(dir + "/f"),
		"make directory " + dir + "/d": Host{}.Mkdir(dir + "/d"),
		"link " + dir + "/l":           Host{}.Symlink("f", dir+"/l"),
	} {
		if want := text + ": read-only file system: write elsewhere"; err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}

// asNobody runs a function with the rights of a user that owns nothing.
func asNobody(t *testing.T, f func()) {
	t.Helper()
	leftout.NeedRoot(t)
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // and never unlocked: the thread ends with its rights
		if _, err := unix.SetfsuidRetUid(65534); err != nil {
			t.Error(err)
			return
		}
		f()
	}()
	<-done
}

func TestPermissions(t *testing.T) {
	t.Parallel()
	dir := scratch(t)
	put(t, dir+"/closed/f", "secret")
	put(t, dir+"/passed/open/f", "text")
	put(t, dir+"/private", "secret")
	for path, mode := range map[string]uint32{dir: 0o755, dir + "/closed": 0o700, dir + "/private": 0o600, dir + "/passed": 0o711, dir + "/passed/open": 0o777} {
		if err := unix.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	// t.TempDir lies below directories that only their owner may pass.
	if err := unix.Chmod(dir+"/..", 0o755); err != nil {
		t.Fatal(err)
	}
	asNobody(t, func() {
		_, closed := read(Host{}, dir+"/closed/f")
		_, private := read(Host{}, dir+"/private")
		for _, err := range []error{closed, private, write(Host{}, dir+"/new", "", engine.WriteOptions{}), Host{}.Remove(dir + "/private")} {
			if !errors.Is(err, fs.ErrPermission) || !strings.HasSuffix(err.Error(), "permission denied: the user that sallyport runs as may not do this there") {
				t.Errorf("%v", err)
			}
		}
		// A directory that may be passed, but not listed, is no obstacle.
		if got, err := read(Host{}, dir+"/passed/open/f"); got != "text" || err != nil {
			t.Errorf("read %q: %v", got, err)
		}
		if err := write(Host{}, dir+"/passed/open/new", "x", engine.WriteOptions{}); err != nil {
			t.Error(err)
		}
	})
}

// A name on Linux is any bytes but NUL and slash.
func TestNamesThatAreNoText(t *testing.T) {
	t.Parallel()
	ways(t, func(t *testing.T, h Host) {
		dir := scratch(t)
		name := "a\xff\xfe\n*~"
		if err := write(h, dir+"/"+name, "x", engine.WriteOptions{}); err != nil {
			t.Fatal(err)
		}
		if entries, err := h.ReadDir(dir); err != nil || len(entries) != 1 || entries[0].Name() != name {
			t.Errorf("%v: %v", entries, err)
		}
		if err := h.Remove(dir + "/" + name); err != nil {
			t.Error(err)
		}
	})
}

// Places of the kernel that are links in disguise are links.
func TestMagicLinks(t *testing.T) {
	t.Parallel()
	ways(t, func(t *testing.T, h Host) {
		for _, p := range []string{"/proc/self/root/etc", "/proc/self/cwd", "/proc/self/fd/0"} {
			if _, err := h.ReadDir(p); !errors.Is(err, ErrChanged) {
				t.Errorf("list %s: %v", p, err)
			}
		}
	})
}
