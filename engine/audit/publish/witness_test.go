package publish

import (
	"bufio"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sallyport-dev/sallyport/internal/leftout"
)

var testSeed = ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))

var testKey = func() string {
	raw := append([]byte{cosignature}, testSeed.Public().(ed25519.PublicKey)...)
	sum := sha256.Sum256(append([]byte("w.example\n"), raw...))
	return fmt.Sprintf("w.example+%08x+%s", binary.BigEndian.Uint32(sum[:]), base64.StdEncoding.EncodeToString(raw))
}()

// cosigned is the line with which the witness of testKey signs a checkpoint.
func cosigned(text string, key ed25519.PrivateKey) string {
	sig := binary.BigEndian.AppendUint64(nil, 1700000000)
	sig = append(sig, ed25519.Sign(key, []byte("cosignature/v1\ntime 1700000000\n"+text))...)
	c, _ := newCosigner(testKey)
	return "— w.example " + base64.StdEncoding.EncodeToString(append(binary.BigEndian.AppendUint32(nil, c.hash), sig...)) + "\n"
}

// asking returns a witness target that reaches a handler.
func asking(t *testing.T, dir, key string, h http.Handler) *witness {
	t.Helper()
	s := httptest.NewTLSServer(h)
	t.Cleanup(s.Close)
	w, err := newWitness(dir, s.URL+"#"+key)
	if err != nil {
		t.Fatal(err)
	}
	redirect := w.http.CheckRedirect
	w.http = s.Client()
	w.http.CheckRedirect = redirect
	return w
}

// Answers that prove nothing are failures.
func TestWitnessAnswers(t *testing.T) {
	t.Parallel()
	l := openLog(t, filepath.Join(t.TempDir(), "audit"))
	defer l.Close()
	n := l.add(t, 3)
	body, _, _ := strings.Cut(string(n.Text), "\n\n")
	other := ed25519.NewKeyFromSeed([]byte(strings.Repeat("x", ed25519.SeedSize)))
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		want   string // "" for success
	}{
		"signed":     {func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, cosigned(body+"\n", testSeed)) }, ""},
		"not signed": {func(w http.ResponseWriter, _ *http.Request) {}, "no valid signature"},
		"other key":  {func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, cosigned(body+"\n", other)) }, "no valid signature"},
		"other text": {func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, cosigned("x\n", testSeed)) }, "no valid signature"},
		"refused":    {func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "who are you", http.StatusNotFound) }, "404"},
		"ahead": {func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusConflict)
			io.WriteString(w, "1000000\n")
		}, "cut off"},
		"wavering": {func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusConflict)
			io.WriteString(w, after(r))
		}, "changes its mind"},
		"nonsense": {func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusConflict)
			io.WriteString(w, "-1\n")
		}, "refuses"},
		"without end": {func(w http.ResponseWriter, _ *http.Request) { io.Copy(w, io.LimitReader(zeros{}, 1<<20)) }, "no valid signature"},
		"elsewhere": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", "/x")
			w.WriteHeader(http.StatusFound)
		}, "302"},
		"hangs up": {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "EOF"},
	} {
		w := asking(t, l.dir, testKey, c.answer)
		_, err := w.take(t.Context(), n)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// after returns a size that differs from the one in a request.
func after(r *http.Request) string {
	line, _ := bufio.NewReader(r.Body).ReadString('\n')
	if line == "old 1\n" {
		return "2\n"
	}
	return "1\n"
}

type zeros struct{}

func (zeros) Read(b []byte) (int, error) { return len(b), nil }

// A real witness follows the log as it grows, from where an earlier process left off, and refuses a log that
// was cut off or written anew.
func TestRealWitness(t *testing.T) {
	t.Parallel()
	leftout.Full(t, leftout.Packages)
	program := filepath.Join(t.TempDir(), "witness")
	build := exec.Command("go", "build", "-o", program, ".")
	build.Dir = filepath.Join("testdata", "witness")
	if out, err := build.CombinedOutput(); err != nil {
		leftout.Skip(t, leftout.Packages, fmt.Sprintf("the modules of testdata/witness are not at hand: %s", out))
	}
	dir := filepath.Join(t.TempDir(), "audit")
	l := openLog(t, dir)
	defer l.Close()
	run := exec.Command(program, l.PublicKey())
	in, err := run.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := run.StdoutPipe()
	if err == nil {
		err = run.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() { in.Close(); run.Wait() }()
	said := bufio.NewScanner(out)
	said.Scan()
	address := said.Text()
	said.Scan()
	h := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: address})

	w := asking(t, dir, said.Text(), h)
	for range 4 {
		n := l.add(t, 4)
		signed, err := w.take(t.Context(), n)
		if err != nil {
			t.Fatalf("%d records: %v", n.Checkpoint.Size, err)
		}
		if err := w.key.verify(signed); err != nil {
			t.Error(err)
		}
	}
	later := asking(t, dir, said.Text(), h) // of another process, which knows nothing
	n := l.add(t, 4)
	if _, err := later.take(t.Context(), n); err != nil {
		t.Fatalf("another process: %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, hashesName), []byte(strings.Repeat("x", 320)), 0o600); err != nil {
		t.Fatal(err)
	}
	n = l.add(t, 4)
	if _, err := later.take(t.Context(), n); err != nil {
		t.Fatalf("with hashes that somebody wrote over: %v", err)
	}
	if err := os.Rename(dir, dir+".old"); err != nil { // the keys stay
		t.Fatal(err)
	}
	other := openLog(t, dir)
	defer other.Close()
	if _, err := later.take(t.Context(), other.add(t, 3)); err == nil || !strings.Contains(err.Error(), "cut off") {
		t.Errorf("a shorter log: %v", err)
	}
	if _, err := later.take(t.Context(), other.add(t, 60)); err == nil || !strings.Contains(err.Error(), "422") {
		t.Errorf("another log of the same key: %v", err)
	}
}
