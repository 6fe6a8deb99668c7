package notify

import "golang.org/x/sys/unix"

func olderAttempts(
	all map[string]func(string) error, call func(...uintptr) error, pointer func(string) uintptr,
) map[string]func(string) error {
	const create = unix.O_CREAT | unix.O_WRONLY
	all["open"] = func(n string) error { return call(unix.SYS_OPEN, pointer(n), create, 0o644) }
	all["creat"] = func(n string) error { return call(unix.SYS_CREAT, pointer(n), 0o644) }
	all["mkdir"] = func(n string) error { return call(unix.SYS_MKDIR, pointer(n), 0o755) }
	all["mknod"] = func(n string) error { return call(unix.SYS_MKNOD, pointer(n), unix.S_IFREG|0o644, 0) }
	all["symlink"] = func(n string) error { return call(unix.SYS_SYMLINK, pointer("x"), pointer(n)) }
	all["link"] = func(n string) error { return call(unix.SYS_LINK, pointer("source"), pointer(n)) }
	all["rename"] = func(n string) error { return call(unix.SYS_RENAME, pointer("source"), pointer(n)) }
	return all
}
