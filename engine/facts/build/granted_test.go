package build

import (
	"errors"
	"io/fs"
	"testing"

	"github.com/sallyport-dev/sallyport/engine/facts"
)

const grantedFiles = machine + `
	/home/dev/ws/abs -> /home/dev/ws/src
	/home/dev/ws/toctx -> /ctx/doc.md
	/home/dev/ws/deep -> up/p.go
	/home/dev/ws/round -> /srv/data/../../home/dev/ws/a.txt
	/home/dev/ws/roundnone -> /srv/none/../../home/dev/ws/a.txt
	/link/to -> ../home/dev
	/again -> /link
	/tricky/to -> /home/dev/ws
	/home/dev/ws/tricky -> /tricky/to/a.txt
`

func grantedView() facts.FS {
	l := testLayout()
	// A root whose spelling leads through two links.
	l.Roots = append(l.Roots, facts.Root{Path: "/again/to/other", Zone: "context"})
	return NewBuilder(l, newMemFS(grantedFiles), nil).Granted()
}

func TestGrantedShows(t *testing.T) {
	t.Parallel()
	g := grantedView()
	for p, want := range map[string]string{
		testWS:                    "ws",
		testWS + "/a.txt":         "a.txt",
		"a.txt":                   "a.txt",
		"./src/../a.txt":          "a.txt",
		"":                        "ws",
		".":                       "ws",
		testWS + "/up":            "up",
		testWS + "/up/p.go":       "p.go",
		testWS + "/abs/main.go":   "main.go",
		testWS + "/out":           "out", // the link itself
		testWS + "/dangling":      "dangling",
		"/ctx":                    "ctx",
		"/ctx/build/f":            "f",
		"/single/file.txt":        "file.txt",
		"/again/to/other/f":       "f",
		testHome + "/other/f":     "f",
		testWS + "/secrets/k":     "k", // protected places may be read
		"/ctx/../home/dev/ws/src": "src",
	} {
		if info, err := g.Lstat(p); err != nil || info.Name() != want {
			t.Errorf("%s: %v %v, want %s", p, info, err, want)
		}
	}
	if _, err := g.Lstat(testWS + "/gone"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("what is not there: %v", err)
	}
	for p, want := range map[string]int{testWS + "/up": 3, "up/": 3, "abs/pkg": 3, "/ctx": 2} {
		if entries, err := g.ReadDir(p); err != nil || len(entries) != want {
			t.Errorf("list %s: %d entries, want %d: %v", p, len(entries), want, err)
		}
	}
	if target, err := g.ReadLink("out"); err != nil || target != "/srv/data" {
		t.Errorf("the link leads to %q: %v", target, err)
	}
}

func TestGrantedHides(t *testing.T) {
	t.Parallel()
	g := grantedView()
	for _, p := range []string{
		"/", "/etc", "/etc/passwd", "/srv/data/f", "/nowhere", "..", "../other/../.ssh/id_rsa", testHome, testHome + "/.bashrc",
		testWS + "/../.bashrc", testWS + "/out/f", testWS + "/up/../../../.bashrc",
		testWS + "x", "/ctx2", "/single", "/single/beside.txt", "/etc/app/../passwd",
		testWS + "/dangling/x", // not to be told from a place that is there
	} {
		if _, err := g.Lstat(p); !errors.Is(err, fs.ErrPermission) {
			t.Errorf("look at %s: %v", p, err)
		}
		if _, err := g.ReadLink(p); !errors.Is(err, fs.ErrPermission) {
			t.Errorf("read link %s: %v", p, err)
		}
		if _, err := g.ReadDir(p); !errors.Is(err, fs.ErrPermission) {
			t.Errorf("list %s: %v", p, err)
		}
	}
	for _, p := range []string{"out", "key", "dangling"} { // links that lead out are not listed through
		if _, err := g.ReadDir(p); !errors.Is(err, fs.ErrPermission) {
			t.Errorf("list %s: %v", p, err)
		}
	}
	for _, p := range []string{"a.txt", "/etc/passwd"} {
		if _, _, err := g.ReadFile(p, 10); !errors.Is(err, fs.ErrPermission) {
			t.Errorf("read %s: %v", p, err)
		}
	}
	if _, err := NewBuilder(facts.Layout{}, newMemFS(machine), nil).Granted().Lstat("/etc/passwd"); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("nothing is granted: %v", err)
	}
}

// A way through a place that is not granted tells nothing of it: the answer is the same whether the
// place is there or not, and what its links lead to is not known.
func TestGrantedTellsNothingOfOtherPlaces(t *testing.T) {
	t.Parallel()
	g := grantedView()
	there, err1 := g.ReadDir("round")
	none, err2 := g.ReadDir("roundnone")
	if len(there) != len(none) || (err1 == nil) != (err2 == nil) || errors.Is(err1, fs.ErrPermission) != errors.Is(err2, fs.ErrPermission) {
		t.Errorf("there: %v, not there: %v", err1, err2)
	}
	if _, err := g.ReadDir("/tricky/to"); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("a link elsewhere that leads back was followed: %v", err)
	}
}
