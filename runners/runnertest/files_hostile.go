package runnertest

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/internal/await"
	"github.com/sallyport-dev/sallyport/internal/leftout"
)

// refusesLinks checks each way to a file behind a link. That it can be reached is shown by a command.
func refusesLinks(t *testing.T, f *cabinet) {
	f.in(t,
		"mkdir -p victim/sub ws/d; echo precious > victim/f; ln -s ../victim ws/out; ln -s ../../victim ws/d/up; "+
			"ln -s ../victim/f ws/last; ln -s nowhere ws/dangling")
	same(t, "a command gets there", f.in(t, "cat ws/out/f ws/d/up/f ws/last"), "precious\nprecious\nprecious\n")
	replace := engine.WriteOptions{Replace: true}
	for _, name := range []string{"ws/out/f", "ws/d/up/f", "ws/last", "ws/dangling"} {
		path := f.dir + "/" + name
		_, open := f.Open(path)
		_, write := f.Write(path, strings.NewReader("x"), replace)
		for what, err := range map[string]error{"read": open, "write": write, "make directory": f.Mkdir(path)} {
			if err == nil {
				t.Errorf("%s %s went through the link", what, name)
			}
		}
	}
	for _, name := range []string{"ws/out", "ws/d/up"} {
		path := f.dir + "/" + name
		_, list := f.ReadDir(path)
		_, look := f.Lstat(path + "/f")
		_, write := f.Write(path+"/new", strings.NewReader("x"), engine.WriteOptions{})
		for what, err := range map[string]error{
			"list": list, "look": look, "write": write, "delete": f.Remove(path + "/f"),
			"make directory": f.Mkdir(path + "/dir"), "link": f.Symlink("x", path+"/l"),
			"change the mode of": f.Chmod(path, 0o777),
		} {
			if err == nil {
				t.Errorf("%s %s went through the link", what, name)
			}
		}
	}
	same(t, "the victim holds", f.in(t, "ls -A victim; cat victim/f"), "f\nsub\nprecious\n")
	// The link itself is a file like others.
	if err := f.Symlink("../victim/sub", f.dir+"/ws/made"); err != nil {
		t.Fatal(err)
	}
	if err := f.Symlink("x", f.dir+"/ws/made"); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a link in the place of a link: %v", err)
	}
	target, err := f.ReadLink(f.dir + "/ws/made")
	if info, err2 := f.Lstat(f.dir + "/ws/made"); target != "../victim/sub" || info == nil ||
		info.Mode()&fs.ModeSymlink == 0 {
		t.Errorf("the link leads to %q: %v, %v", target, err, err2)
	}
	for _, name := range []string{"made", "last", "out", "dangling"} {
		if err := f.Remove(f.dir + "/ws/" + name); err != nil {
			t.Error(err)
		}
	}
	same(t, "left", f.list(t, "ws"), []string{"d"})
	same(t, "the victim holds", f.list(t, "victim"), []string{"f", "sub"})
}

// refusesPipes would wait for ever if a pipe were opened: nobody is at its other end.
func refusesPipes(t *testing.T, f *cabinet) {
	f.needs(t, "mkfifo")
	f.in(t, "mkfifo pipe")
	done := make(chan struct{})
	go func() {
		defer close(done)
		for _, path := range []string{f.dir + "/pipe", "/dev/null", "/dev/zero"} {
			if _, err := f.Open(path); err == nil {
				t.Errorf("%s was opened", path)
			}
			if _, err := f.Write(path, strings.NewReader("x"), engine.WriteOptions{Replace: true}); err == nil {
				t.Errorf("%s was replaced", path)
			}
		}
	}()
	await.Receive(t, "end of a file tool at a pipe", done)
}

func strangeNames(t *testing.T, f *cabinet) {
	strange := []string{"-rf", "a\nb", "a b", "a*", "ä", "\xff\xfe"}
	for _, name := range strange {
		if _, err := f.Write(f.dir+"/"+name, strings.NewReader(name), engine.WriteOptions{}); err != nil {
			leftout.Skip(
				t, leftout.Platform, fmt.Sprintf(
					"the environment cannot name a file %q (%v): run this where names are any bytes", name, err))
		}
	}
	same(t, "names", f.list(t, ""), strange)
	for _, name := range strange {
		same(t, "content", f.get(t, name), name)
	}
	same(t, "a command counts", strings.TrimSpace(f.in(t, "set -- *; echo $#")), fmt.Sprint(len(strange)))
}

func bigFile(t *testing.T, f *cabinet) {
	big := bytes.Repeat([]byte("0123456789abcde\n"), 10<<20/16)
	n, err := f.Write(f.dir+"/big", bytes.NewReader(big), engine.WriteOptions{})
	if n != int64(len(big)) || err != nil {
		t.Fatalf("wrote %d bytes: %v", n, err)
	}
	got, err := f.read(f.dir + "/big")
	if err != nil || sha256.Sum256(got) != sha256.Sum256(big) {
		t.Errorf("read %d other bytes: %v", len(got), err)
	}
	same(t, "a command counts", strings.TrimSpace(f.in(t, "wc -c < big")), fmt.Sprint(len(big)))
}

func uncleanPaths(t *testing.T, f *cabinet) {
	for _, path := range []string{"", ".", "relative", f.dir + "/", f.dir + "//x", f.dir + "/./x",
		f.dir + "/x/../y", f.dir + "/a\x00b"} {
		if _, err := f.Write(path, strings.NewReader("x"), engine.WriteOptions{}); err == nil {
			t.Errorf("write %q", path)
		}
		if _, err := f.Lstat(path); err == nil {
			t.Errorf("look at %q", path)
		}
	}
	same(t, "names", f.list(t, ""), []string{})
}
