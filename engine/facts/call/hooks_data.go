package call

import (
	"slices"
	"strings"
	"sync"

	"github.com/sallyport-dev/sallyport/engine/facts/term"
	"github.com/sallyport-dev/sallyport/engine/shell"
	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

// sql: statements in arguments that drop or empty.
func sql(c *Call) {
	for _, o := range c.Options {
		if o.Given && slices.Contains([]string{"c", "command", "e", "execute", "eval", "q", "query", "Q", "cmd"}, o.Name) {
			c.statement(o.Value.Text)
			c.told(o.Value.Text)
		}
	}
	for _, w := range c.Operands {
		c.statement(w.Text)
		c.told(w.Text)
	}
	if fed := c.source.text(Exact("-")); fed != "" {
		c.statement(fed)
		c.told(fed)
	}
}

// sqlFiles are the words of SQL, as databases in a file know it, behind which the name of a file stands.
var sqlFiles = map[string]term.Access{
	"INFILE": term.Reads, "ATTACH": term.Reads | term.Writes, "DATABASE": term.Reads | term.Writes, "INTO": term.Writes, "TO": term.Writes, "FROM": term.Reads, "WRITEFILE(": term.Writes, "READFILE(": term.Reads,
}

// files touches the files that a statement names in quotes.
func (c *Call) files(text string) {
	for i, part := range strings.Split(text, "'") {
		if i%2 == 1 {
			continue
		}
		words := strings.Fields(strings.ToUpper(part))
		if len(words) == 0 {
			continue
		}
		word := words[len(words)-1]
		if at := strings.LastIndexAny(strings.TrimSuffix(word, "("), "(,="); at >= 0 {
			word = word[at+1:]
		}
		if verb := map[string]string{"INTO": "VACUUM", "TO": "COPY"}[word]; !strings.Contains(strings.ToUpper(text), verb) {
			continue // INSERT INTO 'table'
		}
		file, _, ok := strings.Cut(text[quoted(text, i):], "'")
		a := sqlFiles[word]
		if strings.HasPrefix(word, "READ_") && strings.HasSuffix(word, "(") {
			a = term.Reads // functions of duckdb: read_text('x')
		}
		if a != 0 && ok && (a != term.Reads || strings.Contains(word, "(") || LooksLikePath(file)) {
			c.path(Exact(strings.TrimPrefix(file, "file:")), a)
			c.Effects |= term.Effect(a)
		}
	}
}

// quoted is where the part behind the quote that ends part i begins.
func quoted(text string, i int) int {
	at := 0
	for range i + 1 {
		j := strings.IndexByte(text[at:], '\'')
		if j < 0 {
			return len(text)
		}
		at += j + 1
	}
	return at
}

// statement reads SQL, or the language of the mongo shell.
func (c *Call) statement(text string) {
	upper := strings.ToUpper(text)
	if dialects[c.Cmd.Name] == sqliteDialect || strings.Contains(upper, "INFILE") {
		c.files(text)
	}
	for line := range strings.Lines(text) {
		c.copied(strings.Fields(line))
	}
	c.destroying(text)
}

// copied reads \copy TABLE from FILE and \copy TABLE to FILE of psql.
func (c *Call) copied(words []string) {
	for i := 1; len(words) > 3 && words[0] == `\copy` && i+1 < len(words); i++ {
		a := map[string]term.Access{"from": term.Reads, "to": term.Writes}[strings.ToLower(words[i])]
		file := strings.Trim(words[i+1], "'")
		switch {
		case a == 0 || listedWord("stdin stdout pstdin pstdout", strings.ToLower(file)):
		case strings.EqualFold(file, "program"):
			c.escapes()
		case a == term.Writes || LooksLikePath(file):
			c.lineFile(psqlDialect, a, file)
		}
	}
}

// sqlPhrases are the phrases of SQL and of the mongo shell.
var sqlPhrases = sync.OnceValue(func() [][]phrase {
	destroys, _ := phrasesOf("sql") // a test compiles all lists
	reaches, _ := phrasesOf("sql-reach")
	return [][]phrase{destroys, reaches}
})

// destroying looks for destruction in SQL, or in the mongo shell's language, word by word,
// without comments and string literals.
func (c *Call) destroying(text string) {
	words := strings.FieldsFunc(strings.ToUpper(stripSQL(text)), func(r rune) bool {
		return !(r == '_' || r == '.' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9')
	})
	for _, list := range sqlPhrases() {
		c.usePhrases(list, words)
	}
	for i, w := range words {
		where := slices.Contains(words[i:], "WHERE")
		switch {
		case w == "DELETE" && i+1 < len(words) && words[i+1] == "FROM" && !where,
			w == "UPDATE" && i == 0 && slices.Contains(words, "SET") && !where,
			w == "DETACH" && i == 0 && slices.Contains(words, "DELETE"),
			strings.HasPrefix(w, "DB.") && strings.HasSuffix(w, ".REMOVE"):
			c.destroys()
		}
	}
	trimmed := strings.TrimSpace(text)
	if begins := func(p string) bool { return strings.HasPrefix(trimmed, p) }; begins("!") || begins(`\!`) ||
		begins(".shell") || begins(".system") {
		c.Flags.Add(term.FlagEscape)
		c.Effects |= term.Execute
	}
}

func (c *Call) destroys() {
	c.Flags.Add(term.FlagDestroysData)
	c.Effects |= term.Delete
}

// stripSQL takes comments and the content of string literals out of a statement.
func stripSQL(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\'':
			end := strings.IndexByte(s[i+1:], '\'')
			if end < 0 {
				return b.String()
			}
			i += end + 1
			b.WriteByte(' ')
		case strings.HasPrefix(s[i:], "--"):
			end := strings.IndexByte(s[i:], '\n')
			if end < 0 {
				return b.String()
			}
			i += end
			b.WriteByte('\n')
		case strings.HasPrefix(s[i:], "/*"):
			end := strings.Index(s[i:], "*/")
			if end < 0 {
				return b.String()
			}
			i += end + 1
			b.WriteByte(' ')
		default:
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

// redis: commands on standard input.
func redis(c *Call) {
	for _, r := range c.Cmd.Redirects {
		if r.Mode == shell.RedirectHere && strings.Contains(strings.ToUpper(r.Body.Text), "FLUSH") {
			c.destroys()
		}
	}
}

// gpg decodes when it decrypts; reading keys is no decoding.
func gpg(c *Call) {
	if c.Flags.Has(term.FlagPrintsSecret) {
		c.touch(Exact(".gnupg"), Role{})
	}
}

// openssl: the first word is the command; -in and -out are files.
func openssl(c *Call) {
	words := c.Operands
	if len(words) > 0 && !IsOption(words[0]) {
		c.Sub = []string{words[0].Text}
	}
	sub := c.operand(0)
	public, printed := false, false
	for i, w := range words {
		name := strings.TrimLeft(w.Text, "-")
		if name == w.Text {
			continue
		}
		next := value.Word{}
		if i+1 < len(words) {
			next = words[i+1]
		}
		switch name {
		case "inkey", "key", "cert", "CAfile", "CA", "CAkey", "certfile", "sign", "cert_chain", "CApath":
			if !IsOption(next) {
				c.touch(next, Role{Word: "key", Access: term.Reads})
			}
		case "unix":
			c.path(next, term.Reads|term.Writes)
		case "in", "config", "signature", "verify", "prverify", "extfile":
			if !IsOption(next) && (name != "verify" || sub == "dgst") {
				c.path(next, term.Reads)
			}
		case "noout", "pubout":
			public = true
		case "text":
			printed = true
		case "out", "keyout", "sess_out", "writerand":
			c.path(next, term.Writes)
			c.Effects |= term.Write
		case "d", "decrypt":
			if sub == "enc" || sub == "base64" || sub == "smime" || sub == "cms" || sub == "rsautl" || sub == "pkeyutl" || strings.HasPrefix(sub, "aes") || strings.HasPrefix(sub, "des") {
				c.Flags.Add(term.FlagDecodes)
			}
		case "connect", "host":
			c.host(next.Text)
			c.Effects |= term.Network
		case "engine", "provider-path":
			if strings.Contains(next.Text, "/") {
				c.Flags.Add(term.FlagEscape)
				c.path(next, term.Executes)
			}
		}
	}
	for i := range c.Touches {
		if public && !printed && c.Touches[i].Access == term.Reads { // a key that is checked, or of which the public half is printed
			c.Touches[i].Role.Word = "key"
		}
	}
	switch sub {
	case "s_client":
		c.Effects |= term.Network
		c.Flags.Add(term.FlagSocket)
	case "s_server":
		c.Effects |= term.Network
		c.Flags.Add(term.FlagListens)
		c.Flags.Add(term.FlagSocket)
	case "dgst", "sha256", "sha1", "md5", "sha512":
		for i, w := range words {
			if i > 0 && !IsOption(w) && !IsOption(words[i-1]) || i == len(words)-1 && i > 0 && !IsOption(w) {
				c.path(w, term.Reads)
			}
		}
	}
}
