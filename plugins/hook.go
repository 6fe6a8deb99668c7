package plugins

import (
	"context"
	"errors"
	"io"
	"os"

	"github.com/sallyport-dev/sallyport/runners/supervisor"
)

// RunHook runs the command line by which an agent asks its hook, as the agent does, with an event on its
// standard input. It returns the output, the exit code, and the text on standard error as a part of failed,
// which is nil after exit code 0.
func RunHook(ctx context.Context, line string, event []byte) (out []byte, code int, failed error) {
	return RunProgram(ctx, []string{"sh", "-c", line}, os.Environ(), event)
}

// RunProgram is RunHook for any program of the user. All that it started ends with ctx.
func RunProgram(
	ctx context.Context, argv, env []string, input []byte,
) (out []byte, code int, failed error) {
	p, err := supervisor.OpenProgram(argv, env, "")
	if err != nil {
		return nil, -1, err
	}
	defer context.AfterFunc(ctx, func() { _ = p.Close() })()
	defer func() { _ = p.Close() }()
	_, err = p.Write(input)
	_ = errors.Join(err, p.CloseInput()) // it may answer without reading all of it
	out, _ = io.ReadAll(p)               // it ends with the program
	failed = p.Wait()
	var exit interface{ ExitCode() int }
	switch {
	case ctx.Err() != nil:
		return out, -1, ctx.Err()
	case errors.As(failed, &exit):
		code = exit.ExitCode()
	case failed != nil:
		code = -1
	}
	return out, code, failed
}
