package call

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/sallyport-dev/sallyport/engine/facts/disk"
	"github.com/sallyport-dev/sallyport/engine/facts/term"
	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

// environmentFlags says what it means to set a variable. Names that end in * stand for all
// that begin so.
var environmentFlags = map[term.Flag]string{
	term.FlagLoaderEnv: `LD_PRELOAD LD_LIBRARY_PATH LD_AUDIT LD_* DYLD_* PYTHONSTARTUP PYTHONHOME NODE_OPTIONS PERL5OPT RUBYOPT JAVA_TOOL_OPTIONS
		_JAVA_OPTIONS GCONV_PATH
		JDK_JAVA_OPTIONS JAVA_OPTS MAVEN_OPTS GRADLE_OPTS R_PROFILE R_PROFILE_USER R_ENVIRON R_ENVIRON_USER`,
	term.FlagPathEnv:     "PATH",
	term.FlagSelfControl: "SALLYPORT_CONFIG SALLYPORT_WRAP",
	term.FlagFreesAgent: `OPENCODE_PERMISSION OPENCODE_CONFIG OPENCODE_CONFIG_CONTENT OPENCODE_CONFIG_DIR CLAUDE_CONFIG_DIR CODEX_HOME
		GEMINI_CLI_SYSTEM_SETTINGS_PATH GEMINI_CLI_TRUST_WORKSPACE COPILOT_ALLOW_ALL GOOSE_MODE`,
	term.FlagHookEnv: `BASH_ENV ENV PROMPT_COMMAND SHELLOPTS BASHOPTS PS0 PS4 GIT_SSH_COMMAND GIT_SSH GIT_EXTERNAL_DIFF GIT_ASKPASS SSH_ASKPASS SUDO_ASKPASS
		GIT_PROXY_COMMAND GIT_CONFIG_* GIT_TEMPLATE_DIR GIT_EXEC_PATH LESSOPEN LESSCLOSE PAGER GIT_PAGER MANPAGER SYSTEMD_PAGER EDITOR VISUAL
		GIT_EDITOR GIT_SEQUENCE_EDITOR FCEDIT BROWSER RUSTC_WRAPPER MAKEFLAGS CARGO_BUILD_RUSTC_WRAPPER RESTIC_PASSWORD_COMMAND BORG_PASSCOMMAND
		TAR_OPTIONS MAKEFILES GNUMAKEFLAGS GOFLAGS PERL5OPT PERL5DB LUA_INIT* DOTNET_STARTUP_HOOKS PHPRC PHP_INI_SCAN_DIR
		RSYNC_RSH CVS_RSH SVN_SSH PSQL_PAGER DELTA_PAGER BAT_PAGER GH_PAGER AWS_PAGER SUDO_EDITOR SYSTEMD_EDITOR KUBE_EDITOR HGEDITOR SVN_EDITOR
		npm_config_script_shell NPM_CONFIG_SCRIPT_SHELL YARN_YARN_PATH GROFF_BIN_PATH AUTOM4TE AUTOCONF AUTOMAKE ACLOCAL`,
}

// environmentFiles are variables that name a file which the programs that know them read, write or run.
var environmentFiles = map[term.Access]string{
	term.Writes:   "GIT_TRACE* SSLKEYLOGFILE LD_DEBUG_OUTPUT MALLOC_TRACE",
	term.Executes: "PYTHONSTARTUP R_PROFILE R_PROFILE_USER R_ENVIRON R_ENVIRON_USER BASH_ENV ENV MAKEFILES DOTNET_STARTUP_HOOKS YARN_YARN_PATH",
}

// quietPrograms are harmless values of the variables that name a program.
const quietPrograms = " cat less more most head tail vi vim nvim nano emacs ed micro code true false : bat" +
	" delta diff echo ssh tee subl diff-so-fancy difft colordiff sccache ccache clang gcc cc lld rust-lld" +
	" mold" +
	" aws-iam-authenticator kubelogin gke-gcloud-auth-plugin "

// scriptShells are harmless values of a setting for the shell of scripts.
const scriptShells = " sh bash dash zsh /bin/sh /bin/bash /usr/bin/bash "

// Environment adds the flags of the variables that a command sets. shared tells of a directory whether
// anybody may put files there.
func (c *Call) Environment(shared func(dir string) bool) {
	for _, a := range slices.Concat(c.Cmd.Assigns, c.stored(), c.given()) {
		for f, names := range environmentFlags {
			if !Listed(names, a.Name) || f == term.FlagHookEnv && quiet(a.Name, a.Value) || f == term.FlagLoaderEnv && c.loadsNothing(a, shared) ||
				a.Name == "GOOSE_MODE" && a.Value.Certainty == value.Exact && a.Value.Text != "auto" {
				continue
			}
			c.Flags.Add(f)
		}
		for access, names := range environmentFiles {
			if Listed(names, a.Name) && strings.Contains(a.Value.Text, "/") {
				c.path(a.Value, access)
				c.Effects |= term.Effect(access)
			}
		}
		if strings.Contains(searchPaths, " "+a.Name+" ") && opens(a.Value, shared, a.Name == "PATH") {
			c.Flags.Add(term.FlagOpenPath)
		}
	}
}

// given are the operands by which a command sets variables for the programs that it starts: make NAME=VALUE.
func (c *Call) given() (list []value.Assign) {
	if c.Spec == nil {
		return nil
	}
	for i, w := range c.Operands {
		name, val, found := strings.Cut(w.Text, "=")
		if found && c.RoleOf(i, false).Word == "assignment" {
			list = append(list, value.Assign{Name: name, Value: Cut(w, len(w.Text)-len(val))})
		}
	}
	return list
}

// Guarded reports Sallyport, or an agent that the table knows: one that an option frees of its approvals. A
// question about the program itself starts neither hooks nor commands.
func (c *Call) Guarded() bool {
	if c.Base == nil || Informs(c.Cmd, c.Base) {
		return false
	}
	own := strings.HasPrefix(c.Cmd.Name, "sallyport")
	return own || c.Base.freesAgent() || c.Spec != nil && c.Spec.freesAgent()
}

func (s *spec) freesAgent() bool {
	frees := func(o *option) bool { return o != nil && o.flags.Has(term.FlagFreesAgent) }
	for _, names := range []map[string]*option{s.long, s.words} {
		if slices.ContainsFunc(slices.Collect(maps.Values(names)), frees) {
			return true
		}
	}
	return slices.ContainsFunc(slices.Collect(maps.Values(s.short)), frees)
}

// stored are the settings that a command stores and by which a program starts another one, as environment
// variables of the same meaning.
func (c *Call) stored() (list []value.Assign) {
	row := c.Table.Rows.Command(c.Cmd.Name)
	if row == nil || row.Stores == nil || len(c.Cmd.Words) < 2 {
		return nil
	}
	words := c.Cmd.Words[1:]
	plain := " " + strings.Join(Texts(slices.DeleteFunc(slices.Clone(words), IsOption)), " ") + " "
	stores := func(verb string) bool {
		option := func(w value.Word) bool {
			return IsOption(w) && (w.Text == verb || strings.HasPrefix(w.Text, verb+"="))
		}
		return strings.HasPrefix(plain, " "+verb+" ") || slices.ContainsFunc(words, option)
	}
	if !slices.ContainsFunc(row.Stores.Verbs, stores) {
		return nil
	}
	for i, w := range words {
		text := strings.TrimPrefix(w.Text, "--config=")
		name, val, attached := strings.Cut(strings.TrimLeft(text, "-"), "=")
		set := Cut(w, len(w.Text)-len(val))
		if !attached && i+1 < len(words) {
			set = words[i+1]
		}
		for setting, variable := range row.Stores.Settings {
			set.Text = strings.Trim(set.Text, `"' `)
			usual := strings.HasSuffix(variable, "SCRIPT_SHELL") &&
				strings.Contains(scriptShells, " "+set.Text+" ")
			if names(strings.TrimSpace(name), setting) && !usual && (attached || i+1 < len(words)) {
				list = append(list, value.Assign{Name: variable, Value: set})
			}
		}
	}
	return list
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
	"GOFLAGS":      {"exec", "-insecure"},
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
func (c *Call) loadsNothing(a value.Assign, shared func(string) bool) bool {
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
				c.path(Exact(file), term.Executes)
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
		return here && (dir == "" || dir == ".") || disk.IsAbs(dir) && shared(path.Clean(dir))
	})
}

// Listed reports whether a list has a name, with a star for any end.
func Listed(names, name string) bool {
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

// ShellWords adds the effects of shell builtins that set variables by their words.
func (c *Call) ShellWords() {
	if len(c.Cmd.Words) == 0 {
		return
	}
	switch c.Cmd.Name {
	case "export", "declare", "typeset", "readonly":
		if len(c.Cmd.Words) == 1 || len(c.Cmd.Words) == 2 && strings.HasPrefix(c.Cmd.Words[1].Text, "-") && strings.Contains(c.Cmd.Words[1].Text, "p") {
			c.Flags.Add(term.FlagDumpsEnv)
		}
	case "set":
		if len(c.Cmd.Words) == 1 {
			c.Flags.Add(term.FlagDumpsEnv)
		}
	}
}
