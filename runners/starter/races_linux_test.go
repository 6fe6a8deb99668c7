//go:build linux && (amd64 || arm64)

package starter_test

import (
	"bufio"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	"github.com/sallyport-dev/sallyport/internal/await"
	"github.com/sallyport-dev/sallyport/internal/leftout"
	"github.com/sallyport-dev/sallyport/runners/notify"
)

var moreRaces = flag.Int("starter.races", 0, "starts of all kinds together; 0 for some")

// race is the record of one start.
type race struct {
	good, evil        bool // it was judged as this; the evil one is refused
	differs, unsettle bool // the comparison found another program, or could not be made
	compared          bool
}

// races are the records, by the number of the start and by process.
type races struct {
	mu   sync.Mutex
	by   map[int]*race
	pids map[int]bool // processes that nobody could watch
}

func (r *races) of(p notify.Program) *race {
	n := -1
	if len(p.Argv) == 3 {
		n, _ = strconv.Atoi(p.Argv[1])
	}
	if r.by[n] == nil {
		r.by[n] = &race{}
	}
	return r.by[n]
}

func isGood(p notify.Program) bool {
	return len(p.Argv) == 3 && p.Argv[2] == "good" && filepath.Base(p.File) == "good"
}

func (r *races) starts(_ string, p notify.Program, _ func()) bool {
	if p.Argv[0] != "x" {
		return true // the program that makes the others
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if isGood(p) {
		r.of(p).good = true
		return true
	}
	r.of(p).evil = true
	return false
}

func (r *races) note(_ string, p notify.Program, c notify.Comparison) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(p.Argv) == 0 {
		r.pids[p.PID] = true
		return
	}
	one := r.of(p)
	one.compared = true
	switch c {
	case notify.Differs:
		one.differs = true
	case notify.Uncertain:
		one.unsettle = true
	}
}

// A caller changes the words or the path of a program while these are judged. The changed program, which is
// refused, starts now and then, but never unnoticed: it is found and killed, or counts as not compared.
func TestRaces(t *testing.T) {
	cc := leftout.Command(t, "cc")
	dir := t.TempDir()
	if out, err := exec.Command(cc, "-O2", "-static", "-pthread", "-o", dir+"/good", "testdata/exchange.c").CombinedOutput(); err != nil {
		leftout.Skip(t, leftout.Programs, "no C compiler with a static library: "+string(out))
	}
	program, err := os.ReadFile(dir + "/good")
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir+"/evil", string(program), 0o755)
	const kinds = 9
	few := 450
	if !testing.Short() {
		few = 9_000
	}
	total := map[string]int{}
	seed := 0
	for _, how := range []string{"thread", "shared", "vfork"} {
		for _, what := range []string{"words", "path", "both"} {
			for left := max(few, *moreRaces) / kinds; left > 0; left -= 20_000 {
				seed++
				tries := min(left, 20_000)
				t.Run(fmt.Sprint(how, " ", what, " ", seed), func(t *testing.T) {
					for class, n := range raced(t, dir, how, what, tries, seed) {
						total[class] += n
					}
				})
			}
		}
	}
	t.Logf("all: %v", total)
}

// raced makes some starts of a kind and counts their ends.
func raced(t *testing.T, dir, how, what string, tries, seed int) map[string]int {
	write(t, dir+"/started", "", 0o644)
	r := &races{by: map[int]*race{}, pids: map[int]bool{}}
	text := fmt.Sprintf("exec ./good %s %s %d %d", how, what, tries, seed)
	service, err := notify.New(notify.Options{Starts: r.starts, Compared: r.note})
	if err != nil {
		t.Fatal(err)
	}
	defer service.Close()
	if out, err := serve(t, service, dir, text); err != nil {
		t.Fatal(err, out)
	}
	report, err := os.Open(dir + "/started")
	if err != nil {
		t.Fatal(err)
	}
	defer report.Close()
	count := map[string]int{"tries": tries, "unrecorded": 0}
	for lines := bufio.NewScanner(report); lines.Scan(); {
		var n, pid int
		var word, file string
		if _, err := fmt.Sscan(lines.Text(), &n, &word, &file, &pid); err != nil {
			t.Fatal(lines.Text(), err)
		}
		settled := func() bool {
			r.mu.Lock()
			defer r.mu.Unlock()
			return r.pids[pid] || r.by[n] != nil && r.by[n].compared
		}
		await.True(t, "the start is compared: "+lines.Text(), settled)
		r.mu.Lock()
		one, unwatched := r.by[n], r.pids[pid]
		r.mu.Unlock()
		switch {
		case word == "good" && file == "good":
			count["harmless"]++
		case one != nil && one.differs:
			count["found, after it had an effect"]++
		case unwatched || one != nil && one.unsettle:
			count["not compared"]++
		default:
			count["unrecorded"]++
			t.Errorf("%s of start %d began with the word %s, and nobody knows: %+v", file, n, word, one)
		}
	}
	for _, one := range r.by {
		switch {
		case one.differs:
			count["found"]++
		case one.evil && !one.good:
			count["refused at once"]++
		case !one.compared:
			count["refused, or changed too often"]++
		}
	}
	t.Log(count)
	return count
}
