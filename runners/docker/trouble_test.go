package docker

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/docker/docker/api/types/image"
)

// fails expects Open to fail with all of some words.
func (l *lab) fails(words ...string) {
	l.t.Helper()
	env, err := l.runner().Open(context.Background(), l.spec())
	if err == nil {
		_ = env.Close()
		l.t.Errorf("open: no error, want %q", words)
		return
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			l.t.Errorf("open: %v: want %q", err, w)
		}
	}
}

func TestNoEngine(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	silent := filepath.Join(dir, "gone.sock")
	s, err := net.Listen("unix", silent)
	must(t, err)
	s.(*net.UnixListener).SetUnlinkOnClose(false)
	must(t, s.Close())
	for _, host := range []string{"unix://" + dir + "/none.sock", "unix://" + silent, "tcp://127.0.0.1:1"} {
		_, err := Connect(context.Background(), Options{Host: host})
		if err == nil || !strings.Contains(err.Error(), host) || !strings.Contains(err.Error(), "start the engine") {
			t.Errorf("%s: %v", host, err)
		}
	}
	for _, host := range []string{"nonsense", "ftp://x", "unix:/x", "tcp://"} {
		if _, err := Connect(context.Background(), Options{Host: host}); err == nil {
			t.Errorf("%s: no error", host)
		}
	}
}

// TestExplained holds that errors of the engine name the mend.
func TestExplained(t *testing.T) {
	t.Parallel()
	e := &Engine{at: endpoint{host: "unix:///var/run/docker.sock"}}
	for _, c := range []struct {
		err  error
		says string
	}{
		{fmt.Errorf("dial unix /var/run/docker.sock: connect: %w", syscall.EACCES), "usermod -aG docker"},
		{fmt.Errorf("dial unix: %w", fs.ErrNotExist), "start the engine"},
		{errors.New("write /var/lib/docker/x: no space left on device"), "disk is full"},
		{context.DeadlineExceeded, "does not answer in time"},
		{errors.New("Error response from daemon: Unknown runtime specified runsc"), "leave docker.runtime out"},
		{errors.New("Range of CPUs is from 0.01 to 2.00, as there are only 2 CPUs available"), "docker.cpus"},
		{errors.New("tls: failed to verify certificate: x509: unknown authority"), "DOCKER_CERT_PATH"},
	} {
		if got := e.explain("look", c.err); !strings.Contains(got.Error(), c.says) || !errors.Is(got, c.err) {
			t.Errorf("%v: %v", c.err, got)
		}
	}
}

func TestRefusedSettings(t *testing.T) {
	t.Parallel()
	for _, o := range []Options{{Network: "lan"}, {Network: "container:x"}, {Pull: "always"}} {
		if _, err := New(o); err == nil {
			t.Errorf("%+v: no error", o)
		}
	}
	l := newLab(t)
	for _, user := range []string{"0", "0:0", "1000:0", "root", "-1", "1:2:3", "1000:", ":1", "99999999999", "1 2"} {
		l.o.User = user
		l.fails("docker.user", user)
	}
	l.o.User = ""
	if os.Geteuid() == 0 {
		must(t, os.Chown(l.workspace, 0, 0))
		l.fails("belongs to root", "docker.user")
		must(t, os.Chown(l.workspace, 1000, 1000))
	}
	l.o.Supervisor = filepath.Join(l.workspace, "none")
	l.fails("find the supervisor", "beside sallyport")
	l.o.Supervisor = supervisorFile
	l.o.Runtime = "no-such-runtime"
	l.fails("no-such-runtime", "docker.runtime")
	l.o.Runtime = ""
	l.o.Image = "sallyport-test/absent:none"
	l.fails("image sallyport-test/absent:none is not there", "docker pull")
	l.o.Pull = "missing"
	if how := HowToGet(l.o); strings.Contains(how, "pull: missing") || !strings.Contains(how, "docker.image") {
		t.Errorf("how to get what cannot be pulled: %s", how)
	}
	l.o.Image, l.o.Pull = testImage(), ""
	l.workspace += "\xff"
	must(t, os.Mkdir(l.workspace, 0o755))
	l.give(l.workspace)
	l.fails(`workspace\xff`, "not UTF-8")
	if left := l.list(); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
	for _, elevated := range []bool{false, true} {
		if s := HowToGet(Options{Elevated: elevated}); !strings.Contains(s, "sallyport image build") || strings.Contains(s, "--sudo") != elevated {
			t.Error(s)
		}
	}
}

// bareImage makes an image of files without any program.
func (l *lab) bareImage(ref string, files map[string]string) {
	l.t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for name, text := range files {
		must(l.t, w.WriteHeader(&tar.Header{Name: name, Mode: 0o755, Size: int64(len(text))}))
		_, err := w.Write([]byte(text))
		must(l.t, err)
	}
	must(l.t, w.Close())
	e := l.engine()
	answer, err := e.cli.ImageImport(context.Background(), image.ImportSource{Source: &b, SourceName: "-"}, ref, image.ImportOptions{})
	must(l.t, err)
	_, err = io.Copy(io.Discard, answer)
	must(l.t, err)
	must(l.t, answer.Close())
	l.t.Cleanup(func() { _, _ = e.cli.ImageRemove(context.Background(), ref, image.RemoveOptions{Force: true}) })
}

func TestImageWithoutShell(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.o.Image = "sallyport-test/no-shell:" + fmt.Sprint(os.Getpid())
	l.bareImage(l.o.Image, map[string]string{"etc/passwd": "root:x:0:0::/:/bin/sh\n"})
	l.fails(l.o.Image, "use an image with a shell")
	if left := l.list(); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
}

// TestSupervisorOfAnotherSystem holds that a program that the engine cannot run is told from a broken engine.
func TestSupervisorOfAnotherSystem(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.o.Supervisor = filepath.Join(filepath.Dir(l.workspace), "sallyport-supervisor")
	must(t, os.WriteFile(l.o.Supervisor, []byte("not a program\n"), 0o755))
	l.fails("supervisor")
	if left := l.list(); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
}

func TestEndpoints(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	write := func(file, text string) {
		t.Helper()
		must(t, os.MkdirAll(filepath.Dir(file), 0o755))
		must(t, os.WriteFile(file, []byte(text), 0o644))
	}
	id := fmt.Sprintf("%x", sha([]byte("lab")))
	meta := filepath.Join(home, ".docker/contexts/meta", id, "meta.json")
	write(meta, `{"Name":"lab","Endpoints":{"docker":{"Host":"tcp://10.0.0.1:2376","SkipTLSVerify":false}}}`)
	write(filepath.Join(home, ".docker/contexts/tls", id, "docker/ca.pem"), "x")
	in := func(environ ...string) Options { return Options{Home: home, Environ: environ} }
	for _, c := range []struct {
		name   string
		o      Options
		config string
		want   string
		tls    bool
	}{
		{"default", in(), "", "unix:///var/run/docker.sock", false},
		{"environment", in("DOCKER_HOST=unix:///x.sock"), "", "unix:///x.sock", false},
		{"configuration wins", Options{Host: "unix:///y.sock", Home: home, Environ: []string{"DOCKER_HOST=unix:///x.sock"}}, "", "unix:///y.sock", false},
		{"context of the command", in(), `{"currentContext":"lab"}`, "tcp://10.0.0.1:2376", true},
		{"context of the environment", in("DOCKER_CONTEXT=lab"), "", "tcp://10.0.0.1:2376", true},
		{"host wins over a context", in("DOCKER_CONTEXT=lab", "DOCKER_HOST=unix:///x.sock"), "", "unix:///x.sock", false},
		{"default by name", in("DOCKER_CONTEXT=default"), `{"currentContext":"lab"}`, "unix:///var/run/docker.sock", false},
		{"tls of the environment", in("DOCKER_HOST=tcp://h:1", "DOCKER_TLS_VERIFY=1", "DOCKER_CERT_PATH=/certs"), "", "tcp://h:1", true},
	} {
		config := filepath.Join(home, ".docker/config.json")
		_ = os.Remove(config)
		if c.config != "" {
			write(config, c.config)
		}
		a, err := c.o.endpoint()
		if err != nil || a.host != c.want || a.tls != c.tls {
			t.Errorf("%s: %+v, %v", c.name, a, err)
		}
	}
	for name, o := range map[string]Options{"no such context": in("DOCKER_CONTEXT=none")} {
		if a, err := o.endpoint(); err == nil || !strings.Contains(err.Error(), "docker context ls") {
			t.Errorf("%s: %+v, %v", name, a, err)
		}
	}
	write(filepath.Join(home, ".docker/config.json"), "{broken")
	if _, err := in().endpoint(); err == nil {
		t.Error("a broken file is passed over")
	}
}

// TestTLS speaks to an engine that shows a certificate.
func TestTLS(t *testing.T) {
	t.Parallel()
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Api-Version", "1.41")
		_ = json.NewEncoder(w).Encode(map[string]string{})
	}))
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // handshakes fail on purpose
	server.StartTLS()
	t.Cleanup(server.Close)
	certs := t.TempDir()
	host := "tcp://" + strings.TrimPrefix(server.URL, "https://")
	o := Options{Environ: []string{"DOCKER_HOST=" + host, "DOCKER_CERT_PATH=" + certs, "DOCKER_TLS_VERIFY=1"}}
	if _, err := Connect(context.Background(), o); err == nil || !strings.Contains(err.Error(), "DOCKER_CERT_PATH") {
		t.Errorf("without certificates: %v", err)
	}
	clientCertificate(t, certs, server)
	e, err := Connect(context.Background(), o)
	must(t, err)
	must(t, e.Close())
	must(t, os.WriteFile(filepath.Join(certs, "ca.pem"), otherAuthority(t), 0o600))
	if _, err := Connect(context.Background(), o); err == nil || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("with another authority: %v", err)
	}
	// Without TLS the engine is not spoken to in the clear by mistake.
	if _, err := Connect(context.Background(), Options{Environ: []string{"DOCKER_HOST=" + host}}); err == nil {
		t.Error("connected without TLS")
	}
}

// TestPodman: an engine that calls itself Podman gets the filter of system calls as a file, which nobody else
// can have changed.
func TestPodman(t *testing.T) {
	t.Parallel()
	for name, podman := range map[string]bool{"Podman Engine": true, "Engine": false} {
		socket := filepath.Join(t.TempDir(), "s")
		l, err := net.Listen("unix", socket)
		must(t, err)
		server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Api-Version", "1.41")
			_ = json.NewEncoder(w).Encode(map[string]any{"Components": []map[string]string{{"Name": name}}})
		}))
		server.Listener = l
		server.Start()
		t.Cleanup(server.Close)
		e, err := Connect(t.Context(), Options{Host: "unix://" + socket})
		must(t, err)
		if must(t, e.Close()); e.podman != podman {
			t.Errorf("%s is taken for Podman: %v", name, e.podman)
		}
	}
	state := t.TempDir()
	e := &Engine{at: endpoint{host: "unix:///run/podman.sock"}}
	file, err := e.filterFile(state, "{}")
	must(t, err)
	other := filepath.Join(state, "other")
	for name, spoil := range map[string]func() error{
		"as it is":     func() error { return nil },
		"another text": func() error { return os.WriteFile(file, []byte(`{"syscalls":[]}`), 0o600) },
		"writable":     func() error { return os.Chmod(file, 0o666) }, //nolint:gosec // on purpose
		"a link": func() error {
			return errors.Join(os.Rename(file, other), os.Symlink(other, file))
		},
	} {
		must(t, spoil())
		again, err := e.filterFile(state, "{}")
		must(t, err)
		text, err := os.ReadFile(again)
		must(t, err)
		info, err := os.Lstat(again)
		must(t, err)
		if again != file || string(text) != "{}" || info.Mode() != 0o600 {
			t.Errorf("%s: %s: %v %s", name, again, info.Mode(), text)
		}
	}
	if next, err := e.filterFile(state, "{ }"); err != nil || next == file {
		t.Errorf("another filter: %s, %v", next, err)
	}
	if _, err := e.filterFile("", "{}"); err == nil {
		t.Error("a file without a state directory")
	}
	e.at.host = "ssh://there"
	if _, err := e.filterFile(state, "{}"); err == nil || !strings.Contains(err.Error(), "of this machine") {
		t.Errorf("elsewhere: %v", err)
	}
}
