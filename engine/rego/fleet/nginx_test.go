package fleet_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/sallyport-dev/sallyport/engine/rego"
	"github.com/sallyport-dev/sallyport/engine/rego/fleet"
	"github.com/sallyport-dev/sallyport/internal/await"
	"github.com/sallyport-dev/sallyport/internal/leftout"
)

// nginx is a real server of files, which a test can end and start again.
type nginx struct {
	t    *testing.T
	dir  string
	addr string
	puts int // files put in their places
}

func newNginx(t *testing.T) *nginx {
	t.Helper()
	leftout.Command(t, "nginx")
	host := "127.0.0.1"
	if runtime.GOOS == "linux" { // all of 127.0.0.0/8 is this machine: at an address of its own, nobody takes the port while nginx is away
		host = fmt.Sprintf("127.1.%d.%d", os.Getpid()>>8&0xff, os.Getpid()&0xff)
	}
	l, err := net.Listen("tcp", host+":0")
	if err != nil {
		t.Fatal(err)
	}
	n := &nginx{t: t, dir: t.TempDir(), addr: l.Addr().String()}
	l.Close()
	if err := os.Mkdir(filepath.Join(n.dir, "bundles"), 0o755); err != nil {
		t.Fatal(err)
	}
	config := fmt.Sprintf(`master_process off;
pid nginx.pid;
error_log error.log;
events {}
http {
    log_format short '$status $uri';
    access_log access.log short;
    client_body_temp_path tmp;
    proxy_temp_path tmp;
    fastcgi_temp_path tmp;
    uwsgi_temp_path tmp;
    scgi_temp_path tmp;
    server {
        listen %s;
        root bundles;
        location /private/ {
            if ($http_authorization != "Bearer t0ken") { return 401; }
        }
        location /moved.tar.gz { return 302 http://127.0.0.1:1/team.tar.gz; }
    }
}
`, n.addr)
	if err := os.WriteFile(filepath.Join(n.dir, "nginx.conf"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	n.start()
	t.Cleanup(func() { _ = n.command("-s", "stop").Run() }) // it may have ended
	return n
}

func (n *nginx) command(more ...string) *exec.Cmd {
	return exec.Command("nginx", append([]string{"-p", n.dir, "-c", "nginx.conf", "-e", "error.log"}, more...)...)
}

func (n *nginx) start() {
	n.t.Helper()
	if out, err := n.command().CombinedOutput(); err != nil {
		n.t.Fatalf("%v: %s", err, out)
	}
}

func (n *nginx) stop() {
	n.t.Helper()
	if out, err := n.command("-s", "stop").CombinedOutput(); err != nil {
		n.t.Fatalf("%v: %s", err, out)
	}
	await.True(n.t, "nginx has ended", func() bool {
		c, err := net.Dial("tcp", n.addr)
		if err == nil {
			c.Close()
		}
		return err != nil
	})
}

func (n *nginx) url() string { return "http://" + n.addr }

// put puts a file in its place whole.
func (n *nginx) put(name string, text []byte) {
	n.t.Helper()
	file := filepath.Join(n.dir, "bundles", name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		n.t.Fatal(err)
	}
	if err := os.WriteFile(file+".part", text, 0o644); err != nil {
		n.t.Fatal(err)
	}
	// The ETag of nginx has the second of the change and the size, which two versions may share.
	n.puts++
	changed := time.Unix(1_000_000_000+int64(n.puts), 0)
	if err := os.Chtimes(file+".part", changed, changed); err != nil {
		n.t.Fatal(err)
	}
	if err := os.Rename(file+".part", file); err != nil {
		n.t.Fatal(err)
	}
}

// answered counts the answers with a status.
func (n *nginx) answered(status string) int {
	n.t.Helper()
	text, err := os.ReadFile(filepath.Join(n.dir, "access.log"))
	if err != nil {
		n.t.Fatal(err)
	}
	return strings.Count("\n"+string(text), "\n"+status+" ")
}

// What a fleet sees of a real server: bundles that are sent once, versions that follow one another, what must stay
// out, an end and a return.
func TestNginx(t *testing.T) {
	t.Parallel()
	k := newKeys(t)
	n := newNginx(t)
	n.put("team.tar.gz", bundleOf(t, "first", 1, k.private))
	n.put("private/site.tar.gz", bundleOf(t, "site", 1, k.private))
	dir := t.TempDir()
	token := filepath.Join(dir, "token")
	if err := os.WriteFile(token, []byte("t0ken"), 0o600); err != nil {
		t.Fatal(err)
	}
	o := fleet.Options{
		Servers: []fleet.Server{
			{URL: n.url(), Bundles: []string{n.url() + "/team.tar.gz"}},
			{URL: n.url() + "/private", Bundles: []string{n.url() + "/private/site.tar.gz"}, TokenFile: token},
		},
		Keys: [][]byte{k.public}, Dir: filepath.Join(dir, "state"), Serials: rego.Serials{Dir: filepath.Join(dir, "state", "serials")}, Name: "test",
	}
	f, err := follow(t, o)
	if err != nil {
		t.Fatal(err)
	}
	both := func(team string) func() bool {
		return func() bool { return f.last() == team+"+site" || f.last() == "site+"+team }
	}
	f.until(t, "both bundles", both("first"))
	f.until(t, "answers without a body", func() bool { return n.answered("304") >= 3 })
	if sent := n.answered("200"); sent != 2 {
		t.Errorf("bundles were sent %d times", sent)
	}
	n.put("team.tar.gz", bundleOf(t, "second", 2, k.private))
	f.until(t, "the second", both("second"))
	n.put("team.tar.gz", bundleOf(t, "bad", 3, k.private))
	f.until(t, "the bad one", func() bool { return strings.Contains(strings.Join(f.refused, "\n"), "it cannot judge") })
	n.put("team.tar.gz", bundleOf(t, "stranger", 3, newKeys(t).private))
	f.until(t, "the stranger's", func() bool { return strings.Contains(strings.Join(f.refused, "\n"), "no configured key fits") })
	if !both("second")() {
		t.Errorf("judging: %q", f.last())
	}
	n.stop()
	f.until(t, "a word about the server", func() bool { return strings.Contains(strings.Join(f.warned, "\n"), "connection refused") })
	n.put("team.tar.gz", bundleOf(t, "third", 4, k.private))
	n.start()
	f.until(t, "the third", both("third"))
	f.Close(context.Background())
	n.stop()
	if f, err = follow(t, o); err != nil || !both("third")() {
		t.Errorf("with the server away: %v, %q", err, f.last())
	}
	n.start()
	o.Servers[0].Bundles = []string{n.url() + "/moved.tar.gz"}
	o.Servers[1].TokenFile = ""
	o.Dir = filepath.Join(dir, "other")
	if _, err := follow(t, o); err == nil || !strings.Contains(err.Error(), "it sends us to http://127.0.0.1:1") && !strings.Contains(err.Error(), "401 Unauthorized") {
		t.Errorf("a redirect and no token: %v", err)
	}
}
