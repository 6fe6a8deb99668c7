package programs

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/sallyport-dev/sallyport/internal/leftout"
)

var corpora = flag.String("programs.corpus", "",
	"files of JSON lines with a command and an expected effect, separated by commas, for TestDeferred to score")

// deferred is a text of a corpus, with the decisions about it.
type deferred struct {
	Command, Expect  string
	unseen, supposed string
}

// sandboxed are the facts of the default sandbox, where programs are judged.
const sandboxed = "programs=judged,write=holds,read=holds,connect=holds"

// Each text of testdata/deferred.txt is allowed in a sandbox that judges programs, and not without: the
// programs that policies refuse do not start, or none starts.
func TestDeferred(t *testing.T) {
	home := home(t)
	var own []deferred
	text, err := os.ReadFile("testdata/deferred.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			own = append(own, deferred{Command: line, Expect: "deny"})
		}
	}
	decide(t, home, own)
	for _, d := range own {
		if d.unseen == "allow" || d.supposed != "allow" {
			t.Errorf("%s: %s unseen, %s judged", d.Command, d.unseen, d.supposed)
		}
		if out := really(t, d.Command); out.Effect != "allow" || out.Programs == nil ||
			len(out.Programs.Refused) == 0 {
			t.Errorf("%s: nothing was refused: %+v", d.Command, out)
		}
	}
	for file := range strings.SplitSeq(*corpora, ",") {
		if file == "" {
			continue
		}
		score(t, home, file)
	}
}

// Sudo is refused at its start. Where it is not, it gains no rights, and so starts nothing unseen: that takes
// docker-sudo.
func TestElevated(t *testing.T) {
	leftout.Command(t, "sudo")
	const command = "echo odus > steps; $(rev steps) -n echo gained"
	out := really(t, command)
	if out.Programs == nil || len(out.Programs.Refused) != 1 ||
		out.Programs.Refused[0].Rule != "dangerous/privilege" {
		t.Errorf("sudo: %+v", out)
	}
	out = really(t, command, "mode: monitor")
	if out.Effect == "" || out.Stdout.Text != "" || !strings.Contains(out.Stderr.Text, "sudo") {
		t.Errorf("sudo, only noted: %+v", out)
	}
}

// score counts the dangerous texts of a corpus that are allowed: unseen, by their text alone where programs
// are judged, and after all that was refused at its start.
func score(t *testing.T, home, file string) {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var all []deferred
	for lines := json.NewDecoder(bytes.NewReader(text)); lines.More(); {
		var d deferred
		if err := lines.Decode(&d); err != nil {
			t.Fatal(err)
		}
		all = append(all, d)
	}
	decide(t, home, all)
	dangerous, unseen, byText, left := 0, 0, 0, 0
	for _, d := range all {
		if d.Expect != "deny" {
			continue
		}
		dangerous++
		if d.unseen == "allow" {
			unseen++
		}
		if d.supposed != "allow" {
			continue
		}
		byText++
		if d.unseen == "allow" {
			left++
			continue
		}
		switch out := really(t, d.Command); {
		case out.Effect != "allow":
			t.Logf("refused as a text: %q: %v", d.Command, out.Reasons)
		case out.Programs != nil && len(out.Programs.Refused) > 0:
			t.Logf("refused at its start: %q: %s", d.Command, out.Programs.Refused[0])
		case out.Programs != nil && out.Programs.Started == 0:
			t.Logf("starts no program: %q: %s%s", d.Command, out.Stdout.Text, out.Stderr.Text)
		default:
			left++
			var words []string
			if out.Programs != nil {
				for _, p := range out.Programs.List {
					words = append(words, p.Words)
				}
			}
			t.Logf("ran: %q: %q: %s%s", d.Command, words, out.Stdout.Text, out.Stderr.Text)
		}
	}
	t.Logf(
		"%s: of %d dangerous texts allowed: %d unseen, %d by their text with programs judged, of which %d ran",
		file, dangerous, unseen, byText, left)
}

// home makes a home with a workspace, and returns it.
func home(t *testing.T) string {
	t.Helper()
	home := t.TempDir()
	write(t, home+"/project/.git/HEAD", "ref: refs/heads/main\n", 0o644)
	write(t, home+"/project/notes.txt", "notes\n", 0o644)
	write(t, home+"/.ssh/id_rsa", "key\n", 0o600)
	write(t, home+"/Documents/letter.txt", "letter\n", 0o644)
	return home
}

// decide asks for the decisions about texts. Everything may be written: only the texts are judged.
func decide(t *testing.T, home string, all []deferred) {
	t.Helper()
	write(t, home+"/check.yaml", "version: 1\npaths: [{path: /, access: write}]\n", 0o600)
	var feed bytes.Buffer
	for _, d := range all {
		text, err := json.Marshal(map[string]string{"command": d.Command})
		if err != nil {
			t.Fatal(err)
		}
		feed.Write(append(text, '\n'))
	}
	effects := func(more ...string) (out []string) {
		cmd := exec.Command(program, slices.Concat([]string{"--config", home + "/check.yaml", "check", "--batch"},
			more)...)
		cmd.Dir, cmd.Env, cmd.Stdin = home+"/project", environment(home), bytes.NewReader(feed.Bytes())
		said, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		for lines := json.NewDecoder(bytes.NewReader(said)); lines.More(); {
			var one outcome
			if err := lines.Decode(&one); err != nil {
				t.Fatal(err)
			}
			out = append(out, one.Effect)
		}
		if len(out) != len(all) {
			t.Fatalf("%d decisions about %d texts", len(out), len(all))
		}
		return out
	}
	unseen, supposed := effects(), effects("--suppose", sandboxed)
	for i := range all {
		all[i].unseen, all[i].supposed = unseen[i], supposed[i]
	}
}

// really runs a text in the default sandbox, with its programs judged, in a home of its own.
func really(t *testing.T, command string, settings ...string) (out outcome) {
	t.Helper()
	leftout.Command(t, "bwrap")
	home := home(t)
	write(t, home+"/run.yaml", "version: 1\nprograms: {mode: judged, ask: refuse}\nundo: {enabled: false}\n"+
		strings.Join(settings, "\n"), 0o600)
	cmd := exec.Command(program, "--config", home+"/run.yaml", "exec", "--timeout", "20s", "--format", "json",
		"-c", command)
	cmd.Dir, cmd.Env = home+"/project", environment(home)
	return answered(t, cmd)
}
