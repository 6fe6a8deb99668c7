package publish

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"time"
)

// file appends notes, an empty line behind each. The file may be one that only takes appends (chattr +a).
type file string

func (f file) take(_ context.Context, n Note) ([]byte, error) {
	out, err := os.OpenFile(string(f), os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	_, err = out.Write(append(bytes.Clone(n.Text), '\n'))
	if err == nil {
		err = out.Sync()
	}
	return nil, errors.Join(err, out.Close())
}

// tail returns at most the last so many bytes of a regular file.
func tail(name string, most int64) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close() // read only: nothing can be lost
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", name)
	}
	from := max(0, info.Size()-most)
	return io.ReadAll(io.NewSectionReader(f, from, info.Size()-from))
}

// maxNotes is how much of a file of notes is read: the newest stand at its end.
const maxNotes = 64 << 10

// Last returns the newest note of a file that checkpoints were published to.
func Last(name string) ([]byte, error) {
	text, err := tail(name, maxNotes)
	if err != nil {
		return nil, fmt.Errorf("read published checkpoints: %w", err)
	}
	return Newest(text), nil
}

// command runs a program with the note on its standard input.
type command struct {
	program string
	run     Run
}

func (c command) take(ctx context.Context, n Note) ([]byte, error) {
	return nil, c.run(ctx, c.program, n.Text)
}

// syslog sends a note to the system's log as one line (RFC 3164), with the note as JSON.
type syslog struct{ socket string }

// severity is notice of the facility authpriv, alarm is critical.
const (
	severity = 10<<3 | 5
	alarm    = 10<<3 | 2
)

// Alert sends a line to the syslog among the places of a configuration; without one to the system's.
func Alert(ctx context.Context, places []string, text string) error {
	socket := devLog
	for _, place := range places {
		if t, err := parse(Options{}, place); err == nil {
			if s, ok := t.(syslog); ok {
				socket = s.socket
			}
		}
	}
	text = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, text)
	line := fmt.Sprintf("<%d>%s sallyport[%d]: %s", alarm, time.Now().Format(time.Stamp), os.Getpid(), text)
	return datagram(ctx, socket, []byte(line))
}

// devLog is the socket of the system's log.
const devLog = "/dev/log"

func (s syslog) take(ctx context.Context, n Note) ([]byte, error) {
	text, err := json.Marshal(map[string]any{"origin": n.Checkpoint.Origin, "size": n.Checkpoint.Size,
		"note": string(n.Text)})
	if err != nil {
		return nil, err
	}
	line := fmt.Sprintf("<%d>%s sallyport[%d]: checkpoint %s", severity, time.Now().Format(time.Stamp),
		os.Getpid(), text)
	return nil, datagram(ctx, s.socket, []byte(line))
}

// journal sends a note to systemd's journal, in the form of systemd.io/JOURNAL_NATIVE_PROTOCOL.
type journal struct{ socket string }

func (j journal) take(ctx context.Context, n Note) ([]byte, error) {
	var b bytes.Buffer
	for _, field := range [][2]string{
		{"MESSAGE", fmt.Sprintf("checkpoint of %d records of %s", n.Checkpoint.Size, n.Checkpoint.Origin)},
		{"PRIORITY", "5"}, {"SYSLOG_IDENTIFIER", "sallyport"}, {"SALLYPORT_NOTE", string(n.Text)},
	} {
		if !strings.Contains(field[1], "\n") {
			b.WriteString(field[0] + "=" + field[1] + "\n")
			continue
		}
		b.WriteString(field[0] + "\n")
		b.Write(binary.LittleEndian.AppendUint64(nil, uint64(len(field[1]))))
		b.WriteString(field[1] + "\n")
	}
	return nil, datagram(ctx, j.socket, b.Bytes())
}

func datagram(ctx context.Context, socket string, text []byte) error {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "unixgram", socket)
	if err != nil {
		return err
	}
	if deadline, ok := ctx.Deadline(); ok {
		err = conn.SetWriteDeadline(deadline)
	}
	if err == nil {
		_, err = conn.Write(text)
	}
	return errors.Join(err, conn.Close())
}
