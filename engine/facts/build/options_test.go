package build

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/engine/facts/call"
)

// An option's value is the same fact however the two are written; words that only look so are none.
func TestOptionValues(t *testing.T) {
	t.Parallel()
	b := testBuilder()
	for text, want := range map[string][]facts.Option{
		"curl -o out https://h/":                   {{Name: "-o", Value: "out", Certainty: "exact"}},
		"curl -oout https://h/":                    {{Name: "-o", Value: "out", Certainty: "exact"}},
		"curl -sSLo out https://h/":                {{Name: "-o", Value: "out", Certainty: "exact"}},
		"curl --output=out https://h/":             {{Name: "--output", Value: "out", Certainty: "exact"}},
		"curl --output out https://h/":             {{Name: "--output", Value: "out", Certainty: "exact"}},
		"curl --data=@f -X POST https://h/":        {{Name: "--data", Value: "@f", Certainty: "exact"}, {Name: "-X", Value: "POST", Certainty: "exact"}},
		`curl -H "A: $HOSTNAME" https://h/`:        {{Name: "-H", Value: "A: $HOSTNAME", Certainty: "partial"}},
		"curl -o $HOSTNAME https://h/":             {{Name: "-o", Value: "$HOSTNAME", Certainty: "unknown"}},
		"npm install --registry=https://r.test x":  {{Name: "--registry", Value: "https://r.test", Certainty: "exact"}},
		"npm install --registry https://r.test x":  {{Name: "--registry", Value: "https://r.test", Certainty: "exact"}},
		"pip install -i https://r.test x":          {{Name: "-i", Value: "https://r.test", Certainty: "exact"}},
		"pip install --index-url=https://r.test":   {{Name: "--index-url", Value: "https://r.test", Certainty: "exact"}},
		"git -c user.name=x commit -m 'a message'": {{Name: "-c", Value: "user.name=x", Certainty: "exact"}, {Name: "-m", Value: "a message", Certainty: "exact"}},
		"git commit --mess=wip":                    {{Name: "--message", Value: "wip", Certainty: "exact"}},
		"some-tool --level=3 --quiet -x y":         {{Name: "--level", Value: "3", Certainty: "exact"}},
		"some-tool --empty=":                       {{Name: "--empty", Value: "", Certainty: "exact"}},
		"sudo curl -o out https://h/":              {{Name: "-o", Value: "out", Certainty: "exact"}},
		"curl -- -o out":                           {},
		"echo -o out --output=out":                 {},
		"ls -la":                                   {},
		"cat notes.txt":                            {},
		"git log -- --output=out":                  {},
	} {
		in := b.Build(testAsk(text))
		if len(in.Commands) == 0 {
			t.Fatalf("%s: no command", text)
		}
		got := in.Commands[len(in.Commands)-1].Options
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
}

// The facts about options are bounded, and a cut word is not wholly known.
func TestOptionValuesAreBounded(t *testing.T) {
	t.Parallel()
	in := testBuilder().Build(testAsk("curl" + strings.Repeat(" -H 'a: b'", 200) + " https://h/"))
	if n := len(in.Commands[0].Options); n != call.MaxOptions {
		t.Errorf("%d options", n)
	}
	in = testBuilder().Build(testAsk("curl -H '" + strings.Repeat("\u00e9", 2000) + "' https://h/"))
	o := in.Commands[0].Options[0]
	if len(o.Value) > call.MaxValue || !utf8.ValidString(o.Value) || o.Certainty != "partial" {
		t.Errorf("%d bytes, %s", len(o.Value), o.Certainty)
	}
}
