package hooks

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/internal/show"
)

// ownServer is the name under which hosts know Sallyport's own MCP server, which judges its calls itself.
const ownServer = "sallyport"

// Request makes the request of a call. judged is false for a call without an effect on this machine. An error
// says that the call is not fully understood.
func (h *Host) Request(e Event) (r engine.Request, judged bool, err error) {
	if server, tool, ok := h.mcpTool(e); ok {
		if server == ownServer {
			return r, false, nil
		}
		input := e.Input
		if h.MCP.Input != "" {
			if input, err = object(e.all, h.MCP.Input); err != nil {
				return r, true, err
			}
		}
		r, err = mcpRequest(e, server, tool, input)
		return r, true, err
	}
	t, ok := h.Tools[e.Tool]
	if !ok {
		return r, true, fmt.Errorf("the effects of the tool %q of %s are unknown to this version: "+
			"update sallyport, or disable the tool", e.Tool, h.Title)
	}
	if t.Kind == "none" {
		return r, false, nil
	}
	for field := range e.Input {
		if h.Event.Input != "" && !slices.Contains(t.fields(), field) {
			return r, true, fmt.Errorf("the field %q of the tool %s is unknown to this version: update "+
				"sallyport", field, e.Tool)
		}
	}
	dir, err := textAt(e.Input, t.Dir, false)
	if err != nil {
		return r, true, fmt.Errorf("tool %s: %w", e.Tool, err)
	}
	e.Dir = below(e.Dir, dir)
	r, err = t.request(e)
	if err != nil {
		return r, true, fmt.Errorf("tool %s: %w", e.Tool, err)
	}
	if r.WorkDir = e.Dir; !filepath.IsAbs(e.Dir) {
		return r, true, fmt.Errorf("%s %q is not an absolute path", h.Event.Dir, e.Dir)
	}
	return r, true, nil
}

// mcpTool tells the server and the tool of a call of an MCP tool.
func (h *Host) mcpTool(e Event) (server, name string, ok bool) {
	if h.MCP.Tool != "" {
		name, err := textAt(e.all, h.MCP.Tool, true)
		if err != nil || h.MCP.Only != "" && h.MCP.Only != e.Tool {
			return "", "", false
		}
		server, err = textAt(e.all, h.MCP.Server, h.MCP.Server != "")
		return cmp.Or(server, h.Name), name, err == nil
	}
	rest, ok := strings.CutPrefix(e.Tool, h.MCP.Prefix)
	if !ok || h.MCP.Prefix == "" {
		return "", "", false
	}
	return strings.Cut(rest, h.MCP.Separator)
}

func (t Tool) request(e Event) (r engine.Request, err error) {
	switch t.Kind {
	case "command":
		r.Tool = "execute_command"
		if r.Command, err = textAt(e.Input, t.Command, true); err != nil {
			return r, err
		}
		r.Background, err = flagAt(e.Input, t.Background)
		return r, err
	case "fetch":
		r.Tool = "web_fetch"
		r.Command, err = t.fetching(e)
		return r, err
	case "write", "read":
		r.Tool = t.Kind + "_file"
		paths, err := textsAt(e.Input, t.Paths)
		if err == nil && t.Path != "" {
			paths = []string{""}
			paths[0], err = textAt(e.Input, t.Path, true)
		}
		var touches touching
		for _, p := range paths {
			touches = append(touches, facts.Touch{Path: below(e.Dir, p), Access: t.Kind})
		}
		r.Operation = touches
		return r, err
	case "patch":
		r.Tool = "patch_files"
		text, err := textAt(e.Input, t.Patch, true)
		if err != nil {
			return r, err
		}
		r.Operation, err = patched(e.Dir, text)
		return r, err
	case "search":
		r.Tool = "search_files"
		where, err := textAt(e.Input, t.Path, false)
		if err != nil {
			return r, err
		}
		all := []string{where}
		if _, given := e.Input[t.Paths]; given {
			more, err := textsAt(e.Input, t.Paths)
			if err != nil {
				return r, err
			}
			all = append(all, more...)
		}
		pattern, err := textAt(e.Input, t.Pattern, false)
		var touches touching
		for _, where := range all {
			where = below(below(e.Dir, where), plainPart(pattern))
			touches = append(touches, facts.Touch{Path: where, Access: "read", Recursive: true})
		}
		r.Operation = touches
		return r, err
	}
	return r, fmt.Errorf("unknown kind %q", t.Kind)
}

// address finds URLs in prose.
var address = regexp.MustCompile(`(?i)\b(?:https?|ftp|file)://[^\s"'<>]+`)

// fetching is the command that fetches URLs as a host's own tool does. Rules for commands judge it.
func (t Tool) fetching(e Event) (string, error) {
	urls, err := textsAt(e.Input, t.URLs)
	if err != nil {
		return "", err
	}
	if t.URL != "" {
		url, err := textAt(e.Input, t.URL, true)
		if err != nil {
			return "", err
		}
		urls = append(urls, url)
	}
	if t.Text != "" {
		text, err := textAt(e.Input, t.Text, true)
		if err != nil {
			return "", err
		}
		urls = append(urls, address.FindAllString(text, -1)...)
	}
	if len(urls) == 0 {
		return "", errors.New("it names no URL")
	}
	words := []string{"curl", "-sSL", "--"}
	for _, url := range urls {
		words = append(words, show.Quote(url))
	}
	return strings.Join(words, " "), nil
}

// patched are the files of a patch in the form of apply_patch.
func patched(dir, text string) (touching, error) {
	var out touching
	for line := range strings.Lines(text) {
		for begin, access := range map[string]string{
			"*** Add File: ": "write", "*** Update File: ": "write", "*** Move to: ": "write",
			"*** Delete File: ": "delete",
		} {
			if p, ok := strings.CutPrefix(strings.TrimRight(line, "\r\n"), begin); ok {
				out = append(out, facts.Touch{Path: below(dir, strings.TrimSpace(p)), Access: access})
			}
		}
	}
	if len(out) == 0 {
		return nil, errors.New("the patch names no file")
	}
	return out, nil
}

// below is a path as it stands in a call, which starts at a directory.
func below(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// plainPart is the directory of a pattern up to its first element with a special character.
func plainPart(pattern string) string {
	at := strings.IndexAny(pattern, `*?[{\`)
	if at < 0 {
		return pattern
	}
	return pattern[:strings.LastIndex(pattern[:at], "/")+1]
}

func flagAt(in map[string]any, path string) (bool, error) {
	v, ok := at(in, path)
	if path == "" || !ok || v == nil {
		return false, nil
	}
	set, ok := v.(bool)
	if !ok {
		return false, fmt.Errorf("%s is neither true nor false", path)
	}
	return set, nil
}

// touching is an operation that a host does by itself.
type touching []facts.Touch

// Plan returns the touches as the host announced them.
func (t touching) Plan(facts.FS) ([]facts.Touch, error) { return t, nil }

// Run refuses: the host does it.
func (touching) Run(context.Context, engine.Files, []facts.Path) error {
	return errors.New("a call of a host is judged and not done")
}
