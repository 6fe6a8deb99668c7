package programs

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sallyport-dev/sallyport/internal/leftout"
)

var (
	moreVariants = flag.Int("programs.variants", 0, "disguised programs; 0 for some")
	fromVariant  = flag.Int("programs.from", 0, "the number of the first of them")
	oneVariant   = flag.Int("programs.variant", -1, "the number of the only one to try, and to show")
)

// batch is the number of texts of one command: fewer than refusals that one command may bring on record.
const batch = 100

// variant is a disguised program, as the driver reads it.
type variant struct {
	Number int
	Words  []string
	Files  map[string]string
	Text   string
	names  []string
}

// root is a throw-away root: /usr of this machine, read-only, with stand-ins for destructive programs, and
// the rest in memory.
type root struct {
	argv  []string
	state string // its /state
}

// standIns are the words of bubblewrap that put stand-ins in the place of the first words of commands.
func standIns(t *testing.T, commands [][]string) (argv []string) {
	t.Helper()
	dir := t.TempDir()
	driver, err := os.ReadFile(filepath.Join(filepath.Dir(program), "driver"))
	if err != nil {
		t.Fatal(err)
	}
	done := map[string]bool{}
	for _, words := range commands {
		name := words[0]
		if done[name] {
			continue
		}
		done[name] = true
		// As other programs do, each has contents of its own.
		write(t, dir+"/"+name, string(driver)+"\n"+name+"\n", 0o755)
		at := "/usr/local/bin/" + name
		if info, err := os.Lstat("/usr/bin/" + name); err == nil && info.Mode().IsRegular() { // bwrap follows links
			at = "/usr/bin/" + name
		}
		argv = append(argv, "--ro-bind", dir+"/"+name, at)
		if _, err := os.Stat("/usr/lib/git-core/git"); name == "git" && err == nil { // first in the PATH of its hooks
			argv = append(argv, "--ro-bind", dir+"/"+name, "/usr/lib/git-core/git")
		}
	}
	return argv
}

// newRoot makes a root with stand-ins.
func newRoot(t *testing.T, standIns []string) *root {
	t.Helper()
	r := &root{state: t.TempDir()}
	r.argv = []string{
		leftout.Command(t, "bwrap"), "--unshare-all", "--die-with-parent", "--new-session", "--ro-bind", "/usr", "/usr",
		"--symlink", "usr/bin", "/bin", "--symlink", "usr/lib", "/lib", "--symlink", "usr/lib64", "/lib64",
		"--symlink", "usr/sbin", "/sbin", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/home", "--tmpfs", "/tmp",
		"--tmpfs", "/etc", "--ro-bind-try", "/etc/alternatives", "/etc/alternatives", "--ro-bind", "/usr/bin", "/real",
		"--tmpfs", "/usr/local/bin", "--bind", r.state, "/state",
	}
	r.argv = append(r.argv, standIns...)
	for _, name := range []string{"sallyport", "sallyport-supervisor", "driver"} {
		r.argv = append(r.argv, "--ro-bind", filepath.Join(filepath.Dir(program), name), "/opt/"+name)
	}
	r.argv = append(r.argv, "--clearenv", "--setenv", "PATH", "/usr/local/bin:/usr/bin:/opt", "--setenv", "HOME",
		"/home/user", "--setenv", "XDG_STATE_HOME", "/state", "--setenv", "USER", "user", "--")
	for _, mode := range []string{"unseen", "judged"} {
		write(t, r.state+"/"+mode+".yaml", "version: 1\nprograms: {mode: "+mode+"}\nlocal: {sandbox: none}\n"+
			"undo: {enabled: false}\n", 0o600)
	}
	return r
}

// run runs a script of bash in the root, in a workspace of its own.
func (r *root) run(t *testing.T, script string) string {
	t.Helper()
	cmd := exec.Command(r.argv[0], append(r.argv[1:], "bash", "-c",
		"mkdir -p ~/project ~/.ssh ~/Documents /etc/ssl; touch ~/.ssh/id_rsa ~/.bashrc /etc/passwd; cd ~/project; "+script)...)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s%s", err, out, errs.String())
	}
	return string(out)
}

// refused returns the commands of testdata/destructive.txt that policies refuse in plain text.
func refused(t *testing.T) (all [][]string, in []string) {
	t.Helper()
	text, err := os.ReadFile("testdata/destructive.txt")
	if err != nil {
		t.Fatal(err)
	}
	var script strings.Builder
	for line := range strings.Lines(string(text)) {
		words, err := unquoted(strings.TrimSpace(line))
		if err != nil {
			t.Fatal(line, err)
		}
		all = append(all, words)
		fmt.Fprintf(&script, "sallyport --config /state/judged.yaml check --format json -c %s; echo; ", quote(quoteAll(words)))
	}
	in = standIns(t, all)
	r := newRoot(t, in)
	d := json.NewDecoder(strings.NewReader(r.run(t, script.String()+"true")))
	all = slices.DeleteFunc(all, func(words []string) bool {
		var said struct{ Effect string }
		if err := d.Decode(&said); err != nil {
			t.Fatal(err)
		}
		if said.Effect == "allow" {
			t.Logf("plain text is allowed: %q", words)
		}
		return said.Effect == "allow"
	})
	return all, in
}

// installed leaves out ways that need a program which is not here.
func installed[T any](t *testing.T, ways []way[T]) (out []way[T]) {
	for _, w := range ways {
		if _, err := os.Stat("/usr/bin/" + w.needs); w.needs != "" && err != nil {
			t.Logf("without %s", w.needs)
			continue
		}
		out = append(out, w)
	}
	return out
}

// tried is how a variant ended: the program started, or not, with the output.
type tried struct {
	started bool
	said    string
}

// try runs variants as the programs of commands.
func try(t *testing.T, in []string, all []variant, mode string) map[int]tried {
	t.Helper()
	out := map[int]tried{}
	for some := range slices.Chunk(all, batch) {
		r := newRoot(t, in)
		text, err := json.Marshal(some)
		if err != nil {
			t.Fatal(err)
		}
		write(t, r.state+"/list.json", string(text), 0o600)
		said := r.run(t, "cp /state/list.json .; sallyport --config /state/"+mode+
			".yaml exec --timeout 60m --format json -- /opt/driver --run list.json")
		var outcome outcome
		if err := json.Unmarshal([]byte(said), &outcome); err != nil || outcome.Effect != "allow" || outcome.Stderr.Text != "" {
			t.Fatalf("%v: %s", err, said)
		}
		if *oneVariant >= 0 {
			t.Log(said)
		}
		notes, err := os.Open(r.state + "/notes")
		if err != nil {
			t.Fatal(err)
		}
		var now int
		var one tried
		for lines := json.NewDecoder(bufio.NewReader(notes)); lines.More(); {
			var n struct {
				Kind  string
				Words []string
			}
			if err := lines.Decode(&n); err != nil {
				t.Fatal(err)
			}
			switch n.Kind {
			case "begin":
				now, _ = strconv.Atoi(n.Words[0])
				one = tried{}
			case "start":
				one.started = true
			case "end":
				one.said = n.Words[1]
				out[now] = one
			}
		}
		_ = notes.Close()
		for _, v := range some {
			if _, ok := out[v.Number]; !ok {
				t.Errorf("variant %d did not end: %s", v.Number, said)
			}
		}
		if err := os.RemoveAll(r.state); err != nil { // there may be hundreds
			t.Error(err)
		}
	}
	return out
}

// variants makes variants, the same in every run.
func variants(from, n int, commands [][]string, spelled, started []way[[]string], by []way[string]) (all []variant) {
	for i := from; i < from+n; i++ {
		words := commands[i%len(commands)]
		d := disguised(rand.New(rand.NewPCG(uint64(i), 16)), words, spelled, started, by)
		text := d.files["text"]
		delete(d.files, "text")
		all = append(all, variant{Number: i, Words: words, Files: d.files, Text: text, names: d.names})
	}
	return all
}

// No destructive program starts, however its text is disguised, if policies refuse its plain text. Without
// their judgement each of them starts.
func TestVariants(t *testing.T) {
	leftout.Full(t, leftout.Slow)
	commands, in := refused(t)
	if len(commands) < 100 {
		t.Errorf("only %d commands are refused in plain text", len(commands))
	}
	n := 1000
	if *moreVariants > 0 {
		n = *moreVariants
	}
	all := variants(*fromVariant, n, commands, installed(t, spellings), installed(t, starters), installed(t, carriers))
	for i, words := range commands { // plain
		all = append(all, variant{Number: *fromVariant + n + i, Words: words, Text: quoteAll(words), names: []string{"plain"}})
	}
	if *oneVariant >= 0 {
		all = slices.DeleteFunc(all, func(v variant) bool { return v.Number != *oneVariant })
	}
	copies := variants(*fromVariant, max(20, n/50), commands, installed(t, copied), installed(t, copied), installed(t, carriers))
	var unseen, judged, copiesJudged map[int]tried
	t.Run("runs", func(t *testing.T) {
		for mode, to := range map[string]*map[int]tried{"unseen": &unseen, "judged": &judged} {
			t.Run(mode, func(t *testing.T) {
				t.Parallel()
				*to = try(t, in, all, mode)
			})
		}
		t.Run("copies", func(t *testing.T) {
			t.Parallel()
			copiesJudged = try(t, in, copies, "judged")
		})
	})
	broken, holes := map[string]int{}, map[string]int{}
	for _, v := range all {
		if *oneVariant >= 0 {
			t.Logf("%q\n%s\n%q\nunseen: %+v\njudged: %+v", v.Words, v.Text, v.Files, unseen[v.Number], judged[v.Number])
		}
		ways := strings.Join(v.names, ", carried by ")
		if !unseen[v.Number].started {
			broken[v.names[0]]++
			t.Errorf("%d: %q does not start by %s: %s\n%s", v.Number, v.Words, ways, v.Text, unseen[v.Number].said)
		}
		if judged[v.Number].started {
			holes[v.names[0]]++
			t.Errorf("%d: %q started by %s: %s", v.Number, v.Words, ways, v.Text)
		}
	}
	away := map[string]int{}
	for _, v := range copies {
		if copiesJudged[v.Number].started {
			away[v.names[0]]++
		}
	}
	t.Logf("of %d copies under other names, these started: %v", len(copies), away)
	t.Logf("%d variants of %d commands: %d started unseen, %d judged %v", len(all), len(commands),
		len(all)-sum(broken), sum(holes), holes)
}

func sum(of map[string]int) (n int) {
	for v := range maps.Values(of) {
		n += v
	}
	return n
}
