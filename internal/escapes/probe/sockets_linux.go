package main

import (
	"fmt"
	"io"
	"net"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// socketOf opens a socket of a kind that a confined process has no use for.
func socketOf(domain, kind, protocol int) func(words) (string, error) {
	return func(words) (string, error) {
		_, err := unix.Socket(domain, kind, protocol)
		return through(err)
	}
}

// answerTime bounds the wait for a listener that does not answer.
const answerTime = 5 * time.Minute

// hear prints the first message of the other end.
func hear(c net.Conn, err error) (string, error) {
	if err != nil {
		return "", err
	}
	defer func() { _ = c.Close() }()
	if err := c.SetDeadline(time.Now().Add(answerTime)); err != nil {
		return "", err
	}
	b, err := io.ReadAll(c)
	return string(b), err
}

func connectUnix(w words) (string, error) { return hear(net.Dial("unix", w.at(0))) }
func connectTCP(w words) (string, error)  { return hear(net.DialTimeout("tcp", w.at(0), answerTime)) }

// send is for messages without an answer: the listener reports them.
func send(network, to string) (string, error) {
	c, err := net.Dial(network, to)
	if err != nil {
		return "", err
	}
	defer func() { _ = c.Close() }()
	_, err = c.Write([]byte("out"))
	return "", err
}

func sendUnix(w words) (string, error) { return send("unixgram", w.at(0)) }
func sendUDP(w words) (string, error)  { return send("udp", w.at(0)) }

// addLink asks the kernel, by netlink, for a network interface.
func addLink(words) (string, error) {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_ROUTE)
	if err != nil {
		return "", err
	}
	const name = "escape0\x00"
	msg := make([]byte, 0, 128)
	u16 := func(v int) { msg = append(msg, byte(v), byte(v>>8)) }
	u32 := func(v int) { u16(v & 0xffff); u16(v >> 16) }
	u32(0) // length, below
	u16(unix.RTM_NEWLINK)
	u16(unix.NLM_F_REQUEST | unix.NLM_F_ACK | unix.NLM_F_CREATE | unix.NLM_F_EXCL)
	u32(1)
	u32(0)
	msg = append(msg, make([]byte, unix.SizeofIfInfomsg)...)
	u16(4 + len(name))
	u16(unix.IFLA_IFNAME)
	msg = append(msg, name...)
	u16(4 + 4 + 8) // IFLA_LINKINFO with IFLA_INFO_KIND
	u16(unix.IFLA_LINKINFO)
	u16(4 + 7)
	u16(1)
	msg = append(msg, "bridge\x00\x00"...)
	msg[0] = byte(len(msg))
	if err := unix.Sendto(fd, msg, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return "", err
	}
	buf := make([]byte, 4096)
	n, err := unix.Read(fd, buf)
	if err != nil {
		return "", err
	}
	if n < 20 {
		return "", fmt.Errorf("answer of %d bytes", n)
	}
	if e := -int32(uint32(buf[16]) | uint32(buf[17])<<8 | uint32(buf[18])<<16 | uint32(buf[19])<<24); e != 0 {
		return "", os.NewSyscallError("netlink", unix.Errno(e))
	}
	return got(), nil
}
