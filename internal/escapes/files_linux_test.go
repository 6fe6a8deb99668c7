package escapes

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/sallyport-dev/sallyport/engine"
)

// files are tries to read and write outside the granted places.
func files() []try {
	return []try{
		{name: "read by its path", text: `cat "$OUT/secret"`, bubblewrap: absent, docker: absent},
		{name: "read by ..", text: `cat "$WS/../outside/secret" ../outside/secret`, bubblewrap: absent, docker: absent},
		{name: "list", text: `ls -A "$OUT" "$OUT/.."`, bubblewrap: absent, docker: absent},
		{name: "read a key in the home directory", text: `cat "$HOST_HOME/.ssh/id_ed25519"`, bubblewrap: absent, docker: absent},
		{name: "read by a link", text: `ln -sfn "$OUT" link && cat link/secret; rm -f link`, bubblewrap: absent, docker: absent},
		{name: "read by a link that was there before", text: `cat planted-dir/secret planted-file`, bubblewrap: absent, docker: absent},
		{name: "work in a directory that is a link", dir: "planted-dir", text: `cat secret`, bubblewrap: absent, docker: absent},
		{name: "read by a hard link", text: `ln "$OUT/secret" hard && cat hard; rm -f hard`, bubblewrap: absent, docker: absent},
		{name: "read by /proc/self/root", text: `cat "/proc/self/root$OUT/secret"`, bubblewrap: absent, docker: absent},
		{name: "read by /proc/1/root", text: `cat "/proc/1/root$OUT/secret"`, alone: `try`, bubblewrap: noPID, docker: noPID},
		{
			name: "read by the root or directory of any process", text: `for p in /proc/[0-9]*; do cat "$p/root$OUT/secret" "$p/cwd/../outside/secret" "$p/cwd/secret"; done 2>/dev/null`,
			bubblewrap: noPID, docker: noPID,
		},
		{
			name: "read what any process has open", text: `for f in /proc/[0-9]*/fd/*; do if [ -f "$f" ]; then head -c 4096 "$f"; elif [ -d "$f" ]; then cat "$f/secret" "$f/../outside/secret" "$f$OUT/secret"; fi; done 2>/dev/null`,
			bubblewrap: noPID, docker: noPID,
		},
		{
			name: "leave by an inherited descriptor", text: `[ "$(ls /proc/self/fd | tr '\n' ' ')" = "0 1 2 3 " ] || echo "$GOT"; for n in $(seq 3 40); do cat "/proc/self/fd/$n/../outside/secret"; done 2>/dev/null`,
			bare: true, bubblewrap: "a command gets three descriptors and no other", docker: "a command gets three descriptors and no other",
		},
		{
			name: "open by a file handle", text: `"$PROBE" handle "$WS" "$HANDLE_TYPE" "$HANDLE"`, root: true,
			bubblewrap: noCap, docker: noCap,
		},
		{name: "write by its path", text: `echo x >"$OUT/new"`, bubblewrap: absent, docker: absent},
		{name: "append", text: `echo x >>"$OUT/secret"`, bubblewrap: absent, docker: absent},
		{name: "remove", text: `rm -rf "$OUT/dropbox"`, bubblewrap: absent, docker: absent},
		{name: "move out", text: `echo x >mine; mv mine "$OUT/dropbox/"; rm -f mine`, bubblewrap: absent, docker: absent},
		{name: "move in", text: `mv "$OUT/dropbox/file" taken; rm -f taken`, bubblewrap: absent, docker: absent},
		{name: "write by a link that was there before", text: `echo x >planted-file`, bubblewrap: absent, docker: absent},
		{name: "write by a link that leads to nothing yet", text: `echo x >planted-new`, bubblewrap: absent, docker: absent},
		{name: "write what is granted for reading", text: `echo x >"$CTX/doc"`, bubblewrap: readOnly, docker: readOnly},
		{name: "make a file in a place for reading", text: `echo x >"$CTX/new"`, bubblewrap: readOnly, docker: readOnly},
		{name: "rename in a place for reading", text: `mv "$CTX/doc" "$CTX/other"`, bubblewrap: readOnly, docker: readOnly},
		{name: "remove in a place for reading", text: `rm -f "$CTX/doc"`, bubblewrap: readOnly, docker: readOnly},
		{name: "change the mode in a place for reading", text: `chmod 0777 "$CTX/doc"`, bubblewrap: readOnly, docker: readOnly},
		{name: "change the time in a place for reading", text: `touch -d 2001-02-03 "$CTX/doc"`, bubblewrap: readOnly, docker: readOnly},
		{name: "open again for writing what was opened for reading", text: `exec 3<"$CTX/doc" && echo x >/proc/self/fd/3`, bubblewrap: readOnly, docker: readOnly},
		{name: "hard link into the workspace and write", text: `ln "$CTX/doc" hard && echo x >hard; rm -f hard`, bubblewrap: "another mount: EXDEV", docker: "another mount: EXDEV"},
		{name: "write by a link that was there before, in a place for reading", text: `echo x >planted-doc`, bubblewrap: readOnly, docker: readOnly},
	}
}

// tools are the same tries by way of the file tools, without the gate that would judge them.
func tools() []try {
	read := func(f engine.Files, path string) string {
		r, err := f.Open(path)
		if err != nil {
			return err.Error()
		}
		defer r.Close()
		b, _ := io.ReadAll(io.LimitReader(r, 1<<16))
		return string(b)
	}
	put := func(f engine.Files, path string) string {
		_, err := f.Write(path, strings.NewReader("escaped\n"), engine.WriteOptions{Replace: true})
		return fmt.Sprint(err)
	}
	return []try{
		{name: "read outside", tool: func(w *site, f engine.Files) string { return read(f, w.outside+"/secret") }, bubblewrap: absent, docker: absent},
		{name: "write outside", tool: func(w *site, f engine.Files) string { return put(f, w.outside+"/new") }, bubblewrap: absent, docker: absent},
		{name: "make a directory outside", tool: func(w *site, f engine.Files) string { return fmt.Sprint(f.Mkdir(w.outside + "/a/b")) }, bubblewrap: absent, docker: absent},
		{name: "remove outside", tool: func(w *site, f engine.Files) string { return fmt.Sprint(f.Remove(w.outside + "/dropbox/file")) }, bubblewrap: absent, docker: absent},
		{name: "link outside", tool: func(w *site, f engine.Files) string { return fmt.Sprint(f.Symlink("secret", w.outside+"/linked")) }, bubblewrap: absent, docker: absent},
		{name: "list outside", tool: func(w *site, f engine.Files) string {
			var names []string
			entries, err := f.ReadDir(w.outside)
			for _, e := range entries {
				names = append(names, e.Name())
			}
			return fmt.Sprint(names, err)
		}, bubblewrap: absent, docker: absent},
		{name: "write a place for reading", tool: func(w *site, f engine.Files) string { return put(f, w.context+"/doc") }, bubblewrap: readOnly, docker: readOnly},
		{name: "write a hook", tool: func(w *site, f engine.Files) string { return put(f, w.workspace+"/.git/hooks/pre-commit") }, bubblewrap: readOnly, docker: readOnly},
		{name: "read by a link", bare: true, tool: func(w *site, f engine.Files) string {
			return read(f, w.workspace+"/planted-file") + read(f, w.workspace+"/planted-dir/secret")
		}, bubblewrap: noSteps, docker: noSteps},
		{name: "read by a link that comes during the call", bare: true, tool: func(w *site, f engine.Files) string {
			return racing(w, func(at string) bool {
				return strings.Contains(read(f, at+"/secret"), w.secret)
			})
		}, bubblewrap: noSteps, docker: noSteps},
		{name: "write by a link that comes during the call", bare: true, tool: func(w *site, f engine.Files) string {
			return racing(w, func(at string) bool {
				put(f, at+"/raced")
				return exists(w.outside + "/raced")
			})
		}, bubblewrap: noSteps, docker: noSteps},
		{name: "remove by a link that comes during the call", bare: true, tool: func(w *site, f engine.Files) string {
			return racing(w, func(at string) bool {
				_ = f.Remove(at + "/dropbox/file")
				return !exists(w.outside + "/dropbox/file")
			})
		}, bubblewrap: noSteps, docker: noSteps},
		{name: "read the environment of the keeper", tool: func(s *site, f engine.Files) string {
			return read(f, fmt.Sprintf("/proc/%d/environ", s.keeper())) + read(f, "/proc/1/environ")
		}, bubblewrap: "the keeper is started with a cleared environment", docker: "the keeper is started with a cleared environment"},
	}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// racing makes a directory and a link to the outside change places while do is at work on a path below, until
// do reports that it got outside. Where something confines it, it gives up after many tries and changes.
func racing(w *site, do func(at string) bool) string {
	const rounds, unconfined = 1000, 1_000_000
	at, aside, link := filepath.Join(w.workspace, "race"), filepath.Join(w.workspace, "race-aside"), filepath.Join(w.workspace, "race-link")
	_ = os.MkdirAll(filepath.Join(at, "dropbox"), 0o777)
	_ = os.Chmod(at, 0o777)
	_ = os.Symlink(w.outside, link)
	stop := make(chan struct{})
	var changes atomic.Int64
	var done sync.WaitGroup
	done.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			// os.Rename would look at the new name before each change.
			_ = unix.Rename(at, aside)
			_ = unix.Rename(link, at)
			_ = unix.Rename(at, link)
			_ = unix.Rename(aside, at)
			changes.Add(1)
		}
	})
	said := ""
	for tries := 0; tries < rounds || changes.Load() < rounds || w.env == nil && tries < unconfined; tries++ {
		if do(at) {
			said = w.got
			break
		}
	}
	close(stop)
	done.Wait()
	for _, p := range []string{at, aside, link} {
		_ = os.RemoveAll(p)
	}
	return said
}
