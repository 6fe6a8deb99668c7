package docker

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/docker/docker/client"

	"github.com/sallyport-dev/sallyport/runners/supervisor"
)

// throughSSH makes a client of an engine on another machine, as the docker command does: each connection
// is an ssh that runs "docker system dial-stdio" there.
func (a endpoint) throughSSH() (*client.Client, error) {
	u, err := url.Parse(a.host)
	if err != nil || u.Hostname() == "" || u.User != nil && hasPassword(u.User) {
		return nil, fmt.Errorf("%s: write the address as ssh://user@machine", a.from)
	}
	words := []string{"ssh", "-o", "BatchMode=yes", "-T"}
	if u.Port() != "" {
		words = append(words, "-p", u.Port())
	}
	if u.User != nil {
		words = append(words, "-l", u.User.Username())
	}
	words = append(words, "--", u.Hostname(), "docker", "system", "dial-stdio")
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		p, err := supervisor.OpenProgram(words, a.environ, "")
		if err != nil {
			return nil, err
		}
		return programConn{p, a.host}, nil
	}
	return client.NewClientWithOpts(client.WithAPIVersionNegotiation(), client.WithUserAgent("sallyport"),
		client.WithHost("http://docker.invalid"), client.WithDialContext(
			dial)) // an address that is never looked up
}

func hasPassword(u *url.Userinfo) bool {
	_, ok := u.Password()
	return ok
}

// programConn is a program as a connection. It has no deadlines: requests have contexts, which close it.
type programConn struct {
	*supervisor.Program
	to string
}

// CloseWrite ends the program's input only.
func (c programConn) CloseWrite() error { return c.CloseInput() }

func (c programConn) Read(b []byte) (int, error) {
	n, err := c.Program.Read(b)
	if err != nil {
		err = c.Explain(err)
	}
	return n, err
}

func (c programConn) Write(b []byte) (int, error) {
	n, err := c.Program.Write(b)
	if err != nil {
		err = c.Explain(err)
	}
	return n, err
}

func (c programConn) LocalAddr() net.Addr              { return address(c.to) }
func (c programConn) RemoteAddr() net.Addr             { return address(c.to) }
func (c programConn) SetDeadline(time.Time) error      { return nil }
func (c programConn) SetReadDeadline(time.Time) error  { return nil }
func (c programConn) SetWriteDeadline(time.Time) error { return nil }

type address string

func (address) Network() string  { return "ssh" }
func (a address) String() string { return string(a) }

// defaultContext is the name of the context that stands for the environment and the engine's default.
const defaultContext = "default"

// currentContext reads which engine the docker command would use: the context named, or the one in use
// by dir/config.json. It reports whether there is one besides the default.
func currentContext(dir, name string) (endpoint, bool, error) {
	if name == "" {
		var config struct {
			CurrentContext string `json:"currentContext"`
		}
		file := filepath.Join(dir, "config.json")
		if err := readJSON(file, &config); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return endpoint{}, false, fmt.Errorf("read %s: %w: fix the file, or name the engine under "+
				"docker.host", file, err)
		}
		name = config.CurrentContext
	}
	if name == "" || name == defaultContext {
		return endpoint{}, false, nil
	}
	a, err := readContext(dir, name)
	if err != nil {
		return endpoint{}, false, fmt.Errorf("docker context %q: %w: see \"docker context ls\", or name "+
			"the engine under docker.host", name, err)
	}
	return a, true, nil
}

// readContext reads a context of the docker command. Its files lie below the hash of its name.
func readContext(dir, name string) (endpoint, error) {
	sum := sha256.Sum256([]byte(name))
	id := hex.EncodeToString(sum[:])
	var meta struct {
		Endpoints map[string]struct {
			Host          string
			SkipTLSVerify bool
		}
	}
	if err := readJSON(filepath.Join(dir, "contexts", "meta", id, "meta.json"), &meta); err != nil {
		return endpoint{}, err
	}
	engine, ok := meta.Endpoints["docker"]
	if !ok || engine.Host == "" {
		return endpoint{}, errors.New("it names no engine")
	}
	a := endpoint{host: engine.Host, from: "context " + name, insecure: engine.SkipTLSVerify}
	certs := filepath.Join(dir, "contexts", "tls", id, "docker")
	for _, file := range []struct {
		name string
		path *string
	}{{"ca.pem", &a.ca}, {"cert.pem", &a.cert}, {"key.pem", &a.key}} {
		if full := filepath.Join(certs, file.name); exists(full) {
			*file.path, a.tls = full, true
		}
	}
	return a, nil
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

// readJSON reads a file of the docker command and ignores unknown keys.
func readJSON(file string, v any) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, v)
}
