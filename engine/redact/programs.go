package redact

import (
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/sallyport-dev/sallyport/engine/lazyregexp"
)

// word is an argument of a program: its text without quotes, and where that begins.
type word struct {
	text string
	at   int
}

// wordFinding is a secret in one of the words.
type wordFinding struct {
	word int
	finding
}

// programFlags says how a program takes a password, where no name beside it tells.
type programFlags struct {
	programs []string
	needs    string   // a word that must be among the arguments, or ""
	flags    []string // whose value is the next word
	attached string   // a flag whose value is attached to it, or ""
	after    string   // of the value only what follows the first of these characters; "" for all
}

var passwordFlags = []programFlags{
	{programs: []string{"curl"}, flags: []string{"-u", "--user", "-U", "--proxy-user"}, attached: "-u",
		after: ":"},
	{programs: []string{"curl"}, flags: []string{"-b", "--cookie"}, after: "="},
	{programs: []string{"curl"}, flags: []string{"--oauth2-bearer"}},
	{programs: []string{"http", "https", "xh"}, flags: []string{"-a", "--auth"}, attached: "-a", after: ":"},
	{programs: []string{"mysql", "mysqldump", "mysqladmin", "mysqlimport", "mariadb", "mariadb-dump",
		"mariadb-admin"}, attached: "-p"},
	{programs: []string{"sshpass"}, flags: []string{"-p"}, attached: "-p"},
	{programs: []string{"redis-cli"}, flags: []string{"-a"}},
	{programs: []string{"ldapsearch", "ldapadd", "ldapmodify", "ldapdelete", "ldapwhoami", "ldappasswd"},
		flags: []string{"-w"}, attached: "-w"},
	{programs: []string{"ldappasswd"}, flags: []string{"-s", "-a"}},
	{programs: []string{"zip", "unzip", "zipcloak"}, flags: []string{"-P"}, attached: "-P"},
	{programs: []string{"7z", "7za", "7zz", "rar", "unrar"}, attached: "-p"},
	{programs: []string{"docker", "podman", "helm", "crane", "skopeo", "oras", "nerdctl", "buildah", "az", "cf"},
		needs: "login", flags: []string{"-p"}},
	{programs: []string{"mongo", "mongosh", "mongodump", "mongorestore", "mongoexport"}, flags: []string{"-p"}},
	{programs: []string{"smbclient", "rpcclient", "smbget"}, flags: []string{"-U"}, after: "%"},
	{programs: []string{"sqlcmd", "bcp"}, flags: []string{"-P"}, attached: "-P"},
	{programs: []string{"lftp", "ncftp"}, flags: []string{"-u"}, after: ","},
	{programs: []string{"useradd", "usermod", "groupadd"}, flags: []string{"-p"}},
	{programs: []string{"security"}, flags: []string{"-w"}},
	{programs: []string{"ssh-keygen"}, flags: []string{"-N", "-P"}},
	{programs: []string{"openssl"}, flags: []string{"-k", "-K"}},
	{programs: []string{"openssl"}, attached: "pass:"},
	{programs: []string{"xfreerdp"}, attached: "/p:"},
	{programs: []string{"kubectl", "oc"}, needs: "secret", flags: []string{"--from-literal"},
		attached: "--from-literal=", after: "="},
	{programs: []string{"keytool", "jarsigner"},
		flags: []string{"-storepass", "-keypass", "-srcstorepass", "-deststorepass", "-srckeypass", "-destkeypass",
			"-new"}},
	{programs: []string{"doctl"}, needs: "auth", flags: []string{"-t"}},
	{programs: []string{"nmcli"}, flags: []string{"password", "wifi-sec.psk", "802-11-wireless-security.psk",
		"802-1x.password"}},
	{programs: []string{"vault"}, flags: []string{"login"}},
}

// flagsByProgram are the passwordFlags of each program.
var flagsByProgram = sync.OnceValue(func() map[string][]programFlags {
	by := map[string][]programFlags{}
	for _, p := range passwordFlags {
		for _, name := range p.programs {
			by[name] = append(by[name], p)
		}
	}
	return by
})

// programWords are the keywords of the programs, which the scanner looks for. The names alone are
// in many texts, so what follows them is split into words only at the start of a word.
func programWords() []string {
	out := []string{"htpasswd", "config", "configure"}
	for _, p := range passwordFlags {
		for _, name := range p.programs {
			if !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
	}
	return out
}

// program looks at the arguments of a program in a text.
func (s *scanner) program(at, length int) {
	t := s.s
	if at < s.parsed {
		return // its words were looked at with those of the command around it
	}
	if at > 0 && (isWord(t[at-1]) || strings.IndexByte("-.=:", t[at-1]) >= 0) || at+length >= len(t) ||
		!isSpace(t[at+length]) {
		return
	}
	outer := s.openQuote(at)
	words := []word{{t[at : at+length], at}}
	for i := at + length; len(words) < 1024; {
		i = skipBlank(t, i)
		for strings.HasPrefix(t[min(i, len(t)):], "\\\n") {
			i = skipBlank(t, i+2)
		}
		if i >= len(t) || t[i] == '\n' || t[i] == outer && outer != 0 || strings.IndexByte(";&|()", t[i]) >= 0 {
			break
		}
		w := readWord(t, i, outer, false)
		if w.end <= i {
			break
		}
		text := t[w.start:w.end]
		words = append(words, word{text, w.start})
		i = w.end
		if w.start > i || (i < len(t) && (t[i] == '"' || t[i] == '\'') && t[i] != outer) {
			i++ // the closing quote that trim left out
		}
	}
	last := words[len(words)-1]
	s.parsed = last.at + 1
	s.read += last.at + len(last.text) - at
	for _, f := range arguments(words) {
		base := words[f.word].at
		s.add(base+f.start, base+f.end, f.detector, unquote(f.secret))
	}
}

// unquote drops the quotes of a word that is put together of several pieces.
func unquote(s string) string {
	if strings.ContainsAny(s, `'"\`) {
		return readWord(s, 0, 0, false).secret
	}
	return s
}

// arguments returns the secrets among the words of a command. Spans are relative to their word.
func arguments(words []word) []wordFinding {
	var out []wordFinding
	add := func(i, from int, name string) {
		secret := words[i].text[from:]
		if plausible(secret, true) {
			out = append(out, wordFinding{i, finding{from, len(words[i].text), name, secret}})
		}
	}
	for i, w := range words {
		if i+1 < len(words) && flagName(w.text) && !strings.HasPrefix(words[i+1].text, "-") &&
			!isPath(words[i+1].text) {
			if next := words[i+1].text; !numberOfTokens(w.text, next) {
				add(i+1, 0, "argument")
			}
		}
		name := path.Base(w.text)
		switch {
		case (name == "config" || name == "configure") && i+2 < len(words):
			configValue(words[i+1:], func(j int) { add(i+1+j, 0, "argument") })
		case name == "htpasswd" && len(words) > i+3 && strings.HasPrefix(words[i+1].text, "-") &&
			strings.Contains(words[i+1].text, "b"):
			add(len(words)-1, 0, "argument")
		}
		for _, p := range flagsByProgram()[name] {
			p.find(words, i, add)
		}
	}
	return out
}

// numberOfTokens tells --max-token 4096 from a secret.
func numberOfTokens(flag, value string) bool {
	return strings.HasSuffix(strings.ToLower(flag), "token") && len(value) < 8 &&
		strings.Trim(value, "0123456789") == ""
}

// find applies the flags of the program that is words[at].
func (p programFlags) find(words []word, at int, add func(i, from int, name string)) {
	if p.needs != "" && !slices.ContainsFunc(words[at:], func(w word) bool { return w.text == p.needs }) {
		return
	}
	part := func(i, from int) {
		if p.after != "" {
			n := strings.Index(words[i].text[from:], p.after)
			if n < 0 {
				return
			}
			from += n + len(p.after)
		}
		add(i, from, "argument")
	}
	for i := at + 1; i < len(words); i++ {
		t := words[i].text
		switch {
		case slices.Contains(p.flags, t):
			if i+1 < len(words) && !strings.HasPrefix(words[i+1].text, "-") {
				part(i+1, 0)
			}
		case p.attached != "" && strings.HasPrefix(t, p.attached) &&
			strings.HasPrefix(t, "--") == strings.HasPrefix(p.attached, "--") && len(t) > len(p.attached):
			part(i, len(p.attached))
		}
	}
}

// flagName says whether a word is a flag that names a secret, without a value of its own.
func flagName(t string) bool {
	if strings.HasPrefix(t, "-p") && t != strings.ToLower(t) {
		return false // -pPassword has its value already
	}
	return strings.HasPrefix(t, "-") && !strings.ContainsAny(t, "=: ") && secretName(t) && len(t) > 4
}

// configValue finds NAME VALUE pairs of "aws configure set", "npm config set" and "git config".
func configValue(words []word, found func(i int)) {
	for i := 0; i+1 < len(words); i++ {
		t := words[i].text
		if !strings.HasPrefix(t, "-") && !strings.Contains(t, "=") && strings.ContainsAny(t, "_.:") &&
			secretName(t) {
			found(i + 1)
		}
	}
}

// pipedWords mark programs that read a secret from their input.
var pipedWords = []string{"chpasswd", "--stdin", "--password-stdin", "--with-token", "sudo -s",
	"--passphrase-fd 0", "gcloud auth", "secret create",
	"vncpasswd", "smbpasswd", "cryptsetup", "openssl passwd"}

var (
	echoed = lazyregexp.New(
		`(?:echo|printf)\s+(?:-[neE]+\s+|['"]?%s(?:\\n)?['"]?\s+)*(?:"([^"]+)"|'([^']+)'|([^\s'"|;&]+))\s*$`)
	hereString = lazyregexp.New(`^[^\n;|&]*<<<\s*(?:"([^"]+)"|'([^']+)'|([^\s'"|;&]+))`)
	accounts   = lazyregexp.New(`(?m)(?:^|['"\s])[a-z_][a-z0-9_-]*:([^\s'":/]{3,})`)
)

// pipeReach is how far around a program its input is looked for, in bytes.
const pipeReach = 1024

// piped finds the secret that an echo before a pipe, or a here-string, hands to a program.
func (s *scanner) piped(at int) {
	if !s.piping && hasFold(s.s[at:], "chpasswd") {
		s.piping = true
		s.read += len(s.s)
		for _, m := range accounts.Get().FindAllStringSubmatchIndex(s.s, 64) {
			s.pipedValue(m[2], m[3])
		}
	}
	from := max(0, at-pipeReach)
	before := s.s[from:at]
	s.read += min(len(s.s), at+pipeReach) - from
	if hasFold(s.s[at:], "--stdin") && !strings.Contains(before, "passwd") {
		return
	}
	if pipe := strings.LastIndexByte(before, '|'); pipe >= 0 && !strings.ContainsAny(before[pipe:], ";\n") &&
		(strings.Contains(before, "echo") || strings.Contains(before, "printf")) {
		start := strings.LastIndexAny(before[:pipe], ";|&\n") + 1
		if m := s.match(echoed, before[start:pipe]); m != nil {
			s.firstGroup(m, from+start)
		} else if m := s.match(echoed, before[:pipe]); m != nil && start > 0 {
			s.firstGroup(m, from) // one of these stood in quotes
		}
	}
	line, _, _ := strings.Cut(s.s[at:min(len(s.s), at+pipeReach)], "\n")
	if !strings.Contains(line, "<<<") {
		return
	}
	if m := s.match(hereString, line); m != nil {
		s.firstGroup(m, at)
	}
}

func (s *scanner) firstGroup(m []int, base int) {
	for g := 2; g < len(m); g += 2 {
		if m[g] >= 0 {
			s.pipedValue(base+m[g], base+m[g+1])
		}
	}
}

func (s *scanner) pipedValue(start, end int) {
	// user:password is what chpasswd reads; the name may stay.
	if secret := s.s[start:end]; plausible(secret, true) {
		s.add(start, end, "piped", secret)
	}
}
