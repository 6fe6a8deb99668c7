package call

import (
	"slices"
	"strings"

	"github.com/sallyport-dev/sallyport/engine/commands"
	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

// KubeGiven is the cluster by the words and variables of a command, by the fields of commands.Kube.
type KubeGiven struct {
	Fields  map[string]value.Word // the last word of each field
	Unclear bool                  // words that are not known may hold further options
}

// Kube is the row of the table for a command's choice of a cluster, nil where it makes none.
func (t *Table) Kube(name string) *commands.Kube {
	for _, n := range spellingsOf(name) {
		if row := t.Rows.Command(n); row != nil {
			return row.Kube
		}
	}
	return nil
}

// KubeWords reads the words of a command for the options of k. Unlike other options, these count behind the
// operands of exec, too, up to "--" (pflag).
func (c *Call) KubeWords(k *commands.Kube) KubeGiven {
	names := map[string][]string{
		"config": k.Config, "context": k.Context, "cluster": k.Cluster, "server": k.Server, "user": k.User,
		"namespace": k.Namespace, "everywhere": k.Everywhere, "credentials": k.Credentials,
		"manifests": k.Manifests, "defaults": k.Defaults,
	}
	given := KubeGiven{Fields: map[string]value.Word{}}
	words, doubt := c.Cmd.Words, false // doubt: the word before may take this one for its value
	for i := 1; i < len(words) && (words[i].Text != "--" || words[i].Certainty != value.Exact); i++ {
		word := words[i]
		given.Unclear = given.Unclear || mayBeOptions(word)
		if !IsOption(word) {
			doubt = false
			continue
		}
		uses, unsure := commands.Read(word.Text, c.Spec.style, c.arity), doubt
		if len(word.Text) > 2 && word.Text[1] != '-' && word.Text[2] == '=' {
			uses = []commands.Use{{Name: word.Text[:2], At: 3}} // -n=NAME, -A=false
		}
		for _, u := range uses {
			w, bare := value.Word{Certainty: value.Exact}, strings.TrimLeft(u.Name, "-")
			switch {
			case u.At > len(word.Prefix):
				given.Unclear = true
			case u.At > 0:
				w = Cut(word, u.At)
			case u.Next && i+1 < len(words):
				i++
				w = words[i]
				given.Unclear = given.Unclear || w.Certainty != value.Exact && !w.Quoted
			}
			o := c.findOption(u.Name)
			doubt = o == nil && u.At == 0
			for field, options := range names {
				if !slices.Contains(options, bare) || field == "manifests" && (o == nil || o.Value == nil) {
					continue // of "kubectl logs -f", the letter means --follow
				}
				given.Unclear = given.Unclear || unsure
				switch field {
				case "everywhere", "credentials", "manifests", "defaults":
					if w.Text == "" {
						w = Exact("true")
					}
				}
				given.Fields[field] = w
			}
		}
	}
	return given
}

// mayBeOptions reports a word that may stand for options: its beginning is not known, or it may be several.
func mayBeOptions(w value.Word) bool {
	if w.Certainty == value.Exact {
		return w.Glob && strings.ContainsAny(w.Text[:min(1, len(w.Text))], "*?[{")
	}
	return !w.Quoted || w.Prefix == "" && !startsOtherwise(w)
}

// Obscure reports a command that may run anything.
func (c *Call) Obscure() bool {
	unread := c.Cmd.Code.From != "" && !c.Cmd.Code.Static
	return unread || len(c.Cmd.Words) > 0 && !c.Known || c.Cmd.Certainty == value.Unknown
}

// Does reports that the command is one of some subcommands; "*" stands for all calls.
func (c *Call) Does(verbs []string) bool {
	words := strings.Join(append(slices.Clone(c.Sub), Texts(c.Operands)...), " ") + " "
	return slices.ContainsFunc(verbs, func(verb string) bool {
		return verb == "*" || strings.HasPrefix(words, verb+" ") ||
			c.Base != nil && c.Base.subs == nil && strings.Contains(words, " "+verb+" ")
	})
}
