package endtoend

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestDockerMounts: more mounts are read-only unless they say otherwise, and what leads out of the container is refused.
func TestDockerMounts(t *testing.T) {
	t.Parallel()
	s := dockerSite(t, runtimeImage())
	tools := filepath.Join(s.home, "tools")
	s.write(filepath.Join(tools, "hello"), "#!/bin/sh\necho a tool\n")
	s.give(tools)
	if err := os.Chmod(filepath.Join(tools, "hello"), 0o755); err != nil {
		t.Fatal(err)
	}
	c := s.config("c", "mounts: [{source: "+tools+", target: /tools}]", "mode: monitor")
	r := s.do(c, "exec", "-c", "/tools/hello; echo x > /tools/new; true")
	if r.stdout != "a tool\n" || !strings.Contains(r.stderr, "Read-only file system") {
		t.Errorf("%+v", r)
	}
	if out := s.sh(s.config("rw", "mounts: [{source: "+tools+", target: /tools, access: write}]", "mode: monitor"), "echo x > /tools/new && echo written"); out != "written\n" || s.reads(filepath.Join(tools, "new")) != "x\n" {
		t.Errorf("a mount for writing: %q", out)
	}
	link := filepath.Join(s.home, "link")
	if err := os.Symlink("/etc", link); err != nil {
		t.Fatal(err)
	}
	for _, source := range []string{"/", "/etc", "/var/run/docker.sock", "/proc", s.home, link} {
		if r := s.do(s.config("bad", "mounts: [{source: "+source+", target: /given}]"), "exec", "--", "true"); r.code == 0 {
			t.Errorf("mount of %s: %+v", source, r)
		}
	}
}

// TestDockerSamePaths: the workspace has the path that it has outside, and what is written on one side is read on the other.
func TestDockerSamePaths(t *testing.T) {
	t.Parallel()
	s := dockerSite(t, runtimeImage())
	c := s.config("c", "keep: true")
	s.write(filepath.Join(s.workspace, "from_host.txt"), "hello from the host\n")
	defer s.hold(c)()
	if out := s.sh(c, "pwd; cat "+s.workspace+"/from_host.txt; echo hello from inside > made.txt; mkdir sub"); out != s.workspace+"\nhello from the host\n" {
		t.Errorf("inside: %q", out)
	}
	if got := s.reads(filepath.Join(s.workspace, "made.txt")); got != "hello from inside\n" {
		t.Errorf("outside: %q", got)
	}
	if out := s.sh(c, "pwd", "--work-dir", "sub"); out != s.workspace+"/sub\n" {
		t.Errorf("work_dir: %q", out)
	}
	if r := s.do(c, "exec", "--work-dir", "missing", "--", "pwd"); r.code != 126 || !strings.Contains(r.stderr, "the working directory does not exist") {
		t.Errorf("a work_dir that is not there: %+v", r)
	}
	info, err := os.Stat(filepath.Join(s.workspace, "made.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if owner := strings.Fields(s.sh(c, "stat -c %u:%g made.txt; id -u")); len(owner) != 2 || !strings.HasPrefix(owner[0], owner[1]+":") || owner[1] == "0" {
		t.Errorf("made.txt (%s) belongs to %v", info.Mode(), owner)
	}
}

// TestDockerReadOnlyContext: a context path can be read, and neither policy nor kernel lets it be written.
func TestDockerReadOnlyContext(t *testing.T) {
	t.Parallel()
	s := dockerSite(t, runtimeImage())
	context := filepath.Join(s.home, "context")
	s.write(filepath.Join(context, "given.txt"), "given\n")
	s.give(context)
	read := "paths: [{path: " + context + ", access: read}]"
	strict, free := s.config("strict", "keep: true", read), s.config("free", "keep: true", read, "mode: monitor")
	release := s.hold(strict)
	if out := s.sh(strict, "cat "+context+"/given.txt"); out != "given\n" {
		t.Errorf("read: %q", out)
	}
	write := "echo x > " + context + "/new.txt"
	if r := s.do(strict, "exec", "-c", write); r.code != 126 {
		t.Errorf("the policy lets it pass: %+v", r)
	}
	if r := s.do(free, "exec", "-c", write); r.code == 0 || !strings.Contains(r.stderr, "Read-only file system") {
		t.Errorf("the kernel lets it pass: %+v", r)
	}
	if got := s.reads(filepath.Join(context, "new.txt")); got != "" {
		t.Errorf("it is there: %q", got)
	}
	release()
	// The final agent may write: a grant that has changed takes effect in the next command of the same session.
	write += "; cat " + context + "/given.txt"
	granted := s.config("granted", "keep: true", "paths: [{path: "+context+", access: write, protected: [given.txt]}]", "mode: monitor")
	if out := s.sh(granted, write); out != "given\n" || s.reads(filepath.Join(context, "new.txt")) != "x\n" {
		t.Errorf("with the grant: %q, and %q on the host", out, s.reads(filepath.Join(context, "new.txt")))
	}
	// A protected place in it stays as it is, and so it cannot be moved away either.
	for _, text := range []string{"echo y > given.txt", "rm -f given.txt", "mv given.txt other.txt"} {
		if r := s.do(granted, "exec", "-c", "cd "+context+" && "+text); r.code == 0 {
			t.Errorf("%s: %+v", text, r)
		}
	}
	if got := s.reads(filepath.Join(context, "given.txt")); got != "given\n" {
		t.Errorf("the protected file: %q", got)
	}
	if n := len(s.list(strict)); n != 1 {
		t.Errorf("%d containers of one session", n)
	}
}

// TestDockerContextFile: a single file can be given, and what lies beside it is not there.
func TestDockerContextFile(t *testing.T) {
	t.Parallel()
	s := dockerSite(t, runtimeImage())
	file := filepath.Join(s.home, "context", "one.txt")
	s.write(file, "one\n")
	s.write(filepath.Join(s.home, "context", "two.txt"), "two\n")
	c := s.config("c", "keep: true", "paths: [{path: "+file+"}]", "mode: monitor")
	if out := s.sh(c, "cat "+file); out != "one\n" {
		t.Errorf("%q", out)
	}
	if r := s.do(c, "exec", "-c", "cat "+filepath.Join(s.home, "context", "two.txt")); r.code == 0 {
		t.Errorf("the file beside it: %+v", r)
	}
}
