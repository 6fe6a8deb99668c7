package main

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

// checkpoint is the text of a signed note (c2sp.org/tlog-checkpoint): the first size records of a log have
// this root.
type checkpoint struct {
	origin string
	size   int64
	root   tlog.Hash
}

func openCheckpoint(text string, keys note.Verifiers) (checkpoint, error) {
	n, err := note.Open([]byte(text), keys)
	if err != nil {
		return checkpoint{}, err
	}
	lines := strings.SplitN(n.Text, "\n", 4)
	if len(lines) < 4 {
		return checkpoint{}, errors.New("a checkpoint has an origin, a size and a root hash")
	}
	c := checkpoint{origin: lines[0]}
	root, err := base64.StdEncoding.DecodeString(lines[2])
	if c.size, _ = strconv.ParseInt(lines[1], 10, 64); err != nil || len(root) != sha256.Size || c.size < 0 ||
		lines[1] != fmt.Sprint(c.size) {
		return checkpoint{}, errors.New("the size or the root hash of the checkpoint is malformed")
	}
	if c.origin != n.Sigs[0].Name {
		return checkpoint{}, fmt.Errorf("the checkpoint of %q is signed by %q", c.origin, n.Sigs[0].Name)
	}
	c.root = tlog.Hash(root)
	return c, nil
}

// lastNote returns the last signed note of a text with one or more of them.
func lastNote(text string) string {
	parts := strings.Split(strings.TrimRight(text, "\n"), "\n\n")
	for i := len(parts) - 1; i > 0; i-- {
		if strings.HasPrefix(parts[i], "— ") {
			return strings.TrimLeft(parts[i-1], "\n") + "\n\n" + parts[i] + "\n"
		}
	}
	return text
}

// edge is the right edge of a Merkle tree of RFC 6962: the roots of its perfect subtrees, largest first.
type edge struct {
	size  int64
	nodes []tlog.Hash
}

func (e *edge) add(leaf tlog.Hash) {
	for n := e.size; n&1 == 1; n >>= 1 {
		last := len(e.nodes) - 1
		leaf = tlog.NodeHash(e.nodes[last], leaf)
		e.nodes = e.nodes[:last]
	}
	e.nodes = append(e.nodes, leaf)
	e.size++
}

func (e *edge) root() tlog.Hash {
	if e.size == 0 {
		return sha256.Sum256(nil)
	}
	root := e.nodes[len(e.nodes)-1]
	for i := len(e.nodes) - 2; i >= 0; i-- {
		root = tlog.NodeHash(e.nodes[i], root)
	}
	return root
}

// edgeOf reads the tree of a segment or checkpoint record.
func edgeOf(size int64, hexes []string) (edge, error) {
	e := edge{size: size}
	for _, h := range hexes {
		b, err := hex.DecodeString(h)
		if err != nil || len(b) != sha256.Size {
			return e, errors.New("a node of the tree is not 64 hex digits")
		}
		e.nodes = append(e.nodes, tlog.Hash(b))
	}
	ones := 0
	for n := uint64(size); n != 0; n &= n - 1 {
		ones++
	}
	if size < 0 || ones != len(hexes) {
		return e, fmt.Errorf("%d nodes cannot cover %d records", len(hexes), size)
	}
	return e, nil
}

// proof is the file that sallyport audit prove writes.
type proof struct {
	Format     int    `json:"format"`
	Checkpoint string `json:"checkpoint"`
	Records    []struct {
		Index int64    `json:"index"`
		Line  string   `json:"line"`
		Proof []string `json:"proof"`
	} `json:"records"`
}

// verifyProof checks that each record of a proof lies under its signed checkpoint.
func verifyProof(name string, keys note.Verifiers, out io.Writer) (bool, error) {
	text, err := readFile(name, maxProof)
	if err != nil {
		return false, fmt.Errorf("read proof: %w", err)
	}
	var p proof
	if err := json.Unmarshal(text, &p); err != nil {
		return false, fmt.Errorf("read proof %s: %w", name, err)
	}
	if p.Format != 1 || len(p.Records) == 0 {
		return false, fmt.Errorf("read proof %s: format %d with %d records: want format 1 and a record", name,
			p.Format, len(p.Records))
	}
	c, err := openCheckpoint(p.Checkpoint, keys)
	if err != nil {
		return false, fmt.Errorf("check proof %s: checkpoint: %w", name, err)
	}
	for _, r := range p.Records {
		var path tlog.RecordProof
		for _, h := range r.Proof {
			b, err := hex.DecodeString(h)
			if err != nil || len(b) != sha256.Size {
				return false, fmt.Errorf("check proof %s: record %d: a hash is not 64 hex digits", name, r.Index)
			}
			path = append(path, tlog.Hash(b))
		}
		if err := tlog.CheckRecord(path, c.size, c.root, r.Index, tlog.RecordHash([]byte(r.Line))); err != nil {
			return false, fmt.Errorf("check proof %s: record %d: %w", name, r.Index, err)
		}
		rec, err := parseRecord([]byte(r.Line))
		if err != nil || rec.Seq != r.Index {
			return false, fmt.Errorf("check proof %s: record %d has another number in its line", name, r.Index)
		}
		fmt.Fprintf(out, "record %d: %s of decision %q at %q\n", rec.Seq, rec.Kind, rec.Decision, rec.Time)
	}
	fmt.Fprintf(out, "ok: the records lie under the checkpoint of %q over %d records\n", c.origin, c.size)
	return true, nil
}
