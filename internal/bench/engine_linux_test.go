package bench

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/sallyport-dev/sallyport/internal/leftout"
)

// api speaks to the engine without any client library.
type api struct{ socket string }

// exec runs a command as the API has it: create, start with a hijacked stream, read to its end, inspect.
func (a *api) exec(b *testing.B, id string, words ...string) {
	b.Helper()
	var made struct{ ID string }
	a.call(b, "POST", "/containers/"+id+"/exec", map[string]any{"AttachStdout": true, "AttachStderr": true, "Cmd": words}, &made)
	c, err := net.Dial("unix", a.socket)
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	body := `{"Detach":false,"Tty":false}`
	fmt.Fprintf(c, "POST /exec/%s/start HTTP/1.1\r\nHost: docker\r\nContent-Type: application/json\r\nConnection: Upgrade\r\nUpgrade: tcp\r\nContent-Length: %d\r\n\r\n%s", made.ID, len(body), body)
	if _, err := io.Copy(io.Discard, bufio.NewReader(c)); err != nil {
		b.Fatal(err)
	}
	var end struct {
		Running  bool
		ExitCode int
	}
	a.call(b, "GET", "/exec/"+made.ID+"/json", nil, &end)
	if end.Running || end.ExitCode != 0 {
		b.Fatalf("%+v", end)
	}
}

func (a *api) call(b *testing.B, method, path string, in, out any) {
	b.Helper()
	body, err := json.Marshal(in)
	if err != nil {
		b.Fatal(err)
	}
	req, err := http.NewRequest(method, "http://docker"+path, bytes.NewReader(body))
	if err != nil {
		b.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true, DialContext: func(context.Context, string, string) (net.Conn, error) {
		return net.Dial("unix", a.socket)
	}}}
	resp, err := client.Do(req)
	if err != nil {
		b.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode >= 300 {
		text, _ := io.ReadAll(resp.Body)
		b.Fatalf("%s %s: %s: %s", method, path, resp.Status, text)
	}
	if err := json.NewDecoder(resp.Body).Decode(out); err != nil {
		b.Fatal(err)
	}
}

func newAPI(b *testing.B) *api {
	b.Helper()
	out, err := exec.Command("docker", "context", "inspect", "--format", "{{.Endpoints.docker.Host}}").Output()
	if err != nil {
		b.Fatal(err)
	}
	at := strings.TrimSpace(string(out))
	if host := os.Getenv("DOCKER_HOST"); host != "" {
		at = host
	}
	socket, ok := strings.CutPrefix(at, "unix://")
	if !ok {
		leftout.Skip(b, leftout.Docker, "the engine is not reached by a socket of this machine: "+at)
	}
	return &api{socket}
}
