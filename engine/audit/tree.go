package audit

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

// tree is the right edge of the Merkle tree of RFC 6962 over all records: the roots of the perfect
// subtrees of which it consists, largest first. It is all that appending and signing need, 32 bytes
// for each bit of the size.
type tree struct {
	size  int64
	nodes []tlog.Hash
}

func (t *tree) append(leaf tlog.Hash) {
	for n := t.size; n&1 == 1; n >>= 1 {
		last := len(t.nodes) - 1
		leaf = tlog.NodeHash(t.nodes[last], leaf)
		t.nodes = t.nodes[:last]
	}
	t.nodes = append(t.nodes, leaf)
	t.size++
}

func (t *tree) root() tlog.Hash {
	if t.size == 0 {
		return sha256.Sum256(nil)
	}
	last := len(t.nodes) - 1
	root := t.nodes[last]
	for i := last - 1; i >= 0; i-- {
		root = tlog.NodeHash(t.nodes[i], root)
	}
	return root
}

func (t *tree) clone() tree {
	return tree{t.size, append(make([]tlog.Hash, 0, len(t.nodes)+1), t.nodes...)}
}

// hexes is the form in which the edge stands in records.
func (t *tree) hexes() []string {
	out := make([]string, len(t.nodes))
	for i, n := range t.nodes {
		out[i] = hex.EncodeToString(n[:])
	}
	return out
}

// treeOf is the inverse of hexes.
func treeOf(size int64, hexes []string) (tree, error) {
	t := tree{size: size}
	ones := 0
	for n := uint64(size); n != 0; n &= n - 1 {
		ones++
	}
	if size < 0 || ones != len(hexes) {
		return tree{}, fmt.Errorf("read tree: %d nodes cannot cover %d records", len(hexes), size)
	}
	for _, h := range hexes {
		var node tlog.Hash
		if n, err := hex.Decode(node[:], []byte(h)); err != nil || n != len(node) || len(h) != 2*len(node) {
			return tree{}, errors.New("read tree: a node is not 64 hex digits")
		}
		t.nodes = append(t.nodes, node)
	}
	return t, nil
}

// Checkpoint is the statement of a signed note: the first Size records of a log have this Root.
type Checkpoint struct {
	Origin string // name of the log and of its key
	Size   int64
	Root   [32]byte
}

// text is the body of a note, as https://c2sp.org/tlog-checkpoint has it.
func (c Checkpoint) text() string {
	return fmt.Sprintf("%s\n%d\n%s\n", c.Origin, c.Size, base64.StdEncoding.EncodeToString(c.Root[:]))
}

func (c Checkpoint) sign(s note.Signer) ([]byte, error) {
	msg, err := note.Sign(&note.Note{Text: c.text()}, s)
	if err != nil {
		return nil, fmt.Errorf("sign checkpoint: %w", err)
	}
	return msg, nil
}

// OpenCheckpoint checks the signature of a note and reads it. Each key is a verifier key as
// golang.org/x/mod/sumdb/note writes it; one valid signature is enough.
func OpenCheckpoint(msg []byte, keys ...string) (Checkpoint, error) {
	var verifiers []note.Verifier
	for _, k := range keys {
		v, err := note.NewVerifier(strings.TrimSpace(k))
		if err != nil {
			return Checkpoint{}, fmt.Errorf("read public key: %w", err)
		}
		verifiers = append(verifiers, v)
	}
	n, err := note.Open(msg, note.VerifierList(verifiers...))
	if err != nil {
		return Checkpoint{}, fmt.Errorf("open checkpoint: %w", err)
	}
	c, err := parseCheckpoint(n.Text)
	if err != nil {
		return Checkpoint{}, err
	}
	if c.Origin != n.Sigs[0].Name {
		return Checkpoint{}, fmt.Errorf("open checkpoint: origin %q is signed by %q", c.Origin, n.Sigs[0].Name)
	}
	return c, nil
}

func parseCheckpoint(text string) (Checkpoint, error) {
	bad := errors.New("open checkpoint: not an origin, a size and a root hash")
	lines := strings.SplitN(text, "\n", 4)
	if len(lines) < 4 || lines[0] == "" {
		return Checkpoint{}, bad
	}
	size, err := strconv.ParseInt(lines[1], 10, 64)
	if err != nil || size < 0 || strconv.FormatInt(size, 10) != lines[1] {
		return Checkpoint{}, bad
	}
	root, err := base64.StdEncoding.DecodeString(lines[2])
	if err != nil || len(root) != sha256.Size {
		return Checkpoint{}, bad
	}
	return Checkpoint{Origin: lines[0], Size: size, Root: [32]byte(root)}, nil
}

// Leaves returns the RFC 6962 leaf hashes of the records from number first up to, not including, end. An
// error is the last thing that it yields: a record that is gone, or that stands where another belongs.
func Leaves(dir string, first, end int64) iter.Seq2[tlog.Hash, error] {
	return func(yield func(tlog.Hash, error) bool) {
		if err := hashesOf(dir, first, end, yield); err != nil {
			yield(tlog.Hash{}, fmt.Errorf("read records %d to %d: %w", first, end, err))
		}
	}
}

func hashesOf(dir string, next, end int64, yield func(tlog.Hash, error) bool) error {
	segments, err := segmentsIn(osFS{}, dir)
	if err != nil {
		return err
	}
	hashed, err := prunedIn(osFS{}, dir)
	if err != nil {
		return err
	}
	for _, n := range hashed {
		p, leaves, err := hashesIn(osFS{}, dir, n)
		if err != nil {
			return err
		}
		at := p.First
		for leaf, err := range leaves {
			if err != nil {
				return err
			}
			if at == next && next < end {
				if next++; !yield(leaf, nil) {
					return nil
				}
			}
			at++
		}
	}
	if next == end {
		return nil
	}
	from := 0 // the last file that begins at or before next
	for i, n := range segments {
		seq, err := firstIn(dir, n)
		if err != nil {
			return err
		}
		if seq > next {
			break
		}
		from = i
	}
	for _, n := range segments[min(from, len(segments)):] {
		more, err := leavesOf(dir, n, &next, end, yield)
		if !more || err != nil || next == end {
			return err
		}
	}
	return fmt.Errorf("the log ends before record %d", next)
}

// firstIn returns the number of the first record of a file.
func firstIn(dir string, segment int) (int64, error) {
	f, err := osFS{}.OpenFile(filepath.Join(dir, segmentName(segment)), os.O_RDONLY, 0)
	if err != nil {
		return 0, err
	}
	defer f.Close() // read only: nothing can be lost
	h, _, ok := headAfter(f, 0, maxLine)
	if !ok {
		return 0, fmt.Errorf("%s does not begin with a record", segmentName(segment))
	}
	return h.seq, nil
}

// leavesOf yields the leaves of one file and moves next past them.
func leavesOf(dir string, segment int, next *int64, end int64, yield func(tlog.Hash, error) bool) (more bool,
	err error) {
	f, err := osFS{}.OpenFile(filepath.Join(dir, segmentName(segment)), os.O_RDONLY, 0)
	if err != nil {
		return false, err
	}
	defer f.Close() // read only: nothing can be lost
	fi, err := f.Stat()
	if err != nil {
		return false, err
	}
	r := newLineReader(f, seek(f, fi.Size, *next), fi.Size)
	for *next < end {
		line, whole, err := r.next()
		if errors.Is(err, io.EOF) || err == nil && !whole {
			return true, nil
		}
		if err != nil {
			return false, err
		}
		h, ok := parseHead(line)
		switch {
		case !ok || h.seq > *next:
			return false, fmt.Errorf("%s: another line stands where record %d belongs", segmentName(segment), *next)
		case h.seq == *next:
			if *next++; !yield(r.leaf(line), nil) {
				return false, nil
			}
		}
	}
	return true, nil
}

// near is how close to a record seek leads, in bytes.
const near = 256 << 10

// seek returns the offset of a line at or before a record, by halves: the numbers of records ascend.
func seek(f file, size, seq int64) int64 {
	low, high := int64(0), size
	for high-low > near {
		middle := low + (high-low)/2
		h, at, ok := headAfter(f, middle, high)
		switch {
		case !ok || h.seq > seq:
			high = middle
		default:
			low = at
		}
	}
	return low
}

// headAfter reads the head of the first line that begins behind an offset; at 0 it is the first line.
func headAfter(f file, off, end int64) (h head, at int64, ok bool) {
	r := newLineReader(f, off, min(end, off+2*maxLine))
	at = off
	if off > 0 {
		line, whole, err := r.next()
		if !whole || err != nil {
			return head{}, 0, false
		}
		at += int64(len(line)) + 1
	}
	line, _, err := r.next()
	if err != nil {
		return head{}, 0, false
	}
	h, ok = parseHead(line)
	return h, at, ok
}
