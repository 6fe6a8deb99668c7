package places

import (
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/engine/facts/disk"
	"github.com/sallyport-dev/sallyport/engine/facts/term"
	"github.com/sallyport-dev/sallyport/engine/obeyed"
)

// atlas is the compiled placeRows: for each way of naming a place a map from the text of the
// pattern, so that labelling a path costs a few lookups for each of its ancestors.
type atlas struct {
	absolute map[string][]mark // by the whole path
	home     map[string][]mark // by the path below a home directory, "" for the home itself
	name     map[string][]mark // by the last name
	pair     map[string][]mark // by the last two names
	globs    map[string][]mark // by the directory: "/dev", "~/.ssh", "**"
	under    map[string][]mark // by the last name of the directory: "site-packages" of **/site-packages/*.pth

	secrets, secretsAtHome []string // the places of absolute and home whose labels make them credentials
}

// mark is what a pattern gives to the paths that it names.
type mark struct {
	label term.Label
	below bool // and to everything below them
	not   bool // takes the label away

	group    *obeyed.Group // with the label of its kind
	programs string

	glob string // of the last name; "" for none

	head, tail string // a glob of the form head*tail is compared without a matcher
	simple     bool
}

func (m *mark) matches(base string) bool {
	if m.simple {
		return len(base) >= len(m.head)+len(m.tail) && strings.HasPrefix(base, m.head) && strings.HasSuffix(base, m.tail)
	}
	ok, err := path.Match(m.glob, base)
	return ok && err == nil
}

// Atlases holds the one atlas.
var Atlases = sync.OnceValue(func() *atlas {
	a := &atlas{
		absolute: map[string][]mark{}, home: map[string][]mark{}, name: map[string][]mark{},
		pair: map[string][]mark{}, globs: map[string][]mark{}, under: map[string][]mark{},
	}
	for _, r := range placeRows {
		for _, p := range strings.Fields(r.patterns) {
			a.add(p, mark{label: r.label})
		}
	}
	for _, r := range notPlaces {
		for _, p := range strings.Fields(r.patterns) {
			a.add(p, mark{label: r.label, not: true})
		}
	}
	for _, g := range obeyed.Groups() {
		a.addObeyed(&g)
	}
	a.secrets, a.secretsAtHome = secrets(a.absolute), secrets(a.home)
	return a
})

// addObeyed adds the files of a group under the label of its kind.
func (a *atlas) addObeyed(g *obeyed.Group) {
	labels := []term.Label{term.Label(slices.Index(term.LabelNames, string(g.Kind)))}
	if g.Severity != obeyed.Low {
		labels = append(labels, term.LabelAutorun)
	}
	if g.Settings {
		labels = append(labels, term.LabelAgentSettings)
	}
	for i := range g.Files {
		for _, p := range strings.Fields(g.Files[i].Patterns) {
			for n, l := range labels {
				m := mark{label: l}
				if n == 0 {
					m.group, m.programs = g, g.Files[i].Programs
				}
				a.add(p, m)
			}
			dir, _, two := strings.Cut(strings.TrimSuffix(strings.TrimPrefix(p, "**/"), "/**"), "/")
			if two && dir != ".git" && strings.HasPrefix(dir, ".") && len(labels) > 1 {
				a.add("**/"+dir, mark{label: term.LabelHoldsAutorun})
			}
		}
	}
}

// secrets lists the places of a map whose labels are credentials, in a fixed order.
func secrets(places map[string][]mark) []string {
	var out []string
	for p, marks := range places {
		for _, m := range marks {
			if CredentialLabels.Has(m.label) && !m.not {
				out = append(out, p)
				break
			}
		}
	}
	slices.Sort(out)
	return out
}

func (a *atlas) add(pattern string, m mark) {
	pattern, m.below = strings.CutSuffix(pattern, "/**")
	dir, base := path.Split(pattern)
	if strings.ContainsAny(base, "*?[") && pattern != "**" {
		m.glob = base
		m.head, m.tail, _ = strings.Cut(base, "*")
		m.simple = !strings.ContainsAny(m.head+m.tail, "*?[") && strings.Contains(base, "*")
		dir = strings.TrimSuffix(dir, "/")
		if last, ok := strings.CutPrefix(dir, "**/"); ok {
			a.under[last] = append(a.under[last], m)
		} else {
			a.globs[dir] = append(a.globs[dir], m)
		}
		return
	}
	if rest, ok := strings.CutPrefix(pattern, "**/"); ok {
		if strings.Contains(rest, "/") {
			a.pair[rest] = append(a.pair[rest], m)
		} else {
			a.name[rest] = append(a.name[rest], m)
		}
		return
	}
	if rest, ok := strings.CutPrefix(pattern, "~"); ok {
		rest = strings.TrimPrefix(rest, "/")
		a.home[rest] = append(a.home[rest], m)
		return
	}
	a.absolute[pattern] = append(a.absolute[pattern], m)
}

// Labels adds the labels that the data has for an absolute clean path. home is the child's home directory.
func (a *atlas) Labels(into *term.Set, p, home string) {
	var gone, found term.Set
	a.visit(p, home, func(m *mark) { m.give(&found, &gone) })
	stream := found.Has(term.LabelStdDevice) || into.Has(term.LabelStdDevice) // spelled /dev/stdin, really /proc/PID/fd/0
	if rest, ok := strings.CutPrefix(p, "/proc/"); ok && !stream {
		names := strings.Split(rest, "/")
		self := names[0] == "self" || names[0] == "thread-self"
		for _, name := range names[1:] {
			if slices.Contains(processMemory, name) || !self && slices.Contains(processFiles, name) {
				found.Add(term.LabelProcessMemory)
			}
		}
	}
	into.UnionWithout(found, gone)
}

// ObeyedBy adds the programs that obey a path.
func (a *atlas) ObeyedBy(to []facts.Obeyed, p, home string) []facts.Obeyed {
	a.visit(p, home, func(m *mark) {
		if m.group == nil {
			return
		}
		for program := range strings.SplitSeq(m.programs, ", ") {
			o := facts.Obeyed{Program: program, Starts: m.group.Starts, Severity: string(m.group.Severity)}
			if !slices.Contains(to, o) {
				to = append(to, o)
			}
		}
	})
	return to
}

// visit goes through the marks of a path, and of the places around it that hold for all below them.
func (a *atlas) visit(p, home string, see func(*mark)) {
	root := homeOf(p, home)
	for at := p; ; {
		self := len(at) == len(p)
		visit(a.absolute[at], self, "", see)
		dir, base := disk.Parent(at)
		if base != "" {
			visit(a.name[base], self, "", see)
			if i := strings.LastIndexByte(dir, '/'); i >= 0 && len(dir) > 1 {
				visit(a.pair[at[i+1:]], self, "", see)
			}
			visit(a.globs[dir], self, base, see)
			visit(a.globs["**"], self, base, see)
			_, last := disk.Parent(dir)
			visit(a.under[last], self, base, see)
		}
		if root != "" && len(at) >= len(root) {
			rel := strings.TrimPrefix(at[len(root):], "/")
			visit(a.home[rel], self, "", see)
			if rel != "" && base != "" {
				a.homeGlobs(rel, base, self, see)
			}
		}
		if base == "" {
			return
		}
		at = dir
	}
}

// Names adds the labels that depend on the last names of a path alone, wherever it lies.
func (a *atlas) Names(into *term.Set, p string) {
	var gone, found term.Set
	give := func(m *mark) { m.give(&found, &gone) }
	dir, base := disk.Parent(p)
	visit(a.name[base], true, "", give)
	if i := strings.LastIndexByte(dir, '/'); i >= 0 && len(dir) > 1 {
		visit(a.pair[p[i+1:]], true, "", give)
	}
	visit(a.globs["**"], true, base, give)
	_, last := disk.Parent(dir)
	visit(a.under[last], true, base, give)
	into.UnionWithout(found, gone)
}

func (a *atlas) homeGlobs(rel, base string, self bool, see func(*mark)) {
	dir := "~"
	if i := strings.LastIndexByte(rel, '/'); i >= 0 {
		if rel[:i] != ".ssh" {
			return // the only directory of a home with patterns for names: see TestHomeGlobs
		}
		dir = "~/.ssh"
	}
	visit(a.globs[dir], self, base, see)
}

func visit(marks []mark, self bool, base string, see func(*mark)) {
	for i := range marks {
		m := &marks[i]
		if (self || m.below) && (m.glob == "" || m.matches(base)) {
			see(m)
		}
	}
}

// give adds the label of a mark to those of a path, or to those that it loses.
func (m *mark) give(found, gone *term.Set) {
	if m.not {
		gone.Add(m.label)
	} else {
		found.Add(m.label)
	}
}

// homeOf returns the home directory in or at which p lies, "" for none.
func homeOf(p, home string) string {
	if home != "" && home != "/" && disk.Within(p, home) {
		return home
	}
	for _, h := range HomeNames {
		if disk.Within(p, h) {
			return h
		}
	}
	for _, dir := range HomeParents {
		if len(p) > len(dir)+1 && strings.HasPrefix(p, dir) && p[len(dir)] == '/' {
			if i := strings.IndexByte(p[len(dir)+1:], '/'); i >= 0 {
				return p[:len(dir)+1+i]
			}
			return p
		}
	}
	return ""
}

// placeRow says which labels a kind of place has. A pattern is one of
//
//	/etc/shadow      that path
//	~/.ssh/config    below any home directory
//	**/.git/config   anywhere, by its last one or two names
//	…/**             the place and everything below it
//
// The last name may hold *, ? and [ (path.Match); no other may.
type placeRow struct {
	label    term.Label
	patterns string
}

var placeRows = []placeRow{
	{term.LabelRoot, "/ C:/"},
	{term.LabelTopLevel, `/bin /boot /dev /etc /lib /lib32 /lib64 /libx32 /media /mnt /opt /proc /run /sbin /srv /sys /usr /var
		/usr/bin /usr/lib /usr/lib64 /usr/local /usr/sbin /usr/share /var/lib /var/log
		/Applications /Library /Network /System /Volumes /cores /private /private/etc /private/var
		C:/Windows C:/Users C:/ProgramData`},
	{term.LabelSystemRoot, `/bin/** /boot/** /dev /etc/** /lib/** /lib32/** /lib64/** /libx32/** /proc /sbin/** /sys
		/usr /usr/* /usr/bin/** /usr/sbin/** /usr/lib/** /usr/lib32/** /usr/lib64/** /usr/libexec/** /usr/share/** /usr/include/** /var /var/*
		/var/lib /var/lib/dpkg/** /var/lib/rpm/** /var/lib/pacman/** /var/lib/systemd/** /run/systemd/**
		/System/** /Library /private /private/etc/** /private/var C:/Windows/**`},
	{term.LabelHomeRoot, "~ /home /Users /root"},

	{term.LabelDiskDevice, `/dev/sd?* /dev/nvme?* /dev/vd?* /dev/xvd?* /dev/hd?* /dev/mmcblk* /dev/loop[0-9]*
		/dev/md[0-9]* /dev/dm-* /dev/sr[0-9]* /dev/disk[0-9]* /dev/rdisk[0-9]* /dev/nbd[0-9]* /dev/zram* /dev/zd[0-9]*
		/dev/disk/** /dev/mapper/** /dev/md/** /dev/zvol/** /dev/bcache*`},
	{term.LabelNullDevice, "/dev/null /dev/zero /dev/full"},
	{term.LabelStdDevice, `/dev/stdin /dev/stdout /dev/stderr /dev/tty /dev/fd/** /dev/pts/**
		/proc/self/fd/**`},
	{term.LabelMemoryDevice, "/dev/mem /dev/kmem /dev/port /proc/kcore /proc/kmem"},
	{term.LabelProcfs, "/proc/**"},
	{term.LabelSysfs, "/sys/**"},
	{term.LabelKernelControl, "/proc/sysrq-trigger /proc/sys/** /sys/kernel/** /sys/power/** /sys/module/** /sys/firmware/** /sys/fs/cgroup/** /sys/class/** /sys/bus/** /sys/block/** **/release_agent"},

	{term.LabelCron, `/etc/crontab /etc/anacrontab /etc/cron.d/** /etc/cron.hourly/** /etc/cron.daily/** /etc/cron.weekly/** /etc/cron.monthly/**
		/var/spool/cron/** /var/spool/at/** /var/cron/** /etc/cron.allow /etc/cron.deny /etc/periodic/** /etc/at.allow /etc/at.deny`},
	{term.LabelServiceUnit, `/etc/systemd/** /usr/lib/systemd/** /lib/systemd/** /run/systemd/** /usr/local/lib/systemd/** /etc/init.d/** /etc/init/**
		/etc/rc0.d/** /etc/rc1.d/** /etc/rc2.d/** /etc/rc3.d/** /etc/rc4.d/** /etc/rc5.d/** /etc/rc6.d/** /etc/rcS.d/**
		/etc/inittab /etc/xinetd.d/** /etc/udev/** /etc/supervisor/** ~/.config/systemd/** ~/.local/share/systemd/**
		/Library/LaunchAgents/** /Library/LaunchDaemons/** /System/Library/LaunchDaemons/** ~/Library/LaunchAgents/**`},

	{term.LabelGitDir, "**/.git/** **/.hg/** **/.svn/**"},

	{term.LabelAuthorizedKeys, "~/.ssh/authorized_keys* /etc/ssh/authorized_keys/**"},
	{term.LabelSSHDir, "~/.ssh/** /etc/ssh/**"},
	{term.LabelSSHKey, `**/id_rsa **/id_dsa **/id_ecdsa **/id_ed25519 **/id_ecdsa_sk **/id_ed25519_sk **/id_rsa.* **/id_ed25519.* **/ssh_host_*_key
		~/.ssh ~/.ssh/id_* ~/.ssh/*.pem ~/.ssh/*.key ~/.ssh/*_rsa ~/.ssh/*_ed25519 ~/.ssh/identity`},
	{term.LabelCloudCredential, `~/.aws/** **/.aws/credentials ~/.azure/** ~/.config/gcloud/** **/application_default_credentials.json ~/.config/doctl/**
		~/.oci/** ~/.kube/** **/.kube/config ~/.config/hcloud/** ~/.config/scw/** ~/.config/ibmcloud/** ~/.bluemix/** ~/.aliyun/**
		~/.terraform.d/credentials.tfrc.json ~/.config/rclone/** ~/.boto ~/.s3cfg ~/.linode-cli ~/.fly/** ~/.config/helm/**
		/etc/kubernetes/** /var/run/secrets/** /run/secrets/** /etc/rancher/**`},
	{term.LabelTokenFile, `~/.netrc ~/_netrc ~/.npmrc ~/.pypirc ~/.git-credentials ~/.docker/config.json ~/.config/gh/** ~/.config/hub ~/.config/glab-cli/**
		~/.cargo/credentials ~/.cargo/credentials.toml ~/.gem/credentials ~/.composer/auth.json ~/.config/composer/auth.json ~/.m2/settings.xml
		~/.gradle/gradle.properties ~/.pgpass ~/.my.cnf ~/.mylogin.cnf ~/.vault-token ~/.huggingface/token ~/.cache/huggingface/token
		~/.config/configstore/** ~/.config/op/** ~/.config/git/credentials ~/.yarnrc.yml ~/.config/containers/auth.json ~/.databrickscfg
		~/.kaggle/kaggle.json ~/.config/heroku/** ~/.config/netlify/** ~/.config/vercel/** ~/.local/share/com.vercel.cli/auth.json
		~/.openai/** ~/.config/openai/** ~/.claude/.credentials.json ~/.claude.json ~/.codex/auth.json ~/.gemini/oauth_creds.json
		~/.mcp-auth/** ~/.gcloud/** ~/.config/github-copilot/** ~/.circleci/cli.yml ~/.wgetrc ~/.curlrc
		~/.smbcredentials /etc/ppp/chap-secrets /etc/wireguard/** /etc/openvpn/**
		/etc/krb5.keytab /etc/ipsec.secrets /tmp/krb5cc_*
		**/.git-credentials **/.htpasswd **/*.kdbx **/*.keytab`},
	{term.LabelEnvFile, "**/.env **/.env.* **/*.env **/.envrc"},
	{term.LabelAuthDatabase, `/etc/shadow /etc/shadow- /etc/gshadow /etc/gshadow- /etc/sudoers /etc/sudoers.d/** /etc/master.passwd /etc/spwd.db /etc/doas.conf
		/etc/security/** /etc/pam.d/** /etc/pam.conf /private/etc/master.passwd /private/etc/sudoers /private/etc/sudoers.d/** /etc/polkit-1/**
		/var/db/dslocal/** /var/lib/sss/** /etc/ssl/private/** /etc/pki/tls/private/** /etc/letsencrypt/** /etc/opasswd C:/Windows/System32/config/**`},
	{term.LabelAccountDatabase, "/etc/passwd /etc/passwd- /etc/group /etc/group- /etc/subuid /etc/subgid /etc/nsswitch.conf /etc/login.defs"},
	{term.LabelHistoryFile, "~/.bash_history ~/.zsh_history ~/.sh_history ~/.history ~/.python_history ~/.node_repl_history ~/.mysql_history ~/.psql_history ~/.sqlite_history ~/.lesshst ~/.viminfo ~/.local/share/fish/fish_history ~/.zsh_sessions/** ~/.ash_history ~/.rediscli_history"},
	{term.LabelSystemLog, "/var/log/** /private/var/log/** /run/log/** /var/run/utmp /run/utmp /var/account/** ~/Library/Logs/**"},
	{term.LabelLoaderConfig, "/etc/ld.so.preload /etc/ld.so.conf /etc/ld.so.conf.d/** /etc/ld.so.cache"},
	{term.LabelDockerSocket, "/var/run/docker.sock /run/docker.sock /run/containerd/containerd.sock /var/run/containerd/containerd.sock /run/podman/podman.sock /run/crio/crio.sock ~/.docker/run/docker.sock **/docker.sock"},
	{term.LabelBrowserProfile, `~/.mozilla/** ~/.config/google-chrome/** ~/.config/chromium/** ~/.config/BraveSoftware/** ~/.config/microsoft-edge/** ~/.config/vivaldi/** ~/.config/opera/**
		~/.thunderbird/** ~/snap/firefox/** ~/Library/Cookies/** ~/Library/Safari/** ~/Library/Mail/** ~/Library/Messages/** ~/.config/Slack/** ~/.config/discord/**
		**/Google/Chrome/** **/Firefox/Profiles/** **/globalStorage/state.vscdb **/Login?Data
		**/Cookies.binarycookies ~/.electrum/** ~/.bitcoin/** ~/.ethereum/** ~/.config/solana/**`},
	{term.LabelKeyring, `~/.gnupg/** ~/.password-store/** ~/.local/share/keyrings/** ~/.local/share/kwalletd/** ~/Library/Keychains/** /Library/Keychains/** ~/.config/keepassxc/**
		~/.config/1Password/** ~/.config/Bitwarden/** ~/.config/sops/** ~/.config/age/** ~/.minikube/** ~/.step/**`},

	{term.LabelPackageSource, `**/pip.conf ~/.config/pip/** ~/.pip/** **/uv.toml ~/.config/uv/** **/.npmrc **/.yarnrc **/.yarnrc.yml **/bunfig.toml **/.gemrc
		**/.bundle/config **/.cargo/config **/.cargo/config.toml **/.condarc **/.mambarc **/nuget.config **/NuGet.Config ~/.config/NuGet/** ~/.config/go/env
		~/.m2/settings.xml ~/.config/composer/config.json ~/.composer/config.json /etc/apt/sources.list /etc/apt/sources.list.d/** /etc/apt/apt.conf
		/etc/apt/apt.conf.d/** /etc/apt/preferences.d/** /etc/apt/trusted.gpg.d/** /etc/yum.repos.d/** /etc/zypp/repos.d/** /etc/apk/repositories /etc/pacman.conf
		/etc/pacman.d/** /etc/pip.conf /etc/npmrc /etc/docker/daemon.json /etc/containers/registries.conf ~/.config/containers/registries.conf`},
	{term.LabelCache, `~/.cache/** ~/.npm/** ~/.cargo/registry/** ~/.gradle/caches/** ~/.m2/repository/** ~/.nuget/packages/** ~/go/pkg/mod/** ~/Library/Caches/** ~/.local/share/Trash/**
		/var/cache/** /var/lib/apt/lists/** **/__pycache__/** **/.pytest_cache/** **/.mypy_cache/** **/.ruff_cache/** **/node_modules/.cache/**`},
}

// notPlaces takes labels away again: what looks like a secret by its name and is not one.
var notPlaces = []placeRow{
	{term.LabelEnvFile, "**/.env.example **/.env.sample **/.env.template **/.env.dist **/.env.defaults **/example.env **/sample.env **/template.env"},
	{term.LabelSSHKey, "**/*.pub **/id_rsa.pub"},
	{term.LabelGitDir, "**/info/exclude **/.git/COMMIT_EDITMSG **/.git/description"},
	{term.LabelStdDevice, "/dev/pts"},
	{term.LabelCloudCredential, "~/.aws/config ~/.kube/cache/**"},
	{term.LabelAuthDatabase, "/etc/security/limits.conf /etc/security/limits.d/**"},
}

// CredentialLabels make a place one of zone "credential". An .env file is labelled only: it
// belongs to the project around it, which reads and writes it all day.
var CredentialLabels = term.SetOf(term.LabelSSHKey, term.LabelCloudCredential, term.LabelTokenFile, term.LabelAuthDatabase, term.LabelBrowserProfile, term.LabelKeyring)

// homes are the directories whose children are home directories, and home directories by name.
var (
	HomeParents = []string{"/home", "/Users", "C:/Users", "/c/Users", "/mnt/c/Users", "/var/home", "/usr/home", "/export/home"}
	HomeNames   = []string{"/root", "/var/root", "/private/var/root"}
)

// systemDirs are of zone "system" unless something deeper says otherwise.
var systemDirs = []string{
	"/", "/bin", "/boot", "/dev", "/etc", "/lib", "/lib32", "/lib64", "/libx32", "/lost+found", "/opt", "/proc", "/run", "/sbin", "/snap", "/sys", "/usr", "/var",
	"/Applications", "/Library", "/System", "/cores", "/private/etc", "/private/var", "C:/Windows", "C:/Program Files", "C:/Program Files (x86)", "C:/ProgramData",
}

// processMemory are the names below /proc/PID by which the environment and the memory of a process are
// read. By processFiles the files are reached that another one has open or sees: /proc/1/root/etc/shadow.
var (
	processMemory = []string{"environ", "mem"}
	processFiles  = []string{"root", "cwd", "fd", "map_files"}
)

// ObeyedLabels are those of files that programs of the user obey.
var ObeyedLabels = term.SetOf(
	term.LabelAutorun, term.LabelAgentConfig, term.LabelEditorConfig, term.LabelDirectoryConfig, term.LabelGitConfig, term.LabelShellStartup,
)

// ObeyedBy returns the programs of a user that obey a file at an absolute clean path (package engine/obeyed).
// holds reports a directory in which such files are looked for. home is the user's home directory.
func ObeyedBy(p, home string) (by []facts.Obeyed, holds bool) {
	a := Atlases()
	a.visit(p, home, func(m *mark) { holds = holds || m.label == term.LabelHoldsAutorun && !m.not })
	return a.ObeyedBy(nil, p, home), holds
}

// StartsOthers reports programs that start others by a file: an entry of more than low severity.
func StartsOthers(by []facts.Obeyed) bool {
	return slices.ContainsFunc(by, func(o facts.Obeyed) bool { return o.Severity != "low" })
}

// MayBeObeyed looks at the last names of a path alone, and at its place below home: false means that ObeyedBy
// finds nothing, unless a directory around the path is itself obeyed.
func MayBeObeyed(p, home string) bool {
	a := Atlases()
	dir, base := disk.Parent(p)
	if len(a.name[base]) > 0 {
		return true
	}
	if i := strings.LastIndexByte(dir, '/'); i >= 0 {
		if len(a.pair[p[i+1:]]) > 0 || len(a.under[dir[i+1:]]) > 0 {
			return true
		}
	}
	if home != "" && home != "/" && disk.Below(p, home) {
		for rel := p[len(home)+1:]; rel != ""; rel = rel[:max(0, strings.LastIndexByte(rel, '/'))] {
			if len(a.home[rel]) > 0 {
				return true
			}
		}
		if len(a.globs["~"]) > 0 && dir == home {
			return true
		}
	}
	return slices.ContainsFunc(a.globs["**"], func(m mark) bool { return m.matches(base) })
}
