package baddays

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/internal/leftout"
	"github.com/sallyport-dev/sallyport/runners/docker"
)

// TestFullWorkspace has no room left in the workspace.
func TestFullWorkspace(t *testing.T) {
	each(t, func(t *testing.T, h *home, r engine.Runner) {
		mount(t, h.workspace, "-t", "tmpfs", "-o", "size=1m,mode=777", "none")
		give(t, h.workspace)
		env := open(t, r, h.spec())
		x := run(t, env, h.workspace, `head -c 5000000 /dev/zero >big`)
		if x.Code == 0 || x.Error != nil || !strings.Contains(x.Stderr.Text, "No space left") {
			t.Errorf("%+v", x)
		}
		_, err := env.Files().Write(h.workspace+"/new", bytes.NewReader(make([]byte, 1<<20)), engine.WriteOptions{})
		says(t, err, h.workspace+"/new", "no space left|disk is full")
		if names, _ := filepath.Glob(h.workspace + "/*new*"); len(names) != 0 {
			t.Errorf("of what did not fit is left: %q", names)
		}
		serves(t, env, h.workspace)
		if x := run(t, env, h.workspace, `rm big && echo x >small && cat small`); x.Code != 0 || x.Stdout.Text != "x\n" {
			t.Errorf("after room was made: %+v", x)
		}
	})
}

// TestReadOnlyWorkspace has a workspace on a file system that cannot be written to.
func TestReadOnlyWorkspace(t *testing.T) {
	each(t, func(t *testing.T, h *home, r engine.Runner) {
		must(t, os.WriteFile(h.workspace+"/there", []byte("there\n"), 0o644))
		mount(t, h.workspace, "--bind", h.workspace)
		remount(t, h.workspace)
		env := open(t, r, h.spec())
		x := run(t, env, h.workspace, `cat there; echo x >new`)
		if x.Code == 0 || x.Error != nil || x.Stdout.Text != "there\n" || !strings.Contains(x.Stderr.Text, "Read-only file system") {
			t.Errorf("%+v", x)
		}
		_, err := env.Files().Write(h.workspace+"/new", strings.NewReader("x"), engine.WriteOptions{})
		says(t, err, h.workspace+"/new", "read-only file system")
		serves(t, env, h.workspace)
	})
}

// TestNoWorkspace has a workspace that is gone, before and after the environment is opened.
func TestNoWorkspace(t *testing.T) {
	each(t, func(t *testing.T, h *home, r engine.Runner) {
		env := open(t, r, h.spec())
		must(t, os.RemoveAll(h.workspace))
		c, err := env.Prepare("pwd", h.workspace)
		if err == nil {
			c.ID, c.Timeout, c.Grace, c.Output = "D-"+nonce(), time.Hour, time.Second, 1024
			var p engine.Process
			if p, err = env.Start(t.Context(), c); err == nil {
				err = p.Wait().Error
			}
		}
		if err != nil { // a mount may keep it for those who have it open
			says(t, err, h.workspace)
		}
	})
	for _, k := range kinds()[1:] { // what reaches no places of its own does not miss any
		t.Run(k.name+", before", func(t *testing.T) {
			h := newHome(t)
			must(t, os.Remove(h.workspace))
			env, err := k.make(t, h).Open(t.Context(), h.spec())
			if err == nil {
				_ = env.Close()
			}
			says(t, err, h.workspace, "not exist|no such|not there|is missing")
			if _, err := os.Stat(h.workspace); !errors.Is(err, fs.ErrNotExist) {
				t.Error("it was made")
			}
		})
	}
}

// TestWrongUser names a user for the container that may not enter the workspace.
func TestWrongUser(t *testing.T) {
	leftout.Full(t, leftout.Slow)
	h := newHome(t)
	must(t, os.Chmod(h.workspace, 0o700))
	o := h.container(t)
	o.User = "12345:12345"
	env, err := contain(t, o).Open(t.Context(), h.spec())
	if err == nil {
		defer env.Close()
		var p engine.Process
		if p, err = env.Start(t.Context(), prepared(t, env, h.workspace, "echo x >new")); err == nil {
			err = p.Wait().Error
		}
	}
	says(t, err, h.workspace, "permission denied|may not", "docker.user|12345")
	for _, bad := range []string{"nobody-of-this-name", "-1", "0", "0:0", "1000:x", "99999999999"} {
		o.User = bad
		r, err := docker.New(o)
		if err == nil {
			var env engine.Environment
			if env, err = r.Open(t.Context(), h.spec()); err == nil {
				_ = env.Close()
			}
		}
		says(t, err, "user")
	}
}
