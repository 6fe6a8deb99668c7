package facts

import (
	"slices"
	"strings"

	"github.com/sallyport-dev/sallyport/engine/shell"
	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

// sql: statements in arguments that drop or empty.
func sql(c *call) {
	for _, o := range c.options {
		if o.given && slices.Contains([]string{"c", "command", "e", "execute", "eval", "q", "query", "Q", "cmd"}, o.name) {
			c.statement(o.value.Text)
			c.told(o.value.Text)
		}
	}
	for _, w := range c.operands {
		c.statement(w.Text)
		c.told(w.Text)
	}
	if fed := c.source.text(exact("-")); fed != "" {
		c.statement(fed)
		c.told(fed)
	}
}

// sqlFiles are the words of SQL, as databases in a file know it, behind which the name of a file stands.
var sqlFiles = map[string]access{
	"INFILE": reads, "ATTACH": reads | writes, "DATABASE": reads | writes, "INTO": writes, "TO": writes, "FROM": reads, "WRITEFILE(": writes, "READFILE(": reads,
}

// files touches the files that a statement names in quotes.
func (c *call) files(text string) {
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
		if a := sqlFiles[word]; a != 0 && ok && (a != reads || strings.Contains(word, "(") || looksLikePath(file)) {
			c.path(exact(strings.TrimPrefix(file, "file:")), a)
			c.effects |= effect(a)
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
func (c *call) statement(text string) {
	upper := strings.ToUpper(text)
	if dialects[c.cmd.Name] == sqliteDialect || strings.Contains(upper, "INFILE") {
		c.files(text)
	}
	if words := strings.Fields(text); len(words) > 3 && words[0] == `\copy` {
		for i, word := range words[:len(words)-1] {
			if strings.EqualFold(word, "from") && looksLikePath(strings.Trim(words[i+1], "'")) {
				c.path(exact(strings.Trim(words[i+1], "'")), reads)
			}
		}
	}
	c.destroying(text)
}

// destroying looks for what destroys in SQL, or in the mongo shell's language, word by word,
// without comments and string literals.
func (c *call) destroying(text string) {
	words := strings.FieldsFunc(strings.ToUpper(stripSQL(text)), func(r rune) bool {
		return !(r == '_' || r == '.' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9')
	})
	for i, w := range words {
		next := ""
		if i+1 < len(words) {
			next = words[i+1]
		}
		switch w {
		case "DROP":
			switch next {
			case "DATABASE", "SCHEMA", "TABLE", "KEYSPACE", "TABLESPACE", "USER", "ROLE", "COLLECTION", "BUCKET", "OWNED", "MATERIALIZED":
				c.destroys()
			}
		case "TRUNCATE":
			c.destroys()
		case "DELETE":
			if next == "FROM" && !slices.Contains(words[i:], "WHERE") {
				c.destroys()
			}
		case "UPDATE":
			if i == 0 && slices.Contains(words, "SET") && !slices.Contains(words[i:], "WHERE") {
				c.destroys()
			}
		case "DROPDATABASE", "DB.DROPDATABASE":
			c.destroys()
		}
		if strings.HasPrefix(w, "DB.") && (strings.HasSuffix(w, ".DROP") || strings.HasSuffix(w, ".DELETEMANY") || strings.HasSuffix(w, ".REMOVE")) {
			c.destroys()
		}
		if w == "DETACH" && i == 0 && slices.Contains(words, "DELETE") {
			c.destroys()
		}
	}
	if trimmed := strings.TrimSpace(text); strings.HasPrefix(trimmed, `\!`) || strings.HasPrefix(trimmed, ".shell") || strings.HasPrefix(trimmed, ".system") || strings.HasPrefix(trimmed, "!") || strings.Contains(strings.ToUpper(trimmed), "TO PROGRAM") || strings.Contains(strings.ToUpper(trimmed), "FROM PROGRAM") {
		c.flags.add(flagEscape)
		c.effects |= doesExecute
	}
}

func (c *call) destroys() {
	c.flags.add(flagDestroysData)
	c.effects |= doesDelete
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

// mysqladmin drop NAME, shutdown.
func mysqladmin(c *call) {
	for _, w := range c.operands {
		switch w.Text {
		case "drop":
			c.destroys()
		case "shutdown":
			c.flags.add(flagServiceControl)
		}
	}
}

// redis: the command is the first operand.
func redis(c *call) {
	switch strings.ToUpper(c.operand(0)) {
	case "FLUSHALL", "FLUSHDB", "SHUTDOWN", "DEBUG":
		c.destroys()
	case "CONFIG":
		if strings.EqualFold(c.operand(1), "set") {
			c.effects |= doesSystem
		}
	}
	for _, r := range c.cmd.Redirects {
		if r.Mode == shell.RedirectHere && strings.Contains(strings.ToUpper(r.Body.Text), "FLUSH") {
			c.destroys()
		}
	}
}

// gpg decodes when it decrypts; reading keys is no decoding.
func gpg(c *call) {
	if c.flags.has(flagPrintsSecret) {
		c.touch(exact(".gnupg"), role{})
	}
}

// openssl: the first word is the command; -in and -out are files.
func openssl(c *call) {
	words := c.operands
	if len(words) > 0 && !isOption(words[0]) {
		c.sub = []string{words[0].Text}
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
			if !isOption(next) {
				c.touch(next, role{word: "key", access: reads})
			}
		case "in", "config", "signature", "verify", "prverify", "extfile":
			if !isOption(next) && (name != "verify" || sub == "dgst") {
				c.path(next, reads)
			}
		case "noout", "pubout":
			public = true
		case "text":
			printed = true
		case "out", "keyout", "sess_out", "writerand":
			c.path(next, writes)
			c.effects |= doesWrite
		case "d", "decrypt":
			if sub == "enc" || sub == "base64" || sub == "smime" || sub == "cms" || sub == "rsautl" || sub == "pkeyutl" || strings.HasPrefix(sub, "aes") || strings.HasPrefix(sub, "des") {
				c.flags.add(flagDecodes)
			}
		case "connect", "host":
			c.host(next.Text)
			c.effects |= doesNetwork
		case "engine", "provider-path":
			if strings.Contains(next.Text, "/") {
				c.flags.add(flagEscape)
				c.path(next, executes)
			}
		}
	}
	for i := range c.touches {
		if public && !printed && c.touches[i].access == reads { // a key that is checked, or of which the public half is printed
			c.touches[i].role.word = "key"
		}
	}
	switch sub {
	case "s_client":
		c.effects |= doesNetwork
		c.flags.add(flagSocket)
	case "s_server":
		c.effects |= doesNetwork
		c.flags.add(flagListens)
		c.flags.add(flagSocket)
	case "dgst", "sha256", "sha1", "md5", "sha512":
		for i, w := range words {
			if i > 0 && !isOption(w) && !isOption(words[i-1]) || i == len(words)-1 && i > 0 && !isOption(w) {
				c.path(w, reads)
			}
		}
	}
}

// secretStore: making, storing and listing names prints no secret.
func secretStore(c *call) {
	for _, w := range c.operands {
		switch w.Text {
		case "generate", "insert", "store", "add", "append", "list", "ls", "edit", "init", "lock", "sync", "status", "git", "find", "clear", "logout", "set", "version":
			c.flags.remove(flagPrintsSecret)
		}
	}
	if c.has("list-entries") || c.cmd.Name == "kwallet-query" && c.has("l") {
		c.flags.remove(flagPrintsSecret)
	}
}
