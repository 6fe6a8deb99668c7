package build

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/engine/facts/disk"
)

type labelled map[string]string

func (labelled) Seen(string) string     { return "none" }
func (labelled) Downloaded(string) bool { return false }
func (l labelled) Labels(p string, below bool) []string {
	var out []string
	for name, label := range l {
		if disk.Within(p, name) || below && disk.Within(name, p) {
			out = append(out, label)
		}
	}
	return out
}

func TestOperatorLabels(t *testing.T) {
	t.Parallel()
	files := newMemFS(`
		/home/dev/ws/data/customers/a.csv
		/home/dev/ws/data/customers/eu/b.csv
		/home/dev/ws/data/other.csv
		/home/dev/ws/src/main.go
		/home/dev/ws/src/x/secret.key
		/home/dev/ws/copy.csv
		/home/dev/ws/out/
		/home/dev/ws/link -> data/customers
		/srv/hr/p.txt`)
	l := testLayout()
	l.Labels = []facts.PathLabel{
		{Name: "customer", Patterns: []string{testWS + "/data/customers/**"}},
		{Name: "key", Patterns: []string{testWS + "/**/*.key"}},
		{Name: "people", Patterns: []string{"/srv/hr"}},
	}
	b := NewBuilder(l, files, labelled{testWS + "/copy.csv": "customer"})
	for text, want := range map[string]string{
		"cat data/customers/a.csv":                        "customer",
		"cat data/customers/eu/b.csv":                     "customer",
		"cat link/a.csv":                                  "customer",
		"cat data/cust*/*.csv":                            "customer",
		"cat ./data/../data/customers/a.csv":              "customer",
		"cat data/other.csv":                              "",
		"cat data/*.csv":                                  "",
		"grep -r x data":                                  "customer",
		"grep -r x src":                                   "key",
		"grep -r x .":                                     "customer key",
		"tar cf - src/main.go":                            "",
		"cat /srv/hr/p.txt":                               "people",
		"cat copy.csv":                                    "customer",
		`cat "data/customers/$x"`:                         "customer",
		"ls data/customers":                               "customer",
		"cp data/customers/a.csv b; cat b":                "customer customer",
		"cp data/customers/a.csv out; cat out/a.csv":      "customer customer",
		"cp data/customers/a.csv out; cat out/b.csv":      "customer",
		"cp data/customers/*.csv out; cat out/b.csv":      "customer customer",
		"cp -r data out; cat out/data/other.csv":          "customer customer",
		"mv data/customers/a.csv b; cat b":                "customer customer",
		"cat data/customers/a.csv | sort > b; cat b":      "customer customer",
		"(cat data/customers/a.csv) > b; cat b":           "customer customer",
		"{ cat data/customers/a.csv; } > b; cat b":        "customer customer",
		"bash -c 'cat data/customers/a.csv' > b; cat b":   "customer customer",
		"cat < data/customers/a.csv | tee b; cat b":       "customer customer",
		"tar czf b.tgz data; cat b.tgz":                   "customer customer",
		"echo \"$(cat data/customers/a.csv)\" > b; cat b": "customer customer",
		"python3 -c \"open('b','w').write(open('data/customers/a.csv').read())\"; cat b": "customer customer",
		"cat data/other.csv > b; cat b":                 "",
		"cp copy.csv again; mv again more; cat more":    "customer customer customer",
		"dd if=data/customers/a.csv of=b; cat b":        "customer customer",
		"sed s/a/b/ data/customers/a.csv > b; grep x b": "customer customer",
	} {
		in := b.Build(testAsk(text))
		var got []string
		for i, p := range in.Paths {
			moves := p.Access == "delete" && slices.Contains(in.Commands[p.Command].Flags, "moves")
			if p.Access == "read" || moves {
				got = append(got, p.OperatorLabels...)
			}
			_ = i
		}
		if got := strings.Join(got, " "); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

func TestCarried(t *testing.T) {
	t.Parallel()
	files := newMemFS("/home/dev/ws/data/a.csv\n/home/dev/ws/out/")
	l := testLayout()
	l.Labels = []facts.PathLabel{{Name: "customer", Patterns: []string{testWS + "/data"}}, {Name: "row", Patterns: []string{testWS + "/data/a.csv"}}}
	in := NewBuilder(l, files, nil).Build(testAsk("cp data/a.csv out/; cat data/a.csv > b; echo x > c"))
	want := map[string][]string{testWS + "/out/a.csv": {"customer", "row"}, testWS + "/b": {"customer", "row"}}
	if got := facts.Carried(in); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v, want %v", got, want)
	}
	if e := facts.EventOf(in); !slices.Equal(e.OperatorLabels, []string{"customer", "row"}) {
		t.Errorf("the event has %v", e.OperatorLabels)
	}
}
