// Package obeyed lists the files by which programs of a user start other programs: settings of agents,
// editors and debuggers, shells, version managers, package managers, frameworks for hooks, build pipelines
// and version control. Such a program obeys them outside of any environment and asks no gate: a write to one
// of them decides about a later command of the user.
//
// The package is a table and nothing else. engine/facts labels paths by it, rules judge the writes, and
// docs/obeyed-files.md shows it. It does not promise that the list is complete, nor that a program obeys a
// file without a question of its own. Source files that a user runs as such (Makefile, package.json,
// conftest.py) are no part of it.
package obeyed

// Severity says how little a user has to do until a program is started.
type Severity string

const (
	// High means that it is enough to open the directory, to enter it or to start the program there.
	High Severity = "high"
	// Medium means that it takes a daily command of the user (a commit, an installation), or a push that
	// starts a pipeline with the rights of the project.
	Medium Severity = "medium"
	// Low means that the file instructs a program but names none to be started. No rule asks about it.
	Low Severity = "low"
)

// Kind groups files. Its text is the label that engine/facts gives to their paths.
type Kind string

const (
	AgentConfig     Kind = "agent_config"
	EditorConfig    Kind = "editor_config"
	DirectoryConfig Kind = "directory_config"
	PackageConfig   Kind = "package_config"
	HookConfig      Kind = "hook_config"
	CIConfig        Kind = "ci_config"
	GitConfig       Kind = "git_config"
	GitHook         Kind = "git_hook"
	ShellStartup    Kind = "shell_startup"
)

// Group is files of one kind, with the same consequence.
type Group struct {
	Kind     Kind
	Severity Severity
	Settings bool   // they also hold the permissions of an agent
	Starts   string // completes the sentence "PROGRAM starts …"; "" for severity Low
	Files    []Files
}

// Files are places and the programs that obey them.
type Files struct {
	Programs string // their names, apart by ", "
	// Patterns, apart by blanks: an absolute path, ~/… below any home directory, or **/… anywhere by the
	// last one or two names. The last name may hold * (path.Match). /** at the end adds everything below.
	Patterns string
}

// Groups returns the table. Callers must not change it.
func Groups() []Group { return groups }
