package audit

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/mod/sumdb/note"

	"github.com/sallyport-dev/sallyport/engine/redact"
)

// keys are the secrets of one log. They lie beside the audit directory, not in it, so that the log
// can be copied and shipped as a directory without them.
type keys struct {
	signer   note.Signer
	verifier note.Verifier
	public   string
	redact   []byte // HMAC key of redaction tags
	// unused says that nothing was signed yet: the public key is written with the first record. So a key that a
	// killed process left is not taken for that of a log that is gone.
	unused bool
}

// keyPaths names the key files of the log in dir.
func keyPaths(dir string) (sign, public, redact string) {
	base := filepath.Join(filepath.Dir(dir), "keys", filepath.Base(dir))
	return base + ".sign.key", base + ".sign.pub", base + ".redact.key"
}

// publicKey returns the verifier key of the log in dir, from the place where Open put it.
func publicKey(fsys fileSystem, dir string) (string, error) {
	_, public, _ := keyPaths(dir)
	b, err := readAll(fsys, public, 4096)
	if err != nil {
		return "", fmt.Errorf("read public key: %w", err)
	}
	return strings.TrimSpace(string(b)), nil
}

// PublicKey returns the verifier key that lies beside the log in dir. Who can write the log can exchange it.
func PublicKey(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("read public key: %w", err)
	}
	return publicKey(osFS{}, dir)
}

// ErrNoKey is in the chain of the error about a log that has records but no signing key.
var ErrNoKey = errors.New("the signing key is gone")

// loadKeys reads the keys, and creates them for a new log. The caller holds the lock of the log.
func loadKeys(o *Options, mayCreate bool) (keys, error) {
	sign, public, redact := keyPaths(o.Dir)
	if err := makeDir(o.fs, filepath.Dir(sign)); err != nil {
		return keys{}, err
	}
	skey, err := readSecret(o.fs, sign)
	if errors.Is(err, fs.ErrNotExist) {
		if !mayCreate {
			return keys{}, fmt.Errorf("read %s: %w: restore it", sign, ErrNoKey)
		}
		skey, err = createSigner(o, sign)
	}
	if err != nil {
		return keys{}, fmt.Errorf("read signing key: %w", err)
	}
	k := keys{}
	if k.signer, err = note.NewSigner(skey); err != nil {
		return keys{}, fmt.Errorf("read signing key %s: %w", sign, err)
	}
	if k.public, err = publicOf(skey); err != nil {
		return keys{}, fmt.Errorf("read signing key %s: %w", sign, err)
	}
	if k.verifier, err = note.NewVerifier(k.public); err != nil {
		return keys{}, fmt.Errorf("read signing key %s: %w", sign, err)
	}
	old, err := readAll(o.fs, public, 4096)
	k.unused = err != nil || strings.TrimSpace(string(old)) != k.public
	k.redact, err = redactKey(o.fs, redact)
	return k, err
}

// redactKey reads the HMAC key of redaction tags, and creates it where it is missing: losing it
// costs no more than the comparison of tags across the loss.
func redactKey(fsys fileSystem, name string) ([]byte, error) {
	text, err := readSecret(fsys, name)
	if errors.Is(err, fs.ErrNotExist) {
		fresh := make([]byte, 32)
		rand.Read(fresh)
		text = hex.EncodeToString(fresh)
		err = writeNew(fsys, name, []byte(text+"\n"))
	}
	if err != nil {
		return nil, fmt.Errorf("read redaction key: %w", err)
	}
	key, err := hex.DecodeString(text)
	if err != nil || len(key) < 16 {
		return nil, fmt.Errorf("read redaction key %s: not 16 or more bytes in hex", name)
	}
	return key, nil
}

func createSigner(o *Options, name string) (string, error) {
	id := make([]byte, 4)
	rand.Read(id)
	skey, _, err := note.GenerateKey(rand.Reader, originName(o.Host)+"/"+hex.EncodeToString(id))
	if err != nil {
		return "", err
	}
	return skey, writeNew(o.fs, name, []byte(skey+"\n"))
}

// publicOf derives the verifier key from a signer key, so that a lost public file can be restored.
func publicOf(skey string) (string, error) {
	parts := strings.SplitN(skey, "+", 5)
	if len(parts) != 5 {
		return "", errors.New("malformed signer key")
	}
	seed, err := base64.StdEncoding.DecodeString(parts[4])
	if err != nil || len(seed) != 1+ed25519.SeedSize {
		return "", errors.New("malformed signer key")
	}
	public := ed25519.NewKeyFromSeed(seed[1:]).Public().(ed25519.PublicKey)
	return note.NewEd25519VerifierKey(parts[2], public)
}

// originName makes a checkpoint origin of a host name: no space and no plus may stand in it.
func originName(host string) string {
	clean := strings.Map(func(r rune) rune {
		if r > ' ' && r < 0x7f && r != '+' {
			return r
		}
		return '-'
	}, host)
	if clean == "" {
		clean = "localhost"
	}
	return clean + "/sallyport-audit"
}

func readSecret(fsys fileSystem, name string) (string, error) {
	f, err := openChecked(fsys, name, os.O_RDONLY)
	if err != nil {
		return "", err
	}
	fi, err := f.Stat()
	if err = errors.Join(err, f.Close()); err != nil {
		return "", err
	}
	if ownersKnown && fi.Mode.Perm()&0o077 != 0 {
		return "", fmt.Errorf("open %s: others may read it (mode %04o): chmod 600 it", name, fi.Mode.Perm())
	}
	b, err := readAll(fsys, name, 4096)
	return strings.TrimSpace(string(b)), err
}

// RedactorFor makes the redactor of the log in dir, whose tags are those in its records, without
// opening the log. Before the log has a key the tags have no hex digits.
func RedactorFor(dir string, extra redact.Extra) (*redact.Redactor, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("read redaction key: %w", err)
	}
	_, _, name := keyPaths(dir)
	if _, err := os.Lstat(name); errors.Is(err, fs.ErrNotExist) {
		return redact.New(nil, extra), nil
	}
	key, err := redactKey(osFS{}, name)
	if err != nil {
		return nil, err
	}
	return redact.New(key, extra), nil
}
