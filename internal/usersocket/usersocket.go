// Package usersocket connects processes of one user by sockets in a private directory.
//
// It promises that both ends belong to the same user: by their credentials on Linux, elsewhere by the mode
// and the owner of the directory. It does not promise which program is at the other end.
package usersocket

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
)

// longest is the number of bytes that the name of a socket may have everywhere (unix(7): 108 with the end).
const longest = 100

// Listen makes the socket name in dir, and dir if there is none. Its user checks connections by Ours. The
// second result releases the socket's directory, and must follow the end of the listener.
func Listen(dir, name string) (*net.UnixListener, func(), error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, nil, err
	}
	if err := private(dir); err != nil {
		return nil, nil, err
	}
	at, release, err := short(dir, name)
	if err != nil {
		return nil, nil, err
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: at, Net: "unix"})
	if err != nil {
		release()
		return nil, nil, err
	}
	return l, release, nil
}

// Dial connects to the socket name in dir. An error for a socket without a process behind it is
// syscall.ECONNREFUSED.
func Dial(ctx context.Context, dir, name string) (*net.UnixConn, error) {
	if err := private(dir); err != nil {
		return nil, err
	}
	at, release, err := short(dir, name)
	if err != nil {
		return nil, err
	}
	defer release()
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unix", at)
	if err != nil {
		return nil, err
	}
	c := conn.(*net.UnixConn)
	if err := Ours(c); err != nil {
		_ = c.Close()
		return nil, err
	}
	return c, nil
}

// short returns a name of a socket that is short enough, until release is called.
func short(dir, name string) (at string, release func(), err error) {
	if at = filepath.Join(dir, name); len(at) <= longest {
		return at, func() {}, nil
	}
	f, err := os.Open(dir)
	if err != nil {
		return "", nil, err
	}
	at = fmt.Sprintf("/proc/self/fd/%d", f.Fd())
	if _, err := os.Stat(at); err != nil {
		_ = f.Close()
		return "", nil, fmt.Errorf("%s is too long for a socket: choose a shorter $XDG_STATE_HOME", dir)
	}
	return filepath.Join(at, name), func() { _ = f.Close() }, nil
}
