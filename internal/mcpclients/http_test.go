package mcpclients

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/sallyport-dev/sallyport/internal/await"
	"github.com/sallyport-dev/sallyport/internal/leftout"
)

// token is what clients of these tests send.
const token = "the-token-of-these-tests"

// served is a `sallyport mcp --http` that runs.
type served struct {
	url    string
	cmd    *exec.Cmd
	exited chan error
	stderr *strings.Builder // complete when exited has told
}

// serve starts a server on a free port of loopback and waits until it says where it is.
func (p place) serve(t *testing.T, args ...string) *served {
	t.Helper()
	file := filepath.Join(p.home, "token")
	if err := os.WriteFile(file, []byte(token+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return p.start(t, append([]string{"--http-token-file", file}, args...)...)
}

func (p place) start(t *testing.T, args ...string) *served {
	t.Helper()
	s := &served{exited: make(chan error, 1), stderr: &strings.Builder{}}
	s.cmd = exec.Command(program, append([]string{"mcp", "--http", "127.0.0.1:0"}, args...)...)
	s.cmd.Dir, s.cmd.Env = p.workspace, p.env
	stderr, err := s.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.cmd.Process.Kill() })
	lines := bufio.NewReader(stderr)
	first, err := lines.ReadString('\n')
	_, address, ok := strings.Cut(strings.TrimSpace(first), "MCP at ")
	if err != nil || !ok {
		t.Fatalf("no address: %q, %v", first, err)
	}
	s.url = address
	go func() {
		_, _ = io.Copy(s.stderr, lines)
		s.exited <- s.cmd.Wait()
	}()
	return s
}

// stop ends the server as a service manager does, and checks how it went.
func (s *served) stop(t *testing.T) {
	t.Helper()
	select {
	case err := <-s.exited:
		t.Fatalf("the server ended by itself with %v and said: %s", err, s.stderr)
	default:
	}
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := await.Receive(t, "end of the server", s.exited); err != nil || s.stderr.Len() > 0 {
		t.Errorf("the server ended with %v and said: %s", err, s.stderr)
	}
}

// bearing is a way to the server for clients that cannot send a token: it adds one and changes nothing.
func (s *served) bearing(t *testing.T) string {
	t.Helper()
	to, err := url.Parse(s.url)
	if err != nil {
		t.Fatal(err)
	}
	// Connections of its own: those of the default transport are closed by every httptest server that ends.
	forward := &httputil.ReverseProxy{FlushInterval: -1, Transport: &http.Transport{}, Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(&url.URL{Scheme: to.Scheme, Host: to.Host})
		r.Out.Host = r.In.Host // the server shall judge the name that the client used
		r.Out.Header.Set("Authorization", "Bearer "+token)
	}}
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// Read to its end first: a server of HTTP/1 closes the body of a request when it begins to answer it. The server behind
		// has then answered before the end of the body was looked for, and looking fails and takes the connection along.
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		forward.ServeHTTP(w, r)
	}))
	t.Cleanup(proxy.Close)
	return proxy.URL + to.Path
}

// TestHTTPPrintsGeneratedToken starts without a token: the server generates one, prints it, and accepts it.
func TestHTTPPrintsGeneratedToken(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	cmd := exec.Command(program, "mcp", "--http", "127.0.0.1:0")
	cmd.Dir, cmd.Env = p.workspace, p.env
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	lines := bufio.NewScanner(stderr)
	var said []string
	for len(said) < 2 && lines.Scan() {
		said = append(said, lines.Text())
	}
	if len(said) < 2 {
		t.Fatalf("the server said only %q", said)
	}
	_, address, _ := strings.Cut(said[0], "MCP at ")
	_, made, _ := strings.Cut(said[1], "Authorization: Bearer ")
	for given, want := range map[string]int{made: 200, made + "x": 401, "": 401} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address, strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":`+
			`{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Authorization", "Bearer "+given)
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != want {
			t.Errorf("token %q: status %d, want %d", given, resp.StatusCode, want)
		}
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("interrupted, it ended with %v", err)
	}
}

// TestHTTPTokenOfTheEnvironment gives the token in a variable: clients need it, commands do not see it.
func TestHTTPTokenOfTheEnvironment(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	p.env = append(p.env, "SALLYPORT_HTTP_TOKEN="+token)
	s := p.start(t)
	out, err := newHTTPClient(s.url, true).call(t.Context(), 1, "env")
	if err != nil || !out.Success || !strings.Contains(out.Stdout, "PATH=") {
		t.Fatalf("%+v, %v", out, err)
	}
	if strings.Contains(out.Stdout, token) {
		t.Error("a command sees the token")
	}
	s.stop(t) // which has said nothing more, and so did not show the token
}

func TestHTTPRefusesToStart(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	open := filepath.Join(p.home, "open")
	if err := os.WriteFile(open, []byte(token), 0o644); err != nil {
		t.Fatal(err)
	}
	short := filepath.Join(p.home, "short")
	if err := os.WriteFile(short, []byte("abc"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		args []string
		says string
	}{
		"on all addresses":         {[]string{"--http", "0.0.0.0:0"}, "--http-public"},
		"on no named address":      {[]string{"--http", ":0"}, "--http-public"},
		"without a port":           {[]string{"--http", "127.0.0.1"}, "HOST:PORT"},
		"token that others read":   {[]string{"--http", "127.0.0.1:0", "--http-token-file", open}, "chmod 600"},
		"token that can be tried":  {[]string{"--http", "127.0.0.1:0", "--http-token-file", short}, "at least"},
		"token file that is not":   {[]string{"--http", "127.0.0.1:0", "--http-token-file", short + "er"}, "token"},
		"token without an address": {[]string{"--http-token-file", open}, "--http"},
	} {
		r := p.run(t, "", append([]string{program, "mcp"}, c.args...)...)
		if r.code == 0 || !strings.Contains(r.stderr, c.says) || strings.Contains(r.stderr, token) {
			t.Errorf("%s: exit %d, %q does not say %q", name, r.code, r.stderr, c.says)
		}
		if r.stdout != "" {
			t.Errorf("%s: on stdout is %q", name, r.stdout)
		}
	}
}

// TestHTTPEndsWithItsCommands stops a server while a command runs: its client gets an answer, what the
// command started is gone, and all is on record.
func TestHTTPEndsWithItsCommands(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	s := p.serve(t)
	c := newHTTPClient(s.url, true)
	answers := make(chan string, 1)
	go func() {
		out, err := c.call(t.Context(), 1, "sleep 3600 & echo $! > child; touch started; wait")
		answers <- fmt.Sprint(out, err)
	}()
	await.True(t, "the command starts", func() bool {
		_, err := os.Stat(filepath.Join(p.workspace, "started"))
		return err == nil
	})
	s.stop(t)
	if answer := <-answers; !strings.Contains(answer, "ended") {
		t.Errorf("the call under way was answered with %s", answer)
	}
	child, err := os.ReadFile(filepath.Join(p.workspace, "child"))
	if err != nil {
		t.Fatal(err)
	}
	if r := p.run(t, "", "ps", "-o", "stat=", "-p", strings.TrimSpace(string(child))); r.code == 0 && !strings.HasPrefix(r.stdout, "Z") {
		t.Errorf("what the command started is still there: %s", r.stdout)
	}
	if outcomes := ofKind(p.records(t), "outcome"); len(outcomes) != 1 || outcomes[0].Killed == "" {
		t.Errorf("on record: %+v", outcomes)
	}
}

// TestHTTPClientThatLeavesEndsItsCall hangs up while a command runs.
func TestHTTPClientThatLeavesEndsItsCall(t *testing.T) {
	leftout.Full(t, leftout.Packages)
	t.Parallel()
	for _, modern := range []bool{false, true} {
		t.Run(fmt.Sprintf("modern %v", modern), func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			s := p.serve(t)
			c := newHTTPClient(s.url, modern)
			c.leaveAt(t, filepath.Join(p.workspace, "started"), "touch started; sleep 3600")
			await.True(t, "the command ends", func() bool { return len(ofKind(p.records(t), "outcome")) == 1 })
			if o := ofKind(p.records(t), "outcome")[0]; o.Killed == "" {
				t.Errorf("on record: %+v", o)
			}
			s.stop(t)
		})
	}
}

// TestHTTPOutlivesClientsThatHangUp has clients that ask and do not stay for the answer: writing to them
// fails with a broken pipe, which must end nothing but the answer.
func TestHTTPOutlivesClientsThatHangUp(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	s := p.serve(t)
	c := newHTTPClient(s.url, false)
	if _, err := c.call(t.Context(), 1, "true"); err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(s.url)
	if err != nil {
		t.Fatal(err)
	}
	body := `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	request := fmt.Sprintf("POST %s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nMcp-Session-Id: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s",
		u.Path, u.Host, token, c.session, len(body), body)
	for i := range 300 {
		conn, err := net.Dial("tcp", u.Host)
		if err != nil {
			t.Fatalf("after %d that hung up nobody is served any more: %v", i, err)
		}
		if _, err := io.WriteString(conn, strings.Repeat(request, 3)); err != nil {
			t.Fatal(err)
		}
		conn.Close()
	}
	if out, err := c.call(t.Context(), 2, "echo still here"); err != nil || out.Stdout != "still here\n" {
		t.Errorf("after them: %+v, %v", out, err)
	}
	s.stop(t)
}
