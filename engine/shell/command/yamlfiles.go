package command

import (
	"slices"
	"strings"

	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

var kubeconfig = BuildFile{
	Names: []string{"config", "kubeconfig", ".kubeconfig", ".conf", ".yaml", ".yml"},
	Any:   true, Recipes: kubePlugins,
}

// compose is the file of a program that handles compose files behind a word, "" for one without other uses.
func compose(word string) BuildFile {
	runs := func(content string, args []string) []string {
		if word != "" && !slices.Contains(args, word) {
			return nil
		}
		return composeRuns(content, args)
	}
	return BuildFile{
		Names:   []string{"compose.yaml", "compose.yml", "docker-compose.yaml", "docker-compose.yml"},
		Recipes: runs, up: true,
		tasks: func(content string, s Start) (t tasks) {
			for _, text := range runs(content, s.texts()) {
				t.add(text)
			}
			return t
		},
	}
}

func (s Start) texts() []string {
	list := make([]string, len(s.Args))
	for i, a := range s.Args {
		list[i] = a.Text
	}
	return list
}

// composeOptions are the settings of a service that reach out of its container, as options of docker run.
var composeOptions = map[string]string{
	"privileged": "--privileged", "network_mode": "--network", "pid": "--pid", "ipc": "--ipc", "uts": "--uts",
	"userns_mode": "--userns", "cgroup": "--cgroupns",
	"cap_add": "--cap-add", "security_opt": "--security-opt",
	"devices": "--device", "volumes": "--volume",
}

// composeRuns is a compose file as one run of a container with the settings of all services.
func composeRuns(content string, args []string) []string {
	starts := func(a string) bool { return a == "up" || a == "run" || a == "create" || a == "start" }
	if !slices.ContainsFunc(args, starts) {
		return nil
	}
	var options strings.Builder
	add := func(option, set string) {
		unquoted := strings.NewReplacer("$(", "", "`", "", `"`, "", `\`, "", "'", "")
		set = strings.TrimSpace(unquoted.Replace(set))
		options.WriteString(" " + option)
		if set != "" {
			options.WriteString(`="` + set + `"`)
		}
	}
	key := ""
	for line := range strings.Lines(content) {
		text, _, _ := strings.Cut(strings.TrimSpace(line), " #")
		item, isItem := strings.CutPrefix(text, "- ")
		name, set, isMap := strings.Cut(item, ":")
		set = strings.Trim(strings.TrimSpace(set), `"'`)
		switch {
		case !isItem && set == "" && isMap:
			key = name
		case isMap && name == "source" && key == "volumes": // the long form of a mount
			add("--volume", set+":/mount")
		case isItem && composeOptions[key] != "" && !strings.HasPrefix(item, "type:"):
			add(composeOptions[key], item)
		case !isItem && strings.HasPrefix(set, "["):
			for word := range strings.SplitSeq(strings.Trim(set, "[]"), ",") {
				if o := composeOptions[name]; o != "" {
					add(o, word)
				}
			}
		case name == "privileged" && set == "true":
			add("--privileged", "")
		case !isItem && composeOptions[name] != "" && name != "privileged":
			add(composeOptions[name], set)
		}
	}
	if options.Len() == 0 {
		return nil
	}
	return []string{"docker run" + options.String() + " service"}
}

// kubePlugins are the commands by which users of a kubeconfig get their credentials.
func kubePlugins(content string, _ []string) []string {
	if !strings.Contains(content, "users:") || !strings.Contains(content, "exec:") {
		return nil
	}
	var list []string
	exec, key := -1, ""
	for line := range strings.Lines(content) {
		text := strings.TrimSpace(line)
		at := len(line) - len(strings.TrimLeft(line, " "))
		name, set, _ := strings.Cut(strings.TrimPrefix(text, "- "), ":")
		set = strings.Trim(strings.TrimSpace(set), `"'`)
		switch {
		case name == "exec":
			exec = at
		case exec < 0 || text == "":
		case at < exec || at == exec && !strings.HasPrefix(text, "- "):
			exec = -1
		case name == "command" && set != "":
			list, key = append(list, set), name
		case key == "args" && strings.HasPrefix(text, "- ") && len(list) > 0:
			list[len(list)-1] += value.Quote([]value.Arg{value.Literal(strings.Trim(text[2:], ` "'`))}).Text()
		default:
			key = name
		}
	}
	return list
}
