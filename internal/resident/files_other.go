//go:build !unix

package resident

import (
	"errors"
	"net"
	"os"
)

func sendWith(*net.UnixConn, any, ...*os.File) error { return errors.ErrUnsupported }

// handed reads a connection.
type handed struct {
	conn *net.UnixConn
	got  []*os.File
}

func (h *handed) Read(p []byte) (int, error) { return h.conn.Read(p) }

func (h *handed) close() {}
