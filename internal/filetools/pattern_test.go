package filetools

import (
	"strings"
	"testing"
)

func TestPatterns(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ pattern, matches, misses string }{
		// As fnmatch on the whole relative path: * and ? cross directories.
		{"*", "a a/b .hidden a/.b", ""},
		{"*.py", "a.py a/b.py a/b/c.py", "a.pyc py a.py/x"},
		{"a/*", "a/b a/b/c", "a b/a/c"},
		{"a?b", "axb a/b", "ab axxb"},
		{"[ab].txt", "a.txt b.txt", "c.txt ab.txt"},
		{"[!ab].txt", "c.txt", "a.txt"},
		{"[^ab].txt", "c.txt", "a.txt"},
		{"a[[]1].txt", "a[1].txt", "a1.txt"},
		{`a\b`, `a\b`, "ab"},
		{"test_*", "test_a test_a/b", "a/test_a"},
		{"*test_*", "test_a a/test_a", "tes_a"},
		{"A.txt", "A.txt", "a.txt"},
		{"./a.txt", "a.txt", "b.txt"},
		{"é*", "é éa", "e"},
		// Besides, **/ may match nothing.
		{"**/*.py", "a.py a/b.py a/b/c.py", "a.txt"},
		{"src/**/*.py", "src/a.py src/a/b.py src/a/b/c.py", "a.py srcs/a.py"},
		{"a/**", "a/b a/b/c", "a"},
		{"**/x/**/y", "x/y a/x/y x/b/y a/x/b/y", "y x ay"},
		{"a**/b", "a/b axx/b", "b ab"},
		{"**", "a a/b", ""},
	} {
		p, err := parsePatterns("x", []string{c.pattern})
		if err != nil {
			t.Errorf("%s: %v", c.pattern, err)
			continue
		}
		for _, name := range strings.Fields(c.matches) {
			if !p.match(name) {
				t.Errorf("%s misses %s", c.pattern, name)
			}
		}
		for _, name := range strings.Fields(c.misses) {
			if p.match(name) {
				t.Errorf("%s matches %s", c.pattern, name)
			}
		}
	}
}

func TestMatchAllBelow(t *testing.T) {
	t.Parallel()
	for pattern, want := range map[string]bool{
		"dir/*": true, "dir/**": true, "*": true, "d*": true, "**/dir/*": true, "dir/*.py": false, "dir": false, "dir/?*": false, "other/*": false, "dir/[a]*": false,
	} {
		p, err := parsePatterns("x", []string{pattern})
		if err != nil {
			t.Fatal(err)
		}
		if got := p.matchAllBelow("dir"); got != want {
			t.Errorf("%s: %v", pattern, got)
		}
	}
}

func TestPatternBounds(t *testing.T) {
	t.Parallel()
	for want, list := range map[string][]string{
		"65 patterns":                    strings.Split(strings.Repeat("a ", 64)+"a", " "),
		"more than 4096 bytes":           {strings.Repeat("a", 4097)},
		"more than 4 times **/":          {"**/**/**/**/**/a"},
		"not a pattern: a [ needs its ]": {"[a"},
		"an empty pattern":               {""},
	} {
		if _, err := parsePatterns("include_patterns", list); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// FuzzPatterns: no pattern brings matching down, and each matches the name that it spells.
func FuzzPatterns(f *testing.F) {
	for _, s := range []string{"*.py", "**/a/**/*b", "[!a-z]?", `\`, "[", "a**/b", "/", "[]-a]", "é\x00"} {
		f.Add(s, "a/b.py")
	}
	f.Fuzz(func(t *testing.T, pattern, name string) {
		p, err := parsePatterns("x", []string{pattern})
		if err != nil {
			return
		}
		p.match(name)
		if p.matchAllBelow(name) && !(p.match(name+"/a") && p.match(name+"/b/c.d")) {
			t.Errorf("%q does not match all below %q", pattern, name)
		}
		if !strings.ContainsAny(pattern, `*?[\`) && !strings.HasPrefix(pattern, "./") && !p.match(pattern) {
			t.Errorf("%q does not match itself", pattern)
		}
	})
}
