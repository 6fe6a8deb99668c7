package confirm

import (
	"testing"
	"time"
)

func TestSmoke(t *testing.T) {
	s := newHost(t).sandbox(t)
	start := time.Now()
	for _, text := range []string{
		"d=build; rm -rf \"$d\"; cd src && tool x > out.txt",
		"cat <<E\nhello $HOME\nE\ntool 'a b' | rev; ./scripts/deploy.sh 1; bash -c 'tool $0 x' y",
		"cd link; tool $PWD; cd ..; tool; exec -a ls tool q",
		"find . -name '*.py' -exec tool {} \\;; echo a b | xargs tool; tool & awk 'BEGIN{system(\"tool z\")}'",
		"tool <<< hi; while read x; do tool $x; done < requirements.txt; sh -c 'tool sh'; python3 -c 'import os;os.system(\"tool py\")'; perl -e 'system(\"tool\",\"pl\")'",
		"while :; do :; done & sleep 1; kill %1; kill -9 $$",
		"rm -rf / --no-preserve-root",
		"tool still there; chmod 000 build; tool $(say x)",
	} {
		r := s.run(t, Program{Text: text})
		t.Logf("%s\n  %v %v", text, r.Ended, r.Changed)
		for _, x := range r.Records {
			t.Logf("   %q", x)
		}
		c := Compare(Program{Text: text}, r)
		t.Logf("  == %v %v", c.Verdict, c.Faults)
	}
	t.Log(time.Since(start))
}
