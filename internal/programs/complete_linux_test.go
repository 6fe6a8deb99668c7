package programs

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/internal/leftout"
)

// group is a part of testdata/commands.txt.
type group struct {
	name, setup string
	needs       []string
	commands    []string // each begins with a mark
}

func groups(t *testing.T) (all []group) {
	t.Helper()
	text, err := os.ReadFile("testdata/commands.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		name, isName := strings.CutPrefix(line, "## ")
		isCommand := strings.HasPrefix(line, "$ ") || strings.HasPrefix(line, "% ")
		switch {
		case isName:
			name, needs, _ := strings.Cut(strings.TrimSpace(name), ":")
			all = append(all, group{name: name, needs: strings.Fields(needs)})
		case len(all) == 0:
		case isCommand:
			last := &all[len(all)-1]
			last.commands = append(last.commands, strings.TrimSuffix(line, "\n"))
		default:
			all[len(all)-1].setup += line
		}
	}
	return all
}

// inShort are the groups of the short run.
var inShort = []string{"shell", "words", "exec ways", "make"}

// sandbox confines the commands: none, or auto for the default one.
var sandbox = flag.String("programs.sandbox", "none", "local.sandbox of TestComplete")

// settings are those of the commands, without their mode and their sandbox.
const settings = `version: 1
programs: {mode: judged}
local: {sandbox: %s}
undo: {enabled: false}
environment: {env: [GOCACHE, GOMODCACHE, GOFLAGS, GOPROXY, CARGO_HOME, RUSTUP_HOME]}
`

// Every program that the kernel starts below a command was judged, with its words and its file, and nothing
// else was: strace, from outside, sees the same.
func TestComplete(t *testing.T) {
	strace := leftout.Command(t, "strace")
	if out, err := exec.Command(strace, "-f", "-o", os.DevNull, "true").CombinedOutput(); err != nil {
		leftout.Skip(t, leftout.Platform, "strace does not work: "+string(out))
	}
	var commands, starts, uncompared atomic.Int64
	t.Cleanup(func() {
		t.Logf("%d commands, %d programs, %d of them over before they were compared",
			commands.Load(), starts.Load(), uncompared.Load())
	})
	for _, g := range groups(t) {
		t.Run(g.name, func(t *testing.T) {
			t.Parallel()
			if testing.Short() && !slices.Contains(inShort, g.name) {
				leftout.Skip(t, leftout.Slow, "a part of the commands")
			}
			for _, name := range g.needs {
				leftout.Command(t, name)
			}
			home := t.TempDir()
			workspace := home + "/project"
			for _, mode := range []string{"enforce", "monitor"} {
				write(t, home+"/"+mode+".yaml", "mode: "+mode+"\n"+fmt.Sprintf(settings, *sandbox), 0o600)
			}
			if err := os.Mkdir(workspace, 0o755); err != nil {
				t.Fatal(err)
			}
			env := environment(home)
			setup := exec.Command("bash", "-ec", g.setup)
			setup.Dir, setup.Env = workspace, env
			if out, err := setup.CombinedOutput(); err != nil {
				t.Fatalf("prepare: %v: %s", err, out)
			}
			for _, command := range g.commands {
				a, b := traced(t, strace, workspace, env, command)
				commands.Add(1)
				starts.Add(int64(a))
				uncompared.Add(int64(b))
			}
		})
	}
}

// environment is that of a user with a home, and with the caches of builds that are there.
func environment(home string) []string {
	env := []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "USER=user", "LANG=C.UTF-8", "GOPROXY=off", "GOFLAGS=-mod=mod",
	}
	for name, of := range map[string]string{"GOCACHE": "GOCACHE", "GOMODCACHE": "GOMODCACHE"} {
		if out, err := exec.Command("go", "env", of).Output(); err == nil {
			env = append(env, name+"="+strings.TrimSpace(string(out)))
		}
	}
	if own, err := os.UserHomeDir(); err == nil {
		env = append(env, "CARGO_HOME="+own+"/.cargo", "RUSTUP_HOME="+own+"/.rustup")
	}
	return env
}

// outcome is the answer of exec.
type outcome struct {
	Effect   string
	Reasons  []engine.Reason
	Command  string
	Programs *engine.Programs
	Stderr   struct{ Text string }
	Stdout   struct{ Text string }
	Error    string
}

// answered runs exec --format json, whose command may fail, and reads its answer.
func answered(t *testing.T, cmd *exec.Cmd) (out outcome) {
	t.Helper()
	var errs bytes.Buffer
	cmd.Stderr = &errs
	said, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	if err := json.Unmarshal(said, &out); err != nil {
		t.Fatalf("%s: %v: %s%s", cmd, err, said, errs.String())
	}
	return out
}

// traced runs a command with its programs judged, under strace, and compares both views.
func traced(t *testing.T, strace, workspace string, env []string, line string) (starts, uncompared int) {
	t.Helper()
	mark, command, _ := strings.Cut(line, " ")
	config := map[string]string{"$": "enforce.yaml", "%": "monitor.yaml"}[mark]
	log := filepath.Join(t.TempDir(), "trace")
	cmd := exec.Command(strace, "-f", "-qq", "-s", "200000", "-e", "trace=execve,execveat", "-e", "signal=none",
		"-e", "abbrev=none", "-o", log, program, "--config", filepath.Join(filepath.Dir(workspace), config),
		"exec", "--timeout", "10m", "--format", "json", "-c", command)
	cmd.Dir, cmd.Env = workspace, env
	out := answered(t, cmd)
	if out.Programs == nil {
		t.Errorf("%s: no programs: %+v", command, out)
		return 0, 0
	}
	for _, r := range out.Programs.Refused {
		t.Errorf("%s: %s", command, r)
	}
	trace, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	want := began(string(trace), out.Command)
	got := map[string]int{}
	for _, p := range out.Programs.List {
		words, err := unquoted(p.Words)
		if err != nil {
			t.Errorf("%s: %s: %v", command, p.Words, err)
		}
		key := strings.Join(words, "\x00")
		got[key] += p.Times
		judged := func(f string) bool { return sameFile(workspace, f, p.File) }
		if w := want[key]; w != nil && !slices.ContainsFunc(w.files, judged) {
			t.Errorf("%s: %s was judged as %s, and started as %q", command, p.Words, p.File, w.files)
		}
	}
	all := 0
	for key, w := range want {
		if more := got[key] - w.times; more > 0 {
			w.times += min(more, w.killed)
		}
		all += w.times
		if w.times != got[key] && (out.Programs.Whole || got[key] != 0) {
			words := strings.Split(key, "\x00")
			t.Errorf("%s: started %d times, judged %d times: %q %q", command, w.times, got[key], w.files, words)
		}
	}
	for key, n := range got {
		if want[key] == nil {
			t.Errorf("%s: judged %d times, never started: %q", command, n, strings.Split(key, "\x00"))
		}
	}
	if all != out.Programs.Started {
		t.Errorf("%s: %d starts, %d judged", command, all, out.Programs.Started)
	}
	if all == 0 {
		t.Errorf("%s: starts nothing: %s%s", command, out.Stdout.Text, out.Stderr.Text)
	}
	return all, out.Programs.Uncompared
}

// started are the starts of a program with the same words.
type started struct {
	times  int
	killed int      // while they began: nobody knows whether they were judged
	files  []string // as the callers named them
}

var (
	call   = regexp.MustCompile(`^(\d+) +execve(?:at)?\((.*)$`)
	resume = regexp.MustCompile(`^(\d+) +<\.\.\. execve(?:at)? resumed>.*\) += (.*)$`)
	result = regexp.MustCompile(`\) += (-?\d+.*|\?.*)$`)
	// A thread that executes a program takes the place of its process.
	instead = regexp.MustCompile(`^(\d+) +\+\+\+ superseded by execve in pid (\d+) \+\+\+`)
)

// began reads the starts of a trace below the shell of a command, by their words. Those count that the kernel
// began with: it finds no program in some files, which is known only then.
func began(trace, command string) map[string]*started {
	out := map[string]*started{}
	of := func(at string) *started {
		file, words := arguments(at)
		key := strings.Join(brief(words), "\x00")
		if out[key] == nil {
			out[key] = &started{}
		}
		out[key].files = append(out[key].files, file)
		return out[key]
	}
	open := map[string]string{} // by process
	below, shell := false, false
	for line := range strings.Lines(trace) {
		line = strings.TrimSuffix(line, "\n")
		var at, end string
		if m := resume.FindStringSubmatch(line); m != nil {
			at, end = open[m[1]], m[2]
			delete(open, m[1])
		} else if m := instead.FindStringSubmatch(line); m != nil {
			open[m[1]] = open[m[2]]
			delete(open, m[2])
		} else if m := call.FindStringSubmatch(line); m != nil {
			at = m[2]
			if r := result.FindStringSubmatch(line); r != nil && !strings.HasSuffix(line, "<unfinished ...>") {
				end = r[1]
			} else {
				open[m[1]] = at
				continue
			}
		}
		if at == "" {
			continue
		}
		_, words := arguments(at)
		switch {
		case len(words) > 4 && words[1] == "--start" && words[len(words)-1] == command:
			below, shell = true, true
			clear(open)
		case !below || words[0] == "sallyport-watcher":
		case strings.HasPrefix(end, "?"):
			of(at).killed++
		case !strings.HasPrefix(end, "0") && !strings.Contains(end, "ENOEXEC") && !strings.Contains(end, "ETXTBSY"):
		case shell: // it is judged with its text
			shell = false
		default:
			of(at).times++
		}
	}
	for _, at := range open {
		of(at).killed++
	}
	return out
}

// arguments reads the path and the words of a call, as strace writes them.
func arguments(text string) (file string, words []string) {
	if dir, rest, ok := strings.Cut(text, ", "); ok && text[0] != '"' && strings.HasPrefix(rest, `"`) {
		text = rest // execveat
		file, text = literal(text)
		if file == "" {
			file = "descriptor " + dir
		} else if file[0] != '/' {
			file = "descriptor " + dir + "/" + file
		}
	} else {
		file, text = literal(text)
	}
	text = strings.TrimPrefix(text, ", ")
	if !strings.HasPrefix(text, "[") {
		return file, []string{""} // none: the kernel makes it one empty word
	}
	for text = text[1:]; strings.HasPrefix(text, `"`); text = strings.TrimPrefix(text, ", ") {
		var w string
		w, text = literal(text)
		words = append(words, w)
	}
	if len(words) == 0 {
		words = []string{""}
	}
	return file, words
}

// literal reads a string of C.
func literal(text string) (value, rest string) {
	var out []byte
	for i := 1; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			return string(out), text[i+1:]
		case c == '\\':
			i++
			if n := strings.IndexByte(`abfnrtv`, text[i]); n >= 0 {
				out = append(out, "\a\b\f\n\r\t\v"[n])
				continue
			}
			octal := i
			for octal < len(text) && octal < i+3 && text[octal] >= '0' && text[octal] <= '7' {
				octal++
			}
			if octal == i {
				out = append(out, text[i])
				continue
			}
			n, _ := strconv.ParseUint(text[i:octal], 8, 8)
			out = append(out, byte(n))
			i = octal - 1
		default:
			out = append(out, c)
		}
	}
	return string(out), ""
}

// brief leaves out of words what the outcome of a command leaves out.
func brief(words []string) (out []string) {
	left := 1000
	for i, w := range words {
		if left -= len(w); left < 0 {
			return append(out, fmt.Sprintf("…(%d more words)", len(words)-i))
		}
		if len(w) > 600 {
			w = fmt.Sprintf("…(%d bytes)", len(w))
			left += 600
		}
		out = append(out, string([]rune(w))) // as JSON has it: each byte that is no UTF-8 is U+FFFD
	}
	return out
}

// unquoted reads the words of an outcome.
func unquoted(text string) (words []string, err error) {
	var w []byte
	any := false
	for i := 0; i < len(text); i++ {
		var end int
		switch {
		case strings.HasPrefix(text[i:], "…"):
			return append(words, text[i:]), nil
		case text[i] == ' ':
			words, w, any = append(words, string(w)), nil, false
			continue
		case strings.HasPrefix(text[i:], "$'"):
			for end = i + 2; end < len(text) && text[end] != '\''; end++ {
				if c := text[end]; c == '\\' && end+1 < len(text) {
					end++
					c = map[byte]byte{'r': '\r'}[text[end]]
					if c == 0 {
						c = text[end]
					}
					w = append(w, c)
					continue
				}
				w = append(w, text[end])
			}
		case text[i] == '\'':
			for end = i + 1; end < len(text) && text[end] != '\''; end++ {
				w = append(w, text[end])
			}
		case text[i] == '\\':
			end = i + 1
			w = append(w, text[end])
		default:
			end = i
			w = append(w, text[i])
		}
		i, any = end, true
		if end >= len(text) {
			return nil, errors.New("an open quote")
		}
	}
	if any || len(words) > 0 || text == "" {
		words = append(words, string(w))
	}
	return words, nil
}

// sameFile reports a name of a caller that can mean a file. Names below the caller's directory are looked
// for in all directories, and files that are gone are not compared, nor those that a descriptor of the
// caller names.
func sameFile(workspace, name, file string) bool {
	if _, err := os.Stat(file); err != nil {
		return true
	}
	for _, own := range []string{"descriptor ", "/proc/self/", "/dev/fd/"} {
		if strings.HasPrefix(name, own) {
			return true
		}
	}
	if filepath.IsAbs(name) {
		real, err := filepath.EvalSymlinks(name)
		return err != nil || real == file
	}
	found := false
	look := func(dir string) {
		real, err := filepath.EvalSymlinks(filepath.Join(dir, name))
		found = found || err == nil && real == file
	}
	look("/")
	look("/bin")
	_ = filepath.WalkDir(workspace, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			look(path)
		}
		return nil
	})
	return found
}
