package audit

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"

	"golang.org/x/mod/sumdb/tlog"
)

// Proof shows that records stood in a log when a checkpoint was signed: each has an inclusion proof (RFC
// 6962, 2.1.1). It marshals to the file of sallyport audit prove.
type Proof struct {
	Format     int            `json:"format"`     // 1
	Checkpoint string         `json:"checkpoint"` // signed note, see c2sp.org/tlog-checkpoint
	Records    []ProvenRecord `json:"records"`
}

// ProvenRecord is a record with its path to the root.
type ProvenRecord struct {
	Index int64    `json:"index"` // number of the record
	Line  string   `json:"line"`  // without its newline, as it was hashed
	Proof []string `json:"proof"` // hashes from the leaf to the root, hex
}

// Prove makes the proof of all records of a decision of the log in dir under a checkpoint, nil for the newest
// one. It checks the proof with the keys; without any with the public key beside the log. Records that the
// checkpoint does not cover are an error, as is a log that does not have its root.
func Prove(dir, decision string, note []byte, keys ...string) (p Proof, err error) {
	if note == nil {
		if note, err = readAll(osFS{}, filepath.Join(dir, CheckpointFile), maxNote); err != nil {
			return p, fmt.Errorf("prove decision %s: read checkpoint: %w", decision, err)
		}
	}
	if len(keys) == 0 {
		key, err := PublicKey(dir)
		if err != nil {
			return p, err
		}
		keys = []string{key}
	}
	p = Proof{Format: 1, Checkpoint: string(note)}
	c, err := OpenCheckpoint(note, keys...)
	if err != nil {
		return p, err
	}
	var paths []*path
	for e, err := range Read(dir, Filter{Decision: decision}) {
		if err != nil {
			return p, fmt.Errorf("prove decision %s: %w", decision, err)
		}
		if e.Seq >= c.Size {
			return p, fmt.Errorf(
				"prove decision %s: its record %d is not under the checkpoint of %d records: take a newer checkpoint",
				decision, e.Seq, c.Size)
		}
		p.Records = append(p.Records, ProvenRecord{Index: e.Seq, Line: string(e.Raw)})
		paths = append(paths, pathTo(e.Seq, c.Size))
	}
	if len(paths) == 0 {
		return p, fmt.Errorf("prove decision %s: there is no record of it in %s", decision, dir)
	}
	var all tree
	for leaf, err := range Leaves(dir, 0, c.Size) {
		if err != nil {
			return p, fmt.Errorf("prove decision %s: %w", decision, err)
		}
		for _, t := range paths {
			t.add(all.size, leaf)
		}
		all.append(leaf)
	}
	if all.root() != tlog.Hash(c.Root) {
		return p, fmt.Errorf("prove decision %s: %w: the checkpoint over %d records has another root", decision,
			ErrTampered, c.Size)
	}
	for i, t := range paths {
		for _, part := range t.parts {
			root := part.tree.root()
			p.Records[i].Proof = append(p.Records[i].Proof, hex.EncodeToString(root[:]))
		}
	}
	_, err = p.Check(keys...)
	return p, err
}

// path is the way from a record to the root of a tree: the subtrees beside it, from the leaf up.
type path struct{ parts []subtree }

type subtree struct {
	from, to int64 // records from, up to but not including to
	tree     tree
}

// pathTo splits the records 0 to size around one, as PATH of RFC 6962 does.
func pathTo(record, size int64) *path {
	p := &path{}
	for lo, hi := int64(0), size; hi-lo > 1; {
		half := int64(1)
		for half*2 < hi-lo {
			half *= 2
		}
		beside := subtree{from: lo + half, to: hi}
		if record < lo+half {
			hi = lo + half
		} else {
			beside = subtree{from: lo, to: lo + half}
			lo += half
		}
		p.parts = append([]subtree{beside}, p.parts...)
	}
	return p
}

func (p *path) add(record int64, leaf tlog.Hash) {
	for i := range p.parts {
		if s := &p.parts[i]; s.from <= record && record < s.to {
			s.tree.append(leaf)
			return
		}
	}
}

// Check verifies the proof with the keys, of which one must have signed its checkpoint.
func (p Proof) Check(keys ...string) (Checkpoint, error) {
	if p.Format != 1 || len(p.Records) == 0 {
		return Checkpoint{}, fmt.Errorf("check proof: format %d with %d records: want format 1 and a record",
			p.Format, len(p.Records))
	}
	c, err := OpenCheckpoint([]byte(p.Checkpoint), keys...)
	if err != nil {
		return c, fmt.Errorf("check proof: %w", err)
	}
	for _, r := range p.Records {
		var t tlog.RecordProof
		for _, h := range r.Proof {
			var node tlog.Hash
			if len(h) != hashHex || !hashFromHex(&node, []byte(h)) {
				return c, fmt.Errorf("check proof: record %d: a hash is not 64 hex digits", r.Index)
			}
			t = append(t, node)
		}
		if err := tlog.CheckRecord(t, c.Size, c.Root, r.Index, tlog.RecordHash([]byte(r.Line))); err != nil {
			return c, fmt.Errorf("check proof: record %d: %w", r.Index, err)
		}
		if e, err := entryOf([]byte(r.Line)); err != nil || e.Seq != r.Index {
			return c, fmt.Errorf("check proof: record %d: its line has another number", r.Index)
		}
	}
	return c, nil
}

// ParseProof reads the file of a proof.
func ParseProof(text []byte) (p Proof, err error) {
	if err = json.Unmarshal(text, &p); err != nil {
		return p, fmt.Errorf("read proof: %w", err)
	}
	return p, nil
}

// Entries returns the records of the proof.
func (p Proof) Entries() (all []Entry, err error) {
	for _, r := range p.Records {
		e, bad := entryOf([]byte(r.Line))
		all, err = append(all, e), errors.Join(err, bad)
	}
	return all, err
}
