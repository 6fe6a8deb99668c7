package walk

import (
	"slices"
	"testing"

	"github.com/sallyport-dev/sallyport/engine/shell"
	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

// The last item of a list is seen however long the list is. A list of numbers counts as one number.
func TestLists(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`for i in b/{1..300} /key; do cat "$i"; done`,
		`set -- b/{1..300} /key; for i; do cat "$i"; done`,
		`printf '%s\n' b/{1..300} /key | xargs -I{} cat {}`,
		`printf '%s\n' b/{1..300} /key | xargs cat`,
		`parallel cat ::: b/{1..300} /key`,
	} {
		p, err := Parse(text, testOptions())
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(p.Commands, func(c shell.Command) bool {
			return c.Name == "cat" && slices.ContainsFunc(c.Words, func(w value.Word) bool { return w.Text == "/key" && w.Certainty == value.Exact })
		}) {
			t.Errorf("%s: no cat /key in %d commands", text, len(p.Commands))
		}
	}
	for _, text := range []string{"for i in {1..300}; do cat $i; done", "seq 300 | while read i; do cat $i; done", "seq 300 | xargs -I{} cat {}"} {
		p, err := Parse(text, testOptions())
		if err != nil || len(p.Commands) > 5 || p.Budget != "" {
			t.Errorf("%s: %d commands, %q, %v", text, len(p.Commands), p.Budget, err)
		}
	}
	p, err := Parse("for i in b/{1..3000}; do cat $i; done", testOptions())
	if err != nil || p.Budget == "" || p.Certainty != value.Unknown {
		t.Errorf("a list past the limit of commands: %+v, %v", p.Budget, err)
	}
}
