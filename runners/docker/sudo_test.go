package docker

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/mount"
	"github.com/docker/docker/pkg/stdcopy"
)

func newSudoLab(t testing.TB) *lab {
	t.Helper()
	return newLabOf(t, Options{Image: testSudoImage(), Elevated: true})
}

func TestConformanceSudo(t *testing.T) { newSudoLab(t).conforms(t) }

func TestElevation(t *testing.T) {
	t.Parallel()
	l := newSudoLab(t)
	env := l.open(l.spec())
	defer env.Close()
	if x := elevated(t, env, l.workspace, "sudo -n id -u"); x.Code != 0 || strings.TrimSpace(x.Stdout.Text) != "0" {
		t.Fatalf("elevated: %d %q %q", x.Code, x.Stdout.Text, x.Stderr.Text)
	}
	// Only that one: the next is as any other.
	if x := run(t, env, l.workspace, "sudo -n id -u"); x.Code == 0 {
		t.Errorf("a command that was not elevated became root: %q", x.Stdout.Text)
	}
	x := elevated(t, env, l.workspace, `sudo -n sh -c 'echo x > of-root; mkdir -p d/e; echo y > d/e/f; touch /usr/local/installed; cp /bin/sh shell; chmod 4755 shell; chmod 2755 d/e/f; ls -ln shell; grep ^Cap /proc/self/status'`)
	t.Logf("%s%s", x.Stdout.Text, x.Stderr.Text)
	if !strings.Contains(x.Stderr.Text, "Operation not permitted") {
		t.Errorf("a set-id file could be made: %q %q", x.Stdout.Text, x.Stderr.Text)
	}
	says(t, env, l.workspace, "ls /usr/local/installed", "/usr/local/installed")
	says(t, env, l.workspace, "find of-root d shell ! -user $(id -u) -o -perm /6000", "")
	for _, name := range []string{"of-root", "d", "d/e", "d/e/f", "shell"} {
		info, err := os.Lstat(filepath.Join(l.workspace, name))
		must(t, err)
		if owner, err := ownerOfFile(filepath.Join(l.workspace, name)); err != nil || info.Mode()&(os.ModeSetuid|os.ModeSetgid) != 0 {
			t.Errorf("%s: %v, %v, %v", name, owner, info.Mode(), err)
		}
	}
}

// TestNoSetID tries every way to make a file that runs as its owner.
func TestNoSetID(t *testing.T) {
	t.Parallel()
	l := newSudoLab(t)
	env := l.open(l.spec())
	defer env.Close()
	ways := map[string]string{
		"chmod":     `import os; open("a","w"); os.chmod("a", 0o4755)`,
		"fchmod":    `import os; f=open("b","w"); os.fchmod(f.fileno(), 0o4755)`,
		"fchmodat":  `import os; open("c","w"); d=os.open(".",0); os.chmod("c", 0o4755, dir_fd=d)`,
		"open":      `import os; os.umask(0); os.open("d", os.O_CREAT|os.O_WRONLY, 0o4755)`,
		"creat":     `import ctypes,os; os.umask(0); l=ctypes.CDLL(None,use_errno=True); r=l.creat(b"e",0o4755); assert r>=0`,
		"mknod":     `import os,stat; os.umask(0); os.mknod("f", stat.S_IFREG|0o4755)`,
		"openat2":   `import ctypes,struct,os; os.umask(0); l=ctypes.CDLL(None,use_errno=True); b=struct.pack("QQQ",0o101,0o4755,0); r=l.syscall(437,-100,b"g",b,24); assert r>=0`,
		"fchmodat2": `import ctypes; open("h","w"); l=ctypes.CDLL(None,use_errno=True); r=l.syscall(452,-100,b"h",0o4755,0); assert r>=0`,
		"tmpfile":   `import os; os.umask(0); f=os.open(".", os.O_TMPFILE|os.O_WRONLY, 0o4755); assert os.fstat(f).st_mode & 0o4000`,
		"cp":        `import subprocess; subprocess.check_call(["install","-m","4755","/bin/true","j"])`,
		"rename":    `import subprocess; subprocess.check_call(["cp","-p","/usr/bin/passwd","k"]); import os; assert os.stat("k").st_mode & 0o4000`,
	}
	for name, text := range ways {
		must(t, os.WriteFile(filepath.Join(l.workspace, name+".py"), []byte(text+"\n"), 0o644))
		x := elevated(t, env, l.workspace, "sudo -n python3 "+name+".py")
		if x.Code == 0 {
			t.Errorf("%s: it could be made", name)
		}
		if x.Error != nil || strings.Contains(x.Stderr.Text, "SyntaxError") || strings.Contains(x.Stderr.Text, "NameError") {
			t.Errorf("%s: %v %s", name, x.Error, x.Stderr.Text)
		}
	}
	says(t, env, l.workspace, "find . -perm -4000 | wc -l", "0")
	// What is usual still works.
	if x := elevated(t, env, l.workspace, "sudo -n sh -c 'touch z; chmod 755 z; chmod 2775 /usr/local/share; mkdir -m 1777 /tmp/y; tar cf - z | tar xf - -C /tmp; install -m 644 z /usr/local/z'"); x.Code != 0 {
		t.Errorf("usual work: %d %s", x.Code, x.Stderr.Text)
	}
	l.succeedsWithoutTheRule(ways)
}

// succeedsWithoutTheRule runs the ways in a container with the engine's own filter: what is refused nowhere
// proves nothing where it is.
func (l *lab) succeedsWithoutTheRule(ways map[string]string) {
	l.t.Helper()
	e, ctx := l.engine(), context.Background()
	image, err := e.Image(ctx, l.o.Image)
	must(l.t, err)
	c, err := e.cli.ContainerCreate(ctx, &container.Config{
		Image: image.ID, User: "0:0", WorkingDir: "/control", Labels: map[string]string{labelState: e.state},
		Entrypoint: []string{"sh", "-c", "for f in /ways/*.py; do python3 $f && echo $f; done; exit 0"},
	}, &container.HostConfig{NetworkMode: "none", Mounts: []mount.Mount{{Type: mount.TypeBind, Source: l.workspace, Target: "/ways", ReadOnly: true}}}, nil, nil, "")
	must(l.t, err)
	out, err := e.cli.ContainerAttach(ctx, c.ID, container.AttachOptions{Stream: true, Stdout: true, Stderr: true})
	must(l.t, err)
	defer out.Close()
	must(l.t, e.cli.ContainerStart(ctx, c.ID, container.StartOptions{}))
	var did, said strings.Builder
	_, err = stdcopy.StdCopy(&did, &said, out.Reader)
	must(l.t, err)
	for name := range ways {
		// An engine older than the kernel does not know the newest two.
		if !strings.Contains(did.String(), "/"+name+".py\n") && name != "openat2" && name != "fchmodat2" {
			l.t.Errorf("%s does not succeed without the rule either: %s", name, said.String())
		}
	}
}

// TestImageWithoutSudo: the runner docker-sudo works with any image, and says what one without sudo cannot do.
func TestImageWithoutSudo(t *testing.T) {
	t.Parallel()
	for image, wanting := range map[string]bool{testImage(): true, testSudoImage(): false} {
		l := newLabOf(t, Options{Image: image, Elevated: true})
		env := l.open(l.spec())
		said := strings.Join(env.Shortcomings(), "\n")
		if strings.Contains(said, "has no sudo") != wanting {
			t.Errorf("%s: %q", image, said)
		}
		must(t, env.Close())
	}
}
