package overlay

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Main mounts the overlays of a Spec and becomes its program. It must run in namespaces of its own
// (Namespaces), with the right to mount there, which the program does not get.
func Main(argument string) error {
	var s Spec
	if err := json.Unmarshal([]byte(argument), &s); err != nil || len(s.Then) == 0 {
		return fmt.Errorf("make view: %.200q is no description of one: use programs of one release", argument)
	}
	runtime.LockOSThread() // rights are of threads
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("make view: keep its mounts private: %w", err)
	}
	var devices strings.Builder
	for _, m := range s.Mounts {
		device, err := m.mount()
		if err != nil {
			return fmt.Errorf("make view of %s: mount overlay: %w", m.At, err)
		}
		fmt.Fprintln(&devices, device)
	}
	if _, err := unix.Pwrite(s.Status, []byte(devices.String()), 0); err != nil {
		return fmt.Errorf("make view: tell its devices: %w", err)
	}
	unix.CloseOnExec(s.Status)
	if err := drop(); err != nil {
		return fmt.Errorf("make view: drop rights: %w", err)
	}
	err := syscall.Exec(s.Then[0], s.Then, os.Environ())
	return fmt.Errorf("run %s: %w", s.Then[0], err)
}

// mount mounts one overlay on its directory, by descriptors: a link that replaced a directory since it was
// looked at is an error.
func (m Mount) mount() (device string, err error) {
	how := unix.OpenHow{
		Flags:   unix.O_PATH | unix.O_DIRECTORY | unix.O_CLOEXEC,
		Resolve: unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS,
	}
	var at [3]string
	for i, p := range []string{m.At, m.Upper, m.Work} {
		fd, err := unix.Openat2(unix.AT_FDCWD, p, &how)
		if err != nil {
			return "", fmt.Errorf("open %s: %w", p, err)
		}
		at[i] = fmt.Sprintf("/proc/self/fd/%d", fd) // closed by the exec
	}
	// Without volatile, each first write to a file waits for the disk.
	options := fmt.Sprintf("userxattr,volatile,lowerdir=%s,upperdir=%s,workdir=%s", at[0], at[1], at[2])
	if err := unix.Mount("overlay", at[0], "overlay", unix.MS_NOSUID|unix.MS_NODEV, options); err != nil {
		return "", err
	}
	var st unix.Stat_t
	if err := unix.Stat(m.At, &st); err != nil {
		return "", err
	}
	return fmt.Sprintf("%d:%d", unix.Major(st.Dev), unix.Minor(st.Dev)), nil
}

// drop gives up what Namespaces gave: the program makes namespaces of its own, as any user may.
func drop() error {
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return err
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var caps [2]unix.CapUserData
	if err := unix.Capget(&header, &caps[0]); err != nil {
		return err
	}
	caps[0].Inheritable, caps[1].Inheritable = 0, 0
	return unix.Capset(&header, &caps[0])
}

// Namespaces are the attributes of a process that may run Main: users and mounts of its own, in which it has
// the same ids as outside.
func Namespaces(to *syscall.SysProcAttr) {
	uid, gid := os.Getuid(), os.Getgid()
	to.Cloneflags |= unix.CLONE_NEWUSER | unix.CLONE_NEWNS
	to.UidMappings = []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}}
	to.GidMappings = []syscall.SysProcIDMap{{ContainerID: gid, HostID: gid, Size: 1}}
	// Besides the right to mount, those by which the kernel keeps the upper layer in the name of the mounting
	// process. In this namespace they reach files of this user alone.
	to.AmbientCaps = []uintptr{
		unix.CAP_SYS_ADMIN, unix.CAP_CHOWN, unix.CAP_DAC_OVERRIDE, unix.CAP_FOWNER, unix.CAP_FSETID,
	}
}

// changedAt is when a file was last changed in any way, by the clock of the kernel, which nobody can set for
// one file.
func changedAt(info fs.FileInfo) (time.Time, error) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return time.Time{}, fmt.Errorf("the system does not tell when %s was changed", info.Name())
	}
	return time.Unix(st.Ctim.Unix()), nil
}

// removed reports the mark of a removed name: a character device 0:0.
func removed(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && info.Mode()&fs.ModeCharDevice != 0 && st.Rdev == 0
}

// opaque reports the mark of a directory that hides all of the one below it.
func opaque(dir string) (bool, error) {
	value := make([]byte, 8)
	n, err := unix.Lgetxattr(dir, "user.overlay.opaque", value)
	if err == unix.ENODATA {
		return false, nil
	}
	return err == nil && string(value[:n]) == "y", err
}

// hasOrigin reports the mark of a file that was copied from the lower layer.
func hasOrigin(path string) bool {
	_, err := unix.Lgetxattr(path, "user.overlay.origin", nil)
	return err == nil
}
