package command

import (
	"slices"
	"strings"

	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

// Programs that run a command which they are handed in an option, a variable or a line of
// their own language. The command is walked as if the shell ran it here; what else the
// program does is not this package's business.

// holders lists the options whose value is a command, by program.
var holders = map[string][]string{
	"rsync": {"-e", "--rsh", "--rsync-path"}, "sftp": {"-S"}, "scp": {"-S"},
	"tar": {"-I", "-F", "--to-command", "--use-compress-program", "--info-script", "--new-volume-script", "--rsh-command", "--checkpoint-action=exec"}, "bsdtar": {"--use-compress-program"}, "cpio": {"--rsh-command"},
	"zip": {"-TT", "--unzip-command"}, "sort": {"--compress-program"}, "split": {"--filter"}, "make": {"SHELL"}, "gmake": {"SHELL"},
	"yt-dlp": {"--exec", "--exec-before-download"}, "youtube-dl": {"--exec"}, "tcpdump": {"-z"}, "wget": {"--use-askpass"}, "rg": {"--pre", "--hostname-bin"}, "openvpn": {"--up", "--down", "--route-up", "--ipchange", "--tls-verify", "--client-connect", "--auth-user-pass-verify"},
	"aria2c":  {"--on-download-complete", "--on-download-start", "--on-download-error", "--on-download-stop", "--on-download-pause", "--on-bt-download-complete"},
	"dmsetup": {"--exec"}, "socket": {"-p"}, "stap": {"-c"}, "bpftrace": {"-c"}, "watchman-make": {"--run"}, "nix-shell": {"--run", "--command"}, "fly": {"-C"}, "flyctl": {"-C"},
	"man": {"-P", "--pager", "-H", "--html"}, "journalctl": {"--pager"}, "fzf": {"--preview"}, "sk": {"--preview"}, "restic": {"--password-command"}, "borg": {"--rsh"}, "hyperfine": {"--prepare", "-p", "--setup", "-s", "--cleanup", "-c", "--conclude"},
	"latexmk": {"-pdflatex", "-latex", "-lualatex", "-xelatex", "-bibtex", "-dvipdf"}, "perlbug": {"-e"}, "perlthanks": {"-e"}, "gem": {"-e", "--editor"}, "forge": {"--use"},
	"check_ssl_cert": {"--grep-bin", "--curl-bin", "--openssl", "--file-bin", "--dig-bin", "--nmap-bin"}, "gtester": {"-q"}, "check_by_ssh": {"-C"}, "git-annex": {"-c"},
	"svn": {"--diff-cmd", "--editor-cmd", "--diff3-cmd"}, "npm": {"--script-shell"}, "bazel": {"--run_under"}, "go": {"-exec", "-toolexec", "-vettool"}, "az": {"--scripts"}, "tmux": {"-c"}, "cargo": {"-x"}, "gcloud": {"--command"},
	"git": {"--upload-pack", "--receive-pack", "--extcmd"}, "dpkg": {"--pre-invoke", "--post-invoke"}, "lynx": {"-editor"}, "w3m": {"-pager"}, "mutt": {"-e"},
	"certbot": {"--pre-hook", "--post-hook", "--deploy-hook", "--renew-hook", "--manual-auth-hook"}, "sshfs": {"-ossh_command"},
}

// commandVariables hold a command that some program runs. Most are run with more arguments.
var commandVariables = Names("PAGER GIT_PAGER MANPAGER SYSTEMD_PAGER PSQL_PAGER DELTA_PAGER BAT_PAGER GH_PAGER AWS_PAGER EDITOR VISUAL GIT_EDITOR GIT_SEQUENCE_EDITOR" +
	" SYSTEMD_EDITOR SUDO_EDITOR KUBE_EDITOR FCEDIT HGEDITOR SVN_EDITOR GIT_SSH_COMMAND GIT_PROXY_COMMAND GIT_EXTERNAL_DIFF GIT_ASKPASS SSH_ASKPASS SUDO_ASKPASS" +
	" RSYNC_RSH CVS_RSH SVN_SSH FZF_DEFAULT_COMMAND BORG_PASSCOMMAND RESTIC_PASSWORD_COMMAND BROWSER LESSOPEN LESSCLOSE")

// optionVariables name files that an interpreter, or git, loads before its work.
var optionVariables = map[string]string{
	"NODE_OPTIONS": "node", "RUBYOPT": "ruby", "PERL5OPT": "perl", "PYTHONSTARTUP": "python",
	"GIT_CONFIG_GLOBAL": "git", "GIT_CONFIG_SYSTEM": "git", "GIT_CONFIG": "git",
}

// SplitName is the name of a piece that split writes: its second operand, or x, and a suffix.
func SplitName(args []value.Arg) value.Value {
	_, operands := Getopt(args, "abClnt", nil)
	prefix := value.Known("x")
	if len(operands) > 1 {
		prefix = operands[1].Val
	}
	return append(slices.Clone(prefix), value.Piece{Text: "aa", Data: true})
}

// Held returns the commands that options of a program hold.
func Held(name string, args []value.Arg) []Run {
	var l line
	for _, option := range holders[name] {
		for i, a := range args {
			if a.Text == option && i+1 < len(args) {
				l.shell(args[i+1].Val, name+" "+option)
			} else if len(a.Prefix) > len(option) && strings.HasPrefix(a.Prefix, option) && (a.Prefix[len(option)] == '=' || len(option) == 2) {
				rest := a.Val.After(len(option))
				l.shell(rest.After(len(rest.Prefix())-len(strings.TrimLeft(rest.Prefix(), "=|!"))), name+" "+option)
			}
		}
	}
	return l.list
}

// HoldsCommand reports a variable that holds a command which some program runs.
func HoldsCommand(variable string) bool {
	return commandVariables[variable] || variable == "PROMPT_COMMAND"
}

// LoadsFiles returns the language of the program that loads the files which a variable names, "git" for settings of git,
// or "".
func LoadsFiles(variable string) string { return optionVariables[variable] }
