package endtoend

import (
	"archive/zip"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestDockerImages: docker starts the runtime image, docker-sudo the one with sudo, and a custom image stays what it is.
func TestDockerImages(t *testing.T) {
	t.Parallel()
	s := dockerSite(t, sudoImage())
	custom := s.ownImage()
	s.engine("tag", sudoImage(), custom)
	s.removeImage(custom)
	for docker, want := range map[string][2]string{
		"docker":      {"", "sallyport/runtime:latest"},
		"docker-sudo": {"", "sallyport/runtime-sudo:latest"},
		"with custom": {"image: " + custom, custom},
	} {
		runner := docker
		if docker == "with custom" {
			runner = "docker-sudo"
		}
		file := filepath.Join(s.home, runner+".yaml")
		text := "version: 1\nworkspace: " + s.workspace + "\nrunner: " + runner + "\ndocker: {" + want[0] + "}\n"
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		r := s.do(file, "doctor")
		if !strings.Contains(r.stdout, "image") || !strings.Contains(r.stdout, want[1]) {
			t.Errorf("%s: want image %s:\n%s%s", docker, want[1], r.stdout, r.stderr)
		}
	}
	r := s.do(s.config("absent", "image: sallyport-test/not-there:1"), "exec", "--", "true")
	if r.code != 125 && r.code != 126 || !strings.Contains(r.stderr, "image sallyport-test/not-there:1 is not there") {
		t.Errorf("an image that is not there: %+v", r)
	}
}

// TestDockerSudo: in the sudo image commands are those of an ordinary user, and sudo makes them root, there alone.
func TestDockerSudo(t *testing.T) {
	t.Parallel()
	s := dockerSite(t, sudoImage())
	c := s.config("c", "keep: true", "runner: docker-sudo")
	release := s.hold(c)
	if out := s.sh(c, "whoami; sudo whoami"); out != "sallyport\nroot\n" {
		t.Errorf("%q", out)
	}
	s.sh(c, "sudo apt-get --version")
	// What root makes in the workspace is the user's, without set-id bits.
	s.sh(c, "sudo touch made && sudo chown root:root made; true")
	if info, err := os.Stat(filepath.Join(s.workspace, "made")); err != nil {
		t.Error(err)
	} else if out := s.sh(c, "stat -c %U made"); out != "sallyport\n" {
		t.Errorf("made (%s) belongs to %q", info.Mode(), out)
	}
	// Some things are refused whoever asks.
	for _, text := range []string{"sudo rm -rf /", "sudo dd if=/dev/zero of=/dev/sda", "sudo mv made /dev/null"} {
		if r := s.do(c, "exec", "-c", text); r.code != 126 {
			t.Errorf("%s: %+v", text, r)
		}
	}
	release()
	// Without it the words are refused, and they would do nothing.
	plain, free := s.config("plain", "keep: true"), s.config("free", "keep: true", "mode: monitor")
	if r := s.do(plain, "exec", "--", "sudo", "whoami"); r.code != 126 || !strings.Contains(r.stderr, "docker-sudo") {
		t.Errorf("sudo without docker-sudo: %+v", r)
	}
	if r := s.do(free, "exec", "--", "sudo", "whoami"); r.code == 0 {
		t.Errorf("sudo without docker-sudo, let pass: %+v", r)
	}
}

// TestDockerTools: the runtime image has what its description says.
func TestDockerTools(t *testing.T) {
	t.Parallel()
	s := dockerSite(t, runtimeImage())
	c := s.config("c", "")
	s.sh(c, `python -c 'import sys, pytest, requests, numpy, pandas; assert sys.version_info >= (3, 11)'
node -e 'process.exit(Number(process.versions.node.split(".")[0]) < 20)'
for tool in git curl rg gcc make pip npm unzip bash; do command -v $tool >/dev/null || { echo no $tool; exit 1; }; done
test "$HOME" = /home/sallyport && test -w "$HOME" && test -d /workspace && test -d /context && test -d /temp_workspaces`)
}

// wheel writes a package for Python that needs nothing to be built.
func wheel(t *testing.T, file, name, code string) {
	t.Helper()
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z := zip.NewWriter(f)
	info := name + "-1.0.dist-info/"
	for _, part := range [][2]string{
		{name + "/__init__.py", ""}, {name + "/__main__.py", code},
		{info + "METADATA", "Metadata-Version: 2.1\nName: " + name + "\nVersion: 1.0\n"},
		{info + "WHEEL", "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"},
		{info + "RECORD", name + "/__init__.py,,\n" + name + "/__main__.py,,\n" + info + "METADATA,,\n" + info + "WHEEL,,\n" + info + "RECORD,,\n"},
	} {
		w, err := z.Create(part[0])
		if err == nil {
			_, err = w.Write([]byte(part[1]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
}
