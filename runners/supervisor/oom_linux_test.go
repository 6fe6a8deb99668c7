package supervisor

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestOOMCounters(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		groups, mounts string
		want           []string
	}{
		"docker, version 1": {
			"4:memory:/docker/abc\n3:cpu,cpuacct:/docker/abc\n0::/\n",
			"700 690 0:30 /docker/abc /sys/fs/cgroup/memory ro,nosuid master:11 - cgroup cgroup rw,memory\n" +
				"701 690 0:31 /docker/abc /sys/fs/cgroup/cpu ro - cgroup cgroup rw,cpu,cpuacct\n",
			[]string{"/sys/fs/cgroup/memory/memory.oom_control"},
		},
		"docker, version 2": {
			"0::/\n", "700 690 0:26 / /sys/fs/cgroup ro,nosuid - cgroup2 cgroup rw,nsdelegate\n",
			[]string{"/sys/fs/cgroup/memory.events"},
		},
		"host, version 2": {
			"0::/user.slice/user-1000.slice\n", "31 23 0:26 / /sys/fs/cgroup rw shared:4 - cgroup2 cgroup2 rw\n",
			[]string{"/sys/fs/cgroup/user.slice/user-1000.slice/memory.events"},
		},
		"both": {
			"4:memory:/a\n0::/b\n",
			"35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n36 31 0:33 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n",
			[]string{"/sys/fs/cgroup/memory/a/memory.oom_control", "/sys/fs/cgroup/unified/b/memory.events"},
		},
		"no control groups": {"", "1 0 8:1 / / rw - ext4 /dev/sda rw\n", nil},
		"nonsense":          {"::\nx\n", "-\n - - -\n1 2 3 4 5 6 - cgroup2\n", nil},
	} {
		if diff := cmp.Diff(tc.want, oomCounters([]byte(tc.groups), []byte(tc.mounts))); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", name, diff)
		}
	}
	for text, want := range map[string]int{
		"oom_kill_disable 0\nunder_oom 0\noom_kill 7\n":                7,
		"low 0\nhigh 0\nmax 12\noom 3\noom_kill 2\noom_group_kill 0\n": 2,
		"oom_kill_disable 0\nunder_oom 0\n" /* before Linux 4.13 */ :   -1, "": -1, "oom_kill x\n": -1,
	} {
		file := filepath.Join(t.TempDir(), "counter")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if n, ok := oomCounter(file).read(); ok != (want >= 0) || ok && n != want {
			t.Errorf("%q: got %d, %v, want %d", text, n, ok, want)
		}
	}
}
