package wire

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"unicode/utf8"
)

// errProtocol is wrapped by the error for a message that the other side must not send.
var errProtocol = errors.New("protocol violation")

// errTooLarge is wrapped by the error for a frame that is not sent, since no peer accepts it.
var errTooLarge = errors.New("frame too large")

func violation(format string, args ...any) error {
	return fmt.Errorf(format+": %w", append(args, errProtocol)...)
}

// writeFrame writes documents, all or none.
func writeFrame(w io.Writer, documents ...any) error {
	var all []byte
	for _, v := range documents {
		body, err := encode(v)
		if err != nil {
			return err
		}
		all = appendFrame(all, body)
	}
	_, err := w.Write(all)
	return err
}

func encode(v any) ([]byte, error) {
	body, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("encode frame: %w", err)
	}
	if len(body) > maxFrame {
		return nil, fmt.Errorf("send frame: %d bytes, at most %d: %w", len(body), maxFrame, errTooLarge)
	}
	return body, nil
}

// appendFrame appends an encoded document.
func appendFrame(to, body []byte) []byte {
	return append(binary.BigEndian.AppendUint32(slices.Grow(to, 4+len(body)), uint32(len(body))), body...)
}

// readFrame reads one document into v.
func readFrame(r io.Reader, v any) error {
	body, err := readBody(r)
	if err != nil {
		return err
	}
	return decode(body, v)
}

// readBody reads one document. Its memory grows with the received bytes, not with the announced length.
func readBody(r io.Reader) ([]byte, error) {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return nil, err
	}
	size := binary.BigEndian.Uint32(head[:])
	if size == 0 || size > maxFrame {
		return nil, violation("frame of %d bytes", size)
	}
	return readExactly(r, int64(size))
}

// decode is strict: one document, valid UTF-8, no field that is not known.
func decode(body []byte, v any) error {
	if !utf8.Valid(body) {
		return violation("frame is not UTF-8")
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return violation("read frame: %v", err)
	}
	if d.InputOffset() != int64(len(body)) {
		return violation("frame goes on after its document")
	}
	return nil
}

// readExactly reads size bytes.
func readExactly(r io.Reader, size int64) ([]byte, error) {
	var b bytes.Buffer
	n, err := io.CopyN(&b, r, size)
	if errors.Is(err, io.EOF) && n < size {
		err = io.ErrUnexpectedEOF
	}
	return b.Bytes(), err
}

// exact is text that arrives as it was sent, UTF-8 or not: a plain JSON string where that can hold it,
// otherwise a list with its base64 form.
type exact string

// MarshalJSON writes a string or a list of one.
func (e exact) MarshalJSON() ([]byte, error) {
	if utf8.ValidString(string(e)) {
		return json.Marshal(string(e))
	}
	return json.Marshal([]string{base64.StdEncoding.EncodeToString([]byte(e))})
}

// UnmarshalJSON reads either form.
func (e *exact) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '"' {
		return json.Unmarshal(b, (*string)(e))
	}
	var list []string
	if err := json.Unmarshal(b, &list); err != nil || len(list) != 1 {
		return errors.New("want text or a list with its base64 form")
	}
	raw, err := base64.StdEncoding.Strict().DecodeString(list[0])
	*e = exact(raw)
	return err
}

// variables are NAME=value texts, sent as one with a NUL behind each: a list of texts takes longer to read.
type variables []string

// MarshalJSON writes one exact text.
func (v variables) MarshalJSON() ([]byte, error) {
	var b strings.Builder
	for _, s := range v {
		if strings.ContainsRune(s, 0) {
			return nil, errors.New("a variable contains NUL")
		}
		b.WriteString(s)
		b.WriteByte(0)
	}
	return exact(b.String()).MarshalJSON()
}

// UnmarshalJSON reads it.
func (v *variables) UnmarshalJSON(b []byte) error {
	var all exact
	if err := all.UnmarshalJSON(b); err != nil {
		return err
	}
	*v = strings.Split(string(all), "\x00")
	last := len(*v) - 1
	if (*v)[last] != "" {
		return errors.New("want a NUL behind each variable")
	}
	*v = (*v)[:last]
	return nil
}

func exacts(list []string) []exact {
	out := make([]exact, len(list))
	for i, s := range list {
		out[i] = exact(s)
	}
	return out
}

func plains(list []exact) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = string(s)
	}
	return out
}

// appendChunks appends a text in chunks and their end.
func appendChunks(to []byte, text string) []byte {
	for len(text) > 0 {
		n := min(len(text), maxChunk)
		to = append(binary.BigEndian.AppendUint32(to, uint32(n)), text[:n]...)
		text = text[n:]
	}
	return binary.BigEndian.AppendUint32(to, 0)
}

// sendChunks sends all of r in chunks and then its end. read tells an error of r from one of w.
func sendChunks(w io.Writer, r io.Reader) (n int64, read, write error) {
	buf := make([]byte, 4+maxChunk)
	for {
		k, err := r.Read(buf[4:])
		if k > 0 {
			binary.BigEndian.PutUint32(buf, uint32(k))
			if _, werr := w.Write(buf[:4+k]); werr != nil {
				return n, nil, werr
			}
			n += int64(k)
		}
		switch {
		case errors.Is(err, io.EOF):
			_, err = w.Write(make([]byte, 4))
			return n, nil, err
		case err != nil:
			return n, err, nil
		}
	}
}

// chunks reads the data of sendChunks. Only its explicit end is io.EOF; a stream that breaks off is an error,
// so that half a file never counts as a whole one.
type chunks struct {
	r    io.Reader
	left int
	done bool
}

// Read reads from one chunk.
func (c *chunks) Read(p []byte) (int, error) {
	if c.done {
		return 0, io.EOF
	}
	if len(p) == 0 {
		return 0, nil
	}
	if c.left == 0 {
		var head [4]byte
		if _, err := io.ReadFull(c.r, head[:]); err != nil {
			return 0, broken(err)
		}
		size := binary.BigEndian.Uint32(head[:])
		if size > maxChunk {
			return 0, violation("chunk of %d bytes", size)
		}
		if size == 0 {
			c.done = true
			return 0, io.EOF
		}
		c.left = int(size)
	}
	n, err := c.r.Read(p[:min(len(p), c.left)])
	c.left -= n
	if n > 0 {
		err = nil // should there be one, it comes again
	}
	return n, broken(err)
}

func broken(err error) error {
	var slow net.Error
	switch {
	case errors.Is(err, io.EOF):
		return io.ErrUnexpectedEOF
	case errors.As(err, &slow) && slow.Timeout() && !errors.Is(err, ErrSilent):
		return fmt.Errorf("%w: %w", ErrSilent, err)
	}
	return err
}
