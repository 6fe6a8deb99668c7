package redact

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
)

// random is a stand-in for the random part of a token: put together here, so that no scanner of
// repositories takes a test for a leak.
func random(n int) string {
	const set = "k3Jq9ZtR7wLmX2bVn8HsD5fGyP4cTa6EuW1oKiQjMxBvNzSrCdFhY0gUlApOeI"
	return strings.Repeat(set, 1+n/len(set))[:n]
}

func hexes(n int) string { return strings.Repeat("9f86d081884c7d65", 1+n/16)[:n] }

// planted are texts with one secret each; %s is where it stands.
func planted() map[string][2]string { return plantedFrom(random, hexes) }

// plantedFrom is planted with the random parts of a source.
func plantedFrom(random, hexes func(n int) string) map[string][2]string {
	r := random
	base32 := func(n int) string {
		return strings.NewReplacer("0", "Q", "1", "Z", "8", "X", "9", "Y").Replace(strings.ToUpper(hexes(n)))
	}
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
		"aws id":            {"aws s3 ls # %s", "AK" + "IA" + base32(16)},
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

		"groq":             {"x %s", "gs" + "k_" + r(52)},
		"xai":              {"x %s", "xa" + "i-" + r(80)},
		"perplexity":       {"x '%s'", "pp" + "lx-" + r(48)},
		"replicate":        {"x %s", "r" + "8_" + r(37)},
		"langsmith":        {"x %s", "ls" + "v2_pt_" + hexes(32) + "_" + hexes(10)},
		"pinecone":         {"x %s", "pc" + "sk_" + r(70)},
		"tavily":           {"x %s", "tv" + "ly-dev-" + r(32)},
		"firecrawl":        {"x %s", "f" + "c-" + hexes(32)},
		"elevenlabs":       {"x %s", "s" + "k_" + hexes(48)},
		"telegram":         {"curl https://api.telegram.org/bot%s/getMe", "123456789:" + "AA" + r(33)},
		"telegram alone":   {"x 123456789%s", ":A" + "A" + r(33)},
		"discord":          {"x %s", "MT" + r(24) + "." + r(6) + "." + r(38)},
		"discord webhook":  {"curl https://%s", "discord" + ".com/api/webhooks/123456789012345678/" + r(68)},
		"twilio":           {"x %s", "S" + "K" + hexes(32)},
		"mailgun":          {"curl x %s", "ke" + "y-" + hexes(32)},
		"atlassian":        {"x %s", "ATAT" + "T3" + r(186)},
		"notion":           {"x %s", "nt" + "n_" + r(46)},
		"figma":            {"x %s", "fig" + "d_" + r(40)},
		"postman":          {"x %s", "PM" + "AK-" + hexes(24) + "-" + hexes(34)},
		"new relic":        {"x %s", "NR" + "AK-" + r(27)},
		"supabase":         {"x %s", "sb" + "p_" + hexes(40)},
		"fly":              {"x %s", "fo" + "1_" + r(43)},
		"pulumi":           {"x %s", "pu" + "l-" + hexes(40)},
		"square":           {"x %s", "EA" + "AA" + r(60)},
		"docker hub":       {"x %s", "dckr" + "_pat_" + r(27)},
		"circleci":         {"x %s", "CCI" + "PAT_" + r(22) + "_" + hexes(40)},
		"terraform":        {"x %s", r(14) + ".atlas" + "v1." + r(67)},
		"sentry":           {"export DSN=https://%s@o1.ingest.example.io/2", hexes(32)},
		"key in base64":    {"echo %s | base64 -d > k", "LS0tLS1CRUdJTi" + r(400)},
		"token in base64":  {"echo %s | base64 -d", "Z2hwX" + r(48)},
		"from literal":     {"kubectl create secret generic x --from-literal=pw=%s", "swordfish"},
		"from literal two": {"kubectl create secret generic x --from-literal pw=%s", "swordfish"},
		"keytool":          {"keytool -list -keystore k -storepass %s", "swordfish"},
		"doctl":            {"doctl auth init -t %s", "swordfish"},
		"nmcli":            {"nmcli dev wifi connect home password %s", "swordfish"},
		"vncpasswd":        {"echo %s | vncpasswd -f > p", "swordfish"},
		"told":             {"git commit -m 'the password is %s.'", "Sw0rdfish"},

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

// Drawn are texts with secrets of one seed, and these secrets: the random parts of tokens differ, and so do the
// letters and digits of passwords.
func Drawn(seed uint64) (texts, secrets []string) {
	r := rand.New(rand.NewPCG(seed, 400))
	of := func(set string) func(n int) string {
		return func(n int) string {
			b := make([]byte, n)
			for i := range b {
				b[i] = set[r.IntN(len(set))]
			}
			return string(b)
		}
	}
	fixed := planted()
	drawn := plantedFrom(of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"), of("0123456789abcdef"))
	for _, name := range slices.Sorted(maps.Keys(drawn)) {
		p := drawn[name]
		if p == fixed[name] {
			p[1] = strings.Map(func(c rune) rune {
				switch {
				case c >= 'a' && c <= 'z':
					return 'a' + r.Int32N(26)
				case c >= 'A' && c <= 'Z':
					return 'A' + r.Int32N(26)
				case c >= '0' && c <= '9':
					return '0' + r.Int32N(10)
				}
				return c
			}, p[1])
		}
		texts, secrets = append(texts, plant(p[0], p[1])), append(secrets, p[1])
	}
	return texts, secrets
}

// Lookalikes are texts without a secret.
func Lookalikes() []string { return lookalikes() }

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
		"git commit -m 'fix: the password is wrong'",
		"echo 'the token is required, the key is missing; the secret is in /run/secrets/db'",
		"kubectl create configmap x --from-literal=mode=debug",
		"git checkout nt-feature-mt.branch od.txt",
		"ls key-bindings/ pat-tern.txt fc-list pa-system",
		"curl https://deploy@host.example.com/x",
		"docker run sha256~x sk_test fw_update",
		"password:",
		"--password",
		"token=",
		"",
	}
}
