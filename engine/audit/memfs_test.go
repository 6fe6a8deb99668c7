package audit

import (
	"errors"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
)

// memDisk is a disk that forgets: what was not synced may be gone after a power cut, and a sync
// that failed marks its pages clean although they never arrived, as Linux does.
type memDisk struct {
	mu       sync.Mutex
	freed    *sync.Cond          // a lock was freed
	entries  map[string]*memNode // as processes see them
	durable  map[string]*memNode // as they are after a power cut
	inodes   uint64
	capacity int // bytes; 0 for no bound

	ops   int // operations so far
	fault func(op string, n int) fault
	dead  bool // the process was killed: nothing it does has an effect any more
}

type fault int

const (
	none    fault = iota
	ioError       // EIO, nothing done
	full          // ENOSPC; a write leaves a part
	short         // a write leaves a part and EIO
	kill          // the process dies before the operation
	killed        // the process dies in the middle of it
)

var errDead = errors.New("the process was killed")

func newMemDisk() *memDisk {
	d := &memDisk{entries: map[string]*memNode{}, durable: map[string]*memNode{}}
	d.freed = sync.NewCond(&d.mu)
	d.entries["/"] = &memNode{dir: true, mode: fs.ModeDir | 0o700, links: 1}
	d.durable["/"] = d.entries["/"]
	return d
}

// step counts an operation and says what happens to it. The caller holds d.mu.
func (d *memDisk) step(op string) fault {
	if d.dead {
		return kill
	}
	d.ops++
	if d.fault == nil {
		return none
	}
	f := d.fault(op, d.ops)
	if f == kill || f == killed {
		d.dead = true
	}
	return f
}

func (f fault) err() error {
	switch f {
	case none:
		return nil
	case full:
		return syscall.ENOSPC
	case kill, killed:
		return errDead
	}
	return syscall.EIO
}

func (d *memDisk) OpenFile(name string, flag int, perm fs.FileMode) (file, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if f := d.step("open"); f != none {
		return nil, f.err()
	}
	n, ok := d.entries[name]
	switch {
	case !ok && flag&os.O_CREATE == 0:
		return nil, fs.ErrNotExist
	case ok && flag&os.O_EXCL != 0:
		return nil, fs.ErrExist
	case !ok:
		d.inodes++
		n = &memNode{ino: d.inodes, mode: perm, links: 1}
		d.entries[name] = n
	}
	if flag&os.O_TRUNC != 0 {
		n.data = nil
	}
	return &memFile{d, n}, nil
}

func (d *memDisk) Lstat(name string) (info, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if f := d.step("lstat"); f != none {
		return info{}, f.err()
	}
	if n, ok := d.entries[name]; ok {
		return n.info(), nil
	}
	return info{}, fs.ErrNotExist
}

func (d *memDisk) ReadDir(name string) ([]string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if f := d.step("readdir"); f != none {
		return nil, f.err()
	}
	var out []string
	for p := range d.entries {
		if filepath.Dir(p) == name {
			out = append(out, filepath.Base(p))
		}
	}
	slices.Sort(out)
	return out, nil
}

func (d *memDisk) MkdirAll(name string, perm fs.FileMode) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if f := d.step("mkdir"); f != none {
		return f.err()
	}
	for ; name != "/"; name = filepath.Dir(name) {
		if d.entries[name] == nil {
			d.entries[name] = &memNode{dir: true, mode: fs.ModeDir | perm, links: 1}
		}
	}
	return nil
}

func (d *memDisk) Rename(from, to string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if f := d.step("rename"); f != none {
		return f.err()
	}
	n, ok := d.entries[from]
	if !ok {
		return fs.ErrNotExist
	}
	if old := d.entries[to]; old != nil {
		old.links = 0
	}
	d.entries[to] = n
	delete(d.entries, from)
	return nil
}

func (d *memDisk) Remove(name string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if f := d.step("remove"); f != none {
		return f.err()
	}
	if n := d.entries[name]; n != nil {
		n.links = 0
		delete(d.entries, name)
		return nil
	}
	return fs.ErrNotExist
}

func (d *memDisk) SyncBoth(one, other file) (errOne, errOther error) {
	return one.Sync(), other.Sync()
}

func (d *memDisk) SyncDir(name string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if f := d.step("syncdir"); f != none {
		return f.err()
	}
	for p := range d.durable {
		if filepath.Dir(p) == name && d.entries[p] == nil {
			delete(d.durable, p)
		}
	}
	for p, n := range d.entries {
		if filepath.Dir(p) == name {
			d.durable[p] = n
		}
	}
	return nil
}

// restart is what a new process finds. After a power cut, files are what was synced, perhaps with a
// part of what was not; what no directory sync covered may be there or not.
func (d *memDisk) restart(powerCut bool, r *rand.Rand) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.dead, d.fault = false, nil
	for _, n := range d.entries {
		n.locked = nil
	}
	d.freed.Broadcast()
	if !powerCut {
		return
	}
	for _, p := range slices.Sorted(maps.Keys(d.entries)) { // in order, for a seed to give one result
		if d.durable[p] == nil && r.IntN(2) == 0 && !strings.HasSuffix(p, ".tmp") {
			d.durable[p] = d.entries[p]
		}
	}
	d.entries = map[string]*memNode{}
	for _, p := range slices.Sorted(maps.Keys(d.durable)) {
		n := d.durable[p]
		if !n.dir && len(n.data) > len(n.disk) && r.IntN(2) == 0 && n.hi > len(n.disk) {
			n.disk = append(n.disk, n.data[len(n.disk):len(n.disk)+r.IntN(len(n.data)-len(n.disk)+1)]...)
		}
		n.data, n.lo, n.hi, n.links = slices.Clone(n.disk), 0, 0, 1
		d.entries[p] = n
	}
}

// synced returns what a power cut would leave of all files of the log.
func (d *memDisk) synced(dir string) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	var b strings.Builder
	for p, n := range d.durable {
		if filepath.Dir(p) == dir && !n.dir {
			b.Write(n.disk)
		}
	}
	return b.String()
}

func (d *memDisk) used() int {
	sum := 0
	for _, n := range d.entries {
		sum += len(n.data)
	}
	return sum
}
