package facts

import (
	"slices"
	"strings"

	"github.com/sallyport-dev/sallyport/engine/facts/term"
)

// Ask is the gate's knowledge of a request before anything is read. Every text in it may
// come from an agent; nothing in it is trusted, and nothing in it is looked up again.
type Ask struct {
	// Request carries the id, the time, the tool, the command text, the timeout and whether it
	// runs in the background. WorkDir is taken as it was asked for: absolute, relative to the
	// workspace, or "" for the workspace. Build fills in the absolute WorkDir, WorkDirState,
	// WorkDirAllowed and Env.
	Request Request
	Subject Subject
	Runner  Runner
	// Env is the whole environment of the child process. Its names become Request.Env, its
	// values are known to the reading of the text and appear nowhere else.
	Env map[string]string
	// Touches are the accesses of a file tool. A request with touches and no command text is
	// about these alone.
	Touches []Touch
	// Alone leaves script files unread.
	Alone bool
	// Machine are files of machine code, which need not be read.
	Machine []string
	// Repositories are .git directories that earlier programs of the same command have made.
	Repositories []string
	// Seen are files as they are now. Build does not ask for these again.
	Seen Ways
}

// Ways are the files on the ways to some absolute paths, symbolic links followed, by path.
type Ways struct {
	To    []string
	Nodes map[string]Node
}

// ToolProgram is the tool of the request by which a program is judged that a command starts.
const ToolProgram = "program"

// MCPTool begins the tool of a request for a tool of another MCP server: "mcp_tool:github/create_issue".
const MCPTool = "mcp_tool:"

// ReadTouches reads the accesses of a file tool in the notation of cases and of the examples of rules:
//
//	copy_file: read a.txt, write out/a.txt
//	delete_file: delete* build
//
// A star stands behind a recursive access. ok is false for any other text, a command above all.
func ReadTouches(text string) (tool string, touches []Touch, ok bool) {
	tool, list, ok := strings.Cut(text, ": ")
	plain := tool
	if other, ok := strings.CutPrefix(tool, MCPTool); ok {
		plain = strings.Replace(other, "/", "_", 1)
	}
	if !ok || tool == "" || strings.Trim(plain, "abcdefghijklmnopqrstuvwxyz_") != "" {
		return "", nil, false
	}
	for one := range strings.SplitSeq(list, ", ") {
		access, p, _ := strings.Cut(one, " ")
		access, recursive := strings.CutSuffix(access, "*")
		if !slices.Contains(term.AccessNames[:], access) {
			return "", nil, false
		}
		touches = append(touches, Touch{Path: p, Access: access, Recursive: recursive})
	}
	return tool, touches, true
}
