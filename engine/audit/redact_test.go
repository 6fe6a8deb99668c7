package audit

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/facts"
)

// random is a stand-in for the random part of a token: put together here, so that no scanner of
// repositories takes a test for a leak.
func random(n int) string {
	const set = "k3Jq9ZtR7wLmX2bVn8HsD5fGyP4cTa6EuW1oKiQjMxBvNzSrCdFhY0gUlApOeI"
	return strings.Repeat(set, 1+n/len(set))[:n]
}

func hexes(n int) string { return strings.Repeat("9f86d081884c7d65", 1+n/16)[:n] }

// planted are texts with one secret each; %s is where it stands.
func planted() map[string][2]string {
	r := random
	jwt := "ey" + "JhbGciOiJIUzI1NiJ9." + "ey" + "JzdWIiOiIxMjM0NTY3ODkwIn0." + r(43)
	pem := "-----BEGIN OPENSSH PRIVATE KEY-----\n" + r(64) + "\n" + r(60) + "\n-----END OPENSSH PRIVATE KEY-----"
	return map[string][2]string{
		"github":            {"git clone https://github.com/a/b && echo %s", "gh" + "p_" + r(36)},
		"github pat":        {"gh auth status %s", "github" + "_pat_" + r(22) + "_" + r(59)},
		"github in url":     {"git push https://x:%s@github.com/a/b.git", "gh" + "s_" + r(36)},
		"gitlab":            {"glab auth login -t %s", "gl" + "pat-" + r(20)},
		"slack bot":         {"curl -d token=%s https://slack.com/api/x", "xo" + "xb-123456789012-" + r(24)},
		"slack webhook":     {"curl -X POST https://%s -d '{}'", "hooks.slack" + ".com/services/T00000000/B00000000/" + r(24)},
		"anthropic":         {"x=%s; claude", "sk" + "-ant-api03-" + r(80)},
		"openai":            {"python a.py %s", "sk" + "-proj-" + r(48)},
		"openai old":        {"python a.py '%s'", "sk" + "-" + r(48)},
		"google":            {"curl 'https://maps.googleapis.com/x?q=1&key=%s'", "AI" + "za" + r(35)},
		"google oauth":      {"echo %s", "ya" + "29." + r(60)},
		"stripe":            {"stripe listen --api %s", "sk" + "_live_" + r(24)},
		"stripe restricted": {"echo %s|cat", "rk" + "_test_" + r(30)},
		"npm":               {"echo //npm.example.com/:_authToken=%s >> .npmrc", "np" + "m_" + r(36)},
		"npm old":           {"echo //npm.example.com/:_authToken=%s >> .npmrc", hexes(36)},
		"pypi":              {"twine upload -u __token__ %s", "py" + "pi-" + r(100)},
		"aws id":            {"aws s3 ls # %s", "AK" + "IAIOSFODNN7EXAMPLE"},
		"aws secret":        {"AWS_SECRET_ACCESS_KEY=%s aws s3 ls", r(20) + "/" + r(19)},
		"aws configure":     {"aws configure set aws_secret_access_key %s", r(20) + "/" + r(19)},
		"jwt":               {"curl -H 'X: %s' http://a", jwt},
		"private key":       {"cat > k <<EOF\n%s\nEOF", pem},
		"huggingface":       {"hf download x %s", "hf" + "_" + r(34)},
		"sendgrid":          {"echo %s", "SG" + "." + r(22) + "." + r(43)},
		"vault":             {"vault login %s", "hv" + "s." + r(90)},
		"vault word":        {"vault login %s", "root-of-all"},
		"digitalocean":      {"doctl x %s", "do" + "p_v1_" + hexes(64)},
		"azure":             {"az storage --connection-string 'DefaultEndpointsProtocol=https;AccountName=a;%s'", "Account" + "Key=" + r(86) + "=="},

		"env":              {"TOKEN=%s ./run", "hunter2"},
		"env single":       {"export DB_PASSWORD='%s'; ./run", "correct horse battery"},
		"env double":       {"export DB_PASSWORD=\"%s\" && ./run", "p&ss;word|x"},
		"env pieces":       {"PASSWORD=ab%s ./x", "'c d'\"e f\"g"},
		"env escaped":      {"PASSWORD=%s ./x", `a\ b\;c`},
		"env number":       {"API_TOKEN_2=%s make", "abc123xyz"},
		"env with equals":  {"SECRET=%s make", "YWJjZGVm=="},
		"pgpassword":       {"PGPASSWORD=%s psql -h db", "s3kr3t"},
		"mysql_pwd":        {"MYSQL_PWD=%s mysql", "s3kr3t"},
		"env default":      {"PASS=${PASSWORD:-%s} ./x", "s3cretdefault"},
		"camel case":       {"./x dbPass=%s", "swordfish"},
		"after apostrophe": {"# don't\nTOKEN='%s' ./x", "abc def"},
		"in bash -c":       {"bash -c 'export TOKEN=\"%s\"; ./x'", "abc def"},
		"in dquotes":       {"bash -c \"TOKEN=%s ./x\"", "abc&def"},
		"rails":            {"SECRET_KEY_BASE=%s rails s", hexes(64)},
		"docker -e":        {"docker run -e DB_PASSWORD=%s img", "swordfish"},
		"from-literal":     {"kubectl create secret generic x --from-literal=password=%s", "swordfish"},
		"helm set":         {"helm upgrade x --set auth.password=%s", "swordfish"},

		"flag":           {"tool --password %s --verbose", "hunter2"},
		"flag equals":    {"tool --password=%s --verbose", "hunter2"},
		"flag quoted":    {"tool --api-key '%s'", "hunter 2"},
		"flag one dash":  {"tool -password %s", "hunter2"},
		"client secret":  {"tool --client-secret %s", "abcdef"},
		"passphrase":     {"gpg --batch --passphrase %s -d x", "open sesame"[:4]},
		"auth token":     {"tool --auth-token=%s", "abcdef"},
		"curl user":      {"curl -u admin:%s http://h", "swordfish"},
		"curl attached":  {"curl -s -uadmin:%s http://h", "swordfish"},
		"curl quoted":    {"curl --user 'admin:%s' http://h", "sword fish"},
		"curl cookie":    {"curl -b 'sid=%s' http://h", "0123456789"},
		"mysql":          {"mysql -u root -p%s db", "swordfish"},
		"sshpass":        {"sshpass -p %s ssh h", "swordfish"},
		"sshpass quoted": {"sshpass -p '%s' ssh h", "sword fish"},
		"redis":          {"redis-cli -h x -a %s ping", "swordfish"},
		"ldap":           {"ldapsearch -x -D cn=a -w %s", "swordfish"},
		"zip":            {"zip -P %s -r a.zip .", "swordfish"},
		"7z":             {"7z a -p%s a.7z .", "swordfish"},
		"docker login":   {"docker login -u me -p %s registry.example", "swordfish"},
		"openssl":        {"openssl enc -aes-256-cbc -pass pass:%s -in a", "swordfish"},
		"openssl passin": {"openssl rsa -passin pass:%s -in a", "swordfish"},
		"smb":            {"smbclient -U me%%%s //h/s", "swordfish"},
		"htpasswd":       {"htpasswd -bc .htpasswd me %s", "swordfish"},
		"git config":     {"git config --global user.password %s", "swordfish"},
		"multi-line":     {"curl \\\n  -u me:%s \\\n  http://h", "swordfish"},

		"bearer":         {"curl -H 'Authorization: Bearer %s' http://h", "abcdef0123456789"},
		"bearer double":  {"curl -H \"Authorization: Bearer %s\" http://h", "abcdef0123456789"},
		"basic":          {"curl -H 'Authorization: Basic %s' http://h", "YWxpY2U6c2VjcmV0"},
		"token scheme":   {"curl -H 'authorization: token %s' http://h", "abcdef"},
		"no scheme":      {"curl -H 'Authorization: %s' http://h", "abcdef"},
		"api key header": {"curl -H 'X-Api-Key: %s' http://h", "abcdef"},
		"private-token":  {"curl --header \"PRIVATE-TOKEN: %s\" http://h", "abcdef"},
		"cookie":         {"curl -H 'Cookie: %s' http://h", "session=abc; other=def"},
		"python header":  {"python -c 'h={\"Authorization\": \"Bearer %s\"}'", "abcdef0123"},

		"url":            {"psql postgres://bob:%s@db/x", "swordfish"},
		"url slash":      {"psql postgres://bob:%s@db/x", "sword/fish"},
		"url at":         {"psql postgres://bob:%s@db/x", "sword@fish"},
		"url no user":    {"redis-cli -u redis://:%s@db", "swordfish"},
		"url token":      {"git clone https://%s@git.example/x.git", random(32)},
		"url query":      {"curl 'http://h/?a=1&access_token=%s&b=2'", "swordfish"},
		"url sig":        {"curl 'http://h/?sig=%s&b=2'", random(43)},
		"form":           {"curl -d 'user=a&password=%s&b=2' http://h", "swordfish"},
		"json":           {"curl -d '{\"user\": \"a\", \"password\": \"%s\"}' http://h", "sword fish"},
		"json escaped":   {"curl -d \"{\\\"password\\\": \\\"%s\\\"}\" http://h", "sword fish"},
		"json tight":     {"curl -d '{\"api_key\":\"%s\"}' http://h", "swordfish"},
		"yaml":           {"cat > a.yml <<E\nuser: a\npassword: %s\nE", "swordfish"},
		"ini":            {"cat > my.cnf <<E\n[client]\npassword = %s\nE", "sw0rdfish"},
		"python":         {"python -c \"password = '%s'\"", "sword fish"},
		"go":             {"echo 'password := \"%s\"' > a.go", "sword fish"},
		"netrc":          {"echo 'machine h login a password %s' > ~/.netrc", "swordfish"},
		"sql":            {"mysql -e \"CREATE USER a IDENTIFIED BY '%s'\"", "swordfish"},
		"postgres":       {"psql -c \"ALTER USER a WITH PASSWORD '%s'\"", "swordfish"},
		"chpasswd":       {"echo 'root:%s' | chpasswd", "swordfish"},
		"passwd stdin":   {"echo %s | passwd --stdin root", "swordfish"},
		"sudo stdin":     {"echo '%s' | sudo -S ls", "sword fish"},
		"password-stdin": {"printf '%s' %s | docker login --password-stdin", "swordfish"},
		"here-string":    {"docker login --password-stdin <<< '%s'", "sword fish"},
		"long":           {"CREDENTIALS=%s ./x", random(9000)},
		"entropy":        {"./x --deploy-key=%s", random(40)},
		"entropy auth":   {"AUTH=%s ./x", random(32)},
		"psql string":    {"psql \"host=h password=%s dbname=x\"", "swordfish"},
		"odbc":           {"x 'Server=h;Uid=a;Pwd=%s;'", "swordfish"},
		"terraform var":  {"terraform apply -var db_password=%s", "swordfish"},
		"signer key":     {"echo %s", "PRIVATE" + "+KEY+example.com+c74f20a3+" + r(44)},
	}
}

func plant(format, secret string) string {
	if i := strings.LastIndex(format, "%s"); i >= 0 { // the last, so that a printf may have its own
		format = format[:i] + secret + format[i+2:]
	}
	return strings.ReplaceAll(format, "%%", "%")
}

// lookalikes must stay as they are.
func lookalikes() []string {
	return []string{
		"git show 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b",
		"git checkout -b fix-token-refresh",
		"git log --author=alice --oneline",
		"docker pull alpine@sha256:" + hexes(64),
		"docker run secret:latest",
		"kill 550e8400-e29b-41d4-a716-446655440000",
		"curl -H 'X-Request-Id: 550e8400-e29b-41d4-a716-446655440000' http://h",
		"echo data:image/png;base64," + random(400),
		"TOKEN=$TOKEN ./x",
		"TOKEN=\"$(cat /run/secrets/token)\" ./x",
		"export TOKEN=${TOKEN}",
		"curl -H \"Authorization: Bearer $TOKEN\" http://h",
		"curl -H 'Authorization: Bearer '\"$TOKEN\" http://h",
		"PASSWORD_FILE=/run/secrets/db ./x",
		"tool --token-file ./token.txt",
		"docker login --password-stdin",
		"cat /run/secrets/token",
		"cat: /run/token: No such file or directory",
		"llm --max-tokens 4096 --tokenizer gpt2",
		"llm --max-token 4096",
		"PWD=/home/alice OLDPWD=/ ./x",
		"ssh -i ~/.ssh/id_ed25519 git@github.com",
		"git clone git@github.com:a/b.git",
		"git clone https://alice@github.com/a/b.git",
		"curl http://localhost:8080/a@b",
		"npm install @scope/token@1.2.3",
		"pip install secret-service==1.0",
		"sort --key=2,2 a.txt",
		"redis-cli get session:key",
		"grep -rn password src/",
		"grep -n 'token = get_token()' a.py",
		"sed -i 's/password: str/password: bytes/' a.py",
		"python -c 'import secrets; token = secrets.token_hex()'",
		"python -c \"password = os.environ['PASSWORD']\"",
		"if [ \"$token\" == \"x\" ]; then echo; fi",
		"const token: string = await getToken();",
		"cd compass=north bypass=1",
		"mysql -u root -p db",
		"mkdir -p a/b/c && docker run -p 80:80 nginx",
		"curl -u alice http://h",
		"cp -p a b; tar -xpf a.tar",
		"openssl rand -hex 32",
		"chmod 600 ~/.ssh/id_rsa; ssh-keygen -t ed25519 -f k",
		"task-2024-0123456789-abcdefghijklmnop.txt",
		"echo risk-assessment-2024-final-version-report.pdf",
		"sha256sum -c <<< '" + hexes(64) + "  a'",
		"npm ci --cache-key=linux-node20",
		"go test -run TestToken ./auth/",
		"cat > x.go <<E\ntype T struct {\n\tToken string\n}\nE",
		"vault kv get secret/app",
		"kubectl get secret db -o yaml",
		"echo https://example.com/?page=2&key=name",
		"echo data.txt | mosquitto_pub --topic a --stdin",
		"echo 'a ALL=(ALL) NOPASSWD:ALL' > x",
		"alias pwd='echo a b c'",
		"mysqladmin drop mydb",
		"password:",
		"--password",
		"token=",
		"",
	}
}

func TestPlantedSecrets(t *testing.T) {
	t.Parallel()
	red := NewRedactor([]byte("0123456789abcdef"), Redact{})
	for name, p := range planted() {
		text, secret := plant(p[0], p[1]), p[1]
		got := red.String(text)
		if strings.Contains(got, secret) || !strings.Contains(got, "[redacted:") {
			t.Errorf("%s: leaked\n  %s\n  %s", name, text, got)
		}
		got = regexp.MustCompile(`\[redacted:[^\]]*\]`).ReplaceAllString(got, "")
		// No longer part of a secret may be left either.
		for i := 0; i+6 <= len(secret) && len(secret) < 2000; i++ {
			if part := secret[i : i+6]; strings.Contains(got, part) && !strings.Contains(p[0], part) && !strings.Contains(part, "\n") {
				t.Errorf("%s: %q is left of the secret\n  %s", name, part, got)
				break
			}
		}
		if len(got) < len(text)-len(secret)-2 {
			t.Logf("%s: more than the secret is gone: %s", name, got)
		}
	}
}

func TestLookalikes(t *testing.T) {
	t.Parallel()
	red := NewRedactor(nil, Redact{})
	for _, s := range lookalikes() {
		if got := red.String(s); got != s {
			t.Errorf("changed\n  %s\n  %s", s, got)
		}
	}
}

// Through a whole record: the secret stands in the text, in arguments and in what the walk made of
// variables, and must be gone from the line.
func TestPlantedSecretsInRecords(t *testing.T) {
	t.Parallel()
	red := NewRedactor([]byte("0123456789abcdef"), Redact{})
	for name, p := range planted() {
		text, secret := plant(p[0], p[1]), p[1]
		r := decision("d", text, engine.Allow)
		in := r.Body.(engine.DecisionBody).Input
		in.Commands = []facts.Command{{Name: "bash", Argv: []string{"bash", "-c", text}}}
		in.Paths = []facts.Path{{Raw: "x"}}
		got, err := encode(r, time.Time{}, red, defaultRecord)
		if err != nil {
			t.Fatal(err)
		}
		quoted, _ := json.Marshal(secret)
		if strings.Contains(string(got.body), strings.Trim(string(quoted), `"`)) {
			t.Errorf("%s: leaked: %s", name, got.body)
		}
	}
}

func TestArguments(t *testing.T) {
	t.Parallel()
	red := NewRedactor(nil, Redact{})
	tests := []struct {
		argv []string
		want string
	}{
		{[]string{"tool", "--password", "hunter2", "x"}, `["tool","--password","[redacted:argument]","x"]`},
		{[]string{"tool", "--password", "--verbose"}, `["tool","--password","--verbose"]`},
		{[]string{"tool", "--password=a b & c"}, `["tool","--password=[redacted:assignment]"]`},
		{[]string{"curl", "-u", "me:sw ord", "http://h"}, `["curl","-u","me:[redacted:argument]","http://h"]`},
		{[]string{"/usr/bin/mysql", "-pswordfish"}, `["/usr/bin/mysql","-p[redacted:argument]"]`},
		{[]string{"curl", "-H", "Authorization: Bearer abcdef"}, `["curl","-H","Authorization: Bearer [redacted:authorization]"]`},
		{[]string{"tool", "--max-token", "4096"}, `["tool","--max-token","4096"]`},
		{[]string{"tool", "--token", "./token.txt"}, `["tool","--token","./token.txt"]`},
		{[]string{"docker", "run", "-p", "80:80"}, `["docker","run","-p","80:80"]`},
		{[]string{"docker", "login", "-p", "swordfish"}, `["docker","login","-p","[redacted:argument]"]`},
		{[]string{"aws", "configure", "set", "aws_session_token", "abc"}, `["aws","configure","set","aws_session_token","[redacted:argument]"]`},
	}
	for _, tt := range tests {
		n, err := bodyNode(map[string]any{"argv": tt.argv})
		if err != nil {
			t.Fatal(err)
		}
		red.node(&n)
		if got := string(n.kids[0].appendTo(nil)); got != tt.want {
			t.Errorf("got  %s\nwant %s", got, tt.want)
		}
	}
}

func TestRedactedElsewhere(t *testing.T) {
	t.Parallel()
	red := NewRedactor([]byte("k"), Redact{})
	n, err := bodyNode(map[string]any{
		"command": "T=x; SECRET=open-sesame; curl -H \"X: $SECRET\" h", "z": []any{"curl", "-H", "X: open-sesame", map[string]any{"token": "abc"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	changed := fmt.Sprint(red.node(&n))
	if want := "[/command /z/2 /z/3/token]"; changed != want {
		t.Errorf("changed %s, want %s", changed, want)
	}
	line := string(n.appendTo(nil))
	tag := red.Tag("assignment", "open-sesame")
	if strings.Contains(line, "sesame") || strings.Count(line, tag) != 2 {
		t.Errorf("line: %s", line)
	}
}

func TestConfiguredSecrets(t *testing.T) {
	t.Parallel()
	red := NewRedactor(nil, Redact{Literals: []string{"Project Falcon", ""}, Patterns: []*regexp.Regexp{regexp.MustCompile(`ACME-\d+`), regexp.MustCompile(`x*`)}})
	if got, want := red.String("about Project Falcon, ACME-42 and ACME"), "about [redacted:configured], [redacted:configured] and ACME"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	var none *Redactor
	if got := none.String("TOKEN=abc"); got != "TOKEN=abc" {
		t.Errorf("a nil redactor changed %q", got)
	}
}

// A text made of keywords must not take quadratic time: the redactor stands before every decision. Eight
// times the text may take eight times as long, and some; quadratic would be sixty-four times.
func TestRedactIsLinear(t *testing.T) {
	t.Parallel()
	red := NewRedactor(nil, Redact{})
	took := func(size int) (sum time.Duration) {
		for first, list := range keywords().first {
			for _, k := range list {
				if byte(first) != k.word[0] {
					continue // the same word in upper case
				}
				text := strings.Repeat(k.word+" = ", 1+size/len(k.word))
				start := time.Now()
				red.String(text)
				sum += time.Since(start)
			}
		}
		return sum
	}
	if short, long := took(2<<10), took(16<<10); long > 32*short {
		t.Errorf("%v for 2 KiB of each keyword, %v for 16 KiB", short, long)
	}
}

// The redactor of a log can be had with and without opening the log, and gives the same tags.
func TestRedactorFor(t *testing.T) {
	t.Parallel()
	o := testOptions(t)
	r, err := RedactorFor(o.Dir, Redact{})
	if err != nil || r.String("TOKEN=abcdef") != "TOKEN=[redacted:assignment]" {
		t.Errorf("before there is a log: %v", err)
	}
	l := mustOpen(t, o)
	defer mustClose(t, l)
	if r, err = RedactorFor(o.Dir, Redact{}); err != nil {
		t.Fatal(err)
	}
	if want, got := l.Redactor().Tag("assignment", "abcdef"), r.String("TOKEN=abcdef"); got != "TOKEN="+want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func FuzzRedact(f *testing.F) {
	for _, p := range planted() {
		f.Add(plant(p[0], p[1]))
	}
	for _, s := range lookalikes() {
		f.Add(s)
	}
	red := NewRedactor([]byte("k"), Redact{})
	f.Fuzz(func(t *testing.T, s string) {
		n := node{kind: 'a', kids: []node{{kind: 's', text: s}, {kind: 's', text: "--password"}, {kind: 's', text: s}}}
		red.node(&n)
		_ = red.String(s)
	})
}

func BenchmarkRedact(b *testing.B) {
	short := "cd /srv/app && npm run build -- --mode production && cp -r dist/assets public/ && git add -A && git commit -m 'build: update assets' && curl -s http://localhost:8080/health | jq .status && ls -la dist"
	script := strings.Repeat("for f in src/*.go; do gofmt -l \"$f\" | tee -a /tmp/out.log; done # check all of them\n", 100)
	red := NewRedactor([]byte("k"), Redact{})
	for name, s := range map[string]string{"200B": short[:200], "8KB": script[:8192], "8KB-secret": script[:8000] + "\nTOKEN=abcdefgh123 ./run\n"} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(s)))
			for b.Loop() {
				red.String(s)
			}
		})
	}
}
