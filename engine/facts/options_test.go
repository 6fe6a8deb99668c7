package facts

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// An option's value is the same fact however the two are written; words that only look so are none.
func TestOptionValues(t *testing.T) {
	t.Parallel()
	b := testBuilder()
	for text, want := range map[string][]Option{
		"curl -o out https://h/":                   {{"-o", "out", "exact"}},
		"curl -oout https://h/":                    {{"-o", "out", "exact"}},
		"curl -sSLo out https://h/":                {{"-o", "out", "exact"}},
		"curl --output=out https://h/":             {{"--output", "out", "exact"}},
		"curl --output out https://h/":             {{"--output", "out", "exact"}},
		"curl --data=@f -X POST https://h/":        {{"--data", "@f", "exact"}, {"-X", "POST", "exact"}},
		`curl -H "A: $HOSTNAME" https://h/`:        {{"-H", "A: $HOSTNAME", "partial"}},
		"curl -o $HOSTNAME https://h/":             {{"-o", "$HOSTNAME", "unknown"}},
		"npm install --registry=https://r.test x":  {{"--registry", "https://r.test", "exact"}},
		"npm install --registry https://r.test x":  {{"--registry", "https://r.test", "exact"}},
		"pip install -i https://r.test x":          {{"-i", "https://r.test", "exact"}},
		"pip install --index-url=https://r.test":   {{"--index-url", "https://r.test", "exact"}},
		"git -c user.name=x commit -m 'a message'": {{"-c", "user.name=x", "exact"}, {"-m", "a message", "exact"}},
		"git commit --mess=wip":                    {{"--message", "wip", "exact"}},
		"some-tool --level=3 --quiet -x y":         {{"--level", "3", "exact"}},
		"some-tool --empty=":                       {{"--empty", "", "exact"}},
		"sudo curl -o out https://h/":              {{"-o", "out", "exact"}},
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

// What is told of options is bounded, and what is cut is not wholly known.
func TestOptionValuesAreBounded(t *testing.T) {
	t.Parallel()
	in := testBuilder().Build(testAsk("curl" + strings.Repeat(" -H 'a: b'", 200) + " https://h/"))
	if n := len(in.Commands[0].Options); n != maxOptions {
		t.Errorf("%d options", n)
	}
	in = testBuilder().Build(testAsk("curl -H '" + strings.Repeat("\u00e9", 2000) + "' https://h/"))
	o := in.Commands[0].Options[0]
	if len(o.Value) > maxValue || !utf8.ValidString(o.Value) || o.Certainty != "partial" {
		t.Errorf("%d bytes, %s", len(o.Value), o.Certainty)
	}
}
