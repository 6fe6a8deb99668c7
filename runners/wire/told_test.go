package wire

import (
	"bufio"
	"strings"
	"testing"
)

// TestTold: the facts of a place come in one bounded line of known fields, or not at all.
func TestTold(t *testing.T) {
	t.Parallel()
	read := func(text string) (Told, error) { return readTold(bufio.NewReader(strings.NewReader(text))) }
	got, err := read(`sallyport-place/10 {"isolation":"container","network":"unknown","memory":5}` + "\nrest")
	if err != nil || got.Isolation != "container" || got.Memory != 5 || !got.Seen {
		t.Errorf("got %+v, %v", got, err)
	}
	for _, text := range []string{
		"", "sallyport-supervisor/10\n", `sallyport-place/9 {"isolation":"none","network":"none"}` + "\n",
		`sallyport-place/10 {"isolation":"none","network":"none"}`, "sallyport-place/10 {}\n",
		`sallyport-place/10 {"isolation":"none","network":"none","cpu":-1}` + "\n",
		`sallyport-place/10 {"isolation":"none","network":"none","more":1}` + "\n",
		"sallyport-place/10 " + strings.Repeat(" ", maxWords) + "{}\n",
	} {
		if got, err := read(text); err == nil {
			t.Errorf("%.60q: got %+v", text, got)
		}
	}
}
