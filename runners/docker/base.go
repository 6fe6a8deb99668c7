package docker

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/sallyport-dev/sallyport/engine/lazyregexp"
	"github.com/sallyport-dev/sallyport/images"
	"github.com/sallyport-dev/sallyport/runners/supervisor"
)

// Base says how to make an image of Debian's packages, where there is no registry to have one from.
type Base struct {
	Tag     string // its name, with a tag
	Suite   string // release of Debian
	Mirror  string // origin of its packages; "" for debootstrap's default
	Environ []string
	Report  Report
}

// debianWord matches a suite or a mirror: no option, and one word to sources.list(5).
var debianWord = lazyregexp.New(`^[A-Za-z0-9][^\s\[\]]*$`)

// MakeBase makes a base image with debootstrap, which runs on this machine as root, at the operator's
// request. The engine gets the result as a tar.
func (e *Engine) MakeBase(ctx context.Context, b Base) (err error) {
	switch {
	case !debianWord.MatchString(b.Suite):
		return fmt.Errorf("make base image: %q is no release of Debian", b.Suite)
	case b.Mirror != "" && !debianWord.MatchString(b.Mirror):
		return fmt.Errorf("make base image: %q is no address of a mirror", b.Mirror)
	case runtime.GOOS != "linux":
		return errors.New("make base image: debootstrap is a program of Linux: name a base with --base")
	case os.Geteuid() != 0:
		return errors.New(
			"make base image: debootstrap makes a system's files and must be root: run this command with sudo")
	}
	dir, err := os.MkdirTemp("", "sallyport-base-")
	if err != nil {
		return fmt.Errorf("make base image: %w", err)
	}
	root := filepath.Join(dir, "root")
	defer func() {
		detach(root)
		err = errors.Join(err, os.RemoveAll(dir))
	}()
	b.Report.step("debootstrap %s", b.Suite)
	words := []string{"debootstrap", "--variant=minbase", "--include=ca-certificates", b.Suite, root}
	if b.Mirror != "" {
		words = append(words, b.Mirror)
	}
	if err := b.run(ctx, words, func(out io.Reader) error {
		for lines := bufio.NewScanner(out); lines.Scan(); {
			b.Report.line(strings.TrimPrefix(lines.Text(), "I: "))
		}
		return nil
	}); err != nil {
		return fmt.Errorf("make base image: %w", err)
	}
	if err := sources(ctx, root, b.Suite); err != nil {
		return fmt.Errorf("make base image: %w", err)
	}
	b.Report.step("import %s", b.Tag)
	// Leave out files that every container brings along, and files that apt-get can download again.
	words = []string{
		"tar", "--create", "--numeric-owner", "--directory", root, "--exclude=./dev/*", "--exclude=./proc/*",
		"--exclude=./sys/*",
		"--exclude=./var/cache/apt/archives/*.deb", "--exclude=./var/lib/apt/lists/*", "--exclude=./var/log/*.log",
		".",
	}
	if err := b.run(ctx, words, func(out io.Reader) error {
		return e.importImage(ctx, out, b.Tag, []string{"CMD [\"/bin/bash\"]", "LABEL " + images.Label + "=base"},
			b.Report)
	}); err != nil {
		return fmt.Errorf("make base image: %w", err)
	}
	return nil
}

// run starts a program and hands its output to use. That ends with an error in place of the end of the file
// when the program failed, so that nobody takes half of it for all.
func (b Base) run(ctx context.Context, words []string, use func(io.Reader) error) error {
	p, err := supervisor.OpenProgram(words, b.Environ, "")
	if err != nil {
		return fmt.Errorf("%w (a package of that name has it)", err)
	}
	defer func() { _ = p.Close() }()
	defer context.AfterFunc(ctx, func() { _ = p.Close() })()
	out := &whole{p: p}
	err = use(out)
	_, _ = io.Copy(io.Discard, out) // its status is known at its end
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case out.err != nil:
		return out.err
	default:
		return err
	}
}

// whole reads the output of a program, and fails at its end if the program did.
type whole struct {
	p   *supervisor.Program
	err error // how the program failed
}

func (w *whole) Read(b []byte) (int, error) {
	n, err := w.p.Read(b)
	if err == nil {
		return n, nil
	}
	if failed := w.p.Wait(); failed != nil {
		w.err = failed
		return n, failed
	}
	return n, io.EOF
}

// sources lets the image have the updates of its release, if its mirror has them at their usual place.
// debootstrap only writes the release itself.
func sources(ctx context.Context, root, suite string) error {
	file := filepath.Join(root, "etc", "apt", "sources.list")
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	words := strings.Fields(string(text)) // deb MIRROR SUITE main
	if len(words) < 4 || words[0] != "deb" {
		return nil
	}
	mirror := strings.TrimSuffix(words[1], "/")
	for _, more := range []struct{ mirror, suite string }{{mirror, suite + "-updates"},
		{mirror + "-security", suite + "-security"}} {
		if offered(ctx, more.mirror+"/dists/"+more.suite+"/InRelease") {
			text = fmt.Appendf(text, "deb %s %s main\n", more.mirror, more.suite)
		}
	}
	return os.WriteFile(file, text, 0o644)
}

// offered reports whether there is a file at an address.
func offered(ctx context.Context, url string) bool {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodHead, url, nil)
	if err != nil {
		return false
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return false
	}
	_ = answer.Body.Close()
	return answer.StatusCode == http.StatusOK
}
