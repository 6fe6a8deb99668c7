package identity_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/sallyport-dev/sallyport/internal/leftout"
	"github.com/sallyport-dev/sallyport/runners/identity"
)

var someone = identity.User{UID: 64_301, GID: 64_302, Groups: []int{64_303}}

func newRights(t *testing.T) *identity.Rights {
	t.Helper()
	leftout.NeedRoot(t)
	r, err := identity.NewRights(someone)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// What is done with the rights of a user is done with those and no others, from wherever it is called, and
// nothing of them stays.
func TestRights(t *testing.T) {
	t.Parallel()
	r := newRights(t)
	dir := t.TempDir()
	if err := errors.Join(os.Chmod(filepath.Dir(dir), 0o755), os.Chmod(dir, 0o777)); err != nil {
		t.Fatal(err)
	}
	roots, ours, groups := filepath.Join(dir, "roots"), filepath.Join(dir, "ours"), filepath.Join(dir, "groups")
	if err := errors.Join(os.WriteFile(roots, nil, 0o600), os.WriteFile(groups, nil, 0o060), os.Chown(groups, 0, someone.Groups[0])); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() {
			r.Do(func() {
				if _, err := os.ReadFile(roots); !errors.Is(err, fs.ErrPermission) {
					t.Errorf("root's file: %v", err)
				}
				if _, err := os.ReadFile(groups); err != nil {
					t.Errorf("a file of a further group: %v", err)
				}
				if err := os.WriteFile(ours, nil, 0o600); err != nil {
					t.Error(err)
				}
				if real, effective, saved := unix.Getresuid(); real != 0 || effective != 0 || saved != 0 {
					t.Errorf("it became user %d, %d, %d: the user's processes could end it", real, effective, saved)
				}
			})
			if _, err := os.ReadFile(roots); err != nil {
				t.Errorf("without the user's rights: %v", err)
			}
		})
	}
	wg.Wait()
	info, err := os.Stat(ours)
	if err != nil {
		t.Fatal(err)
	}
	if st := info.Sys().(*syscall.Stat_t); st.Uid != uint32(someone.UID) || st.Gid != uint32(someone.GID) {
		t.Errorf("its file is of %d:%d", st.Uid, st.Gid)
	}
	r.Close()
	done := 0
	for range 20 { // what comes late is done, with the same rights
		r.Do(func() {
			if _, err := os.ReadFile(roots); errors.Is(err, fs.ErrPermission) {
				done++
			}
		})
	}
	if done != 20 {
		t.Errorf("after the end %d of 20 were done", done)
	}
}

func TestPanicComesOut(t *testing.T) {
	t.Parallel()
	r := newRights(t)
	defer r.Close()
	defer func() {
		if p := recover(); p != "here" {
			t.Errorf("got %v", p)
		}
	}()
	r.Do(func() { panic("here") })
}

func TestNoRights(t *testing.T) {
	t.Parallel()
	done := false
	var none *identity.Rights
	none.Do(func() { done = true })
	none.Close()
	if !done {
		t.Error("without rights nothing is done")
	}
	for _, u := range []identity.User{{}, {UID: 0, GID: 5}, {UID: -1}, {UID: 1, GID: 1 << 32}, {UID: 1, Groups: []int{-1}}} {
		if _, err := identity.NewRights(u); err == nil {
			t.Errorf("%+v is taken for a user", u)
		}
	}
}

// Without its capabilities, root is a user like others.
func TestWithoutCapabilities(t *testing.T) {
	t.Parallel()
	r, err := identity.WithoutCapabilities()
	if err != nil {
		t.Fatal(err)
	}
	if os.Getuid() != 0 {
		if r != nil {
			t.Error("an ordinary user has some")
		}
		return
	}
	theirs := filepath.Join(t.TempDir(), "theirs")
	if err := errors.Join(os.WriteFile(theirs, nil, 0o600), os.Chown(theirs, someone.UID, someone.GID)); err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	r.Do(func() {
		if _, err := os.ReadFile(theirs); !errors.Is(err, fs.ErrPermission) {
			t.Errorf("another user's file: %v", err)
		}
	})
	if _, err := os.ReadFile(theirs); err != nil {
		t.Errorf("outside of Do: %v", err)
	}
}
