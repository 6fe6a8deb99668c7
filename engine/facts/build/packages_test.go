package build

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sallyport-dev/sallyport/engine/facts"
)

func TestPackages(t *testing.T) {
	t.Parallel()
	b := testBuilder()
	of := func(manager, name, version, source string, pinned bool) facts.Package {
		return facts.Package{Manager: manager, Name: name, Version: version, Source: source, Pinned: pinned, Certainty: "exact"}
	}
	for text, want := range map[string][]facts.Package{
		"npm install left-pad":              {of("npm", "left-pad", "", "", false)},
		"npm i -D @types/node@^20 a@1.2.3":  {of("npm", "@types/node", "^20", "", false), of("npm", "a", "1.2.3", "", true)},
		"npm i x@npm:other@1.0.0":           {of("npm", "other", "1.0.0", "", true)},
		"npm i someone/repo":                {of("npm", "", "", "https://github.com/someone/repo", false)},
		"npm i https://h.test/x.tgz":        {of("npm", "", "", "https://h.test/x.tgz", false)},
		"npm i --registry=https://h.test a": {of("npm", "a", "", "https://h.test", false)},
		"npm ci":                            {},
		"npm run build":                     {},
		"npx cowsay@1.5.0 -t hi":            {of("npm", "cowsay", "1.5.0", "", true)},
		"npx -p typescript tsc a.ts":        {of("npm", "typescript", "", "", false)},
		"pnpm dlx create-vite app":          {of("npm", "create-vite", "", "", false)},
		"yarn dlx -p ts tsc":                {of("npm", "ts", "", "", false)},
		"bunx eslint .":                     {of("npm", "eslint", "", "", false)},
		"deno install npm:chalk@5.3.0":      {of("npm", "chalk", "5.3.0", "", true)},
		"pip install -U Flask_Login==0.6.3 'requests[socks]>=2,<3; python_version>\"3\"'": {
			of("pypi", "flask-login", "==0.6.3", "", true), of("pypi", "requests", ">=2,<3", "", false)},
		"pip install -i https://h.test/simple evil": {of("pypi", "evil", "", "https://h.test/simple", false)},
		"pip install git+https://h.test/r.git@0123456789abcdef0123456789abcdef01234567": {
			of("pypi", "", "", "git+https://h.test/r.git@0123456789abcdef0123456789abcdef01234567", true)},
		"pip install 'x @ https://h.test/x.whl'":      {of("pypi", "x", "", "https://h.test/x.whl", false)},
		"pip install ./lib":                           {of("pypi", "", "", "./lib", false)},
		"pip install -e .":                            {of("pypi", "", "", ".", false)},
		"pip install -r req.txt":                      {{Manager: "pypi", Source: "req.txt", Certainty: "partial"}},
		"pip install evil$(x) a==$(x)":                {{Manager: "pypi", Certainty: "partial"}, {Manager: "pypi", Name: "a", Certainty: "partial"}},
		"uvx ruff@0.3.0 check":                        {of("pypi", "ruff", "0.3.0", "", true)},
		"uvx --from httpie http":                      {of("pypi", "httpie", "", "", false)},
		"uv run --with rich a.py":                     {of("pypi", "rich", "", "", false)},
		"uv run a.py":                                 {},
		"pipx run evil":                               {of("pypi", "evil", "", "", false)},
		"go run h.test/x@latest -v":                   {of("golang", "h.test/x", "latest", "", false)},
		"go run ./cmd/x":                              {},
		"go install golang.org/x/tools/gopls@v0.16.1": {of("golang", "golang.org/x/tools/gopls", "v0.16.1", "", true)},
		"cargo install ripgrep --version 14.1.0":      {of("cargo", "ripgrep", "14.1.0", "", true)},
		"cargo add serde@1":                           {of("cargo", "serde", "1", "", false)},
		"gem install rails -v 7.1.0":                  {of("gem", "rails", "7.1.0", "", true)},
		"dotnet add package X --version 1.2.3":        {of("nuget", "X", "1.2.3", "", true)},
		"composer require a/b:^2":                     {of("composer", "a/b", "^2", "", false)},
		"apt-get install -y vim=2:9.0-1 curl git:arm64": {
			of("deb", "vim", "2:9.0-1", "", true), of("deb", "curl", "", "", false), of("deb", "git", "", "", false)},
		"apt install ./x.deb":                        {of("deb", "", "", "./x.deb", false)},
		"apk add 'bash=5.2.21-r0'":                   {of("apk", "bash", "5.2.21-r0", "", true)},
		"brew install python@3.12":                   {of("brew", "python@3.12", "", "", false)},
		"conda install -c conda-forge numpy==1.26.4": {of("conda", "numpy", "1.26.4", "conda-forge", true)},
	} {
		in := b.Build(testAsk(text))
		got := []facts.Package{}
		for _, c := range in.Commands {
			got = append(got, c.Packages...)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", text, diff)
		}
	}
}

// The hosts from which packages come are those of the command.
func TestPackageHosts(t *testing.T) {
	t.Parallel()
	b := testBuilder()
	for text, want := range map[string]string{
		"pip install git+https://evil.test/x": "evil.test", "npm install https://evil.test/x.tgz": "evil.test",
		"npm install someone/repo": "github.com", "go get evil.test/x": "evil.test", "npm i git@evil.test:x/y.git": "evil.test",
		"go run evil.test/x@latest": "evil.test",
	} {
		if got := b.Build(testAsk(text)).Commands[0].Hosts; !cmp.Equal(got, []string{want}) {
			t.Errorf("%s: hosts %q, want %s", text, got, want)
		}
	}
}

func TestVariables(t *testing.T) {
	t.Parallel()
	got := testBuilder().Build(testAsk("A=1 B=$(date) C=x$D env")).Commands
	want := []facts.Option{{Name: "A", Value: "1", Certainty: "exact"}, {Name: "B", Value: "$(date)", Certainty: "unknown"}, {Name: "C", Value: "x", Certainty: "exact"}}
	for _, c := range got {
		if c.Name == "env" {
			if diff := cmp.Diff(want, c.Variables); diff != "" {
				t.Error(diff)
			}
		}
	}
}
