package files

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

var (
	errUnclean     = errors.New("not an absolute, clean path of a file")
	errSpecial     = errors.New("not a regular file")
	errDirectory   = errors.New("it is a directory")
	errNoDirectory = errors.New("not a directory")
)

// remedy is the fix of an error.
type remedy struct {
	err  error
	text string
}

// fail adds to an error the action, the path, the reason and the fix; nil stays nil. The system's own words
// about the step are omitted: they name no path that the caller knows.
func fail(op, path string, err error) error {
	if err == nil {
		return nil
	}
	err = bare(err)
	for _, r := range append(mends(), general()...) {
		if errors.Is(err, r.err) {
			return fmt.Errorf("%s %s: %w: %s", op, path, err, r.text)
		}
	}
	return fmt.Errorf("%s %s: %w", op, path, err)
}

// general are the remedies that no system's own error says better.
func general() []remedy {
	return []remedy{
		{ErrChanged, "look at it again"},
		{errUnclean, "give the whole path, without . and .."},
		{fs.ErrNotExist, "check the path"},
		{fs.ErrExist, "use another name, or replace it"},
		{fs.ErrPermission, "the user that sallyport runs as may not do this there"},
	}
}

// bare unwraps the error of package os around an error of the system.
func bare(err error) error {
	for {
		switch e := err.(type) { //nolint:errorlint // only the outermost error is unwrapped
		case *fs.PathError:
			err = e.Err
		case *os.LinkError:
			err = e.Err
		case *os.SyscallError:
			err = e.Err
		default:
			return err
		}
	}
}
