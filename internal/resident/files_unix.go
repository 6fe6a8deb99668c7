//go:build unix

package resident

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"
)

// mostFiles is the number of descriptors that a call may bring; the kernel closes others.
const mostFiles = 2

// sendWith sends a message, with descriptors beside its first bytes (SCM_RIGHTS, unix(7)).
func sendWith(c *net.UnixConn, v any, files ...*os.File) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	if len(text) > largest {
		return fmt.Errorf("a message of %d bytes is larger than %d", len(text), largest)
	}
	numbers := make([]int, len(files))
	for i, f := range files {
		numbers[i] = int(f.Fd())
	}
	head := binary.BigEndian.AppendUint32(nil, uint32(len(text))) //nolint:gosec // at most largest
	if _, _, err := c.WriteMsgUnix(head, syscall.UnixRights(numbers...), nil); err != nil {
		return err
	}
	_, err = c.Write(text)
	return err
}

// handed reads a connection, and takes the descriptors that come with its first bytes.
type handed struct {
	conn *net.UnixConn
	read bool
	got  []*os.File
}

func (h *handed) Read(p []byte) (int, error) {
	if h.read {
		return h.conn.Read(p)
	}
	h.read = true
	oob := make([]byte, syscall.CmsgSpace(mostFiles*4))
	n, with, flags, _, err := h.conn.ReadMsgUnix(p, oob)
	if err == nil {
		err = h.take(oob[:with])
	}
	if err == nil && flags&syscall.MSG_CTRUNC != 0 {
		err = errors.New("more descriptors came than a call has")
	}
	return n, err
}

func (h *handed) take(oob []byte) error {
	all, err := syscall.ParseSocketControlMessage(oob)
	for _, m := range all {
		numbers, failed := syscall.ParseUnixRights(&m)
		if failed != nil {
			continue // another message
		}
		for _, n := range numbers {
			syscall.CloseOnExec(n)
			h.got = append(h.got, os.NewFile(uintptr(n), "output of a program"))
		}
	}
	return err
}

func (h *handed) close() {
	for _, f := range h.got {
		_ = f.Close()
	}
}
