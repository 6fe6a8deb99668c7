//go:build linux && (amd64 || arm64)

package bubblewrap

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/engine/facts/disk"
	"github.com/sallyport-dev/sallyport/runners/identity"
)

// near looks from here at the files of a sandbox, below the root that its processes have: through the same
// mounts, and with the rights of the user without capabilities. It waits for no other machine or process.
// That spares questions to the supervisor, which is asked where this view has no sure answer. A nil *near has
// none.
type near struct {
	workspace string
	rights    *identity.Rights // nil where this process has no others

	device uint64          // of the root, if nothing can change there; 0 otherwise
	local  map[uint64]bool // devices of mounts that no other machine or process can hold up

	mu   sync.RWMutex
	root *os.File // nil at the end

	keptMu sync.Mutex
	envs   map[string][]string    // variables of commands, by surroundings
	fixed  map[string]fs.FileInfo // directories on that device
}

// maxEnvs bounds the kept variables.
const maxEnvs = 64

// nearTo opens the root of a process; nil where this kernel or its settings withhold that.
func nearTo(pid int, workspace string) *near {
	root, err := os.OpenFile(fmt.Sprintf("/proc/%d/root", pid), unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	n := &near{workspace: workspace, root: root, envs: map[string][]string{}, fixed: map[string]fs.FileInfo{}}
	if n.rights, err = identity.WithoutCapabilities(); err == nil {
		n.device, n.local = unchanging(int(root.Fd())), localTo(pid)
		_, err = (&rooted{near: n, fd: int(root.Fd())}).Lstat("/")
	}
	if err != nil {
		n.close()
		return nil
	}
	return n
}

// unchanging returns the device of a root if its own directories stay as they are: it is a tmpfs that no
// other place shows, and read-only in the sandbox.
func unchanging(root int) uint64 {
	var files unix.Statfs_t
	var st unix.Stat_t
	if unix.Fstatfs(root, &files) != nil || unix.Fstat(root, &st) != nil || files.Type != unix.TMPFS_MAGIC ||
		files.Flags&unix.ST_RDONLY == 0 {
		return 0
	}
	return st.Dev
}

// localTo lists the devices of file systems of this kernel alone among the mounts of a process
// (proc_pid_mountinfo(5)).
func localTo(pid int) map[uint64]bool {
	mounts, _ := os.ReadFile(fmt.Sprintf("/proc/%d/mountinfo", pid))
	local := map[uint64]bool{}
	for line := range strings.Lines(string(mounts)) {
		mount, kind, _ := strings.Cut(line, " - ")
		kind, _, _ = strings.Cut(kind, " ")
		var major, minor uint32
		_, err := fmt.Sscanf(mount, "%d %d %d:%d ", new(int), new(int), &major, &minor)
		if err == nil && slices.Contains([]string{"tmpfs", "ext4", "xfs", "btrfs", "f2fs"}, kind) {
			local[unix.Mkdev(major, minor)] = true
		}
	}
	return local
}

func (n *near) close() {
	if n == nil {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.root != nil {
		_ = n.root.Close()
		n.root = nil
		n.rights.Close()
	}
}

// look runs f on the files, perhaps twice, and reports whether all its answers were sure.
func (n *near) look(f func(facts.FS)) bool {
	if n == nil {
		return false
	}
	n.mu.RLock()
	defer n.mu.RUnlock()
	if n.root == nil {
		return false
	}
	r := &rooted{near: n, fd: int(n.root.Fd()), owner: n.rights != nil}
	if f(r); !r.foreign || r.unsure {
		return !r.unsure
	}
	r = &rooted{near: n, fd: r.fd}
	n.rights.Do(func() { f(r) })
	return !r.unsure
}

// walk looks at the ways to paths.
func (n *near) walk(paths []string) (found map[string]facts.Node, sure bool) {
	sure = n.look(func(files facts.FS) { found = disk.Walk(files, paths) })
	return found, sure
}

// surroundings are everything of a working directory that the variables of commands in it depend on, and the
// nodes on the way to it. The virtual environments are those of local.Options.
func (n *near) surroundings(workDir string) (key string, nodes map[string]facts.Node, sure bool) {
	sure = n.look(func(files facts.FS) {
		key = workDir
		nodes = disk.Walk(files, []string{workDir, disk.Join(workDir, disk.AnyName)})
		view := disk.NewView(files, 0)
		view.Know(nodes)
		for _, dir := range []string{workDir, n.workspace} {
			if is, _ := view.Kind(path.Join(dir, ".venv", "bin")); is {
				key += "\x00" + dir
			}
		}
	})
	return key, nodes, sure
}

func (n *near) variables(key string) ([]string, bool) {
	n.keptMu.Lock()
	defer n.keptMu.Unlock()
	env, ok := n.envs[key]
	return env, ok
}

func (n *near) keep(key string, env []string) {
	n.keptMu.Lock()
	defer n.keptMu.Unlock()
	if len(n.envs) >= maxEnvs {
		clear(n.envs)
	}
	n.envs[key] = env
}

func (n *near) fixedAt(p string) (fs.FileInfo, bool) {
	n.keptMu.Lock()
	defer n.keptMu.Unlock()
	f, ok := n.fixed[p]
	return f, ok
}

// fix keeps a directory of the root's device, if the way to it leads through such ones only: no link does.
func (n *near) fix(p string, f fs.FileInfo) {
	n.keptMu.Lock()
	defer n.keptMu.Unlock()
	if _, ok := n.fixed[path.Dir(p)]; n.device != 0 && (ok || p == "/") {
		n.fixed[p] = f
	}
}

// Prepare asks the supervisor for the variables of commands, once for each surroundings.
func (b *box) Prepare(text, workDir string) (engine.Command, error) {
	key, nodes, sure := b.near.surroundings(workDir)
	if sure && b.Err() == nil {
		if env, ok := b.near.variables(key); ok {
			if b.prefixed != nil {
				text = b.prefixed(text, b.Place().POSIX)
			}
			return engine.Command{Text: text, WorkDir: workDir, Env: env, Seen: nodes}, nil
		}
	}
	c, err := b.Environment.Prepare(text, workDir)
	if err != nil || !sure {
		return c, err
	}
	if after, _, still := b.near.surroundings(workDir); still && after == key {
		b.near.keep(key, c.Env)
	}
	return c, nil
}

// FS shows the files of the sandbox.
func (b *box) FS() facts.FS { return nearFS{b.Environment.FS(), b.near} }

// nearFS are the files of the supervisor, with journeys that it need not make.
type nearFS struct {
	facts.FS
	near *near
}

var _ facts.Far = nearFS{}

func (f nearFS) Walk(paths []string) map[string]facts.Node {
	if found, sure := f.near.walk(paths); sure {
		return found
	}
	return f.FS.(facts.Far).Walk(paths)
}

func (f nearFS) Until(t time.Time) facts.FS { return nearFS{f.FS.(facts.Far).Until(t), f.near} }

// rooted are files below an open root. A link leads where it leads below that root. Answers other than a file
// or its absence are not sure: they could depend on the asker.
type rooted struct {
	near    *near
	fd      int
	absent  string // the last path at which nothing is
	owner   bool   // capabilities are no help in directories of this user that it may search
	foreign bool   // there was another directory
	unsure  bool
}

var errUnsure = errors.New("only the supervisor can tell")

// open opens a file without following a last link.
func (r *rooted) open(p string) (int, error) {
	if p == r.absent {
		return -1, &fs.PathError{Op: "lstat", Path: p, Err: fs.ErrNotExist}
	}
	if within(p, "/proc") || within(p, "/dev") { // they show each process others, or know none of here
		r.unsure = true
		return -1, errUnsure
	}
	name := strings.TrimPrefix(p, "/")
	if name == "" {
		name = "."
	}
	fd, err := at(r.fd, name, unix.RESOLVE_IN_ROOT|resolveCached)
	if errors.Is(err, unix.EAGAIN) {
		fd, err = r.openLocal(name)
	}
	switch {
	case errors.Is(err, unix.ENOENT):
		r.absent = p
		return -1, &fs.PathError{Op: "lstat", Path: p, Err: fs.ErrNotExist}
	case err != nil:
		r.unsure = true
		return -1, errUnsure
	}
	return fd, nil
}

// resolveCached makes openat2(2) fail with EAGAIN in place of waiting for a file system (RESOLVE_CACHED).
const resolveCached = 0x20

func at(dir int, name string, resolve uint64) (int, error) {
	return unix.Openat2(dir, name, &unix.OpenHow{Flags: unix.O_PATH | unix.O_NOFOLLOW | unix.O_CLOEXEC,
		Resolve: resolve | unix.RESOLVE_NO_MAGICLINKS})
}

// openLocal opens a file that the kernel does not remember, or that is absent, in a directory of a local file
// system.
func (r *rooted) openLocal(name string) (int, error) {
	dir, err := at(r.fd, path.Dir(name), unix.RESOLVE_IN_ROOT|resolveCached)
	if err != nil {
		return -1, unix.EAGAIN
	}
	defer func() { _ = unix.Close(dir) }()
	if st, err := status(dir); err != nil || !r.near.local[unix.Mkdev(st.Dev_major, st.Dev_minor)] ||
		st.Mode&unix.S_IFMT != unix.S_IFDIR {
		return -1, unix.EAGAIN
	}
	return at(dir, path.Base(name), unix.RESOLVE_BENEATH|unix.RESOLVE_NO_XDEV)
}

// status is fstat(2) by that which is known here.
func status(fd int) (st unix.Statx_t, err error) {
	const flags = unix.AT_EMPTY_PATH | unix.AT_STATX_DONT_SYNC
	return st, unix.Statx(fd, "", flags, unix.STATX_TYPE|unix.STATX_MODE|unix.STATX_UID, &st)
}

func (r *rooted) Lstat(p string) (fs.FileInfo, error) {
	if f, ok := r.near.fixedAt(p); ok {
		return f, nil
	}
	fd, err := r.open(p)
	if err != nil {
		return nil, err
	}
	defer func() { _ = unix.Close(fd) }()
	st, err := status(fd)
	if err != nil {
		r.unsure = true
		return nil, errUnsure
	}
	i := disk.Known(path.Base(p), modeOf(uint32(st.Mode)))
	switch {
	case !i.IsDir():
	case st.Uid != uint32(os.Geteuid()) || st.Mode&unix.S_IXUSR == 0:
		r.foreign = r.foreign || r.owner
	case unix.Mkdev(st.Dev_major, st.Dev_minor) == r.near.device:
		r.near.fix(p, i)
	}
	return i, nil
}

func (r *rooted) ReadLink(p string) (string, error) {
	fd, err := r.open(p)
	if err != nil {
		return "", err
	}
	defer func() { _ = unix.Close(fd) }()
	target := make([]byte, unix.PathMax)
	n := 0
	st, err := status(fd)
	if err == nil && r.near.local[unix.Mkdev(st.Dev_major, st.Dev_minor)] {
		n, err = unix.Readlinkat(fd, "", target)
	}
	if err != nil || n == 0 {
		r.unsure = true
		return "", errUnsure
	}
	return string(target[:n]), nil
}

func (r *rooted) ReadDir(string) ([]fs.DirEntry, error) {
	r.unsure = true
	return nil, errUnsure
}

func (r *rooted) ReadFile(string, int) ([]byte, bool, error) {
	r.unsure = true
	return nil, false, errUnsure
}

// modeOf translates the mode of stat(2) as package os does.
func modeOf(m uint32) fs.FileMode {
	mode := fs.FileMode(m & 0o777)
	switch m & unix.S_IFMT {
	case unix.S_IFBLK:
		mode |= fs.ModeDevice
	case unix.S_IFCHR:
		mode |= fs.ModeDevice | fs.ModeCharDevice
	case unix.S_IFDIR:
		mode |= fs.ModeDir
	case unix.S_IFIFO:
		mode |= fs.ModeNamedPipe
	case unix.S_IFLNK:
		mode |= fs.ModeSymlink
	case unix.S_IFSOCK:
		mode |= fs.ModeSocket
	}
	if m&unix.S_ISUID != 0 {
		mode |= fs.ModeSetuid
	}
	if m&unix.S_ISGID != 0 {
		mode |= fs.ModeSetgid
	}
	if m&unix.S_ISVTX != 0 {
		mode |= fs.ModeSticky
	}
	return mode
}
