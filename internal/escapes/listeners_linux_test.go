package escapes

import (
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"sync"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// listeners are what can be talked to on the host, and shared memory. Whoever calls is told the secret.
type listeners struct {
	vars map[string]string
	mail []net.PacketConn // sockets for messages

	mu     sync.Mutex
	called []string
}

func (l *listeners) note(what string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.called = append(l.called, "called "+what)
}

// calls returns who called since the last time. What was sent is there: the messages are looked for now.
func (l *listeners) calls(t *testing.T) []string {
	t.Helper()
	for _, from := range l.mail {
		l.hear(t, from)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	called := l.called
	l.called = nil
	return called
}

func listen(t *testing.T, w *world) *listeners {
	t.Helper()
	l := &listeners{vars: map[string]string{"ABSTRACT": word("escapes-")}}
	for _, at := range []struct{ network, address, name string }{
		{"unix", w.outside + "/engine.sock", ""},
		{"unix", w.context + "/agent.sock", ""},
		{"unix", w.workspace + "/agent.sock", ""},
		{"unix", "@" + l.vars["ABSTRACT"], ""},
		{"tcp", "127.0.0.1:0", "TCP"},
		{"tcp", "127.1.2.3:0", "TCP2"},
		{"tcp6", "[::1]:0", "TCP6"},
	} {
		from, err := net.Listen(at.network, at.address)
		if err != nil && at.name == "TCP6" {
			t.Logf("no IPv6 here: %v", err)
			l.vars[at.name] = "1"
			continue
		}
		must(t, err)
		t.Cleanup(func() { _ = from.Close() })
		if tcp, ok := from.Addr().(*net.TCPAddr); ok {
			l.vars[at.name] = fmt.Sprint(tcp.Port)
		} else if at.address[0] != '@' {
			must(t, os.Chmod(at.address, 0o666))
		}
		go l.serve(from, w.secret)
	}
	for _, at := range []struct{ network, address, name string }{{"udp", "127.0.0.1:0", "UDP"}, {"unixgram", w.workspace + "/notify.sock", ""}} {
		from, err := net.ListenPacket(at.network, at.address)
		must(t, err)
		t.Cleanup(func() { _ = from.Close() })
		if udp, ok := from.LocalAddr().(*net.UDPAddr); ok {
			l.vars[at.name] = fmt.Sprint(udp.Port)
		} else {
			must(t, os.Chmod(at.address, 0o666))
		}
		l.mail = append(l.mail, from)
	}
	l.share(t, w)
	return l
}

func (l *listeners) serve(from net.Listener, secret string) {
	for {
		c, err := from.Accept()
		if err != nil {
			return
		}
		l.note(from.Addr().String())
		_, _ = c.Write([]byte(secret))
		_ = c.Close()
	}
}

func (l *listeners) hear(t *testing.T, from net.PacketConn) {
	t.Helper()
	c, err := from.(syscall.Conn).SyscallConn()
	must(t, err)
	must(t, c.Control(func(fd uintptr) {
		for {
			if _, _, err := unix.Recvfrom(int(fd), make([]byte, 64), unix.MSG_DONTWAIT); err != nil {
				return
			}
			l.note(from.LocalAddr().String())
		}
	}))
}

// share puts the secret into shared memory, and makes a message queue, that everybody may use.
func (l *listeners) share(t *testing.T, w *world) {
	t.Helper()
	key := int(rand.Int32N(1<<30) + 1)
	id, err := unix.SysvShmGet(key, 4096, unix.IPC_CREAT|unix.IPC_EXCL|0o666)
	must(t, err)
	t.Cleanup(func() { _, _ = unix.SysvShmCtl(id, unix.IPC_RMID, nil) })
	b, err := unix.SysvShmAttach(id, 0, 0)
	must(t, err)
	copy(b, w.secret+"\x00")
	must(t, unix.SysvShmDetach(b))
	l.vars["SHM"] = fmt.Sprint(key)

	file := "/dev/shm/" + l.vars["ABSTRACT"]
	must(t, os.WriteFile(file, []byte(w.secret), 0o666))
	must(t, os.Chmod(file, 0o666))
	t.Cleanup(func() { _ = os.Remove(file) })

	name, err := unix.BytePtrFromString(l.vars["ABSTRACT"])
	must(t, err)
	size := [8]int64{1: 1, 2: 16} // one message of 16 bytes: what queues of a user may hold is limited
	fd, _, e := unix.Syscall6(unix.SYS_MQ_OPEN, uintptr(unsafe.Pointer(name)), unix.O_CREAT|unix.O_RDWR, 0o666, uintptr(unsafe.Pointer(&size)), 0, 0)
	if e != 0 {
		t.Fatalf("make a message queue: %v", e)
	}
	_ = unix.Close(int(fd))
	t.Cleanup(func() { _, _, _ = unix.Syscall(unix.SYS_MQ_UNLINK, uintptr(unsafe.Pointer(name)), 0, 0) })
}
