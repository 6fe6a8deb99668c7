package docker

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"syscall"

	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/runners/identity"
	"github.com/sallyport-dev/sallyport/runners/local"
	"github.com/sallyport-dev/sallyport/runners/looks"
	"github.com/sallyport-dev/sallyport/runners/wire"
)

// hostView is this machine's file system with the permissions of a user of the container, until it is freed.
func hostView(u wire.User) (_ facts.FS, free func(), _ error) {
	if os.Geteuid() == 0 {
		rights, err := identity.NewRights(identity.User{UID: u.UID, GID: u.GID, Groups: u.Groups})
		if err != nil {
			return nil, nil, fmt.Errorf("%w: %w", looks.ErrAsk, err)
		}
		return local.FS(rights), rights.Close, nil
	}
	groups, err := os.Getgroups()
	if err != nil || u.UID != os.Geteuid() || u.GID != os.Getegid() || len(u.Groups) > 0 {
		return nil, nil, errors.Join(looks.ErrAsk, err)
	}
	return fewer{local.FS(nil), u, slices.DeleteFunc(groups, func(g int) bool { return g == u.GID })}, func() {}, nil
}

// fewer shows files to a user with fewer groups in the container than here: an answer that depends on one of
// the other groups is ErrAsk.
type fewer struct {
	facts.FS
	user   wire.User
	groups []int
}

// tell returns ErrAsk where a right on a path, or on one around it, comes from such a group.
func (f fewer) tell(p string) error {
	for ; path.Dir(p) != "/proc/self"; p = path.Dir(p) { // where the mounted part begins: see looks
		if info, err := os.Stat(p); err == nil {
			st, ok := info.Sys().(*syscall.Stat_t)
			mode := info.Mode().Perm()
			if !ok || int(st.Uid) != f.user.UID && slices.Contains(f.groups, int(st.Gid)) && mode>>3&7&^(mode&7) != 0 {
				return looks.ErrAsk
			}
		}
		if p == "/" {
			break
		}
	}
	return nil
}

func (f fewer) Lstat(p string) (fs.FileInfo, error) {
	if err := f.tell(path.Dir(p)); err != nil {
		return nil, err
	}
	return f.FS.Lstat(p)
}

func (f fewer) ReadLink(p string) (string, error) {
	if err := f.tell(path.Dir(p)); err != nil {
		return "", err
	}
	return f.FS.ReadLink(p)
}

func (f fewer) ReadDir(p string) ([]fs.DirEntry, error) {
	if err := f.tell(p); err != nil {
		return nil, err
	}
	return f.FS.ReadDir(p)
}

func (f fewer) ReadFile(p string, limit int) ([]byte, bool, error) {
	if err := f.tell(p); err != nil {
		return nil, false, err
	}
	return f.FS.ReadFile(p, limit)
}
