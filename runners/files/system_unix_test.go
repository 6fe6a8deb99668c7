//go:build unix

package files

import (
	"errors"
	"io"
	"net"
	"os"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/internal/await"
)

// sameWords reports whether the system words its errors as the tests do.
func sameWords() bool { return true }

// What is no regular file is neither read nor replaced, and nothing waits for it: a named pipe that
// nobody writes to would hold up an open for ever.
func TestSpecialFiles(t *testing.T) {
	t.Parallel()
	ways(t, func(t *testing.T, h Host) {
		dir := scratch(t)
		if err := unix.Mkfifo(dir+"/pipe", 0o666); err != nil {
			t.Fatal(err)
		}
		// A socket's path is short, so it is made where the test stands.
		l, err := net.Listen("unix", dir+"/s")
		if err == nil {
			t.Cleanup(func() { _ = l.Close() })
		}
		for _, p := range []string{dir + "/pipe", dir + "/s", "/dev/null", "/dev/zero"} {
			if !exists(p) {
				continue
			}
			done := make(chan struct{})
			go func() {
				defer close(done)
				if _, err := h.Open(p); !errors.Is(err, errSpecial) {
					t.Errorf("read %s: %v", p, err)
				}
				if err := write(h, p, "x", engine.WriteOptions{Replace: true}); !errors.Is(err, errSpecial) {
					t.Errorf("write %s: %v", p, err)
				}
				if _, err := h.ReadDir(p); err == nil {
					t.Errorf("list %s", p)
				}
			}()
			await.Receive(t, "end at "+p, done)
		}
	})
}

func TestModes(t *testing.T) {
	t.Parallel()
	dir := scratch(t)
	for name, mode := range map[string]uint32{"/plain": 0o640, "/setuid": 0o4755, "/setgid": 0o2711, "/sticky": 0o1600, "/private": 0o600, "/readonly": 0o400} {
		put(t, dir+name, "old")
		if err := unix.Chmod(dir+name, mode); err != nil {
			t.Fatal(err)
		}
		info, err := os.Lstat(dir + name)
		if err != nil {
			t.Fatal(err)
		}
		for path, o := range map[string]engine.WriteOptions{dir + name: {Replace: true}, dir + name + ".copy": {Like: info}} {
			var during os.FileMode
			peek := readerFunc(func([]byte) (int, error) {
				during = draftMode(t, dir)
				return 0, io.EOF
			})
			if _, err := (Host{}).Write(path, peek, o); err != nil {
				t.Fatal(err)
			}
			got, err := os.Lstat(path)
			if err != nil || got.Mode() != os.FileMode(mode&0o777) {
				t.Errorf("%s: mode %v, want %o: %v", path, got.Mode(), mode&0o777, err)
			}
			if during != 0o600 {
				t.Errorf("%s: others could read the draft: %v", path, during)
			}
		}
	}
}

// draftMode is the mode of the file that is being written.
func draftMode(t *testing.T, dir string) os.FileMode {
	t.Helper()
	for _, name := range names(t, dir) {
		if len(name) > 20 {
			info, err := os.Lstat(dir + "/" + name)
			if err != nil {
				t.Fatal(err)
			}
			return info.Mode()
		}
	}
	t.Fatal("no draft")
	return 0
}

// A new file has the mode that any program would give it here.
func TestUsualMode(t *testing.T) {
	t.Parallel()
	dir := scratch(t)
	f, err := os.Create(dir + "/usual")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := write(Host{}, dir+"/ours", "", engine.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	want, err1 := os.Lstat(dir + "/usual")
	got, err2 := os.Lstat(dir + "/ours")
	if err := errors.Join(err1, err2); err != nil || got.Mode() != want.Mode() {
		t.Errorf("mode %v, want %v: %v", got.Mode(), want.Mode(), err)
	}
}

func TestOwnerIsKept(t *testing.T) {
	t.Parallel()
	dir := scratch(t)
	put(t, dir+"/f", "old")
	if os.Getuid() == 0 {
		if err := os.Chown(dir+"/f", 12345, 23456); err != nil {
			t.Fatal(err)
		}
	}
	var before, after unix.Stat_t
	err1 := unix.Lstat(dir+"/f", &before)
	err2 := write(Host{}, dir+"/f", "new", engine.WriteOptions{Replace: true})
	err3 := unix.Lstat(dir+"/f", &after)
	if err := errors.Join(err1, err2, err3); err != nil || before.Uid != after.Uid || before.Gid != after.Gid {
		t.Errorf("owner %d:%d, was %d:%d: %v", after.Uid, after.Gid, before.Uid, before.Gid, err)
	}
}
