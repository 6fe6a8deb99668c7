package build

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/engine/facts/call"
)

// repositoryFiles are a repository in the workspace with two remotes, and one of its submodules.
const repositoryFiles = "\n" + testWS + `/.git/HEAD: ref: refs/heads/topic\n
` + testWS + `/.git/config: [remote "origin"]\nurl = gh:us/x.git\nfetch = +refs/heads/*:refs/remotes/origin/*\n[remote "evil"]\nurl = https://evil.test/x\npushurl = ssh://git@push.test:22/x\n[branch "topic"]\nremote = origin\nmerge = refs/heads/topic\n
` + testWS + `/.gitmodules: [submodule "lib"]\npath = lib\nurl = https://sub.test/lib\n
` + testHome + `/.gitconfig: [url "https://github.com/"]\ninsteadOf = gh:\n
`

func repositoryBuilder() *Builder {
	return NewBuilder(testLayout(), newMemFS(machine+repositoryFiles), fakeHistory{})
}

func TestTargets(t *testing.T) {
	t.Parallel()
	b := repositoryBuilder()
	for text, want := range map[string]string{
		"curl https://a.test/x":                                                     "host:a.test",
		"curl --connect-to ::evil.test: https://a.test/":                            "address:evil.test host:a.test",
		"curl --resolve a.test:443:6.6.6.6 https://a.test/":                         "address:6.6.6.6 host:a.test",
		"curl --resolve a.test:443:[::1],6.6.6.6 https://a.test/":                   "address:::1 address:6.6.6.6 host:a.test",
		"curl -x http://p.test:8080 https://a.test":                                 "proxy:p.test host:a.test",
		"curl --socks5 p.test https://a.test":                                       "proxy:p.test host:a.test",
		"https_proxy=http://p.test:8080 curl https://a.test":                        "proxy:p.test host:a.test",
		"export https_proxy=http://p.test; ls; curl https://a.test":                 "proxy:p.test host:a.test",
		"https_proxy=http://p.test true; curl https://a.test":                       "host:a.test",
		"HTTPS_PROXY=$(cat p) curl https://a.test":                                  "proxy:?unknown host:a.test",
		"curl https://$(cat h)/x":                                                   "host:?unknown",
		"curl https://a.test/$(cat x)":                                              "host:?unknown host:a.test", // the output may hold another URL
		`curl "https://a.test/$(cat x)"`:                                            "host:a.test",
		"wget -e https_proxy=http://p.test https://a.test":                          "host:a.test",
		"ssh -J u@jump.test:22,two.test a.test ls":                                  "proxy:jump.test proxy:two.test host:a.test",
		"ssh -o ProxyJump=jump.test a.test ls":                                      "proxy:jump.test host:a.test",
		"ssh -o HostName=b.test a ls":                                               "address:b.test host:a",
		"scp -J jump.test f a.test:":                                                "proxy:jump.test host:a.test",
		"getent hosts a.test":                                                       "host:a.test",
		"getent passwd root":                                                        "",
		"npm i --registry https://r.test x":                                         "registry:r.test",
		"PIP_INDEX_URL=https://r.test/simple pip install x":                         "registry:r.test",
		"npm config set registry https://r.test":                                    "",
		"git push":                                                                  "remote:github.com",
		"git push origin topic":                                                     "remote:github.com",
		"git push evil main":                                                        "remote:push.test",
		"git fetch evil":                                                            "remote:evil.test",
		"git fetch --all":                                                           "remote:evil.test remote:github.com",
		"git push https://h.test/x main":                                            "remote:h.test",
		"git push nowhere":                                                          "remote:?unknown",
		"git push $R":                                                               "remote:github.com",
		"git push $(cat r)":                                                         "remote:?unknown",
		"git -c http.proxy=http://p.test:1 pull":                                    "proxy:p.test remote:github.com",
		"git -c remote.origin.url=https://evil.test/x push":                         "remote:evil.test remote:github.com",
		"git remote set-url origin https://evil.test/x && git push":                 "host:evil.test remote:evil.test remote:github.com",
		"git config url.https://evil.test/.insteadOf https://github.com/; git push": "remote:evil.test remote:github.com",
		"git -c url.https://evil.test/.insteadOf=gh: push":                          "remote:evil.test remote:github.com",
		"git -C /elsewhere push":                                                    "",
		"GIT_DIR=/x git push":                                                       "remote:?unknown",
		"export GIT_CONFIG_COUNT=1; git push":                                       "remote:?unknown",
		"git submodule update --init":                                               "remote:sub.test",
		"docker pull alpine":                                                        "registry:docker.io",
		"docker pull library/alpine:3@sha256:abc":                                   "registry:docker.io",
		"docker pull index.docker.io/x":                                             "registry:docker.io",
		"docker run --rm ghcr.io/us/x:1 ls /":                                       "registry:ghcr.io",
		"docker pull localhost:5000/x":                                              "registry:localhost",
		"docker push R.test:443/x@sha256:abc":                                       "registry:r.test",
		"docker pull $(cat i)":                                                      "registry:?unknown",
		"docker build -t r.test/x --push .":                                         "registry:r.test",
		"docker build -t r.test/x .":                                                "",
		"docker login r.test":                                                       "host:r.test",
		"nerdctl create alpine":                                                     "registry:docker.io",
		"podman pull quay.io/x/y":                                                   "registry:quay.io",
		"podman pull alpine":                                                        "registry:?unknown",
		"podman run docker://alpine":                                                "registry:docker.io",
		"buildah from r.test/x":                                                     "registry:r.test",
		"buildah push img docker://r.test/x":                                        "registry:r.test",
		"skopeo copy docker://a.test/x docker://b.test/y":                           "registry:a.test registry:b.test",
		"skopeo copy docker://a.test/x dir:out":                                     "registry:a.test",
		"crane pull a.test/x out":                                                   "registry:a.test",
		"git status":                                                                "",
		"ls":                                                                        "",
	} {
		in := b.Build(testAsk(text))
		var got []string
		for _, c := range in.Commands {
			for _, x := range c.Targets {
				if x.Host == "" {
					x.Host = "?" + x.Certainty
				}
				got = append(got, x.Kind+":"+x.Host)
			}
		}
		if diff := cmp.Diff(want, strings.Join(got, " ")); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", text, diff)
		}
	}
}

func TestGit(t *testing.T) {
	t.Parallel()
	want := facts.Git{Top: testWS, Branch: "topic", Upstream: "origin/topic", Remotes: []facts.Remote{
		{Name: "evil", URLs: []string{"https://evil.test/x"}, Push: []string{"ssh://git@push.test:22/x"}},
		{Name: "origin", URLs: []string{"https://github.com/us/x.git"}, Push: []string{"https://github.com/us/x.git"}},
	}}
	b := repositoryBuilder()
	if diff := cmp.Diff(want, b.Build(testAsk("cd src; git status")).Git); diff != "" {
		t.Error(diff)
	}
	none := facts.Git{Remotes: []facts.Remote{}}
	if diff := cmp.Diff(none, b.Build(testAsk("ls")).Git); diff != "" {
		t.Error(diff)
	}
	away := testAsk("git status")
	away.Request.WorkDir = "/usr"
	if diff := cmp.Diff(none, b.Build(away).Git); diff != "" {
		t.Error(diff)
	}
}

// A list that is cut ends with an entry that is not known: a rule on lists must not pass what it does not see.
func TestCutListsEndUnknown(t *testing.T) {
	t.Parallel()
	var hosts, packages strings.Builder
	for i := range 70 {
		fmt.Fprintf(&hosts, " https://h%d.test/", i)
		fmt.Fprintf(&packages, " p%d", i)
	}
	b := testBuilder()
	targets := b.Build(testAsk("curl" + hosts.String())).Commands[0].Targets
	if last := targets[len(targets)-1]; len(targets) != call.MaxOptions || last.Host != "" || last.Certainty != "unknown" {
		t.Errorf("%d targets, the last is %+v", len(targets), last)
	}
	list := b.Build(testAsk("npm install" + packages.String())).Commands[0].Packages
	if last := list[len(list)-1]; len(list) != call.MaxOptions || last.Name != "" || last.Certainty != "unknown" {
		t.Errorf("%d packages, the last is %+v", len(list), last)
	}
}

// sshFiles are settings of ssh with an alias, a jump host, a condition and an include.
const sshFiles = "\n" + testHome + `/.ssh/config: Include conf.d/*\nHost prod\n  HostName=big.test\n  ProxyJump hop\nHost hop\n  HostName hop.test\nHost *.lab !no.lab\n  ProxyCommand nc x %h\nHost per\n  HostName %h.test\n
` + testHome + `/.ssh/conf.d/a: Host inner\n  HostName inner.test\n
` + testWS + `/c: Host prod\n  HostName other.test\n
` + testWS + `/m: Host prod\nHostName other.test\nMatch user root\n  HostName root.test\n
`

func TestSSHTargets(t *testing.T) {
	t.Parallel()
	b := NewBuilder(testLayout(), newMemFS(machine+sshFiles), fakeHistory{})
	for text, want := range map[string]string{
		"ssh prod ls":                 "address:big.test address:hop.test host:prod proxy:hop",
		"ssh -J j.test prod":          "address:big.test host:prod proxy:j.test",
		"ssh -F none prod":            "host:prod",
		"ssh -F c prod":               "address:other.test host:prod",
		"ssh -F m prod":               "address:other.test host:prod",
		"ssh -F m elsewhere":          "address:? host:elsewhere",
		"ssh -F gone prod":            "address:? host:prod",
		"ssh x.lab":                   "host:x.lab proxy:?",
		"ssh a.test":                  "host:a.test",
		"scp f inner:":                "address:inner.test host:inner",
		"rsync -a f per:":             "address:per.test host:per",
		"rsync -e 'ssh -F c' f prod:": "address:? host:prod",
		"sftp prod":                   "address:big.test address:hop.test host:prod proxy:hop",
		"git clone prod:x.git":        "address:big.test address:hop.test host:prod proxy:hop",
		"git clone https://prod/x":    "host:prod",
		"GIT_SSH_COMMAND='ssh -F c' git clone prod:x": "address:? host:prod",
		"sudo ssh prod":                "address:? host:prod",
		"cp c ~/.ssh/config; ssh prod": "address:? host:prod",
		"curl https://prod/":           "host:prod",
	} {
		in := b.Build(testAsk(text))
		var got []string
		for _, c := range in.Commands {
			for _, x := range c.Targets {
				if x.Host == "" {
					x.Host = "?"
				}
				got = append(got, x.Kind+":"+x.Host)
			}
		}
		slices.Sort(got)
		if diff := cmp.Diff(want, strings.Join(got, " ")); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", text, diff)
		}
	}
}
