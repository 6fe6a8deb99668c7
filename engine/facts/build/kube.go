package build

import (
	"errors"
	"io/fs"
	"slices"
	"strings"

	"github.com/sallyport-dev/sallyport/engine/commands"
	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/engine/facts/call"
	"github.com/sallyport-dev/sallyport/engine/facts/disk"
	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

// Bounds of reading kubeconfig files.
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

// kubeFacts lists the settings of Kubernetes that may be in force for command i: several where earlier
// commands of the text may or may not have switched the context.
func (w *build) kubeFacts(i int, c *call.Call) []facts.Kube {
	list := []facts.Kube{}
	k := c.Table.Kube(c.Cmd.Name)
	if k == nil || k.Context == nil || c.Spec == nil {
		return list
	}
	given := c.KubeWords(k)
	w.kubeVariables(i, k, &given)
	files, known := w.kubeFiles(i, k, given)
	var settings kubeSettings
	if known {
		settings, known = w.readKube(files, given.Fields["config"].Text != "")
	}
	currents, whole := w.kubeSwitches(i, files, settings)
	if !known || given.Unclear {
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

// addKube adds settings that the list does not have, and the places to which they lead.
func addKube(list []facts.Kube, c *call.Call, k facts.Kube, s kubeSettings) []facts.Kube {
	if slices.Contains(list, k) || len(list) == call.MaxOptions {
		return list
	}
	c.Target(call.TargetCluster, k.Server.Value, k.Server.Certainty)
	if proxy := s.clusters[k.Cluster.Value].Proxy; proxy != "" {
		c.TargetWord(call.TargetProxy, call.Exact(proxy))
	}
	return append(list, k)
}

// kubeVariables fills in values from variables where no option gives one.
func (w *build) kubeVariables(i int, k *commands.Kube, given *call.KubeGiven) {
	for _, pair := range k.Variables {
		name, field, _ := strings.Cut(pair, "=")
		if given.Fields[field].Text != "" {
			continue
		}
		if v := w.variable(i, name); v.Text != "" || v.Certainty != value.Exact {
			given.Fields[field] = v
		}
	}
}

// kubeFiles lists the kubeconfig files of command i. known is false where they are not known, or where other
// files may hold defaults of options.
func (w *build) kubeFiles(i int, k *commands.Kube, given call.KubeGiven) (files []string, known bool) {
	c := w.calls[i]
	home := w.variable(i, "HOME")
	if home.Text == "" && home.Certainty == value.Exact {
		home = call.Exact(w.HomeDir())
	}
	atHome := home.Certainty == value.Exact && disk.IsAbs(home.Text) && !c.Cmd.Elevated && c.Cmd.Dir.Known
	for _, name := range k.Defaults {
		switch file := disk.Join(home.Text, name); {
		case !strings.Contains(name, "/"):
			if v := w.variable(i, name); v.Text != "" || v.Certainty != value.Exact {
				return nil, false
			}
		case atHome && w.view.Look(disk.Clean(file)).Exists:
			return nil, false
		}
	}
	_, defaults := given.Fields["defaults"]
	option, named := given.Fields["config"]
	variable := w.variable(i, "KUBECONFIG")
	var list []string
	switch {
	case defaults || named && option.Certainty != value.Exact:
		return nil, false
	case option.Text != "":
		list = []string{option.Text}
	case variable.Certainty != value.Exact || c.Cmd.Elevated:
		return nil, false
	case variable.Text != "":
		list = strings.Split(variable.Text, ":")
	case !atHome:
		return nil, false
	default:
		list = []string{disk.Join(home.Text, ".kube/config")}
	}
	for _, file := range list {
		if file != "" && !disk.IsAbs(file) {
			file = disk.Join(c.Cmd.Dir.Path, file)
		}
		if file != "" && !slices.Contains(files, disk.Clean(file)) {
			files = append(files, disk.Clean(file))
		}
	}
	return files, c.Cmd.Dir.Known && len(files) <= kubeconfigFiles
}

// readKube reads kubeconfig files and merges them as client-go does: of a name that several files have, the
// first counts. Files that are missing count as empty, unless an option names them.
func (w *build) readKube(files []string, named bool) (kubeSettings, bool) {
	s := kubeSettings{contexts: map[string]kubeContext{}, clusters: map[string]kubeCluster{}}
	found := false
	for _, file := range files {
		content, whole, err := w.Files.ReadFile(file, kubeconfigBytes)
		if errors.Is(err, fs.ErrNotExist) && !named {
			continue
		}
		var one kubeconfig
		if err != nil || !whole || w.Layout.YAML == nil || w.Layout.YAML(content, &one) != nil {
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
		k := other.Table.Kube(other.Cmd.Name)
		switch {
		case j == i || slices.Contains(w.calls[i].Carriers, j) || j > i && !w.comesAround(j, i):
		case other.Obscure() || k != nil && other.Does(k.Changes):
			whole = false
		case k != nil && other.Does(k.Switches):
			given := other.KubeWords(k)
			its, known := w.kubeFiles(j, k, given)
			name := other.Operands
			named := len(name) == 1 && name[0].Certainty == value.Exact
			if !known || given.Unclear || !named || !slices.Equal(its, files) {
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

// filesWritten reports that a command before i may write one of the files.
func (w *build) filesWritten(i int, files []string) bool {
	return slices.ContainsFunc(w.in.Paths, func(p facts.Path) bool {
		if p.Command >= i || p.Access != "write" && p.Access != "delete" {
			return false
		}
		return p.Certainty == "unknown" || slices.ContainsFunc(files, func(file string) bool {
			real, _ := w.view.Real(file, false)
			return p.Real == real || p.Path == file || disk.Below(real, p.Real) ||
				p.Certainty == "partial" && strings.HasPrefix(file, p.Path)
		})
	})
}

// inForce is the choice of a command, from its words and variables and from its files with their current
// context. Without a context nothing of the files is in force.
func inForce(k *commands.Kube, given call.KubeGiven, s kubeSettings, current string) (out facts.Kube) {
	pick := func(field, otherwise string, known bool) facts.KubeValue {
		w, ok := given.Fields[field]
		switch {
		case given.Unclear, ok && w.Certainty != value.Exact:
		case ok && w.Text != "":
			text, certainty := call.Shown(w)
			return facts.KubeValue{Value: text, Certainty: certainty}
		case known && !slices.Contains(k.Unknown, field):
			text, certainty := call.Shown(call.Exact(otherwise))
			return facts.KubeValue{Value: text, Certainty: certainty}
		}
		return facts.KubeValue{Certainty: value.Unknown.String()}
	}
	out.Context = pick("context", current, current != "")
	context, known := s.contexts[out.Context.Value]
	known = known && out.Context.Certainty == "exact"
	out.Cluster = pick("cluster", context.Cluster, known)
	cluster, there := s.clusters[out.Cluster.Value]
	there = there && out.Cluster.Certainty == "exact"
	out.Server = pick("server", cluster.Server, there)
	if out.Server.Value = call.HostOf(out.Server.Value); out.Server.Value == "" {
		out.Server.Certainty = value.Unknown.String()
	}
	if out.User = pick("user", context.User, known); given.Fields["credentials"].Text != "" {
		out.User = facts.KubeValue{Certainty: value.Unknown.String()}
	}
	if context.Namespace == "" {
		context.Namespace = "default"
	}
	switch _, manifests := given.Fields["manifests"]; {
	case given.Fields["everywhere"].Text == "true" && !given.Unclear:
		out.Namespace = facts.KubeValue{Value: "*", Certainty: "exact"}
	default:
		out.Namespace = pick("namespace", context.Namespace, known && !manifests)
	}
	return out
}
