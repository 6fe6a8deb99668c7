//go:build amd64 || arm64

package notify

import (
	"bytes"
	"encoding/binary"

	"golang.org/x/sys/unix"
)

// memory is a page of a caller's memory.
type memory struct {
	at      uint64
	content []byte
}

// memory returns the memory from an address to the end of its page. No page is read twice, so that all that
// is read of one belongs to one moment.
func (c *caller) memory(at uint64) ([]byte, error) {
	if at > 1<<63-page {
		return nil, unix.EFAULT
	}
	start := at &^ (page - 1)
	for _, m := range c.pages {
		if m.at == start {
			return m.content[at-start:], nil
		}
	}
	content := make([]byte, page)
	if err := c.readPage(content, start); err != nil {
		return nil, err
	}
	c.pages = append(c.pages, memory{start, content})
	return content[at-start:], nil
}

func (c *caller) readPage(content []byte, at uint64) error {
	for n := 0; n < page; {
		got, err := unix.Pread(c.mem, content[n:], int64(at)+int64(n))
		if err == unix.EINTR {
			continue
		}
		if err != nil || got <= 0 {
			return unix.EFAULT
		}
		n += got
	}
	return nil
}

// sameMemory reports that all pages that were read are unchanged.
func (c *caller) sameMemory() bool {
	var now [page]byte
	for _, m := range c.pages {
		if c.readPage(now[:], m.at) != nil || !bytes.Equal(now[:], m.content) {
			return false
		}
	}
	return true
}

// word reads a text of less than some bytes, without the byte that ends it.
func (c *caller) word(at uint64, most int) (string, error) {
	at = untagged(at)
	var out []byte
	for len(out) < most {
		piece, err := c.memory(at + uint64(len(out)))
		if err != nil {
			return "", err
		}
		if i := bytes.IndexByte(piece, 0); i >= 0 {
			if len(out)+i >= most {
				break
			}
			return string(append(out, piece[:i]...)), nil
		}
		out = append(out, piece...)
	}
	return "", unix.E2BIG
}

// pointer reads an address.
func (c *caller) pointer(at uint64) (uint64, error) {
	at = untagged(at)
	var b [8]byte
	for n := 0; n < len(b); {
		piece, err := c.memory(at + uint64(n))
		if err != nil {
			return 0, err
		}
		n += copy(b[n:], piece)
	}
	return binary.NativeEndian.Uint64(b[:]), nil
}
