package facts

import (
	"path"
	"slices"
	"strings"

	"github.com/sallyport-dev/sallyport/engine/shell"
	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

// environmentFlags says what it means to set a variable. Names that end in * stand for all
// that begin so.
var environmentFlags = map[flag]string{
	flagLoaderEnv: `LD_PRELOAD LD_LIBRARY_PATH LD_AUDIT LD_* DYLD_* PYTHONSTARTUP PYTHONHOME NODE_OPTIONS PERL5OPT RUBYOPT JAVA_TOOL_OPTIONS
		_JAVA_OPTIONS GCONV_PATH
		JDK_JAVA_OPTIONS JAVA_OPTS MAVEN_OPTS GRADLE_OPTS R_PROFILE R_PROFILE_USER R_ENVIRON R_ENVIRON_USER`,
	flagPathEnv:     "PATH",
	flagSelfControl: "SALLYPORT_CONFIG",
	flagFreesAgent: `OPENCODE_PERMISSION OPENCODE_CONFIG OPENCODE_CONFIG_CONTENT OPENCODE_CONFIG_DIR CLAUDE_CONFIG_DIR CODEX_HOME
		GEMINI_CLI_SYSTEM_SETTINGS_PATH GEMINI_CLI_TRUST_WORKSPACE COPILOT_ALLOW_ALL GOOSE_MODE`,
	flagHookEnv: `BASH_ENV ENV PROMPT_COMMAND SHELLOPTS BASHOPTS PS0 PS4 GIT_SSH_COMMAND GIT_SSH GIT_EXTERNAL_DIFF GIT_ASKPASS SSH_ASKPASS SUDO_ASKPASS
		GIT_PROXY_COMMAND GIT_CONFIG_* GIT_TEMPLATE_DIR GIT_EXEC_PATH LESSOPEN LESSCLOSE PAGER GIT_PAGER MANPAGER SYSTEMD_PAGER EDITOR VISUAL
		GIT_EDITOR GIT_SEQUENCE_EDITOR FCEDIT BROWSER RUSTC_WRAPPER MAKEFLAGS CARGO_BUILD_RUSTC_WRAPPER RESTIC_PASSWORD_COMMAND BORG_PASSCOMMAND
		TAR_OPTIONS MAKEFILES GNUMAKEFLAGS GOFLAGS PERL5OPT PERL5DB LUA_INIT* DOTNET_STARTUP_HOOKS PHPRC PHP_INI_SCAN_DIR
		RSYNC_RSH CVS_RSH SVN_SSH PSQL_PAGER DELTA_PAGER BAT_PAGER GH_PAGER AWS_PAGER SUDO_EDITOR SYSTEMD_EDITOR KUBE_EDITOR HGEDITOR SVN_EDITOR
		npm_config_script_shell NPM_CONFIG_SCRIPT_SHELL YARN_YARN_PATH GROFF_BIN_PATH AUTOM4TE AUTOCONF AUTOMAKE ACLOCAL`,
}

// environmentFiles are variables that name a file which the programs that know them read, write or run.
var environmentFiles = map[access]string{
	writes:   "GIT_TRACE* SSLKEYLOGFILE LD_DEBUG_OUTPUT MALLOC_TRACE",
	executes: "PYTHONSTARTUP R_PROFILE R_PROFILE_USER R_ENVIRON R_ENVIRON_USER BASH_ENV ENV MAKEFILES DOTNET_STARTUP_HOOKS YARN_YARN_PATH",
}

// quietPrograms are harmless values of the variables that name a program.
const quietPrograms = " cat less more most head tail vi vim nvim nano emacs ed micro code true false : bat delta diff echo ssh tee subl diff-so-fancy difft colordiff "

// environment adds the flags of the variables that a command sets. shared tells of a directory whether
// anybody may put files there.
func (c *call) environment(shared func(dir string) bool) {
	for _, a := range c.cmd.Assigns {
		for f, names := range environmentFlags {
			if !listed(names, a.Name) || f == flagHookEnv && quiet(a.Name, a.Value) || f == flagLoaderEnv && c.loadsNothing(a, shared) ||
				a.Name == "GOOSE_MODE" && a.Value.Certainty == value.Exact && a.Value.Text != "auto" {
				continue
			}
			c.flags.add(f)
		}
		for access, names := range environmentFiles {
			if listed(names, a.Name) && strings.Contains(a.Value.Text, "/") {
				c.path(a.Value, access)
				c.effects |= effect(access)
			}
		}
		if strings.Contains(searchPaths, " "+a.Name+" ") && opens(a.Value, shared, a.Name == "PATH") {
			c.flags.add(flagOpenPath)
		}
	}
}

// searchPaths are the variables with lists of directories in which programs look for code.
const searchPaths = " PATH PYTHONPATH NODE_PATH RUBYLIB PERL5LIB PERLLIB CLASSPATH GEM_PATH GCONV_PATH LD_LIBRARY_PATH DYLD_LIBRARY_PATH DYLD_FRAMEWORK_PATH DYLD_FALLBACK_LIBRARY_PATH "

// loadingOptions are the options by which a variable that holds options makes an interpreter load
// code. With other options (--max-old-space-size=4096, -W0, -Xmx2g) it loads nothing.
var loadingOptions = map[string][]string{
	"NODE_OPTIONS":      {"--require", "-r", "--import", "--loader", "--experimental-loader", "--eval", "-e", "--openssl-config"},
	"RUBYOPT":           {"-r", "-I", "-e", "-S"},
	"PERL5OPT":          {"-M", "-m", "-I", "-d", "-D"},
	"JAVA_TOOL_OPTIONS": javaLoading,
	"_JAVA_OPTIONS":     javaLoading,
	"JDK_JAVA_OPTIONS":  javaLoading,
	"JAVA_OPTS":         javaLoading,
	"MAVEN_OPTS":        javaLoading,
	"GRADLE_OPTS":       javaLoading,
}

var javaLoading = []string{"-javaagent", "-agentpath", "-agentlib", "-XX:OnError", "-XX:OnOutOfMemoryError", "@"}

// runningParts are what makes a variable with options run a program, or reach beyond what its program is
// asked to do. With other options (MAKEFLAGS=-j4, TAR_OPTIONS=--no-same-owner) nothing happens. A semicolon
// ends the use that -M of perl makes.
var runningParts = map[string][]string{
	"TAR_OPTIONS":  {"exec", "command", "program", "script", "-I", "-F", "-P", "--abs", "--trans", "--xf", "--to", "--use", "--rsh", "--rmt", "--inf", "--new", "--remove"},
	"MAKEFLAGS":    makeRunning,
	"GNUMAKEFLAGS": makeRunning,
	"GOFLAGS":      {"exec"},
	"PERL5OPT":     {";", "(", "=>", "{", "-d", "`"},
	"PS0":          prompting,
	"PS4":          prompting,
}

var (
	makeRunning = []string{"--ev", "-E", "SHELL", "-f", "--fil", "--mak", "$("}
	prompting   = []string{"$(", "`", "${"}
)

// loadsNothing reports whether a loader's variable is set to something that loads no other code than
// the program's own: options that name none, or library directories of the project. A file that
// the value names is executed.
func (c *call) loadsNothing(a value.Assign, shared func(string) bool) bool {
	if a.Value.Certainty != value.Exact {
		return false
	}
	if strings.HasSuffix(a.Name, "LIBRARY_PATH") {
		return !opens(a.Value, shared, true)
	}
	options, ok := loadingOptions[a.Name]
	if !ok {
		return strings.TrimSpace(a.Value.Text) == ""
	}
	quiet, words := true, strings.Fields(a.Value.Text)
	for i, word := range words {
		for _, o := range options {
			file, found := strings.CutPrefix(word, o)
			if !found {
				continue
			}
			quiet = false
			if file = strings.TrimLeft(file, "=:"); file == "" && i+1 < len(words) {
				file = words[i+1]
			}
			if strings.Contains(file, "/") && !strings.HasPrefix(file, "-") {
				c.path(exact(file), executes)
			}
			break
		}
	}
	return quiet
}

// opens reports whether a list of directories, as PATH holds one, names a directory into which
// others can put files: a temporary one or, if here counts, whatever directory a program is started in.
func opens(v value.Word, shared func(dir string) bool, here bool) bool {
	if v.Text == "" {
		return false
	}
	return slices.ContainsFunc(strings.Split(v.Text, ":"), func(dir string) bool {
		return here && (dir == "" || dir == ".") || isAbs(dir) && shared(path.Clean(dir))
	})
}

func listed(names, name string) bool {
	for _, n := range strings.Fields(names) {
		if prefix, ok := strings.CutSuffix(n, "*"); n == name || ok && strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// quiet reports whether a variable that can run a program is set to one of the usual, or to
// nothing. GIT_CONFIG_GLOBAL and the like name files, so they are quiet when these are empty.
func quiet(name string, v value.Word) bool {
	if v.Certainty != value.Exact {
		return false
	}
	if strings.HasPrefix(name, "GIT_CONFIG_") {
		return v.Text == "/dev/null" || name == "GIT_CONFIG_NOSYSTEM" || name == "GIT_CONFIG_COUNT"
	}
	fields := strings.Fields(v.Text)
	if len(fields) == 0 {
		return true
	}
	if parts := runningParts[name]; parts != nil {
		return !slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(v.Text, part) })
	}
	if strings.ContainsAny(v.Text, ";|&$`<>()!\n") || name == "BASH_ENV" || name == "ENV" {
		return false
	}
	if strings.HasPrefix(fields[0], "-") || name == "SHELLOPTS" || name == "BASHOPTS" {
		return true // options of a pager, or names that run nothing by themselves
	}
	for _, f := range fields[1:] {
		if strings.Contains(strings.ToLower(f), "command=") {
			return false // ssh -o ProxyCommand=…
		}
	}
	return strings.Contains(quietPrograms, " "+path.Base(fields[0])+" ")
}

// shellWords adds what shell builtins mean that set variables by their words.
func (c *call) shellWords() {
	if len(c.cmd.Words) == 0 {
		return
	}
	switch c.cmd.Name {
	case "export", "declare", "typeset", "readonly":
		if len(c.cmd.Words) == 1 || len(c.cmd.Words) == 2 && strings.HasPrefix(c.cmd.Words[1].Text, "-") && strings.Contains(c.cmd.Words[1].Text, "p") {
			c.flags.add(flagDumpsEnv)
		}
	case "set":
		if len(c.cmd.Words) == 1 {
			c.flags.add(flagDumpsEnv)
		}
	}
}

// user is the process that will use a path, as far as paths depend on it: /proc/self is another place for
// each process. The zero value is our own, which is what file tools use paths in.
type user struct {
	other bool
	cwd   shell.Dir // of the other one
}

// ownPlaces are the links that lead each process to itself.
var ownPlaces = []string{"/proc/self", "/proc/thread-self"}

// follow continues a path that has come to an own place: from which root, and with which rest. Not ok:
// where it leads cannot be known before the process is there.
func (u user) follow(rest string) (root, onward string, ok bool) {
	name, rest, _ := strings.Cut(strings.TrimLeft(rest, "/"), "/")
	switch name {
	case ".":
		return u.follow(rest)
	case "root":
		return "/", rest, true
	case "cwd":
		if !u.cwd.Known || !isAbs(u.cwd.Path) {
			return "", "", false
		}
		root = volume(u.cwd.Path)
		return root, join(u.cwd.Path[len(root):], rest), true
	case "task":
		if thread, more, _ := strings.Cut(rest, "/"); thread != "" && thread != "." && thread != ".." {
			return u.follow(more)
		}
	}
	return "", "", false
}

// unplaced reports a resolved path of another process that goes on below its working directory or below
// what it has open: nothing can be said of where that is.
func unplaced(real string) bool {
	for _, own := range append([]string{"/dev"}, ownPlaces...) { // /dev/fd is no link everywhere
		rest, ok := strings.CutPrefix(real, own+"/")
		if !ok {
			continue
		}
		names := strings.Split(rest, "/")
		if len(names) > 2 && names[0] == "task" {
			names = names[2:]
		}
		return names[0] == "cwd" || names[0] == "fd" && len(names) > 2
	}
	return false
}
