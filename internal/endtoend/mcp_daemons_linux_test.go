package endtoend

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/sallyport-dev/sallyport/internal/await"
	"github.com/sallyport-dev/sallyport/internal/leftout"
)

// daemons are ways in which a process can try to outlive what started it. Each has TAG among its arguments
// and ends by itself long after the guard of package await, the stopped one when it is told to go on.
var daemons = []struct{ name, text string }{
	{"own session", `setsid sleep TAG &`},
	{"forked twice", `( (sleep TAG &) & )`},
	{"deaf to TERM", `(trap '' TERM HUP INT; exec sleep TAG) &`},
	{"nohup", `nohup sleep TAG >/dev/null 2>&1 &`},
	{"stopped", `(sh -c 'kill -STOP $$; :' TAG &)`},
	{"closed descriptors", `(sleep TAG <&- >&- 2>&- &)`},
	{"own process group", `set -m; sleep TAG & set +m`},
}

// pack is one process of each kind.
type pack struct {
	t    *testing.T
	tags []string
}

func newPack(t *testing.T) *pack {
	t.Helper()
	leftout.Command(t, "setsid")
	p := &pack{t: t}
	for range daemons {
		p.tags = append(p.tags, fmt.Sprintf("1200.%012d", rand.Int64N(1e12)))
	}
	t.Cleanup(p.clear)
	return p
}

// text starts the i-th kind and stays.
func (p *pack) text(i int) string {
	return strings.ReplaceAll(daemons[i].text, "TAG", p.tags[i]) + "\nsleep 1200"
}

// texts starts all kinds and stays.
func (p *pack) texts() string {
	var all strings.Builder
	for i := range daemons {
		all.WriteString(strings.TrimSuffix(p.text(i), "sleep 1200"))
	}
	return all.String() + "sleep 1200"
}

// pids returns, for each kind, the processes that have its tag as an argument.
func (p *pack) pids() [][]int {
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		p.t.Fatal(err)
	}
	found := make([][]int, len(p.tags))
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // it has ended
		}
		for arg := range bytes.SplitSeq(text, []byte{0}) {
			if i := slices.Index(p.tags, string(arg)); i >= 0 {
				pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
				found[i] = append(found[i], pid)
				break
			}
		}
	}
	return found
}

// left names the kinds of which a process is there.
func (p *pack) left() []string {
	var names []string
	for i, pids := range p.pids() {
		if len(pids) > 0 {
			names = append(names, daemons[i].name)
		}
	}
	return names
}

// up waits until all kinds are there.
func (p *pack) up() {
	p.t.Helper()
	await.True(p.t, "all kinds are there", func() bool { return len(p.left()) == len(daemons) })
}

// clear ends what a failed test has left.
func (p *pack) clear() {
	for _, pids := range p.pids() {
		for _, pid := range pids {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

// gone waits until no kind is there.
func (p *pack) gone() {
	p.t.Helper()
	await.True(p.t, "all kinds are gone", func() bool { return len(p.left()) == 0 })
}

// TestDaemonsSurvive shows that each kind of daemon outlives a killed bash without a supervisor.
func TestDaemonsSurvive(t *testing.T) {
	t.Parallel()
	leftout.Command(t, "bash")
	p := newPack(t)
	var shells []*exec.Cmd
	for i := range daemons {
		cmd := exec.Command("bash", "-c", p.text(i))
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		shells = append(shells, cmd)
	}
	p.up()
	for _, cmd := range shells {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
	if left := p.left(); len(left) != len(daemons) {
		t.Fatalf("without sallyport only %v survive, so the tests of deaths show nothing", left)
	}
}

// mortal starts a server with a background shell for each kind.
func mortal(t *testing.T, relayed bool) (*server, *pack, []string) {
	t.Helper()
	s := newServer(t, "limits: {grace: 200ms}", unhurried)
	s.relayed = relayed
	s.start()
	s.greet()
	p := newPack(t)
	var ids []string
	for i := range daemons {
		ids = append(ids, s.background(p.text(i)))
	}
	p.up()
	return s, p, ids
}
