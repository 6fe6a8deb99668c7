package facts

// Ask is what the gate knows about a request before anything is read. Every text in it may
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
	// Touches is what a file tool would do. A request with touches and no command text is
	// about these alone.
	Touches []Touch
}
