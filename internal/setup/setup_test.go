package setup

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestApply(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		format   format
		in, want string
		edits    []edit
	}{
		"json, new": {formatJSON, "", "{\n  \"a\": {\n    \"b\": true\n  }\n}\n",
			[]edit{{Path: []string{"a", "b"}, Value: true}}},
		"json, beside others": {formatJSON, "{\n    \"x\": 1, // why\n    \"y\": [1,2]\n}",
			"{\n    \"x\": 1, // why\n    \"y\": [1,2],\n    \"a\": \"<b>\"\n}",
			[]edit{{Path: []string{"a"}, Value: "<b>"}}},
		"json, trailing comma": {formatJSON, "{\n\t\"x\": 1,\n}\n", "{\n\t\"x\": 1,\n\t\"a\": 2,\n}\n",
			[]edit{{Path: []string{"a"}, Value: 2}}},
		"json, elements": {formatJSON, `{"l": ["a"]}`, "{\"l\": [\"a\",\n    \"b\"\n  ]}",
			[]edit{{Path: []string{"l"}, Value: []string{"a", "b"}, Among: true}}},
		"json, elements beside comments": {formatJSON,
			"{\n  \"l\": [\n    \"a\", // one\n    {\"x\": 1} // two\n  ]\n}\n",
			"{\n  \"l\": [\n    \"a\", // one\n    {\"x\": 1}, // two\n    \"b\"\n  ]\n}\n",
			[]edit{{Path: []string{"l"}, Value: []string{"b"}, Among: true}}},
		"json, elements out beside comments": {formatJSON,
			"{\n  \"l\": [\n    \"a\", // one\n    \"b\",\n    // two\n    \"c\"\n  ]\n}\n",
			"{\n  \"l\": [\n    \"a\", // one\n    // two\n    \"c\"\n  ]\n}\n",
			[]edit{{Path: []string{"l"}, Value: []string{"b"}, Among: true, Gone: true}}},
		"json, elements after a comma": {formatJSON, "{\"l\": [\n    1,\n  ]}",
			"{\"l\": [\n    1,\n    \"b\",\n  ]}",
			[]edit{{Path: []string{"l"}, Value: []string{"b"}, Among: true}}},
		"json, elements out": {formatJSON, `{"k": 1, "l": ["a", "b"]}`, `{"k": 1}`,
			[]edit{{Path: []string{"l"}, Value: []string{"a", "b"}, Among: true, Gone: true}}},
		"json, last of a table": {formatJSON, "{\n  \"m\": {\n    \"s\": 1\n  },\n  \"x\": 1\n}\n",
			"{\n  \"x\": 1\n}\n",
			[]edit{{Path: []string{"m", "s"}, Gone: true}}},
		"json, same": {formatJSON, `{ "a" :[ 1 ]}`, `{ "a" :[ 1 ]}`,
			[]edit{{Path: []string{"a"}, Value: []int{1}}}},
		"toml, new": {formatTOML, "", "k = \"v\"\n\n[t.u]\na = [\"x\"]\nn = 1\n",
			[]edit{
				{Path: []string{"k"}, Value: "v"},
				{Path: []string{"t", "u", "a"}, Value: []string{"x"}}, {Path: []string{"t", "u", "n"}, Value: 1},
			}},
		"toml, before the first table": {formatTOML, "# c\n\n[t]\na = 1", "# c\nk = \"v\"\n\n[t]\na = 1\nb = 2\n",
			[]edit{{Path: []string{"k"}, Value: "v"}, {Path: []string{"t", "b"}, Value: 2}}},
		"toml, gone": {formatTOML, "k = 1\n\n[t]\na = 1\n\n[u]\nb = 2\n", "k = 1\n\n[u]\nb = 2\n",
			[]edit{{Path: []string{"t", "a"}, Gone: true}}},
		"yaml": {formatYAML, "version: 1\npaths:\n  - runner: x\nrunner: local # c\n",
			"version: 1\npaths:\n  - runner: x\nrunner: \"docker\"\nworkspace: \"/w\"\n",
			[]edit{{Path: []string{"runner"}, Value: "docker"}, {Path: []string{"workspace"}, Value: "/w"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := apply(test.format, []byte(test.in), test.edits)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, string(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestUnknownForms holds that a file is refused and not spoilt.
func TestUnknownForms(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		format format
		in     string
		edit   edit
	}{
		"json, cut short":        {formatJSON, `{"a": `, edit{Path: []string{"a"}, Value: 1}},
		"json, a list":           {formatJSON, `[]`, edit{Path: []string{"a"}, Value: 1}},
		"json, null":             {formatJSON, `null`, edit{Path: []string{"a"}, Value: 1}},
		"json, no table":         {formatJSON, `{"a": 1}`, edit{Path: []string{"a", "b"}, Value: 1}},
		"json, no list":          {formatJSON, `{"a": {}}`, edit{Path: []string{"a"}, Value: []string{"x"}, Among: true}},
		"toml, dotted key":       {formatTOML, "t.a = 1\n", edit{Path: []string{"t", "a"}, Value: 2}},
		"toml, inline table":     {formatTOML, "t = {a = 1}\n", edit{Path: []string{"t", "a"}, Value: 2}},
		"toml, text of lines":    {formatTOML, "s = \"\"\"\nk = 1\n\"\"\"\n", edit{Path: []string{"k"}, Value: 2}},
		"toml, value over lines": {formatTOML, "k = [\n1]\n", edit{Path: []string{"k"}, Value: 2}},
		"yaml, flow":             {formatYAML, "{version: 1}\n", edit{Path: []string{"runner"}, Value: "local"}},
		"yaml, quoted key":       {formatYAML, "'runner': docker\n", edit{Path: []string{"runner"}, Value: "local"}},
		"yaml, block text":       {formatYAML, "version: 1\nrunner: >\n  local\n", edit{Path: []string{"runner"}, Value: "docker"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got, err := apply(test.format, []byte(test.in), []edit{test.edit}); err == nil {
				t.Errorf("written:\n%s", got)
			}
		})
	}
}

// FuzzApply holds that an edit reads back as what it says, or is refused, and that its reverse restores every
// value.
func FuzzApply(f *testing.F) {
	for _, seed := range []string{
		"", `{"a": {"b": 1}, "l": ["x"]}`, "{\n// c\n\"a\": {},\n}", "a = 1\n[l]\nb = 2\n", "a: {b: 1}\nl: [x]\n",
	} {
		for i := range byte(3) {
			f.Add(seed, i)
		}
	}
	f.Fuzz(func(t *testing.T, text string, which byte) {
		form := []format{formatJSON, formatTOML, formatYAML}[which%3]
		was, err := decode(form, []byte(text))
		if err != nil {
			return
		}
		e := edit{Path: []string{"a", "b"}, Value: "v"}
		if form == formatYAML {
			e.Path = e.Path[:1]
		}
		out, err := apply(form, []byte(text), []edit{e})
		if err != nil {
			return
		}
		now, err := decode(form, out)
		if err != nil {
			t.Fatal(err)
		}
		if v, _ := get(now, e.Path); v != "v" {
			t.Fatalf("it reads %v in\n%s", v, out)
		}
		back, err := apply(form, out, []edit{e.reverse(was)})
		if err != nil {
			return // refused, as the forms that cannot be edited are
		}
		again, err := decode(form, back)
		if err != nil {
			t.Fatal(err)
		}
		if inner, ok := was["a"].(map[string]any); ok && len(inner) == 0 && len(e.Path) > 1 {
			delete(was, "a") // what holds nothing goes with its last key
		}
		if diff := cmp.Diff(was, again); diff != "" {
			t.Errorf("(-before +after):\n%s", diff)
		}
	})
}

// TestChangedMeanwhile holds that a plan is not carried out on a file that it did not see.
func TestChangedMeanwhile(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "settings.json")
	c, err := plan(place{file, formatJSON, []edit{{Path: []string{"a"}, Value: 1}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Make([]Change{*c}); err == nil || !strings.Contains(err.Error(), "changed meanwhile") {
		t.Errorf("%v", err)
	}
	if text, _ := os.ReadFile(file); string(text) != "{}" {
		t.Errorf("it was written: %s", text)
	}
}

// TestLinks holds that settings which are a link, as in a directory of dotfiles, stay one, and that modes
// stay.
func TestLinks(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	real, link := filepath.Join(dir, "real.json"), filepath.Join(dir, "link.json")
	if err := os.WriteFile(real, []byte("{}"), 0o640); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(real, link); err != nil {
		t.Fatal(err)
	}
	c, err := plan(place{link, formatJSON, []edit{{Path: []string{"a"}, Value: 1}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := Make([]Change{*c}); err != nil {
		t.Fatal(err)
	}
	info, err := os.Lstat(link)
	if err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is gone: %v, %v", info, err)
	}
	if info, err = os.Stat(real); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("%v, %v", info, err)
	}
}
