package docker

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/containerd/errdefs"
	"github.com/docker/docker/api/types"
	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/client"
	"github.com/docker/docker/pkg/stdcopy"
	"github.com/docker/go-connections/tlsconfig"

	"github.com/sallyport-dev/sallyport/runners/supervisor"
)

// Engine is a connection to a Docker engine.
type Engine struct {
	cli   *client.Client
	at    endpoint
	state string // hash of the state directory: its bearers are ours

	podman bool // it is a Podman, which takes the names of some files where Docker takes their text
}

// engineTime bounds the requests to an engine, but for pulls.
const engineTime = 30 * time.Second

// pingTime bounds the question whether an engine is there.
const pingTime = 10 * time.Second

// Connect connects to the engine that the options lead to, and makes sure that it answers.
func Connect(ctx context.Context, o Options) (*Engine, error) {
	o, err := o.complete()
	if err != nil {
		return nil, err
	}
	at, err := o.endpoint()
	if err != nil {
		return nil, fmt.Errorf("find the Docker engine: %w", err)
	}
	cli, err := at.client()
	if err != nil {
		return nil, fmt.Errorf("connect to the Docker engine at %s: %w", at.shown(), err)
	}
	e := &Engine{cli: cli, at: at, state: digest(o.State)}
	if err := e.ping(ctx); err != nil {
		_ = cli.Close()
		return nil, err
	}
	if err := e.know(ctx); err != nil {
		_ = cli.Close()
		return nil, err
	}
	return e, nil
}

// know finds out which engine it is.
func (e *Engine) know(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, pingTime)
	defer cancel()
	v, err := e.cli.ServerVersion(ctx)
	if err != nil {
		return e.explain("ask the engine for its name", err)
	}
	e.podman = slices.ContainsFunc(v.Components, func(c types.ComponentVersion) bool {
		return strings.HasPrefix(c.Name, "Podman")
	})
	return nil
}

// filterFile writes a filter of system calls to a file of a private directory, for an engine that reads it
// there, and returns its name. An engine elsewhere cannot read it.
func (e *Engine) filterFile(state, profile string) (string, error) {
	switch {
	case !e.at.local():
		return "", fmt.Errorf("podman at %s reads the filter of system calls from a file of its own machine: "+
			"use a Podman of this machine, or Docker", e.at.shown())
	case state == "":
		return "",
			errors.New("podman reads the filter of system calls from a file, and there is no state directory")
	}
	dir := filepath.Join(state, "podman")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	name := filepath.Join(dir, "seccomp-"+digest(profile)+".json")
	there, err := os.ReadFile(name)
	if info, failed := os.Lstat(name); err == nil && failed == nil && info.Mode() == 0o600 &&
		string(there) == profile {
		return name, nil
	}
	f, err := os.CreateTemp(dir, "new-") // mode 0600
	if err != nil {
		return "", err
	}
	_, err = f.WriteString(profile)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return name, err
}

// Client is the connected client, for the rest of this package.
func (e *Engine) Client() *client.Client { return e.cli }

// Close closes the connection.
func (e *Engine) Close() error { return e.cli.Close() }

func (e *Engine) ping(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, pingTime)
	defer cancel()
	if _, err := e.cli.Ping(ctx); err != nil {
		return e.explain("connect to the Docker engine", err)
	}
	return nil
}

// errGone is wrapped by the error of a container that went away while it was being reached.
var errGone = errors.New("the container is gone")

// unreached is an engine that cannot be reached. The client's own error would repeat the message.
type unreached struct {
	text string
	err  error
}

func (u unreached) Error() string { return u.text }

func (u unreached) Unwrap() error { return u.err }

// explain adds the fix to an error of the engine.
func (e *Engine) explain(doing string, err error) error {
	text := err.Error()
	mend := ""
	switch {
	case errdefs.IsNotFound(err) && strings.Contains(text, "No such container"):
		return fmt.Errorf("%s: %w: %w", doing, errGone, err)
	case errors.Is(err, os.ErrPermission) || strings.Contains(text, "permission denied") &&
		strings.Contains(text, "dial"):
		const text = "%s: permission denied: this user may not use %s: join the group docker " +
			"(sudo usermod -aG docker $USER, then log in again), or use a rootless engine"
		return unreached{fmt.Sprintf(text, doing, e.at.shown()), err}
	case strings.HasPrefix(e.at.host, "ssh://") &&
		(client.IsErrConnectionFailed(err) || strings.Contains(text, "ssh")):
		mend = fmt.Sprintf("try \"ssh %s docker version\": it must answer without a question",
			strings.TrimPrefix(e.at.host, "ssh://"))
	case strings.Contains(text, "x509") || strings.Contains(text, "tls:"):
		mend = "check DOCKER_CERT_PATH, or the certificates of the context"
	case client.IsErrConnectionFailed(err) || errors.Is(err, os.ErrNotExist):
		const text = "no Docker engine: nothing answers at %s: start the engine " +
			"(sudo systemctl start docker), or set docker.host or $DOCKER_HOST"
		return unreached{fmt.Sprintf(text, e.at.shown()), err}
	case errors.Is(err, context.DeadlineExceeded):
		mend = fmt.Sprintf("the engine at %s does not answer in time: look at its log (journalctl -u docker)",
			e.at.shown())
	case strings.Contains(text, "seccomp is not enabled"):
		mend = "the engine's kernel cannot filter system calls: use another"
	case strings.Contains(strings.ToLower(text), "unknown runtime"):
		mend = "install it in the engine (runtimes in its daemon.json; \"docker info\" shows those that it has), " +
			"or leave docker.runtime out"
	case strings.Contains(text, "Range of CPUs"):
		mend = "set docker.cpus to no more than the engine has"
	case strings.Contains(text, "no space left on device"):
		mend = "the engine's disk is full: free some with \"sallyport env prune\" or \"docker system df\""
	}
	if mend == "" {
		return fmt.Errorf("%s: %w", doing, err)
	}
	return fmt.Errorf("%s: %w: %s", doing, err, mend)
}

// endpoint is where an engine listens.
type endpoint struct {
	host      string // unix:///var/run/docker.sock, tcp://…, ssh://…
	from      string // the setting that named it, for people
	ca        string // files of TLS; "" for none
	cert, key string
	tls       bool
	insecure  bool     // the engine's certificate is not checked
	environ   []string // of a program that leads there
}

// shown is the address without a password that somebody may have written into it.
func (a endpoint) shown() string {
	if u, err := url.Parse(a.host); err == nil {
		return u.Redacted()
	}
	return a.host
}

// local reports whether the engine can see the files of this machine.
func (a endpoint) local() bool {
	return strings.HasPrefix(a.host, "unix://") || strings.HasPrefix(a.host, "npipe://")
}

// endpoint finds the engine as the docker command does: the configuration first, then DOCKER_HOST,
// then the context in use, then the default.
func (o Options) endpoint() (endpoint, error) {
	env := func(name string) string { return valueOf(o.Environ, name) }
	a, err := o.findEndpoint(env)
	a.environ = o.Environ
	return a, err
}

func (o Options) findEndpoint(env func(string) string) (endpoint, error) {
	dir := env("DOCKER_CONFIG")
	if dir == "" && o.Home != "" {
		dir = filepath.Join(o.Home, ".docker")
	}
	for _, named := range []struct{ host, from string }{{o.Host, "docker.host"},
		{env("DOCKER_HOST"), "$DOCKER_HOST"}} {
		if named.host == "" {
			continue
		}
		a := endpoint{host: named.host, from: named.from}
		if !a.local() {
			a.withEnvironment(env, dir)
		}
		return a, nil
	}
	if dir != "" {
		a, found, err := currentContext(dir, env("DOCKER_CONTEXT"))
		if err != nil || found {
			return a, err
		}
	}
	return endpoint{host: client.DefaultDockerHost, from: "default"}, nil
}

// withEnvironment applies the docker command's variables for TLS: DOCKER_TLS_VERIFY turns it on with checks,
// DOCKER_CERT_PATH is the directory of the files.
func (a *endpoint) withEnvironment(env func(string) string, dir string) {
	certs := env("DOCKER_CERT_PATH")
	verify := env("DOCKER_TLS_VERIFY") != ""
	if certs == "" && !verify {
		return
	}
	if certs == "" {
		certs = dir
	}
	a.tls, a.insecure = true, !verify
	a.ca, a.cert, a.key = filepath.Join(certs, "ca.pem"), filepath.Join(certs, "cert.pem"),
		filepath.Join(certs, "key.pem")
}

// client makes a client. It connects to nothing yet.
func (a endpoint) client() (*client.Client, error) {
	if strings.HasPrefix(a.host, "ssh://") {
		return a.throughSSH()
	}
	opts := []client.Opt{client.WithAPIVersionNegotiation(), client.WithUserAgent("sallyport")}
	if a.tls {
		config, err := tlsconfig.Client(tlsconfig.Options{CAFile: a.ca, CertFile: a.cert, KeyFile: a.key,
			InsecureSkipVerify: a.insecure, ExclusiveRootPools: true})
		if err != nil {
			return nil, fmt.Errorf("read certificates: %w: check DOCKER_CERT_PATH, or the certificates of the context",
				err)
		}
		opts = append(opts, client.WithHTTPClient(&http.Client{
			Transport:     &http.Transport{TLSClientConfig: config},
			CheckRedirect: client.CheckRedirect,
		}))
	}
	return client.NewClientWithOpts(append(opts, client.WithHost(a.host))...)
}

// valueOf returns a variable of an environment; the last one holds.
func valueOf(environ []string, name string) string {
	value := ""
	for _, kv := range environ {
		if n, v, ok := strings.Cut(kv, "="); ok && n == name {
			value = v
		}
	}
	return value
}

// stream is the input and output of a process in a container.
type stream struct {
	conn types.HijackedResponse
	out  *io.PipeReader
	said supervisor.Tail // its standard error

	once sync.Once
}

// exec starts a supervisor in a container and returns the stream to it with the id of the exec.
func (e *Engine) exec(ctx context.Context, id string, o container.ExecOptions) (*stream, string, error) {
	o.AttachStdin, o.AttachStdout, o.AttachStderr = true, true, true
	made, err := e.cli.ContainerExecCreate(ctx, id, o)
	if err != nil {
		return nil, "", err
	}
	conn, err := e.cli.ContainerExecAttach(ctx, made.ID, container.ExecAttachOptions{})
	if err != nil {
		return nil, made.ID, err
	}
	s := &stream{conn: conn}
	out, w := io.Pipe()
	s.out = out
	go func() { // ends when the connection does
		_, err := stdcopy.StdCopy(w, &s.said, conn.Reader)
		_ = w.CloseWithError(err) // nil is io.EOF
	}()
	return s, made.ID, nil
}

// Read reads the output of the process.
func (s *stream) Read(b []byte) (int, error) { return s.out.Read(b) }

// Write writes to the input of the process.
func (s *stream) Write(b []byte) (int, error) { return s.conn.Conn.Write(b) }

// Close ends the input of the process and hears no more of it.
func (s *stream) Close() error {
	s.once.Do(func() {
		_ = s.conn.CloseWrite()
		s.conn.Close()
		_ = s.out.Close()
	})
	return nil
}
