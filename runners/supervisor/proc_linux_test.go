package supervisor

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"testing"

	"golang.org/x/sys/unix"
)

func TestParseStat(t *testing.T) {
	t.Parallel()
	const tail = " 1 2 3 0 -1 4194560 0 0 0 0 0 0 0 0 20 0 3 0 4711 1 2 3"
	for line, want := range map[string]proc{
		"7 (sh) S" + tail:       {pid: 7, ppid: 1, pgid: 2, sid: 3, state: 'S', threads: 3, start: 4711},
		"7 (a) b) (c) Z" + tail: {pid: 7, ppid: 1, pgid: 2, sid: 3, state: 'Z', threads: 3, start: 4711},
	} {
		if got, err := parseStat(7, []byte(line)); err != nil || got != want {
			t.Errorf("%s: got %+v, %v", line, got, err)
		}
	}
	for _, line := range []string{"", "7", "7 (sh)", "7 (sh) ", "7 (sh) S 1 2"} {
		if got, err := parseStat(7, []byte(line)); err == nil {
			t.Errorf("%q: got %+v", line, got)
		}
	}
}

func FuzzParseStat(f *testing.F) {
	f.Add([]byte("7 (sh) S 1 2 3 0 -1 4194560 0 0 0 0 0 0 0 20 0 3 0 4711"))
	f.Add([]byte("7 (()) )  "))
	f.Fuzz(func(t *testing.T, line []byte) {
		p, err := parseStat(7, line)
		if err == nil && p.pid != 7 {
			t.Errorf("%+v", p)
		}
	})
}

// TestLook changes the processes while they are listed and read.
func TestLook(t *testing.T) {
	t.Parallel()
	const root, first, second, third = 10, 11, 12, 13
	for name, test := range map[string]struct {
		listed func(
			time int) map[int]int // the processes with their parents when a list is made, and until the next
		read func(time int) map[int]int // those when the list is read, where others
		want map[int]int
	}{
		"nothing changes": {
			listed: func(int) map[int]int { return map[int]int{root: 0, first: root, second: first} },
			want:   map[int]int{root: 0, first: root, second: first},
		},
		"a process ends that was starting another": {
			listed: func(time int) map[int]int {
				return []map[int]int{{root: 0, first: root}, {root: 0, second: root}}[min(time, 1)]
			},
			read: func(time int) map[int]int { return map[int]int{root: 0, second: root} },
			want: map[int]int{root: 0, second: root},
		},
		"each starts the next and ends": {
			listed: func(time int) map[int]int { return map[int]int{root: 0, first + min(time, 5): root} },
			want: map[int]int{root: 0, first: root, first + 1: root, first + 2: root, first + 3: root,
				first + 4: root, first + 5: root},
		},
		"the parent of a parent ends, then the parent": {
			listed: func(time int) map[int]int { return map[int]int{root: 0, second: first, third: second} },
			want:   map[int]int{root: 0, third: root},
		},
	} {
		t.Run(name, func(t *testing.T) {
			lists, reads := 0, map[int]int{}
			list := func() ([]int, error) {
				lists++
				return slices.Collect(maps.Keys(test.listed(lists - 1))), nil
			}
			read := func(pid int) (proc, error) {
				now := test.listed
				if test.read != nil {
					now = test.read
				}
				parents := now(lists - 1)
				if reads[pid]++; reads[pid] > 1 { // by now, those without a parent have ended or got another
					parents = test.want
				}
				parent, ok := parents[pid]
				if !ok {
					return proc{}, unix.ESRCH
				}
				return proc{pid: pid, ppid: parent}, nil
			}
			all, err := look(list, read)
			got := map[int]int{}
			for _, p := range all {
				got[p.pid] = p.ppid
			}
			if err != nil || !maps.Equal(got, test.want) {
				t.Errorf("got %v, %v, want %v", got, err, test.want)
			}
		})
	}
}

// BenchmarkProcesses measures one look at all processes of the machine.
func BenchmarkProcesses(b *testing.B) {
	n := 0
	for b.Loop() {
		all, err := processes()
		if err != nil {
			b.Fatal(err)
		}
		n = len(all)
	}
	b.ReportMetric(float64(n), "processes")
}

// TestCloseOnExec checks the way for kernels that cannot do it in one call.
func TestCloseOnExec(t *testing.T) {
	t.Parallel()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	fd := r.Fd()
	if _, err := unix.FcntlInt(fd, unix.F_SETFD, 0); err != nil {
		t.Fatal(err)
	}
	closeOnExec()
	if flags, err := unix.FcntlInt(fd, unix.F_GETFD, 0); err != nil || flags&unix.FD_CLOEXEC == 0 {
		t.Errorf("flags %d, %v", flags, err)
	}
}

// TestHighWaterIsOfThisProgram starts a program from a large one: the kernel begins to count at that
// one's size.
func TestHighWaterIsOfThisProgram(t *testing.T) {
	const name, large = "SUPERVISOR_HIGH_WATER", 128 << 20
	if os.Getenv(name) != "" {
		var counted unix.Rusage
		if err := unix.Getrusage(unix.RUSAGE_SELF, &counted); err != nil {
			t.Fatal(err)
		}
		fmt.Printf("%d %d\n", counted.Maxrss, highWater("self"))
		return
	}
	ballast := bytes.Repeat([]byte{1}, large)
	cmd := exec.Command(os.Args[0], "-test.run=^TestHighWaterIsOfThisProgram$")
	cmd.Env = append(os.Environ(), name+"=1")
	out, err := cmd.Output()
	runtime.KeepAlive(ballast)
	var counted, own int64
	if _, serr := fmt.Sscan(string(out), &counted, &own); err != nil || serr != nil {
		t.Fatalf("%q: %v, %v", out, err, serr)
	}
	if counted < large>>10 {
		t.Errorf("getrusage tells of %d KiB: the test shows nothing", counted)
	}
	if own <= 0 || own >= large>>10 {
		t.Errorf("%d KiB, want what this program itself has used", own)
	}
}
