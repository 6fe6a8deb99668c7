package publish

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sallyport-dev/sallyport/engine/audit"
)

// The last answer of a witness is compared with the log, and its age is that of the witness's own signature.
func TestNotesOfWitness(t *testing.T) {
	t.Parallel()
	l := openLog(t, filepath.Join(t.TempDir(), "audit"))
	defer l.Close()
	n := l.add(t, 3)
	body, _, _ := strings.Cut(string(n.Text), "\n\n")
	place := "https://witness.example/#" + testKey
	noted := func(signed string) {
		t.Helper()
		text, err := json.Marshal([]Taken{{Target: place, Size: n.Checkpoint.Size, Signed: signed}})
		if err == nil {
			err = replace(filepath.Join(l.dir, stateName), text)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	noted(string(n.Text) + cosigned(body+"\n", testSeed))
	kept, err := Notes(l.dir, []string{place, "syslog:"})
	if err != nil || len(kept) != 1 || !kept[0].Beside || kept[0].Signed.Unix() != 1700000000 {
		t.Fatalf("%+v, %v", kept, err)
	}
	r, err := audit.Verify(l.dir, audit.VerifyOptions{Published: []audit.Published{kept[0].Published}})
	if err != nil || !r.OK || len(r.Compared) != 1 || r.Compared[0] != place || !strings.Contains(r.String(), "no checkpoint from elsewhere") {
		t.Errorf("%v\n%s", err, r)
	}
	noted(string(n.Text)) // the log's own signature alone shows nothing
	if kept, err := Notes(l.dir, []string{place}); err == nil || len(kept) != 0 {
		t.Errorf("without the witness's signature: %+v", kept)
	}
}

func TestAllNotes(t *testing.T) {
	t.Parallel()
	one, two := "a\n1\nroot\n\n— a AAAA\n", "a\n2\nroot\n\n— a AAAA\n— w BBBB\n"
	for text, want := range map[string]string{
		"": "", one: one, one + "\n": one, one + "\n" + two: two + one, one + "\n" + two + "\n": two + one,
		"half\n\n" + one: one, one + "\n" + "a\n3\nroot\n\n— a AA": one, "noise": "",
	} {
		var got strings.Builder
		for _, n := range all([]byte(text)) {
			got.Write(n)
		}
		if got.String() != want {
			t.Errorf("%q: got %q, want %q", text, got.String(), want)
		}
	}
}
