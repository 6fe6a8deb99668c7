//go:build amd64 || arm64

package notify

import (
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/sallyport-dev/sallyport/internal/leftout"
	"github.com/sallyport-dev/sallyport/runners/undo"
)

// odd are targets by which a wrong performer gives itself away. Each line is a command of bash; its output
// and status are compared with those without a Service.
const odd = `
echo out > /dev/stdout
echo err > /dev/stderr
echo fd > /dev/fd/1
echo self > /proc/self/fd/1
echo thread > /proc/thread-self/fd/1
echo own > /proc/$BASHPID/fd/1
echo x > /dev/null
echo x > /dev/full
echo x > /dev/tty
exec 5> five; echo by descriptor >&5; echo again > /dev/fd/5; exec 5>&-; cat five
cd /proc/self/fd && echo x > nothing
echo 100 > /proc/self/oom_score_adj; cat /proc/self/oom_score_adj
: > /proc/self/comm
echo x > /proc/self/cwd/by-cwd; cat by-cwd
echo x > /proc/self/root$PWD/by-root; cat by-root
(umask 077; echo x > private; mkdir private.d; mkfifo private.f); stat -c '%A %n' private*
(umask 0; echo x > open; mkdir open.d; mkfifo open.f); stat -c '%A %n' open*
(umask 027; touch masked; mkdir -m 770 masked.d); stat -c '%A %n' masked*
set -C; echo 1 > clobber; echo 2 > clobber; cat clobber; set +C
echo 1 > grow; echo 2 >> grow; echo 3 >> grow; cat grow; echo 4 > grow; cat grow
mkfifo f; (timeout 1 cat f &) ; echo through > f; sleep 0.05
mkfifo g; (sleep 0.05; cat g) & echo late > g; wait
mkfifo h; exec 6<> h; echo both >&6; read -r x <&6; echo $x; exec 6>&-
mkfifo i; timeout 0.2 bash -c 'echo x > i'; echo timed out $?
mkfifo j; (trap 'echo trapped; exit 3' USR1; p=$BASHPID; (sleep 0.1; kill -USR1 $p) & timeout 1 true; echo x > j); echo $?
echo x > new/
mkdir dir; echo x > dir
echo x > dir/
echo x > dir/.
echo x > dir/..
echo x > .
echo x > /
echo x > missing/file
echo x > grow/file
mkdir trail/; mkdir trail2//; ls -d trail*
mkdir dir
mkdir dir/..
mkdir missing/dir
mkdir grow/dir
mkdir -p a/b/c; mkdir a/./b/../b/d; ls a/b
ln -s grow to-grow; echo by link > to-grow; cat grow; readlink to-grow
ln -s nowhere dangling; echo made > dangling; cat nowhere
ln -s dangling chain; echo chained > chain; cat nowhere
ln -s loop loop; echo x > loop; mkdir loop; mkdir loop/x
ln -s dir to-dir; echo x > to-dir; echo x > to-dir/in; cat dir/in; mkdir to-dir; mkdir to-dir/sub; ls dir
ln -s ../$(basename $PWD)/dir up; echo up > up/up; cat dir/up
ln -s $PWD/dir abs; echo abs > abs/abs; cat dir/abs
ln -s x grow; ln -s x trail/; ln -s x missing/x; ln -s "" empty
ln grow hard; stat -c '%h %n' hard; ln grow hard; ln dir hard.d; ln missing hard.m; ln grow trail/; ls trail
ln -L to-grow followed; ln -P to-grow kept; stat -c '%F %n' followed kept
mv grow grown; mv missing x; mv dir dir2; mv grown dir2; mv dir2 dir2/sub; mv nowhere trail/; ls trail
mv -n by-cwd by-root; mv -T dir2 trail; mv private.d/ renamed.d; ls -d renamed.d; mv five six/
mkfifo f
mknod z c 1 3 2>&1 | sed 's/.*: //'
printf '%s' x > "$(printf 'a%.0s' {1..255})"; ls a* -d | wc -c
printf '%s' x > "$(printf 'a%.0s' {1..256})"
(p=p; mkdir p; for i in {1..9}; do p=$p/$(printf 'd%.0s' {1..200}); mkdir $p; done; echo deep > $p/f; cat $p/f)
(p=$(printf 'x/%.0s' {1..2047}); echo x > $p/y) 2>&1 | tail -c 30
(ulimit -n 10; exec 3>l3 4>l4 5>l5 6>l6 7>l7 8>l8 9>l9) 2>&1; ls l3 l8
(ulimit -f 1; trap '' XFSZ; head -c 5000 /dev/zero > big) 2>/dev/null; stat -c %s big
chmod 500 trail; echo x > trail/no; mkdir trail/no; chmod 700 trail
chmod 400 by-cwd; echo x > by-cwd; echo x >> by-cwd
rmdir gone 2>/dev/null; mkdir gone; cd gone && rmdir ../gone && echo x > here
(exec 7>&-; echo x > closed >&7)
tar cf t.tar trail a; mkdir un; tar xf t.tar -C un; find un | sort
cp -a trail copied; find copied | sort; rm -rf copied
install -D -m 640 by-root in/st/all; stat -c '%a %n' in/st/all
mktemp -d -p . tmp.XXXXXX | wc -c; mktemp -p . tmp.XXXXXX | wc -c
sed -i s/x/y/ by-root; cat by-root
dd if=/dev/zero of=dd bs=1 count=3 status=none; dd if=/dev/zero of=dd bs=1 count=1 seek=5 conv=notrunc status=none; stat -c %s dd
cat <<< here; cat < <(echo process)
echo both | tee /dev/stderr tee1 /dev/fd/1
echo long > t1; ln -s t1 t2; truncate -s 2 t2; stat -c %s t1; truncate -s 9 t1; truncate -cs 1 t0 trail t2/; ls t0
perl -e 'for (qw(t1 t2 t0 trail f t1/ .)) { print truncate($_, 3) ? "yes" : $!, "\n" }'; stat -c %s t1
perl -e 'for (qw(t1 t2 t0 trail f t1/ . ..)) { print chmod(0640, $_) ? "yes" : $!, "\n" }'; stat -c '%a %n' t1 trail; chmod 755 trail
perl -e 'open F, "<", "t1"; print chmod(0600, *F) ? "yes" : $!; pipe R, W; print chmod(0600, *R) ? "yes" : $!'; stat -c %a t1
perl -e 'for (qw(t2 t0 trail f trail/ t1/ . .. /)) { print unlink($_) ? "yes" : $!, "\n" }'; ls -A | sort | head -40
mkdir r1 r1/r2; ln -s r1 r3; perl -e 'for (qw(t1 r1 r0 r3 r3/ r1/r2/. r1/r2/.. r1/r2/ r1 ..)) { print rmdir($_) ? "yes" : $!, "\n" }'
perl -MFcntl -e 'for (qw(t1 trail t0 t1/ . f /dev/null /proc/self/comm)) { print sysopen(F, $_, O_RDWR|O_NONBLOCK) ? "yes" : $!, "\n" }'
perl -MFcntl -e 'for (O_WRONLY|O_TRUNC, O_RDONLY|O_TRUNC, O_RDONLY|O_CREAT, O_WRONLY|O_DIRECTORY) { print sysopen(F, "t1", $_) ? "yes" : $!, "\n"; print sysopen(F, "trail", $_) ? "yes" : $!, "\n" }'; stat -c %s t1
chmod 0 t1; echo x >> t1; chmod 600 t1; echo y > t1; exec 5< t1; rm t1; echo z > /dev/fd/5; cat <&5; chmod 700 /dev/fd/5
`

// Commands do the same with a Service as without.
func TestOddTargets(t *testing.T) {
	t.Parallel()
	bash := leftout.Command(t, "bash")
	script := "exec 2>&1; export LC_ALL=C\n"
	for line := range strings.Lines(strings.TrimLeft(odd, "\n")) {
		line = strings.TrimSpace(line)
		script += "echo '---' " + quoted(
			line,
		) + "\n{ (exec 0</dev/null; " + line + "\n); } 2>&1; echo status $?\n"
	}
	run := func(th *thread, dir string) string {
		t.Cleanup(func() { _ = exec.Command("chmod", "-R", "u+rwX", dir).Run() }) // for its removal
		return th.run(t, dir, nil, bash, "-c", script)
	}
	without := run(nil, t.TempDir())
	for _, record := range []bool{false, true} {
		dir := t.TempDir()
		with := run(newService(t, func(Name) bool { return true }, func(s *Service) {
			if record {
				s.o.Recorder = newRecorder(t, dir)
			}
		}), dir)
		compare(t, without, with)
		if strings.Count(with, "status 0") < 30 {
			t.Errorf("most commands fail:\n%s", with)
		}
	}
}

// TestDecisionAwaitsStart: the decision of a caller may wait for the start of a command, which waits until no
// file is open for writing that it could inherit.
func TestDecisionAwaitsStart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	asked := make(chan struct{}, 100)
	th := newService(t, nil, func(s *Service) {
		s.o.Recorder = newRecorder(t, dir)
		s.o.Decision = func(int) string {
			syscall.ForkLock.Lock()
			defer syscall.ForkLock.Unlock()
			asked <- struct{}{}
			return "one"
		}
	})
	got := th.run(t, dir, nil, "sh", "-c", "echo a > file; echo b >> file; exec 9<>file; echo c > /proc/self/fd/9; cat file")
	if got != "c\n" && got != "c\nb\n" {
		t.Errorf("%q", got)
	}
	if len(asked) < 4 {
		t.Errorf("%d calls asked for the decision, want 4: the test compares nothing", len(asked))
	}
}

// newRecorder makes a Recorder of the files below a directory.
func newRecorder(t testing.TB, place string) *undo.Recorder {
	t.Helper()
	store, err := undo.Begin(undo.Options{Dir: t.TempDir(), Most: 1 << 30}, undo.Session{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	o := undo.RecorderOptions{Dir: store.Kept(), Places: []string{place}, Most: 1 << 30}
	r, err := undo.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	return r
}

func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// compare reports the first lines that differ, below their command.
func compare(t *testing.T, want, got string) {
	t.Helper()
	const mark = "--- "
	wants, gots := strings.Split(want, mark), strings.Split(got, mark)
	if len(wants) != len(gots) {
		t.Fatalf("without the Service:\n%s\nwith:\n%s", want, got)
	}
	for i := range wants {
		if temporary(wants[i]) != temporary(gots[i]) {
			t.Errorf("without the Service:\n%swith:\n%s", wants[i], gots[i])
		}
	}
}

// temporary hides the differences between two runs: directories and process ids.
func temporary(s string) string {
	out := ""
	for line := range strings.Lines(s) {
		if i := strings.Index(line, "/TestOddTargets"); i >= 0 {
			rest := line[i:]
			_, rest, _ = strings.Cut(rest[1:], "/")
			line = "DIR" + strings.TrimLeft(rest, "0123456789")
		}
		out += line
	}
	return out
}
