package docker

import (
	"context"
	"fmt"
	"net"
	"net/url"
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
		client.WithHost("http://docker.invalid"), client.WithDialContext(dial)) // an address that is never looked up
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
