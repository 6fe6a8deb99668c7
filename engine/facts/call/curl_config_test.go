package call

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestConfigWords(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"":                         nil,
		"# output = x\n\n  #y":     nil,
		"location":                 {"--location"},
		"-o x":                     {"-o", "x"},
		"output=x y":               {"--output", "x"},
		"--output : \"x y\" z":     {"--output", "x y"},
		`data = "a\"b\\c\n\q"`:     {"--data", "a\"b\\c\nq"},
		`data = "not closed`:       {"--data", "not closed"},
		"url = https://h/?a=b\r\n": {"--url", "https://h/?a=b"},
		"output =\nurl":            {"--output", "--url"},
		"=":                        nil,
	} {
		var got []string
		for _, w := range configWords(text) {
			got = append(got, w.Text)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
	}
}
