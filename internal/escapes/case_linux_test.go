package escapes

import (
	"strings"

	"github.com/sallyport-dev/sallyport/engine"
)

// try is one try to get out: what a command does, and what is to stop it.
type try struct {
	name string
	// text is bash. It prints $GOT when the kernel let through what it was to refuse; whatever else it
	// reaches, the world shows. Its variables are those of world.vars.
	text string
	// tool, in place of text, goes by way of the file tools. What it returns is taken for output.
	tool func(s *site, f engine.Files) string
	dir  string               // where the text runs, below the workspace
	host func(w *world) error // what a user of the host does before, while the environment is open

	// alone is the proof that the text works unconfined, for what would harm or change this machine:
	// bash that runs as root in namespaces of its own and calls try. "" for a proof on this machine.
	alone string
	root  bool // the proof needs root
	// apart names namespaces (pid, mnt, uts, ipc, net) without which the text would harm the machine: then
	// it is not run at all, and counts as out.
	apart string
	// ends says that the command, not its keeper, may be killed by what it does.
	ends bool
	// asRoot says that who is root in a container, by the operator's leave, may do it there: to the keeper,
	// which has no more rights than root, and with it to the container. The host must not notice.
	asRoot bool
	// silent says that who is root in a container silences the keeper by it: that takes a minute to be noticed,
	// and is left out there. What comes then is tested with the bad days.
	silent bool
	// accepted says, by environment, why it is not stopped there.
	accepted map[string]string
	// bare says that the supervisor alone stops it, whatever stands around: the proof does without one, by a
	// plain bash or plain calls of package os. terminal gives that bash a terminal.
	bare, terminal bool

	// told is a word by which an environment tells people, among its shortcomings, that it does not stop this.
	told string

	bubblewrap, docker string // what stops it there, for the page
}

// family is a group of tries with the same target.
type family struct {
	name, about string
	tries       []try
}

func corpus() []family {
	return []family{
		{"Files", "Reading and writing outside the granted places.", files()},
		{"File tools", "The same through the file tools, with links that change during the call.", tools()},
		{"Sockets and networks", "Talking to something on the host, or to the network.", sockets()},
		{"Set-id files and devices", "Leaving a file in the workspace that gives rights to whoever uses it on the host.", setID()},
		{"Protected places", "Leaving something in the workspace that a program of the host runs later: git hooks, editor and agent configuration.", protected()},
		{"Mounts and namespaces", "Changing what is mounted, or becoming root in namespaces of one's own.", mounts()},
		{"Processes", "Reading, stopping, ending or steering the keeper, the gateway and other processes of the host.", processes()},
		{"Kernel", "Settings and interfaces of the kernel that all of the machine shares.", kernel()},
		{"Surviving", "Staying after the command has ended.", surviving()},
		{"Resources", "Taking what the rest of the machine needs.", resources()},
	}
}

// quoted makes a text one word of bash.
func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// The environments that are tried, and why a try may get out of one.
const (
	inBubblewrap = "bubblewrap"
	inDocker     = "docker"
	inDockerSudo = "docker-sudo"
	asSudo       = "docker-sudo, as root"
)

// unixForRoot is why sockets can be reached by who is root in a container.
func unixForRoot() map[string]string {
	return map[string]string{asSudo: "elevated commands may use sockets, which installers need, and so one that lies in a granted place"}
}

// What stops a try, where several tries have the same reason.
const (
	absent    = "it is not there: only granted places are mounted"
	readOnly  = "the mount is read-only"
	noSet     = "seccomp refuses modes with set-id bits"
	noNet     = "a network of its own with nothing but lo"
	noPID     = "a process table of its own"
	noUnix    = "seccomp refuses sockets of this family"
	noCap     = "no capability for it"
	seccomp   = "seccomp"
	ownIPC    = "System V and POSIX objects of its own"
	otherUser = "the keeper has another user, and the command no capability"
	noSteps   = "no step of a path may be a link, and paths end at the granted places"
	dies      = "the supervisor ends everything of a command, whatever it did to hide"
)
