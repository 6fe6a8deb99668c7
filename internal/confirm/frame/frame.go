// Package frame writes lists of strings to a pipe and reads them back: a count, and each string behind its
// length.
//
// It serves the sandbox of package confirm, whose programs must start fast: it imports next to nothing.
package frame

import (
	"encoding/binary"
	"io"
)

// Append adds a frame to b.
func Append(b []byte, list []string) []byte {
	b = binary.LittleEndian.AppendUint32(b, uint32(len(list)))
	for _, s := range list {
		b = append(binary.LittleEndian.AppendUint32(b, uint32(len(s))), s...)
	}
	return b
}

// Read returns the next frame.
func Read(r io.Reader) ([]string, error) {
	n, err := number(r)
	if err != nil {
		return nil, err
	}
	list := make([]string, 0, min(n, 1<<16))
	for range n {
		size, err := number(r)
		if err != nil {
			return nil, io.ErrUnexpectedEOF
		}
		b := make([]byte, min(size, 1<<26))
		if _, err := io.ReadFull(r, b); err != nil {
			return nil, io.ErrUnexpectedEOF
		}
		list = append(list, string(b))
	}
	return list, nil
}

func number(r io.Reader) (uint32, error) {
	var b [4]byte
	_, err := io.ReadFull(r, b[:])
	return binary.LittleEndian.Uint32(b[:]), err
}
