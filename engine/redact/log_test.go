package redact_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/audit"
	"github.com/sallyport-dev/sallyport/engine/config"
	"github.com/sallyport-dev/sallyport/engine/redact"
	"github.com/sallyport-dev/sallyport/plugins"
)

// recorder judges texts as the program does and puts the decisions on record. Nothing runs.
type recorder struct {
	gate *plugins.Sallyport
	log  *audit.Log
	dir  string // of the log and its keys
}

func newRecorder(t *testing.T) *recorder {
	t.Helper()
	home := t.TempDir()
	workspace, file := filepath.Join(home, "project"), filepath.Join(home, "sallyport.yaml")
	dir := filepath.Join(home, "state")
	if err := os.Mkdir(workspace, 0o700); err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf("version: 1\nworkspace: %s\nlocal: {sandbox: none}\n", workspace)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	host, err := config.ThisHost()
	if err != nil {
		t.Fatal(err)
	}
	loaded, err := config.Load(file, host)
	if err != nil {
		t.Fatal(err)
	}
	g, err := plugins.Assemble(t.Context(), loaded, plugins.Options{Version: "test", CheckOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	})
	log, err := audit.Open(audit.Options{Dir: filepath.Join(dir, "audit"), Reserve: -1})
	if err != nil {
		t.Fatal(err)
	}
	return &recorder{g, log, dir}
}

func (r *recorder) record(t *testing.T, id, text string) {
	t.Helper()
	out, err := r.gate.Check(t.Context(), engine.Request{Tool: "execute_command", Command: text})
	if err != nil {
		t.Fatal(err)
	}
	body := engine.DecisionBody{Decision: out.Decision, Input: out.Input}
	rec := engine.Record{Kind: engine.KindDecision, Time: time.Now(), Decision: id, Body: body}
	if err := r.log.Record(context.Background(), rec); err != nil {
		t.Fatal(err)
	}
}

// written is all text below the place of the log, by decision; that of other files is under "".
func (r *recorder) written(t *testing.T) map[string]string {
	t.Helper()
	if err := r.log.Close(); err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	err := filepath.WalkDir(r.dir, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(file)
		for line := range strings.Lines(string(b)) {
			var head struct {
				Decision string `json:"decision_id"`
			}
			_ = json.Unmarshal([]byte(line), &head) // a file of another kind
			all[head.Decision] += line
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// clear reports whether a secret, or a line of it, stands in a text as it is, in JSON, or without its quotes.
func clear(text, secret string) bool {
	for line := range strings.Lines(secret) {
		line = strings.TrimSpace(line)
		quoted, _ := json.Marshal(line) // a string always has a form in JSON
		bare := strings.NewReplacer("'", "", `"`, "", `\`, "").Replace(line)
		forms := []string{line, strings.Trim(string(quoted), `"`), bare}
		for _, form := range forms {
			if len(form) > 3 && strings.Contains(text, form) {
				return true
			}
		}
	}
	return false
}

// At most one in a hundred planted secrets stands in the clear below the place of the log, and at most one
// in a hundred harmless texts is changed.
func TestSecretsInTheLog(t *testing.T) {
	t.Parallel()
	draws := uint64(3)
	if testing.Short() {
		draws = 1
	}
	r := newRecorder(t)
	planted := map[string]string{}
	for seed := range draws {
		texts, secrets := redact.Drawn(seed)
		for i, text := range texts {
			id := fmt.Sprintf("%d-%d", seed, i)
			planted[id] = secrets[i]
			r.record(t, id, text)
		}
	}
	harmless := redact.Lookalikes()
	for i, text := range harmless {
		r.record(t, fmt.Sprintf("harmless-%d", i), text)
	}
	leaks, changed := 0, 0
	all := r.written(t)
	for id, secret := range planted {
		if all[id] == "" {
			t.Fatalf("%s is not on record", id)
		}
		if clear(all[id]+all[""], secret) {
			leaks++
			t.Logf("in the clear: %s: %s", secret, all[id])
		}
	}
	for i, text := range harmless {
		if strings.Contains(all[fmt.Sprintf("harmless-%d", i)], "[redacted:") {
			changed++
			t.Logf("redacted: %s", text)
		}
	}
	t.Logf("%d of %d secrets in the clear, %d of %d harmless texts redacted",
		leaks, len(planted), changed, len(harmless))
	if len(planted) < 400 && !testing.Short() {
		t.Errorf("only %d secrets", len(planted))
	}
	if leaks*100 > len(planted) || changed*100 > len(harmless) {
		t.Error("more than one in a hundred")
	}
}

// An agent calls a path, a host, a program or a rule a secret. The records name it all the same.
func TestNothingIsHidden(t *testing.T) {
	t.Parallel()
	ways := []string{
		"API_TOKEN=%s", "export PASSWORD='%s'", "export DB_PASSWORD=\"%s\"", "curl -u me:%s localhost", "mysql -p%s",
		"tool --password %s",
		"tool --api-key=%s", `curl -H "Authorization: Bearer %s" localhost`, "curl -H 'X-Api-Key: %s' localhost",
		"curl -H 'Cookie: session=%s' localhost", "echo '{\"token\": \"%s\"}'", "sshpass -p %s ssh localhost",
		"git clone https://me:%s@localhost/x", "psql -c \"alter role a with password '%s'\"",
		"echo machine h login me password %s",
		"SECRET_KEY=%s true", "docker login -p %s localhost", "aws configure set aws_secret_access_key %s",
		"vault login %s",
		"kubectl create secret generic x --from-literal=pw=%s", "echo %s | vncpasswd -f",
		"git commit -m 'the password is %s'",
		"redis-cli -a %s ping", "echo 'root:%s' | chpasswd", "curl 'http://localhost/?access_token=%s'",
	}
	type target struct{ name, use, at string }
	targets := []target{
		{"backdoor.sh", "touch backdoor.sh", "/input/paths"},
		{"src/ev1l-file.py", "rm src/ev1l-file.py", "/input/paths"},
		{"/home/dev/.ssh/id_ed25519", "cat /home/dev/.ssh/id_ed25519", "/input/paths"},
		{"evil-host.example.com", "curl http://evil-host.example.com/x", "/input/commands"},
		{"203.0.113.77", "nc 203.0.113.77 4444", "/input/commands"},
		{"ev1l-program", "ev1l-program --all", "/input/commands"},
		{"/opt/ev1l/run", "/opt/ev1l/run now", "/input/commands"},
		{"dangerous/privilege", "sudo id", "/result/reasons"},
	}
	if testing.Short() {
		ways = ways[:6]
	}
	r := newRecorder(t)
	attempts := map[string]target{}
	for _, to := range targets {
		for i, way := range ways {
			id := fmt.Sprintf("%s-%d", to.name, i)
			attempts[id] = to
			r.record(t, id, fmt.Sprintf(way, to.name)+"; "+to.use)
		}
	}
	hidden := 0
	all := r.written(t)
	for id, to := range attempts {
		names, err := named([]byte(all[id]), to.at)
		if err != nil {
			t.Fatal(id, err)
		}
		if !strings.Contains(names, to.name) {
			hidden++
			t.Errorf("%s is hidden: %s", to.name, all[id])
		}
	}
	t.Logf("%d of %d attempts hide something", hidden, len(attempts))
	if len(attempts) < 200 && !testing.Short() {
		t.Errorf("only %d attempts", len(attempts))
	}
}

// named lists the names that a record has of paths, of hosts and programs, or of rules. It leaves out the
// texts of commands, which are the agent's.
func named(line []byte, at string) (string, error) {
	var rec struct {
		Result struct {
			Reasons []struct{ Rule string }
		}
		Input struct {
			Paths    []struct{ Raw, Path, Real string }
			Commands []struct {
				Name, Program string
				Hosts         []string
			}
		}
	}
	if err := json.Unmarshal(line, &rec); err != nil {
		return "", err
	}
	switch at {
	case "/input/paths":
		return fmt.Sprint(rec.Input.Paths), nil
	case "/input/commands":
		return fmt.Sprint(rec.Input.Commands), nil
	case "/result/reasons":
		return fmt.Sprint(rec.Result.Reasons), nil
	}
	return "", errors.New("unknown place")
}
