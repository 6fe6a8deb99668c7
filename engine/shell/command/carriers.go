package command

// Carrier describes a program that runs another command, which stands behind its options.
type Carrier struct {
	short    string   // one-letter options that take a value, glued or as the next word
	long     []string // other options whose value is the next word
	skip     int      // operands before the command: timeout DURATION, chroot DIR
	assigns  bool     // NAME=value words stand before the command
	text     bool     // the words are joined and run by a shell
	code     []string // options whose value is run by a shell
	special  special  // its command line has a shape of its own
	elevated bool     // the command has other rights than the caller
	away     bool     // the command runs on another machine, or in another root
	behind   bool     // the command goes on after the caller

	// The rest is for tools that do other things too.
	verbs     []string // words of which one stands before the command: "exec", "tool run"
	others    string   // its own verbs; any other first operand is a command
	after     []string // words behind which the command stands, wherever that is
	prefix    string   // a word that may stand before the command
	each      bool     // each operand is run by a shell
	versioned bool     // the command may be a package with a version: rimraf@5
	script    string   // what runs a file of that language given in place of a command
}

// special names the command lines that options and operands alone do not describe.
type special uint8

const (
	plain special = iota
	envLine
	suLine
	sudoLine
	xargsLine
	parallelLine
	findLine
	sshLine
	containerLine
	kubectlLine
	gitLine
	appletLine
	stdinLine
	socatLine
	netcatLine
	entrLine
	flockLine
	scriptLine
	ipLine
	commandLine
)

// carriers lists them by name. The arity of options follows the programs' manuals (GNU
// coreutils 9, util-linux 2.40, sudo 1.9, OpenSSH 9, Docker 27, kubectl 1.31).
var carriers = map[string]Carrier{
	// privileges
	"sudo": {short: "CDghpRrtTUu", long: []string{"--close-from", "--chdir", "--group", "--host", "--prompt", "--chroot", "--role", "--type", "--command-timeout", "--other-user", "--user"}, assigns: true, elevated: true, special: sudoLine},
	"doas": {short: "Cu", elevated: true}, "pkexec": {long: []string{"--user"}, elevated: true},
	"run0":       {short: "ugDpM", long: []string{"--unit", "--property", "--description", "--slice", "--user", "--group", "--nice", "--chdir", "--setenv", "--background", "--machine"}, elevated: true},
	"su":         {short: "cgGsTw", long: []string{"--command", "--session-command", "--group", "--supp-group", "--shell", "--whitelist-environment"}, elevated: true, special: suLine},
	"runuser":    {short: "ucgGsTw", long: []string{"--user", "--command", "--session-command", "--group", "--supp-group", "--shell", "--whitelist-environment"}, elevated: true, special: suLine},
	"sg":         {elevated: true, special: suLine, short: "c"},
	"gosu":       {skip: 1, elevated: true},
	"su-exec":    {skip: 1, elevated: true},
	"setpriv":    {long: []string{"--ruid", "--euid", "--rgid", "--egid", "--reuid", "--regid", "--groups", "--securebits", "--selinux-label", "--apparmor-profile", "--inh-caps", "--ambient-caps", "--bounding-set", "--pdeathsig", "--ptracer"}, elevated: true},
	"capsh":      {code: []string{"-c"}, elevated: true},
	"gksudo":     {short: "u", elevated: true},
	"kdesudo":    {short: "u", elevated: true},
	"sudoedit":   {short: "CDghpRrtTUu", elevated: true, special: stdinLine},
	"calife":     {skip: 1, elevated: true},
	"machinectl": {short: "MEpH", long: []string{"--machine", "--setenv", "--uid", "--property", "--host"}, skip: 2, elevated: true, away: true},

	// environment, priority, time
	"env":     {short: "uCS", long: []string{"--unset", "--chdir", "--split-string", "--argv0"}, assigns: true, special: envLine},
	"nice":    {short: "n", long: []string{"--adjustment"}},
	"ionice":  {short: "cnpPu", long: []string{"--class", "--classdata", "--pid"}},
	"chrt":    {short: "TPDp", long: []string{"--sched-runtime", "--sched-period", "--sched-deadline"}, skip: 1},
	"taskset": {skip: 1}, "numactl": {short: "NmlipCw", long: []string{"--interleave", "--membind", "--cpunodebind", "--physcpubind", "--preferred"}},
	"choom":     {short: "np", long: []string{"--adjust", "--pid"}},
	"prlimit":   {short: "p", long: []string{"--pid"}},
	"nohup":     {behind: true},
	"setsid":    {behind: true},
	"timeout":   {short: "ks", long: []string{"--kill-after", "--signal"}, skip: 1},
	"gtimeout":  {short: "ks", long: []string{"--kill-after", "--signal"}, skip: 1},
	"timelimit": {short: "tTsS"},
	"time":      {short: "fo", long: []string{"--format", "--output"}},
	"stdbuf":    {short: "ioe", long: []string{"--input", "--output", "--error"}},
	"unbuffer":  {}, "command": {special: commandLine}, "builtin": {}, "coproc": {}, "chronic": {}, "ts": {}, "errno": {},
	"cpulimit":   {short: "lpe", long: []string{"--limit"}},
	"caffeinate": {short: "tw"}, "systemd-inhibit": {long: []string{"--what", "--who", "--why", "--mode"}},
	"dbus-run-session": {long: []string{"--config-file", "--dbus-daemon"}}, "dbus-launch": {}, "xvfb-run": {short: "nefpsw", long: []string{"--server-num", "--error-file", "--auth-file", "--xauth-protocol", "--server-args", "--wait"}},
	"systemd-run": {short: "pEuMHGDS", long: []string{"--unit", "--property", "--setenv", "--slice", "--machine", "--host", "--uid", "--gid", "--nice", "--working-directory", "--description", "--on-active", "--on-boot", "--on-calendar", "--on-startup", "--on-unit-active", "--timer-property", "--path-property", "--socket-property", "--service-type"}, behind: true},
	"daemonize":   {short: "acelopu", behind: true}, "start-stop-daemon": {short: "nxpuag", long: []string{"--name", "--exec", "--pidfile", "--user", "--startas", "--group"}, behind: true},
	"hyperfine": {short: "wmMrsLSpcn", long: []string{"--warmup", "--runs", "--min-runs", "--max-runs", "--shell", "--prepare", "--export-json", "--export-markdown"}, text: true},
	"watchexec": {short: "ewifdsxN"},
	"nodemon":   {short: "ewix", code: []string{"-x", "--exec"}},

	// tracing, roots, namespaces, libraries
	"strace": {short: "abeEIoOpPsSuX", long: []string{"--output", "--trace", "--attach", "--user"}}, "ltrace": {short: "aAdDeFlnopsuwx"},
	"gdb": {code: []string{}, special: stdinLine}, "valgrind": {}, "perf": {skip: 1, short: "eoFpct"}, "catchsegv": {}, "rr": {skip: 1},
	"chroot":   {long: []string{}, skip: 1, elevated: true, away: true},
	"nsenter":  {short: "tSGWw", long: []string{"--target", "--setuid", "--setgid"}, elevated: true, away: true},
	"unshare":  {short: "RSGwlp", long: []string{"--root", "--setuid", "--setgid", "--wd", "--map-user", "--map-group", "--map-users", "--map-groups"}},
	"firejail": {}, "proot": {short: "rbwqkl"}, "fakeroot": {short: "lsibu"}, "fakechroot": {}, "bwrap": {long: []string{"--chdir", "--setenv", "--unsetenv", "--dev", "--proc", "--tmpfs", "--uid", "--gid", "--hostname"}},
	"ip": {special: ipLine, elevated: true}, "faketime": {skip: 1, short: "f"}, "proxychains": {short: "f"}, "proxychains4": {short: "f"}, "torsocks": {}, "torify": {},
	"ld-linux-x86-64.so.2": {long: []string{"--library-path", "--preload", "--audit", "--argv0"}}, "ld-linux.so.2": {long: []string{"--library-path", "--preload", "--audit", "--argv0"}},
	"ld-linux-aarch64.so.1": {long: []string{"--library-path", "--preload", "--audit", "--argv0"}}, "ld-musl-x86_64.so.1": {long: []string{"--library-path", "--preload"}}, "ld.so": {long: []string{"--library-path", "--preload", "--audit", "--argv0"}},
	"busybox": {special: appletLine}, "toybox": {special: appletLine},

	// many times, on events
	"xargs":    {short: "aEIdLnPs", long: []string{"--arg-file", "--delimiter", "--max-lines", "--max-args", "--max-procs", "--max-chars", "--replace", "--process-slot-var"}, special: xargsLine},
	"gxargs":   {short: "aEIdLnPs", special: xargsLine},
	"parallel": {short: "jNnaILlSdC", long: []string{"--jobs", "--max-args", "--arg-file", "--colsep", "--delimiter", "--joblog", "--results", "--tmpdir", "--sshlogin", "--timeout", "--delay", "--retries", "--halt", "--load", "--memfree", "--replace", "--workdir", "--tagstring"}, special: parallelLine},
	"find":     {special: findLine}, "gfind": {special: findLine}, "fd": {special: findLine}, "fdfind": {special: findLine},
	"watch": {short: "nq", long: []string{"--interval", "--equexit"}, text: true},
	"entr":  {special: entrLine},
	"flock": {short: "wEc", long: []string{"--timeout", "--wait", "--conflict-exit-code", "--command"}, special: flockLine}, "lockfile": {}, "setlock": {skip: 1},
	"script": {short: "cIOBTmEo", long: []string{"--command", "--log-in", "--log-out", "--log-io", "--log-timing", "--logging-format", "--echo", "--output-limit"}, special: scriptLine},
	"at":     {special: stdinLine, behind: true}, "batch": {special: stdinLine, behind: true},
	"run-parts": {}, "tmux": {special: stdinLine}, "screen": {short: "cShTtesx"}, "expect": {code: []string{}, special: stdinLine},

	// elsewhere
	"ssh": {short: "BbcDEeFIiJLlmOopQRSWw", special: sshLine}, "autossh": {short: "BbcDEeFIiJLlmOopQRSWwM", special: sshLine}, "sshpass": {short: "pfdP"}, "mosh": {special: sshLine, short: "p"}, "slogin": {short: "BbcDEeFIiJLlmOopQRSWw", special: sshLine},
	"docker": {special: containerLine}, "podman": {special: containerLine}, "nerdctl": {special: containerLine}, "docker-compose": {special: containerLine},
	"kubectl": {special: kubectlLine}, "oc": {special: kubectlLine}, "k3s": {skip: 0}, "lxc": {special: kubectlLine}, "incus": {special: kubectlLine}, "vagrant": {special: stdinLine, code: []string{"-c", "--command"}},
	"nc": {special: netcatLine}, "ncat": {special: netcatLine}, "netcat": {special: netcatLine}, "nc.traditional": {special: netcatLine}, "nc.openbsd": {special: netcatLine},
	"socat": {special: socatLine},
	"git":   {special: gitLine},
}
