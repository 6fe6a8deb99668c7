package hooks

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/internal/show"
)

// maxArguments bounds the values in the arguments of an MCP tool.
const maxArguments = 1000

// The usual names of arguments, in lower case and without "_" and "-".
var (
	commandNames = strings.Fields("command cmd commands commandline shellcommand bash sh")
	wordNames    = strings.Fields("args argv arguments")
	hostNames    = strings.Fields("host hostname domain")
	pathNames    = strings.Fields("path paths filepath filepaths filename filenames directory dir folder " +
		"outputpath inputpath notebookpath repopath sourcepath targetpath oldpath newpath cwd workdir " +
		"workingdirectory")
	// perhapsPaths name a path only if the value looks like one.
	perhapsPaths = strings.Fields("file files source src destination dest target root output input uri")
)

// The first words of the names of tools that read or delete paths. All others write.
var (
	reading = strings.Fields("read get list search find view show stat info tree cat describe count query " +
		"open directory")
	wide     = strings.Fields("list search find tree directory")
	deleting = strings.Fields("delete remove rm unlink drop trash erase")
)

// arguments collects the commands, addresses and paths in the arguments of an MCP tool.
type arguments struct {
	dir, home string
	access    string
	recursive bool
	values    int
	text      []string
	touches   []facts.Touch
	seen      map[string]bool
}

// mcpRequest makes the request of a call of a tool of another MCP server. Rules judge the commands, addresses
// and paths in the usual arguments as those of commands and of file tools.
func mcpRequest(e Event, server, tool string, input map[string]any) (engine.Request, error) {
	word, _, _ := strings.Cut(words(tool), "_")
	a := arguments{dir: e.Dir, home: e.home, access: "write", seen: map[string]bool{}}
	switch {
	case slices.Contains(reading, word):
		a.access, a.recursive = "read", slices.Contains(wide, word)
	case slices.Contains(deleting, word):
		a.access, a.recursive = "delete", true
	}
	if err := a.object(input, 0); err != nil {
		return engine.Request{}, fmt.Errorf("arguments of %s of the MCP server %s: %w", tool, server, err)
	}
	return engine.Request{
		Tool: facts.MCPTool + server + "/" + tool, Command: strings.Join(a.text, "\n"), Touches: a.touches,
		WorkDir: e.Dir,
	}, nil
}

// words is a name in lower case with "_" between its words.
func words(name string) string {
	var b strings.Builder
	for i, c := range name {
		switch {
		case c == '-' || c == '.' || c == '/':
			c = '_'
		case 'A' <= c && c <= 'Z':
			if c += 'a' - 'A'; i > 0 {
				b.WriteByte('_')
			}
		}
		b.WriteRune(c)
	}
	return b.String()
}

func (a *arguments) object(in map[string]any, depth int) error {
	if depth > 32 {
		return errors.New("they are nested too deeply to look through them")
	}
	for _, name := range slices.Sorted(maps.Keys(in)) {
		if err := a.value(in, name, in[name], depth); err != nil {
			return err
		}
	}
	return nil
}

func (a *arguments) value(in map[string]any, name string, v any, depth int) error {
	if a.values++; a.values > maxArguments {
		return fmt.Errorf("more than %d: too many to look through them", maxArguments)
	}
	switch v := v.(type) {
	case map[string]any:
		return a.object(v, depth+1)
	case []any:
		if slices.Contains(commandNames, bare(name)) && texts(v) && bare(name) != "commands" {
			a.text = append(a.text, quoted(v)) // an argument vector
			return nil
		}
		for _, one := range v {
			if err := a.value(in, name, one, depth+1); err != nil {
				return err
			}
		}
	case string:
		a.one(in, bare(name), v)
	case json.Number, bool, nil:
	default:
		return fmt.Errorf("%s has an unknown type", name)
	}
	return nil
}

// bare is the name of an argument without its style.
func bare(name string) string {
	return strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(name))
}

func texts(list []any) bool {
	return !slices.ContainsFunc(list, func(v any) bool { _, ok := v.(string); return !ok })
}

func quoted(list []any) string {
	out := make([]string, len(list))
	for i, v := range list {
		out[i] = show.Quote(v.(string))
	}
	return strings.Join(out, " ")
}

var (
	whole    = regexp.MustCompile(`(?i)^(?:https?|ftp|wss?)://\S+$`)
	hostname = regexp.MustCompile(`^[\w.-]+(?::\d+)?$`)
)

// one looks at a text by the name of its argument.
func (a *arguments) one(in map[string]any, name, v string) {
	switch {
	case v == "":
	case slices.Contains(commandNames, name):
		a.text = append(a.text, v+vector(in))
	case len(v) > 6 && strings.EqualFold(v[:7], "file://"):
		if u, err := url.Parse(v); err == nil {
			a.touch(u.Path)
		} else {
			a.touch(v[7:])
		}
	case whole.MatchString(v), slices.Contains(hostNames, name) && hostname.MatchString(v):
		a.text = append(a.text, "curl -sSL -- "+show.Quote(v))
	case slices.Contains(pathNames, name), slices.Contains(perhapsPaths, name) && pathLike(v):
		a.touch(v)
	}
}

// vector is the rest of a command whose words are an argument of their own.
func vector(in map[string]any) string {
	for name, v := range in {
		list, ok := v.([]any)
		if ok && slices.Contains(wordNames, bare(name)) && texts(list) && len(list) > 0 {
			return " " + quoted(list)
		}
	}
	return ""
}

func pathLike(v string) bool {
	begins := strings.HasPrefix(v, "~") || strings.HasPrefix(v, ".")
	return !strings.Contains(v, "\n") && (begins || strings.Contains(v, "/"))
}

func (a *arguments) touch(p string) {
	if rest, ok := strings.CutPrefix(p, "~"); ok && a.home != "" && (rest == "" || rest[0] == '/') {
		p = a.home + rest
	}
	if p = below(a.dir, p); !a.seen[p] {
		a.seen[p] = true
		a.touches = append(a.touches, facts.Touch{Path: p, Access: a.access, Recursive: a.recursive})
	}
}
