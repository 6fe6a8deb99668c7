package publish

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/sallyport-dev/sallyport/engine/audit"
)

// witness asks a server to sign a checkpoint after a proof that the log only grew (c2sp.org/tlog-witness).
type witness struct {
	dir  string
	add  string // address of add-checkpoint
	key  cosigner
	http *http.Client
	mu   sync.Mutex
	size int64 // the checkpoint that the witness has; it corrects us
}

func newWitness(dir, text string) (*witness, error) {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" {
		return nil, fmt.Errorf("publish checkpoints to %q: not the address of a witness", text)
	}
	key, err := newCosigner(u.Fragment)
	if err != nil {
		return nil, fmt.Errorf("publish checkpoints to https://%s: write the witness's verifier key behind #: %w",
			u.Host, err)
	}
	u.Fragment = ""
	w := &witness{dir: dir, add: u.JoinPath("add-checkpoint").String(), key: key, http: &http.Client{}}
	w.http.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	if taken, err := Read(dir); err == nil {
		for _, t := range taken {
			if t.Target == text {
				w.size = t.Size
			}
		}
	}
	return w, nil
}

// maxAnswer is how much of an answer is read, in bytes.
const maxAnswer = 16 << 10

func (w *witness) take(ctx context.Context, n Note) ([]byte, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	hashes, err := openHashes(w.dir, n.Checkpoint)
	if err != nil {
		return nil, err
	}
	defer hashes.Close() // its content is checked when it is used
	for range 2 {
		if w.size > n.Checkpoint.Size {
			return nil, fmt.Errorf(
				"the witness has seen %d records, and the log has %d: it was cut off or is an older copy", w.size,
				n.Checkpoint.Size)
		}
		status, answer, err := w.post(ctx, hashes, n)
		if err != nil {
			return nil, err
		}
		if status == http.StatusConflict { // it has another checkpoint than we think
			size, err := strconv.ParseInt(strings.TrimSpace(string(answer)), 10, 64)
			if err != nil || size < 0 || size == w.size {
				return nil, fmt.Errorf("the witness refuses the checkpoint: %.200q", answer)
			}
			w.size = size
			continue
		}
		if status != http.StatusOK {
			return nil, fmt.Errorf("the witness answers %d: %.200q", status, answer)
		}
		signed := append(bytes.Clone(n.Text), answer...)
		if err := w.key.verify(signed); err != nil {
			return nil, err
		}
		w.size = n.Checkpoint.Size
		return signed, nil
	}
	return nil, errors.New("the witness changes its mind about the checkpoint that it has")
}

func (w *witness) post(ctx context.Context, hashes *hashFile, n Note) (int, []byte, error) {
	var body bytes.Buffer
	fmt.Fprintf(&body, "old %d\n", w.size)
	if w.size > 0 && w.size < n.Checkpoint.Size {
		proof, err := tlog.ProveTree(n.Checkpoint.Size, w.size, hashes)
		if err != nil {
			return 0, nil, fmt.Errorf("prove that the log only grew: %w", err)
		}
		for _, h := range proof {
			body.WriteString(h.String() + "\n")
		}
	}
	body.WriteString("\n")
	body.Write(n.Text)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.add, &body)
	if err != nil {
		return 0, nil, err
	}
	resp, err := w.http.Do(req)
	if err != nil {
		return 0, nil, err
	}
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	return resp.StatusCode, answer, errors.Join(err, resp.Body.Close())
}

// cosigner is the verifier key of a witness, of type 4 (c2sp.org/tlog-cosignature).
type cosigner struct {
	name string
	hash uint32
	key  ed25519.PublicKey
}

const cosignature = 4

func newCosigner(text string) (cosigner, error) {
	bad := errors.New("want NAME+HASH+KEY with a key of type 4")
	name, rest, ok := strings.Cut(text, "+")
	hash, key, ok2 := strings.Cut(rest, "+")
	number, err := strconv.ParseUint(hash, 16, 32)
	raw, err2 := base64.StdEncoding.DecodeString(key)
	if !ok || !ok2 || err != nil || err2 != nil || name == "" || len(raw) != 1+ed25519.PublicKeySize ||
		raw[0] != cosignature {
		return cosigner{}, bad
	}
	sum := sha256.Sum256(append([]byte(name+"\n"), raw...))
	if binary.BigEndian.Uint32(sum[:]) != uint32(number) {
		return cosigner{}, errors.New("the hash does not fit the key")
	}
	return cosigner{name, uint32(number), raw[1:]}, nil
}

// verify looks for a signature of this witness under a checkpoint.
func (c cosigner) verify(signed []byte) error {
	if _, err := note.Open(signed, note.VerifierList(c)); err != nil {
		return fmt.Errorf("the witness's answer holds no valid signature of %s: %w", c.name, err)
	}
	return nil
}

// Name, KeyHash and Verify make a cosigner a verifier of golang.org/x/mod/sumdb/note.
func (c cosigner) Name() string { return c.name }

// KeyHash is the number of the key.
func (c cosigner) KeyHash() uint32 { return c.hash }

// Verify checks a signature over a checkpoint: eight bytes of time, then the signature over both.
func (c cosigner) Verify(text, sig []byte) bool {
	if len(sig) != 8+ed25519.SignatureSize {
		return false
	}
	seconds := binary.BigEndian.Uint64(sig)
	message := fmt.Appendf(nil, "cosignature/v1\ntime %d\n%s", seconds, text)
	return ed25519.Verify(c.key, message, sig[8:])
}

// hashFile holds the hashes of the tree over all records, in the order of tlog.StoredHashIndex. Each place
// depends on the log alone, so several processes may write it at once.
type hashFile struct {
	*os.File
}

const hashesName = "publish.hashes"

// openHashes brings the file up to a checkpoint and checks it against its root. A file that does not fit is
// made anew.
func openHashes(dir string, c audit.Checkpoint) (*hashFile, error) {
	f, err := os.OpenFile(filepath.Join(dir, hashesName), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("keep hashes of records: %w", err)
	}
	h := &hashFile{f}
	if err = h.extend(dir, c); err != nil {
		if err = f.Truncate(0); err == nil {
			err = h.extend(dir, c)
		}
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("keep hashes of records: %w", err), f.Close())
	}
	return h, nil
}

// extend appends the hashes of the records that the file lacks.
func (h *hashFile) extend(dir string, c audit.Checkpoint) error {
	info, err := h.Stat()
	if err != nil {
		return err
	}
	stored, have := info.Size()/tlog.HashSize, int64(0)
	for step := int64(1) << 40; step > 0; step /= 2 { // the most records whose hashes are all there
		if tlog.StoredHashCount(have+step) <= stored {
			have += step
		}
	}
	if have < c.Size {
		for leaf, err := range audit.Leaves(dir, have, c.Size) {
			if err != nil {
				return err
			}
			more, err := tlog.StoredHashesForRecordHash(have, leaf, h)
			if err != nil {
				return err
			}
			var b []byte
			for _, m := range more {
				b = append(b, m[:]...)
			}
			if _, err := h.WriteAt(b, tlog.StoredHashCount(have)*tlog.HashSize); err != nil {
				return err
			}
			have++
		}
	}
	root, err := tlog.TreeHash(c.Size, h)
	if err != nil {
		return err
	}
	if root != c.Root {
		return errors.New("the log has another root than its checkpoint")
	}
	return nil
}

// ReadHashes implements tlog.HashReader.
func (h *hashFile) ReadHashes(indexes []int64) ([]tlog.Hash, error) {
	out := make([]tlog.Hash, len(indexes))
	for i, at := range indexes {
		if _, err := h.ReadAt(out[i][:], at*tlog.HashSize); err != nil {
			return nil, err
		}
	}
	return out, nil
}
