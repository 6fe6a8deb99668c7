package docker

import (
	"context"
	"io"
	"sync"

	"github.com/docker/docker/api/types"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/pkg/stdcopy"

	"github.com/sallyport-dev/sallyport/runners/supervisor"
)

// stream is the input and output of a process in a container.
type stream struct {
	conn types.HijackedResponse
	out  *io.PipeReader
	said supervisor.Tail // its standard error

	once sync.Once
}

// exec starts a supervisor in a container and returns the stream to it with the id of the exec.
func (e *Engine) exec(ctx context.Context, id string, o container.ExecOptions) (*stream, string, error) {
	o.AttachStdin, o.AttachStdout, o.AttachStderr = true, true, true
	made, err := e.cli.ContainerExecCreate(ctx, id, o)
	if err != nil {
		return nil, "", err
	}
	conn, err := e.cli.ContainerExecAttach(ctx, made.ID, container.ExecAttachOptions{})
	if err != nil {
		return nil, made.ID, err
	}
	s := &stream{conn: conn}
	out, w := io.Pipe()
	s.out = out
	go func() { // ends when the connection does
		_, err := stdcopy.StdCopy(w, &s.said, conn.Reader)
		_ = w.CloseWithError(err) // nil is io.EOF
	}()
	return s, made.ID, nil
}

// Read reads the output of the process.
func (s *stream) Read(b []byte) (int, error) { return s.out.Read(b) }

// Write writes to the input of the process.
func (s *stream) Write(b []byte) (int, error) { return s.conn.Conn.Write(b) }

// Close ends the input of the process and hears no more of it.
func (s *stream) Close() error {
	s.once.Do(func() {
		_ = s.conn.CloseWrite()
		s.conn.Close()
		_ = s.out.Close()
	})
	return nil
}
