package mounts

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
)

// Guard refuses places of this machine that no environment may show, regardless of the requester: places that
// give rights over the machine, and credentials of others. It checks an operator's setting; the error has the
// fix.
type Guard struct {
	Home string   // home directory of sallyport's user; "" for none
	Own  []string // sallyport's own places: its log, its keys, its state
	// Sockets are those of engines in use, besides the usual ones.
	Sockets []string
}

// Refuse returns why a place may not be mounted; nil where it may. Paths are judged as they are written
// and as they are spelled on a system that does not tell upper case from lower: give it the real path too.
func (g Guard) Refuse(place string, write bool) error {
	if !path.IsAbs(place) {
		return fmt.Errorf("mount %s: it is not an absolute path", place)
	}
	for _, p := range spellings(fold(place)) {
		for _, r := range g.rules(p, write) {
			if r.hit {
				return fmt.Errorf("mount %s: %s: %s", place, r.why, r.mend)
			}
		}
	}
	info, err := os.Lstat(place)
	switch {
	case err != nil: // there may be nothing yet, or not here
		return nil
	case info.Mode()&fs.ModeSocket != 0:
		return fmt.Errorf("mount %s: it is a socket, behind which a program of the machine listens: leave it out",
			place)
	case info.Mode()&(fs.ModeDevice|fs.ModeNamedPipe|fs.ModeIrregular) != 0:
		return fmt.Errorf("mount %s: it is neither a file nor a directory: leave it out", place)
	}
	return nil
}

// spellings are a path and its other names: a drive of Windows is mounted below /mnt in its Linux, and data
// volumes of macOS below /system.
func spellings(p string) []string {
	out := []string{p}
	if rest, ok := strings.CutPrefix(p, "/mnt/"); ok && len(rest) > 0 && (len(rest) == 1 || rest[1] == '/') {
		out = append(out, path.Clean("/"+rest[1:]))
	}
	if rest, ok := strings.CutPrefix(p, "/system/volumes/data"); ok {
		out = append(out, path.Clean("/"+rest))
	}
	return out
}

// rule is one reason to refuse a place.
type rule struct {
	hit       bool
	why, mend string
}

const (
	narrower = "name the directory in it that is needed"
	copied   = "copy what is needed to a place of its own"
)

// rules says which reasons hold against a folded path.
func (g Guard) rules(p string, write bool) []rule {
	home := fold(g.Home)
	return []rule{
		{p == "/", "it is the whole machine", narrower},
		{oneOf(p, within, forbidden()), "it belongs to the system", copied},
		{oneOf(p, around, forbidden()), "the system's own files lie below it", narrower},
		{oneOf(p, same, system()) || oneOf(p, around, system()), "it belongs to the system", narrower},
		{write && oneOf(p, within, programs()), "the system's own files lie there, and it is to be written to",
			"mount it read-only, or " + copied},
		{oneOf(p, same, shared()), "others keep their files and sockets there", narrower},
		{g.Home != "" && home != "/" && (p == home || around(p, home)), "it is your home directory, or holds it",
			narrower},
		{path.Dir(p) == "/home" || p == "/root" || path.Dir(p) == "/users", "it is the home directory of a user",
			narrower},
		{oneOf(p, within, sockets(home, g.Sockets)) || oneOf(p, around, sockets(home, g.Sockets)),
			"a container engine listens there, and who reaches it owns the machine",
			narrower + ", without the engine's socket"},
		{secret(p) || home != "" && oneOf(p, within, below(home, secretsOfHome())),
			"keys and passwords are kept there", "see docker.credentials for what a container may be given, or " +
				copied},
		{home != "" && oneOf(p, around, below(home, slices.Concat(secrets(), secretsOfHome()))),
			"keys and passwords are kept below it", narrower},
		{oneOf(p, within, folded(g.Own)) || oneOf(p, around, folded(g.Own)), "sallyport keeps its own files there",
			"keep workspace and state apart: see audit.dir and $XDG_STATE_HOME"},
	}
}

// forbidden are places of which nothing is mounted.
func forbidden() []string {
	return []string{
		"/etc", "/boot", "/dev", "/proc", "/sys", "/run", "/var/run", "/private/etc", "/private/var/run",
		"/var/lib/docker", "/var/lib/containerd", "/var/lib/containers", "/var/lib/kubelet", "/var/lib/rancher",
		"/var/lib/sudo", "/var/spool/cron", "/var/db/sudo", "/snap", "/efi", "/lost+found",
	}
}

// system are places of the operating system that may be mounted in part.
func system() []string {
	return append(programs(), "/opt", "/var", "/var/lib", "/var/cache", "/var/spool", "/var/db")
}

// programs are places that may be read in part, as some tools below /usr/local must be.
func programs() []string {
	return []string{
		"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/var/log", "/nix", "/gnu", "/library",
		"/system", "/applications",
	}
}

// shared are places of all users that may be mounted in part.
func shared() []string {
	return []string{
		"/tmp", "/var/tmp", "/private/tmp", "/private/var/tmp", "/private", "/private/var", "/home", "/users",
		"/srv", "/mnt", "/media",
		"/volumes", "/export", "/data/home",
	}
}

// sockets are where engines listen, or keep the directories of those that do.
func sockets(home string, more []string) []string {
	all := append(folded(more), "/var/run/docker.sock", "/run/docker.sock", "/run/containerd", "/run/podman",
		"/run/user", "/run/crio", "/run/k3s")
	if home == "" {
		return all
	}
	return append(all, below(home, []string{
		".docker/run", ".docker/desktop", ".colima", ".lima", ".rd", ".orbstack", ".local/share/containers",
		".local/share/docker", ".minikube",
	})...)
}

// secrets are files and directories, wherever they lie, that others trust somebody by.
func secrets() []string {
	return []string{
		".ssh", ".aws", ".azure", ".gnupg", ".kube", ".docker", ".password-store", ".netrc", "_netrc",
		".git-credentials", ".pypirc",
		".pgpass", ".my.cnf", ".vault-token", ".terraform.d", ".config/gcloud", ".config/gh", ".config/op",
		".local/share/keyrings",
		".cargo/credentials.toml", ".gem/credentials", ".subversion/auth", ".s3cfg", ".boto",
	}
}

// secretsOfHome are such places of a home directory; the same names elsewhere are usual in a project.
func secretsOfHome() []string {
	return []string{
		".npmrc", ".claude", ".claude.json", ".codex", ".gemini", ".m2", ".mozilla", ".thunderbird",
		".config/google-chrome", ".config/chromium",
		".config/glab-cli", ".config/hub", ".config/sops", ".config/rclone", ".config/git", ".config/sallyport",
		".gitconfig", "library/keychains",
		"library/application support", ".bashrc", ".profile", ".zshrc", ".bash_history", ".config/systemd",
		".config/autostart", ".local/bin",
	}
}

// secret reports whether a path is, or lies in, a place that others trust somebody by.
func secret(p string) bool {
	for _, place := range secrets() {
		if strings.Contains(p+"/", "/"+place+"/") {
			return true
		}
	}
	return false
}

// oneOf reports whether a relation holds between a path and one of several.
func oneOf(p string, relation func(p, place string) bool, places []string) bool {
	for _, place := range places {
		if relation(p, place) {
			return true
		}
	}
	return false
}

func same(p, place string) bool   { return p == place }
func within(p, place string) bool { return p == place || strings.HasPrefix(p, place+"/") }
func around(p, place string) bool { return p != place && within(place, strings.TrimSuffix(p, "/")) }

func below(dir string, names []string) []string {
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = path.Join(dir, n)
	}
	return out
}

func folded(paths []string) []string {
	out := make([]string, 0, len(paths))
	for _, p := range paths {
		if p != "" {
			out = append(out, fold(p))
		}
	}
	return out
}

// fold writes a path as a system would take it that does not tell upper case from lower.
func fold(p string) string {
	if p == "" {
		return ""
	}
	return strings.ToLower(path.Clean(p))
}
