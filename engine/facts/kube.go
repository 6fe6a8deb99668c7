package facts

import (
	"errors"
	"io/fs"
	"slices"
	"strings"

	"github.com/sallyport-dev/sallyport/engine/commands"
	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

// Bounds of what is read of kubeconfig files.
const (
	kubeconfigBytes = 1 << 20
	kubeconfigFiles = 16 // of one command
)

// kubeconfig holds the names in kubeconfig files. Credentials are never decoded.
type kubeconfig struct {
	Current  string `yaml:"current-context"`
	Contexts []struct {
		Name    string
		Context kubeContext
	}
	Clusters []struct {
		Name    string
		Cluster kubeCluster
	}
}

type kubeContext struct{ Cluster, User, Namespace string }

type kubeCluster struct {
	Server string
	Proxy  string `yaml:"proxy-url"`
}

// kubeSettings are the names in all kubeconfig files of a command.
type kubeSettings struct {
	current  string
	contexts map[string]kubeContext
	clusters map[string]kubeCluster
}

// kubeGiven is what the words and variables of a command say of its cluster, by the fields of commands.Kube.
type kubeGiven struct {
	fields  map[string]value.Word // the last word of each field
	unclear bool                  // words that are not known may hold further options
}

// kubeFacts lists the settings of Kubernetes that may be in force for command i: several where earlier
// commands of the text may or may not have switched the context.
func (w *build) kubeFacts(i int, c *call) []Kube {
	list := []Kube{}
	k := c.table.kube(c.cmd.Name)
	if k == nil || k.Context == nil || c.spec == nil {
		return list
	}
	given := c.kubeWords(k)
	w.kubeVariables(i, k, &given)
	files, known := w.kubeFiles(i, k, given)
	var settings kubeSettings
	if known {
		settings, known = w.readKube(files, given.fields["config"].Text != "")
	}
	currents, whole := w.kubeSwitches(i, files, settings)
	if !known || given.unclear {
		currents, whole = nil, false
	}
	for _, current := range currents {
		list = addKube(list, c, inForce(k, given, settings, current), settings)
	}
	if !whole {
		list = addKube(list, c, inForce(k, given, kubeSettings{}, ""), kubeSettings{})
	}
	return list
}

// kube is what the table says of a command's choice of a cluster, nil where it makes none.
func (t *table) kube(name string) *commands.Kube {
	for _, n := range spellingsOf(name) {
		if row := t.rows.Command(n); row != nil {
			return row.Kube
		}
	}
	return nil
}

// addKube adds settings that the list does not have, and the places to which they lead.
func addKube(list []Kube, c *call, k Kube, s kubeSettings) []Kube {
	if slices.Contains(list, k) || len(list) == maxOptions {
		return list
	}
	c.target(targetCluster, k.Server.Value, k.Server.Certainty)
	if proxy := s.clusters[k.Cluster.Value].Proxy; proxy != "" {
		c.targetWord(targetProxy, exact(proxy))
	}
	return append(list, k)
}

// kubeWords reads the words of a command for the options of k. Unlike other options, these count behind the
// operands of exec, too, up to "--" (pflag).
func (c *call) kubeWords(k *commands.Kube) kubeGiven {
	names := map[string][]string{
		"config": k.Config, "context": k.Context, "cluster": k.Cluster, "server": k.Server, "user": k.User,
		"namespace": k.Namespace, "everywhere": k.Everywhere, "credentials": k.Credentials,
		"manifests": k.Manifests, "defaults": k.Defaults,
	}
	given := kubeGiven{fields: map[string]value.Word{}}
	words, doubt := c.cmd.Words, false // doubt: the word before may take this one for its value
	for i := 1; i < len(words) && (words[i].Text != "--" || words[i].Certainty != value.Exact); i++ {
		word := words[i]
		given.unclear = given.unclear || mayBeOptions(word)
		if !isOption(word) {
			doubt = false
			continue
		}
		uses, unsure := commands.Read(word.Text, c.spec.style, c.arity), doubt
		if len(word.Text) > 2 && word.Text[1] != '-' && word.Text[2] == '=' {
			uses = []commands.Use{{Name: word.Text[:2], At: 3}} // -n=NAME, -A=false
		}
		for _, u := range uses {
			w, bare := value.Word{Certainty: value.Exact}, strings.TrimLeft(u.Name, "-")
			switch {
			case u.At > len(word.Prefix):
				given.unclear = true
			case u.At > 0:
				w = cut(word, u.At)
			case u.Next && i+1 < len(words):
				i++
				w = words[i]
				given.unclear = given.unclear || w.Certainty != value.Exact && !w.Quoted
			}
			o := c.findOption(u.Name)
			doubt = o == nil && u.At == 0
			for field, options := range names {
				if !slices.Contains(options, bare) || field == "manifests" && (o == nil || o.value == nil) {
					continue // of "kubectl logs -f", the letter means --follow
				}
				given.unclear = given.unclear || unsure
				switch field {
				case "everywhere", "credentials", "manifests", "defaults":
					if w.Text == "" {
						w = exact("true")
					}
				}
				given.fields[field] = w
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

// kubeVariables fills in what variables give where no option does.
func (w *build) kubeVariables(i int, k *commands.Kube, given *kubeGiven) {
	for _, pair := range k.Variables {
		name, field, _ := strings.Cut(pair, "=")
		if given.fields[field].Text != "" {
			continue
		}
		if v := w.variable(i, name); v.Text != "" || v.Certainty != value.Exact {
			given.fields[field] = v
		}
	}
}

// kubeFiles lists the kubeconfig files of command i. known is false where they are not known, or where other
// files may hold defaults of options.
func (w *build) kubeFiles(i int, k *commands.Kube, given kubeGiven) (files []string, known bool) {
	c := w.calls[i]
	home := w.variable(i, "HOME")
	if home.Text == "" && home.Certainty == value.Exact {
		home = exact(w.homeDir())
	}
	atHome := home.Certainty == value.Exact && isAbs(home.Text) && !c.cmd.Elevated && c.cmd.Dir.Known
	for _, name := range k.Defaults {
		switch file := join(home.Text, name); {
		case !strings.Contains(name, "/"):
			if v := w.variable(i, name); v.Text != "" || v.Certainty != value.Exact {
				return nil, false
			}
		case atHome && w.view.look(clean(file)).exists:
			return nil, false
		}
	}
	_, defaults := given.fields["defaults"]
	option, named := given.fields["config"]
	variable := w.variable(i, "KUBECONFIG")
	var list []string
	switch {
	case defaults || named && option.Certainty != value.Exact:
		return nil, false
	case option.Text != "":
		list = []string{option.Text}
	case variable.Certainty != value.Exact || c.cmd.Elevated:
		return nil, false
	case variable.Text != "":
		list = strings.Split(variable.Text, ":")
	case !atHome:
		return nil, false
	default:
		list = []string{join(home.Text, ".kube/config")}
	}
	for _, file := range list {
		if file != "" && !isAbs(file) {
			file = join(c.cmd.Dir.Path, file)
		}
		if file != "" && !slices.Contains(files, clean(file)) {
			files = append(files, clean(file))
		}
	}
	return files, c.cmd.Dir.Known && len(files) <= kubeconfigFiles
}

// readKube reads kubeconfig files and merges them as client-go does: of a name that several files have, the
// first counts. Files that are missing count as empty, unless an option names them.
func (w *build) readKube(files []string, named bool) (kubeSettings, bool) {
	s := kubeSettings{contexts: map[string]kubeContext{}, clusters: map[string]kubeCluster{}}
	found := false
	for _, file := range files {
		content, whole, err := w.fs.ReadFile(file, kubeconfigBytes)
		if errors.Is(err, fs.ErrNotExist) && !named {
			continue
		}
		var one kubeconfig
		if err != nil || !whole || w.layout.YAML == nil || w.layout.YAML(content, &one) != nil {
			return kubeSettings{}, false
		}
		found = true
		if s.current == "" {
			s.current = one.Current
		}
		for _, c := range one.Contexts {
			if _, ok := s.contexts[c.Name]; !ok {
				s.contexts[c.Name] = c.Context
			}
		}
		for _, c := range one.Clusters {
			if _, ok := s.clusters[c.Name]; !ok {
				s.clusters[c.Name] = c.Cluster
			}
		}
	}
	return s, found
}

// kubeSwitches lists the contexts that may be the current one when command i runs. whole is false where
// another command may change the files in a way that is not followed.
func (w *build) kubeSwitches(i int, files []string, s kubeSettings) (currents []string, whole bool) {
	currents, whole = []string{s.current}, !w.filesWritten(i, files)
	for j, other := range w.calls {
		k := other.table.kube(other.cmd.Name)
		switch {
		case j == i || slices.Contains(w.calls[i].carriers, j) || j > i && !w.comesAround(j, i):
		case other.obscure() || k != nil && other.does(k.Changes):
			whole = false
		case k != nil && other.does(k.Switches):
			given := other.kubeWords(k)
			its, known := w.kubeFiles(j, k, given)
			name := other.operands
			named := len(name) == 1 && name[0].Certainty == value.Exact
			if !known || given.unclear || !named || !slices.Equal(its, files) {
				whole = false
				continue
			}
			_, there := s.contexts[name[0].Text]
			switch {
			case !there:
				whole = false
			case w.runsBefore(j, i, true):
				currents = []string{name[0].Text}
			default:
				currents = append(currents, name[0].Text)
			}
		}
	}
	return currents, whole
}

// obscure reports a command that may run anything.
func (c *call) obscure() bool {
	unread := c.cmd.Code.From != "" && !c.cmd.Code.Static
	return unread || len(c.cmd.Words) > 0 && !c.known || c.cmd.Certainty == value.Unknown
}

// does reports that the command is one of some subcommands; "*" stands for all calls.
func (c *call) does(verbs []string) bool {
	words := strings.Join(append(slices.Clone(c.sub), texts(c.operands)...), " ") + " "
	return slices.ContainsFunc(verbs, func(verb string) bool {
		return verb == "*" || strings.HasPrefix(words, verb+" ") ||
			c.base != nil && c.base.subs == nil && strings.Contains(words, " "+verb+" ")
	})
}

// filesWritten reports that a command before i may write one of the files.
func (w *build) filesWritten(i int, files []string) bool {
	return slices.ContainsFunc(w.in.Paths, func(p Path) bool {
		if p.Command >= i || p.Access != "write" && p.Access != "delete" {
			return false
		}
		return p.Certainty == "unknown" || slices.ContainsFunc(files, func(file string) bool {
			real, _ := w.view.real(file, false)
			return p.Real == real || p.Path == file || below(real, p.Real) ||
				p.Certainty == "partial" && strings.HasPrefix(file, p.Path)
		})
	})
}

// inForce is the choice of a command, from its words and variables and from its files with their current
// context. Without a context nothing of the files is in force.
func inForce(k *commands.Kube, given kubeGiven, s kubeSettings, current string) (out Kube) {
	pick := func(field, otherwise string, known bool) KubeValue {
		w, ok := given.fields[field]
		switch {
		case given.unclear, ok && w.Certainty != value.Exact:
		case ok && w.Text != "":
			text, certainty := shown(w)
			return KubeValue{Value: text, Certainty: certainty}
		case known && !slices.Contains(k.Unknown, field):
			text, certainty := shown(exact(otherwise))
			return KubeValue{Value: text, Certainty: certainty}
		}
		return KubeValue{Certainty: value.Unknown.String()}
	}
	out.Context = pick("context", current, current != "")
	context, known := s.contexts[out.Context.Value]
	known = known && out.Context.Certainty == "exact"
	out.Cluster = pick("cluster", context.Cluster, known)
	cluster, there := s.clusters[out.Cluster.Value]
	there = there && out.Cluster.Certainty == "exact"
	out.Server = pick("server", cluster.Server, there)
	if out.Server.Value = hostOf(out.Server.Value); out.Server.Value == "" {
		out.Server.Certainty = value.Unknown.String()
	}
	if out.User = pick("user", context.User, known); given.fields["credentials"].Text != "" {
		out.User = KubeValue{Certainty: value.Unknown.String()}
	}
	if context.Namespace == "" {
		context.Namespace = "default"
	}
	switch _, manifests := given.fields["manifests"]; {
	case given.fields["everywhere"].Text == "true" && !given.unclear:
		out.Namespace = KubeValue{Value: "*", Certainty: "exact"}
	default:
		out.Namespace = pick("namespace", context.Namespace, known && !manifests)
	}
	return out
}
