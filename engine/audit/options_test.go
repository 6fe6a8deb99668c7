package audit

import (
	"strings"
	"testing"
	"time"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/engine/facts/build"
	"github.com/sallyport-dev/sallyport/engine/redact"
)

// A secret that is an option's value is one in every place where the input has it, however it was written.
func TestValuesOfOptionsAreRedacted(t *testing.T) {
	t.Parallel()
	const secret = "correcthorse9battery"
	for _, words := range [][]string{
		{"mysql", "--password=" + secret},
		{"mysql", "-p" + secret},
		{"psql", "--password", secret},
		{"some-tool", "--api-key=" + secret},
		{"curl", "-u", "me:" + secret, "https://h/"},
		{"curl", "-H", "Authorization: Bearer " + secret, "https://h/"},
	} {
		text := strings.Join(words, " ")
		for i, w := range words {
			if strings.Contains(w, " ") {
				words[i] = w
				text = strings.Replace(text, w, "'"+w+"'", 1)
			}
		}
		in := build.NewBuilder(facts.Layout{Workspace: "/ws", Home: "/home/u"}, facts.OSFS{}, nil).Build(facts.Ask{Request: facts.Request{Command: text, WorkDir: "/ws"}})
		p, err := encode(engine.Record{Kind: engine.KindDecision, Body: engine.DecisionBody{Input: in}}, time.Now(), redact.New([]byte("k"), redact.Extra{}), 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(p.body), secret) {
			t.Errorf("%s: %s", text, p.body)
		}
	}
}
