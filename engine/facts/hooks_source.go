package facts

import (
	"slices"
	"strings"

	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

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

// publicSources are the registries and forges that everybody uses, and their mirrors. Their subdomains count, too.
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

// packageSource marks a package manager that is told to fetch from somewhere that is not public, by an option, a setting
// or a variable, or to give up the checks that find a wrong package.
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

// foreign reports whether a word names a source that is not public. A name without a host, such as conda-forge, is one of
// the manager's own; a file or a directory is not fetched. For checks, off is foreign.
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
