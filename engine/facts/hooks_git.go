package facts

import (
	"path"
	"slices"
	"strings"

	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

// gitRunners are the keys of git's configuration whose value is a program that git starts.
var gitRunners = []string{
	"core.pager", "core.editor", "core.sshcommand", "core.fsmonitor", "core.hookspath", "core.askpass", "core.gitproxy", "core.alternaterefscommand",
	"diff.external", "sequence.editor", "credential.helper", "gpg.program", "gpg.ssh.program", "uploadpack.packobjectshook", "http.proxycommand",
	"interactive.difffilter", "ssh.variant", "sendemail.smtpserver", "web.browser", "gc.recentobjectshook", "trailer.", "pager.", "filter.", "difftool.", "mergetool.",
	"man.", "browser.", "guitool.", "instaweb.", "protocol.ext.allow", "init.templatedir", "include.path", "includeif.", "imap.tunnel",
}

// gitRunning are the last names of keys whose value is a program: remote.NAME.uploadpack.
var gitRunning = []string{
	".textconv", ".driver", ".uploadpack", ".receivepack", ".program", ".tocmd", ".cccmd", ".headercmd", ".clean", ".smudge", ".process",
	".vcs",
}

// runsProgram reports whether setting a git configuration key makes git run something.
func runsProgram(key, value string) bool {
	key = strings.ToLower(key)
	value = strings.TrimSpace(value)
	if strings.HasPrefix(key, "alias.") {
		return strings.HasPrefix(value, "!")
	}
	running := func(end string) bool { return strings.HasSuffix(key, end) }
	section, _, _ := strings.Cut(key, ".")
	switch {
	case section == "gpg" && quiet("", exact(value)):
		return false
	case slices.ContainsFunc(gitRunning, running), running(".command") && (section == "diff" || section == "tar" || section == "hook"),
		section == "submodule" && running(".update") && strings.HasPrefix(value, "!"):
		return true
	case section == "credential" && running(".helper"):
		key = "credential.helper"
	}
	for _, name := range gitRunners {
		if key != name && !(strings.HasSuffix(name, ".") && strings.HasPrefix(key, name)) {
			continue
		}
		switch {
		case key == "protocol.ext.allow":
			return value != "never"
		case key == "core.hookspath":
			return value != "" && value != "/dev/null"
		case value == "" || value == "true" || value == "false":
			return false
		case key == "credential.helper":
			return strings.HasPrefix(value, "!") || strings.HasPrefix(value, "/") || strings.HasPrefix(value, ".")
		default:
			return !quiet("", exact(value))
		}
	}
	return false
}

// git reads the options in front of the subcommand: -c NAME=VALUE can name a program, and --config-env
// takes a value that is not known here.
func git(c *call) {
	for _, o := range c.options {
		if key, _, ok := strings.Cut(o.value.Text, "="); o.name == "config-env" && o.given {
			if !ok || o.value.Certainty != value.Exact || runsProgram(key, "!") {
				c.flags.add(flagConfigExec)
			}
			continue
		}
		if !o.given || o.name != "c" && o.name != "config" {
			continue
		}
		key, val, ok := strings.Cut(o.value.Text, "=")
		if strings.EqualFold(key, "core.hookspath") {
			c.flags.add(flagBypassesHooks)
		}
		if o.value.Certainty != value.Exact && o.value.Prefix == "" || ok && (runsProgram(key, val) || strings.HasPrefix(strings.ToLower(key), "alias.")) {
			if sub := strings.Join(c.sub, " "); o.name == "c" && sub != "clone" && o.known != c.base.short['c'] {
				continue // -c of commit, switch and branch is something else
			}
			c.flags.add(flagConfigExec)
			c.effects |= doesExecute
		}
	}
	if c.flags.has(flagConfigExec) {
		c.effects |= doesExecute
	}
	if c.flags.has(flagDryRun) {
		for _, f := range []flag{flagForcePush, flagDeletesRef, flagRemovesUntracked} {
			c.flags.remove(f)
		}
	}
}

// gitRemoteURL adds the host of a remote that is given by its URL; ext:: runs a program.
func gitRemoteURL(c *call) {
	for _, w := range c.operands {
		if strings.HasPrefix(w.Text, "ext::") {
			c.flags.add(flagConfigExec)
			c.effects |= doesExecute
			continue
		}
		if host, ok := remoteHost(w.Text); ok && w.Certainty != value.Unknown {
			c.hosts = appendHost(c.hosts, host)
		}
	}
}

func gitRemote(c *call) {
	if len(c.operands) > 0 {
		first := *c
		first.operands = c.operands[:1]
		gitRemoteURL(&first)
		c.hosts, c.flags, c.effects = first.hosts, first.flags, first.effects
	}
}

// gitPush: REMOTE REFSPEC…; "+ref" forces, ":ref" deletes.
func gitPush(c *call) {
	gitRemote(c)
	if len(c.operands) < 2 {
		return
	}
	for _, w := range c.operands[1:] {
		switch {
		case strings.HasPrefix(w.Text, "+"):
			c.flags.add(flagForcePush)
		case strings.HasPrefix(w.Text, ":") && len(w.Text) > 1:
			c.flags.add(flagDeletesRef)
		}
	}
}

// gitClone writes a directory that is named after the repository.
func gitClone(c *call) {
	gitRemote(c)
	if len(c.operands) != 1 || c.operands[0].Certainty != value.Exact {
		return
	}
	text := strings.TrimSuffix(strings.TrimRight(c.operands[0].Text, "/"), ".git")
	if i := strings.LastIndexAny(text, "/:"); i >= 0 {
		text = text[i+1:]
	}
	if text != "" {
		c.path(exact(text), writes)
	}
}

// gitCheckout: paths behind "--" are overwritten; so is all with "." alone.
func gitCheckout(c *call) {
	behind := false
	for _, w := range c.cmd.Words {
		if w.Text == "--" && !behind {
			behind = true
			continue
		}
		if behind {
			c.flags.add(flagDiscardsChanges)
			c.touch(w, role{access: writes, recursive: true})
		}
	}
	creates := c.has("b", "B", "orphan", "t", "track", "detach")
	if c.has("pathspec-from-file") || !behind && !creates && len(c.operands) > 1 { // what follows a commit is paths
		c.flags.add(flagDiscardsChanges)
		for _, w := range c.operands[min(1, len(c.operands)):] {
			c.touch(w, role{access: writes, recursive: true})
		}
		return
	}
	if !behind && len(c.operands) > 0 {
		if last := c.operands[len(c.operands)-1]; last.Text == "." || last.Text == ":/" || strings.HasPrefix(last.Text, "./") || strings.HasPrefix(last.Text, "*") {
			c.flags.add(flagDiscardsChanges)
			c.touch(last, role{access: writes, recursive: true})
			return
		}
		if !creates {
			for _, w := range c.operands {
				switch {
				case namesSource(w):
					c.flags.add(flagDiscardsChanges)
					c.path(w, writes)
				case strings.ContainsAny(w.Text, "./"): // a branch called like a file is rare, a file without dot and slash too
					c.touchFile(w, writes, flagDiscardsChanges)
				}
			}
		}
	}
}

// sourceNames are the extensions by which a word with a directory is a file and no branch, though there may
// be no such file any more. Branches are called topic/parser or release/v1.2.
const sourceNames = " c h cc cpp cxx hpp go rs py js mjs ts tsx jsx java kt rb php cs swift scala sh sql md txt json yaml yml toml xml html css scss vue svelte lock ini cfg "

func namesSource(w value.Word) bool {
	ext := strings.TrimPrefix(path.Ext(w.Text), ".")
	return w.Certainty == value.Exact && strings.Contains(w.Text, "/") && ext != "" && strings.Contains(sourceNames, " "+ext+" ")
}

// gitRestore: --staged alone leaves the files as they are.
func gitRestore(c *call) {
	if c.has("S", "staged") && !c.has("W", "worktree") {
		c.flags.remove(flagDiscardsChanges)
		c.touches = nil
	}
}

// gitClean removes what is not tracked below the working directory.
func gitClean(c *call) {
	if c.flags.has(flagDryRun) {
		c.flags.remove(flagRemovesUntracked)
		c.effects &^= doesDelete
		c.each(deletes, func(t *touch) { t.access = reads; t.role.metadata = true })
		return
	}
	if c.has("i", "interactive") || c.sets("clean.requireforce") {
		c.flags.add(flagRemovesUntracked)
	}
}

// sets reports whether git is given a setting for this one run.
func (c *call) sets(key string) bool {
	for _, o := range c.options {
		if name, _, _ := strings.Cut(o.value.Text, "="); (o.name == "c" || o.name == "config-env") && strings.EqualFold(name, key) {
			return true
		}
	}
	return false
}

// gitNoIndex: with --no-index git compares and searches any files, and those outside of a repository without
// it.
func gitNoIndex(c *call) {
	words := c.operands
	if c.sub[len(c.sub)-1] == "grep" && !c.has("e", "f") && len(words) > 0 {
		words = words[1:]
	}
	none := c.has("no-index")
	for _, w := range words {
		if none || looksLikePath(w.Text) {
			c.touch(w, role{access: reads, recursive: none})
		}
	}
	if none && len(words) == 0 {
		c.touch(exact("."), role{access: reads, recursive: true})
	}
}

// gitInit makes a repository in its operand, or in its directory.
func gitInit(c *call) {
	made := len(c.operands) == 0
	for _, o := range c.options {
		if o.name == "git-dir" && o.given {
			c.path(o.value, writes)
			made = false
		}
	}
	for _, a := range c.cmd.Assigns {
		if a.Name == "GIT_DIR" || a.Name == "GIT_OBJECT_DIRECTORY" {
			c.path(a.Value, writes)
			made = made && a.Name != "GIT_DIR"
		}
	}
	if made {
		c.path(exact(".git"), writes)
	}
}

// gitRm: --cached leaves the files alone.
func gitRm(c *call) {
	if c.has("cached") || c.flags.has(flagDryRun) {
		c.effects &^= doesDelete
		c.touches = nil
	}
}

// gitBranch: -d with -f is -D; -d alone only deletes what is merged.
func gitBranch(c *call) {
	if c.has("d", "delete") && c.has("f", "force") {
		c.flags.add(flagDeletesRef)
	}
	if c.has("M", "C") {
		c.flags.add(flagForce)
	}
}

// gitGC: objects without a name are lost at once with --prune=now, and by git prune.
func gitGC(c *call) {
	if c.flags.has(flagDryRun) {
		return
	}
	if v := c.value("prune", "expire"); v == "now" || v == "all" {
		c.flags.add(flagRewritesHistory)
	}
}

func gitWorktree(c *call) {
	c.each(deletes, func(t *touch) { t.recursive = true })
}

// gitConfig: with a name and a value it writes; some names are programs.
func gitConfig(c *call) {
	args := c.operands
	if len(args) > 0 && (args[0].Text == "set" || args[0].Text == "get") {
		args = args[1:]
	}
	if c.has("get", "get-all", "get-regexp", "list", "l", "get-urlmatch") || c.sub[len(c.sub)-1] == "get" || c.sub[len(c.sub)-1] == "list" {
		return
	}
	unsets := c.has("unset", "unset-all", "remove-section", "rename-section", "edit", "e")
	if len(args) < 2 && !unsets {
		return
	}
	c.effects |= doesWrite
	switch {
	case c.has("global"):
		c.writeHome(".gitconfig")
	case c.has("system"):
		c.path(exact("/etc/gitconfig"), writes)
	case c.value("f", "file") == "":
		c.path(exact(".git/config"), writes)
	}
	if len(args) >= 2 && !unsets && runsProgram(args[0].Text, args[1].Text) {
		c.flags.add(flagConfigExec)
	}
}

// writeHome notes a write below the home directory of the child.
func (c *call) writeHome(rel string) {
	c.touches = append(c.touches, touch{word: exact(rel), access: writes, source: "argument", atHome: true})
}

// otherVCS: the dangerous subcommands of the other systems.
func otherVCS(c *call) {
	switch c.operand(0) {
	case "push":
		c.effects |= doesNetwork
		c.flags.add(flagRemote)
		c.flags.add(flagUploads)
	case "clone", "pull", "checkout", "co", "update", "export":
		c.effects |= doesNetwork
		c.flags.add(flagDownloads)
		for _, w := range c.operands[1:] {
			if host, ok := remoteHost(w.Text); ok {
				c.hosts = appendHost(c.hosts, host)
			}
		}
	case "revert":
		c.flags.add(flagDiscardsChanges)
	case "purge", "cleanup":
		c.flags.add(flagRemovesUntracked)
	case "strip", "histedit":
		c.flags.add(flagRewritesHistory)
	}
}

// sourceRow says how package managers are told where packages come from.
type sourceRow struct {
	cmd      string // names
	options  string // options whose value is a source; "!" in front: one that gives a check up
	settings string // names of settings, or parts of them: pip config set global.index-url URL; "!" as above
	verbs    string // subcommands that add a source, separated by commas
}

var sourceRows = []sourceRow{
	{cmd: "pip pip3 pipx uv uvx", options: "i index-url extra-index-url default-index index f find-links trusted-host allow-insecure-host",
		settings: "index-url extra-index-url find-links trusted-host proxy"},
	{cmd: "npm pnpm yarn bun npx pnpx bunx", options: "registry", settings: "registry npmRegistryServer npmScopes proxy https-proxy strict-ssl enableStrictSsl unsafeHttpWhitelist"},
	{cmd: "gem", options: "s source a add"},
	{cmd: "bundle bundler", options: "source", settings: "mirror. ssl_verify_mode"},
	{cmd: "cargo", options: "index git"},
	{cmd: "go", settings: "GOPROXY GONOSUMDB GONOSUMCHECK GOSUMDB GOINSECURE"},
	{cmd: "composer", options: "repository repository-url", settings: "repositories repositories. repo. repos. secure-http disable-tls"},
	{cmd: "poetry pdm pipenv", options: "pypi-mirror source", settings: "repositories. pypi.url", verbs: "source add"},
	{cmd: "conda mamba micromamba pixi", options: "c channel", settings: "channels default_channels channel_alias ssl_verify"},
	{cmd: "dotnet nuget", options: "s source Source add-source", verbs: "nuget add source,sources add,nuget update source,sources update"},
	{cmd: "apt apt-get aptitude", options: "!allow-unauthenticated !allow-insecure-repositories", settings: "Acquire:: !AllowUnauthenticated !AllowInsecure !AllowWeak"},
	{cmd: "yum dnf microdnf tdnf", options: "repofrompath add-repo !nogpgcheck", verbs: "config-manager addrepo"},
	{cmd: "yum-config-manager dnf-config-manager", options: "add-repo"},
	{cmd: "zypper", options: "!no-gpg-checks", verbs: "ar,addrepo,mr,modifyrepo"},
	{cmd: "apk", options: "X repository !allow-untrusted"},
	{cmd: "brew", verbs: "tap"},
	{cmd: "flatpak", options: "!no-gpg-verify", verbs: "remote-add,remote-modify"},
	{cmd: "snap", options: "!dangerous"},
	{cmd: "apt-key", verbs: "adv,add"},
	{cmd: "add-apt-repository apt-add-repository", verbs: "*"},
	{cmd: "luarocks", options: "server only-server"},
	{cmd: "opam", verbs: "repository add,repo add,remote add"},
	{cmd: "nix-channel", options: "add"},
	{cmd: "cpan cpanm", options: "mirror mirror-only from"},
	{cmd: "mvn mvnw", options: "DremoteRepositories"},
	{cmd: "vcpkg conan", verbs: "remote add"},
	{cmd: "rpm", options: "import"},
	{cmd: "pacman yay paru"},
}

// sourceVariables name a source, or give up its checks.
const sourceVariables = `PIP_INDEX_URL PIP_EXTRA_INDEX_URL PIP_FIND_LINKS PIP_TRUSTED_HOST UV_INDEX UV_INDEX_URL UV_DEFAULT_INDEX
	UV_EXTRA_INDEX_URL UV_FIND_LINKS UV_INSECURE_HOST PIPENV_PYPI_MIRROR POETRY_REPOSITORIES_* npm_config_registry NPM_CONFIG_REGISTRY
	YARN_REGISTRY YARN_NPM_REGISTRY_SERVER BUN_CONFIG_REGISTRY COREPACK_NPM_REGISTRY GOPROXY GOSUMDB GONOSUMDB GONOSUMCHECK GOINSECURE
	CARGO_REGISTRIES_* CARGO_REGISTRY_DEFAULT CARGO_SOURCE_* RUSTUP_DIST_SERVER RUSTUP_UPDATE_ROOT BUNDLE_MIRROR* RUBYGEMS_HOST
	COMPOSER_REPO_PACKAGIST CONDA_CHANNELS CONDA_CHANNEL_ALIAS HOMEBREW_BOTTLE_DOMAIN HOMEBREW_API_DOMAIN HOMEBREW_BREW_GIT_REMOTE
	HOMEBREW_CORE_GIT_REMOTE NUGET_SOURCE* PERL_CPANM_OPT PLAYWRIGHT_DOWNLOAD_HOST ELECTRON_MIRROR NVM_NODEJS_ORG_MIRROR HF_ENDPOINT`

// publicSources are the registries and forges that everybody uses, and their mirrors. Their subdomains count,
// too.
var publicSources = strings.Fields(`localhost 127.0.0.1 ::1 pypi.org pythonhosted.org pytorch.org pypi.nvidia.com ngc.nvidia.com
	developer.download.nvidia.com nvidia.github.io data.pyg.org data.dgl.ai wheels.vllm.ai download.openmmlab.com
	pypi.tuna.tsinghua.edu.cn mirrors.tuna.tsinghua.edu.cn mirrors.ustc.edu.cn pypi.mirrors.ustc.edu.cn mirrors.aliyun.com
	mirrors.cloud.tencent.com pypi.doubanio.com repo.huaweicloud.com mirrors.huaweicloud.com registry.npmmirror.com npmmirror.com
	registry.npmjs.org registry.yarnpkg.com npm.pkg.github.com maven.pkg.github.com nuget.pkg.github.com rubygems.pkg.github.com npm.jsr.io
	goproxy.cn goproxy.io proxy.golang.org sum.golang.org direct rubygems.org gem.coop gems.ruby-china.com crates.io static.rust-lang.org
	rsproxy.cn repo.maven.apache.org repo1.maven.org maven.google.com plugins.gradle.org packagist.org api.nuget.org nuget.org
	conda.anaconda.org repo.anaconda.com anaconda.org prefix.dev deb.debian.org security.debian.org archive.ubuntu.com security.ubuntu.com
	ports.ubuntu.com archive.debian.org download.docker.com apt.llvm.org deb.nodesource.com rpm.nodesource.com dl.yarnpkg.com
	apt.postgresql.org packages.microsoft.com cli.github.com dl.google.com packages.cloud.google.com apt.releases.hashicorp.com
	rpm.releases.hashicorp.com pkgs.k8s.io cran.r-project.org cloud.r-project.org cran.rstudio.com packagemanager.posit.co
	luarocks.org dl-cdn.alpinelinux.org alpinelinux.org mirrors.kernel.org fedoraproject.org rpmfusion.org mirror.centos.org
	vault.centos.org archlinux.org dl.flathub.org flathub.org nixos.org hackage.haskell.org cpan.org metacpan.org hex.pm opam.ocaml.org
	pkgs.dev.azure.com center.conan.io center2.conan.io github.com gitlab.com bitbucket.org codeberg.org githubusercontent.com
	huggingface.co ppa.launchpad.net ppa.launchpadcontent.net keyserver.ubuntu.com keys.openpgp.org`)

// packageSource marks a package manager that is told to fetch from somewhere that is not public, by an
// option, a setting or a variable, or to give up the checks that find a wrong package.
func (c *call) packageSource() {
	for _, a := range c.cmd.Assigns {
		if listed(sourceVariables, a.Name) && c.foreign(a.Name, a.Value) {
			c.flags.add(flagRedirectsSource)
		}
	}
	if c.base == nil || len(c.cmd.Words) < 2 {
		return
	}
	for i := range sourceRows {
		if r := &sourceRows[i]; listedWord(r.cmd, c.cmd.Name) && r.redirects(c) {
			c.flags.add(flagRedirectsSource)
			return
		}
	}
}

func (r *sourceRow) redirects(c *call) bool {
	words := c.cmd.Words[1:]
	plain := slices.DeleteFunc(slices.Clone(words), isOption)
	adds := r.verbs == "*"
	for verb := range strings.SplitSeq(r.verbs, ",") {
		fields := strings.Fields(verb)
		adds = adds || len(fields) > 0 && len(plain) >= len(fields) && slices.Equal(texts(plain[:len(fields)]), fields)
	}
	for i, w := range words {
		name, val, attached := strings.Cut(strings.TrimLeft(w.Text, "-"), "=")
		rest := words[i+1:]
		if attached {
			rest = []value.Word{cut(w, len(w.Text)-len(val))}
		}
		switch {
		case strings.Contains(w.Text, "://") && (adds || c.flags.has(flagPackageInstall)) && c.foreign("", w):
			return true
		case isOption(w) && listedWord(r.options, "!"+name):
			return true
		case isOption(w) && listedWord(r.options, name):
			if len(rest) > 0 && c.foreign(name, rest[0]) {
				return true
			}
		case isOption(w) && len(name) > 1 && w.Text[1] != '-' && listedWord(r.options, name[:1]):
			if c.foreign(name, cut(w, 2)) {
				return true
			}
		default:
			setting := func(s string) bool {
				without, check := strings.CutPrefix(s, "!")
				return check && strings.Contains(name, without) && val != "false" && val != "0" ||
					names(name, s) && slices.ContainsFunc(rest, func(v value.Word) bool { return c.foreign(name, v) })
			}
			if slices.ContainsFunc(strings.Fields(r.settings), setting) {
				return true
			}
		}
	}
	return adds && r.cmd == "apt-key" && c.fed()
}

// names reports whether a word is a setting, or one below or with it: global.index-url, mirror.https://….
func names(word, setting string) bool {
	return word == setting || strings.HasSuffix(word, "."+setting) || strings.HasSuffix(word, ":"+setting) || // @scope:registry
		strings.HasSuffix(setting, ".") && strings.HasPrefix(word, setting) || strings.Contains(setting, "::") && strings.Contains(word, setting)
}

// foreign reports whether a word names a source that is not public. A name without a host, such as
// conda-forge, is one of the manager's own; a file or a directory is not fetched. For checks, off is foreign.
func (c *call) foreign(name string, w value.Word) bool {
	if w.Certainty != value.Exact {
		return w.Text != "" || len(w.Inputs) > 0
	}
	for part := range strings.FieldsFuncSeq(w.Text, func(r rune) bool { return r == ' ' || r == ',' || r == '|' }) {
		host := part
		if at := strings.Index(part, "://"); at >= 0 {
			if strings.HasPrefix(part, "file:") {
				continue
			}
			host = part[at+3:]
		} else if strings.HasPrefix(part, "/") || strings.HasPrefix(part, ".") {
			continue
		}
		host, _, _ = strings.Cut(host, "/")
		host = host[strings.LastIndexByte(host, '@')+1:]
		if colon := strings.LastIndexByte(host, ':'); colon > 0 && !strings.Contains(host, "]") {
			host = host[:colon]
		}
		host = strings.ToLower(strings.TrimSuffix(host, "."))
		if part == "*" || part == "false" || part == "off" && name != "GOPROXY" {
			return true
		}
		if strings.Contains(host, ".") && !slices.ContainsFunc(publicSources, func(s string) bool { return host == s || strings.HasSuffix(host, "."+s) }) {
			return true
		}
	}
	return false
}
