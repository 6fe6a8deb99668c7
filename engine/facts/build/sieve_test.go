package build

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/sallyport-dev/sallyport/engine/facts"
)

// leaks reports whether a text reads a place as a whole that has a label.
func leaks(in *facts.Input, label string) bool {
	return slices.ContainsFunc(in.Paths, func(p facts.Path) bool {
		return p.Access == "read" && p.Recursive && slices.Contains(p.Labels, label) && !slices.Contains(p.Labels, "metadata")
	})
}

// TestSieve holds which reads of a whole place reach the environment file in it.
func TestSieve(t *testing.T) {
	t.Parallel()
	b := testBuilder()
	reaching := []string{
		"grep -r DB .", "grep -R DB", "grep -d recurse DB .", "grep --directories=recurse DB .", "rgrep DB .", "grep -r --include='.*' DB .",
		"grep -r --include=*.go --include='*' DB .", "grep -r --exclude-dir=src DB .", "grep -r --exclude=a.txt DB .", "grep -r --exclude=\"$x\" DB .",
		"grep -r --exclude=.env --include='.e*' DB .", "grep -r --include=\"$(x)\" DB .",
		"rg --hidden DB", "rg -uu DB .", "rg -. DB", "ag -u DB", "ag --hidden DB", "ugrep -r --hidden DB .", "ack DB .",
		"tar czf x.tgz .", "tar cf x.tar --exclude=src .", "tar cf x.tar -C /home/dev ws", "zip -r x.zip .", "zip -r x.zip . -x src", "cp -a . /tmp/c",
		"rsync -a . /tmp/c", "rsync -a --exclude=src . /tmp/c", "scp -r . h:", "7z a x.7z .", "docker cp . c:/x", "diff -r . /tmp/c",
		"find . -maxdepth 1 -type f -exec cat {} +", "find . -type f | xargs cat", "find . -type f | while read -r f; do cat \"$f\"; done",
		"find . -type f -exec grep -l DB {} + | xargs cat", "find . -name '.*' -exec cat {} +", "find . -iname '.ENV' -exec cat {} +",
		"find . -path '*e*' -exec cat {} +", "find . \\( -name a -o -name '.e*' \\) -exec cat {} +", "find . -name a -o -type f -exec cat {} +",
		"find . ! -name a.txt -type f -exec cat {} +", "find . ! \\( -name .env -name x \\) -exec cat {} +", "find . -path ./src -prune -o -type f -exec cat {} +",
		"cat $(ls -A)", "find \"$(pwd)\" -type f -exec cat {} +", "fd -H -t f -x cat", "ls -a | xargs cat", "git ls-files -o | xargs cat", "fd -H -t f | xargs cat", "fd -u . | xargs cat",
	}
	passing := []string{
		"grep -r DB src", "grep -r --include='*.go' DB .", "grep -r DB . --include=*.go --include=*.md", "grep -r --exclude=.env DB .",
		"grep -r --exclude='.env*' DB .", "grep -r --include='*' --exclude='.e*' DB .", "rg DB", "rg DB .", "rg -t go DB", "rg --hidden -g '!.env' DB", "rg -g '*.go' DB",
		"ag DB", "ugrep -r DB .", "fd -t f | xargs cat", "fd -H -e go | xargs cat", "fd -H -E .env | xargs cat",
		"tar czf x.tgz src", "tar czf x.tgz --exclude=.env .", "tar czf x.tgz --exclude='./.env' .", "tar xzf x.tgz", "zip -r x.zip . -x .env", "zip -r x.zip src", "cp -a src /tmp/c",
		"rsync -a --exclude='.env*' . /tmp/c", "rsync -a --exclude=/.env --include='*.go' . /tmp/c", "find . -name '*.go' -exec cat {} +",
		"find . \\( -name '*.go' -o -name '*.md' \\) -type f -exec cat {} +", "find . -type f ! -name .env -exec cat {} +",
		"find . -type f -not -path '*/.*' -exec cat {} +", "find . -name '.*' -prune -o -type f -exec cat {} +", "find src -type f | xargs cat",
		"find . -path '*/src/*.go' -exec cat {} +", "find . -type f", "ls -laR .", "du -a .", "ls | xargs cat", "git ls-files | xargs cat",
		"fd -t f -x cat", "git ls-files | while read -r f; do cat \"$f\"; done", "docker run -v .:/w alpine ls", "grep -r DB node_modules", "git add .",
	}
	for want, list := range map[bool][]string{true: reaching, false: passing} {
		for _, text := range list {
			if in := b.Build(testAsk(text)); leaks(in, "contains_credential") != want || leaks(in, "contains_unseen") {
				t.Errorf("%s: want %v, paths %+v", text, want, in.Paths)
			}
		}
	}
}

// TestSieveAsksGit compares ignored and tracked files with git.
func TestSieveAsksGit(t *testing.T) {
	t.Parallel()
	const there = "/home/dev/ws/prod.env\n/home/dev/ws/.git/HEAD\n/home/dev/ws/a.go\n"
	b := func(more string) *Builder { return NewBuilder(testLayout(), newMemFS(there+more), fakeHistory{}) }
	if !leaks(b("").Build(testAsk("rg DB .")), "contains_credential") {
		t.Error("rg does not reach a file that nothing ignores")
	}
	ignored := b("/home/dev/ws/.gitignore: *.env")
	for text, want := range map[string]bool{
		"rg DB .": false, "rg --no-ignore DB .": true, "git ls-files -o --exclude-standard | xargs cat": false,
		"git ls-files -o | xargs cat": true, "git ls-files | xargs cat": false, "rg -g '*.env' DB .": true,
	} {
		if got := leaks(ignored.Build(testAsk(text)), "contains_credential"); got != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
}

// TestSieveLeavesOwnFiles holds that what the session has made and what tools install is no secret of
// anybody's.
func TestSieveLeavesOwnFiles(t *testing.T) {
	t.Parallel()
	files := newMemFS("/home/dev/ws/.env\n/home/dev/ws/node_modules/m/.env\n/home/dev/ws/a.go")
	created := fakeHistory{seen: map[string]string{"/home/dev/ws/.env": "created"}}
	if leaks(NewBuilder(testLayout(), files, created).Build(testAsk("grep -r DB .")), "contains_credential") {
		t.Error("what the session has made counts")
	}
	if !leaks(NewBuilder(testLayout(), files, fakeHistory{}).Build(testAsk("grep -r DB .")), "contains_credential") {
		t.Error("what was there does not count")
	}
}

// TestTooMuchToLookAt holds that a place of which not all is looked at says so.
func TestTooMuchToLookAt(t *testing.T) {
	t.Parallel()
	many := func(dir string) *Builder {
		var list strings.Builder
		for i := range 4 {
			for j := range 10001 {
				fmt.Fprintf(&list, "%s/%s/d%d/f%d\n", testWS, dir, i, j)
			}
		}
		return NewBuilder(testLayout(), newMemFS(list.String()), fakeHistory{})
	}
	big, installed := many("src"), many("node_modules")
	if !leaks(big.Build(testAsk("grep -r x .")), "contains_unseen") {
		t.Error("a place with too much below it does not say so")
	}
	if leaks(big.Build(testAsk("find . -name '*.go' | xargs cat")), "contains_unseen") {
		t.Error("a search for names that no credentials have says so")
	}
	if leaks(big.Build(testAsk("grep -r x src/d1")), "contains_unseen") {
		t.Error("a small place says that too much lies below it")
	}
	if leaks(installed.Build(testAsk("grep -r x .")), "contains_unseen") {
		t.Error("what tools install counts")
	}
}
