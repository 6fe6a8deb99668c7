package walk_test

import (
	"slices"
	"testing"

	"github.com/sallyport-dev/sallyport/engine/shell"
	"github.com/sallyport-dev/sallyport/engine/shell/value"
	"github.com/sallyport-dev/sallyport/engine/shell/walk"
)

// Where the whole environment is known, a variable that neither it nor the text sets is empty. Code that
// may have set variables ends that, and a variable that shells set is never known by its absence.
func TestVariablesThatNothingSets(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`rm "a${z}b" $z`:                            "rm ab",
		`rm "$z/x"`:                                 "rm /x",
		`rm ${z:-x} ${z-y} "${z:+v}"`:               "rm x y ",
		`rm ${E:-x} ${E+y}`:                         "rm e y",
		`z=a; unset z; rm "a$z"`:                    "rm a",
		`unset E; rm "a$E"`:                         "rm a",
		`unset E; bash -c 'rm "a$E"'`:               "rm a",
		`bash -c 'rm "a$1"'`:                        "rm a",
		`bash -s b <<< 'rm "a$1$2"'`:                "rm ab",
		`f() { rm "a$1$2"; }; f b`:                  "rm ab",
		`rm "a$1"`:                                  "rm ?",
		`rm "$HOSTNAME"`:                            "rm ?",
		`read -r z; rm "$z"`:                        "rm ?",
		`. ./unread.sh; rm "$z"`:                    "rm ?",
		`. ./unread.sh; rm "$E"`:                    "rm ?",
		`eval "$(cmd)"; rm "$E"`:                    "rm ?",
		`if cmd; then z=b; fi; rm "a$z"`:            "rm ?",
		`zsh -c 'rm "$path"'`:                       "rm ?",
		`sudo bash -c 'rm "$z"'`:                    "rm ?",
		`ssh h 'rm "$z"'`:                           "rm ?",
		`env -i bash -c 'rm "$E"'`:                  "rm ?",
		`declare -n r="$(cmd)"; r=x; rm "$z"`:       "rm ?",
		`f() { rm "a$z"; }; trap f EXIT; z=b`:       "rm ?",
		`for i in $l; do rm "$z"; z=b; done`:        "rm ?",
		`while cmd; do rm "a$z"; z=b; done`:         "rm ?",
		`python3 -c 'import os;os.system("rm $z")'`: "rm ?",
	} {
		p, err := walk.Parse(text, shell.Options{Dir: "/w", Env: map[string]string{"E": "e", "HOME": "/h"}, Whole: true})
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		var got []string
		for _, c := range p.Commands {
			if c.Name != "rm" {
				continue
			}
			line := "rm"
			for _, word := range c.Words[1:] {
				if word.Certainty != value.Exact {
					line = "rm ?"
					break
				}
				line += " " + word.Text
			}
			got = append(got, line)
		}
		if !slices.Contains(got, want) || want != "rm ?" && len(got) != 1 {
			t.Errorf("%s: got %q, want %q", text, got, want)
		}
	}
}
