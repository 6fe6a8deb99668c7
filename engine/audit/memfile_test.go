package audit

import (
	"io"
	"io/fs"
	"os"
)

type memFile struct {
	d *memDisk
	n *memNode
}

func (f *memFile) ReadAt(p []byte, off int64) (int, error) {
	f.d.mu.Lock()
	defer f.d.mu.Unlock()
	if x := f.d.step("read"); x != none {
		return 0, x.err()
	}
	if off >= int64(len(f.n.data)) {
		return 0, io.EOF
	}
	n := copy(p, f.n.data[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (f *memFile) WriteAt(p []byte, off int64) (int, error) {
	f.d.mu.Lock()
	defer f.d.mu.Unlock()
	x := f.d.step("write")
	grow := int(off) + len(p) - len(f.n.data)
	if x == none && f.d.capacity > 0 && grow > 0 && f.d.used()+grow > f.d.capacity {
		x = full
		p = p[:max(0, len(p)-(f.d.used()+grow-f.d.capacity))]
	} else if x == full || x == short || x == killed {
		p = p[:len(p)/2]
	}
	if x == ioError || x == kill {
		return 0, x.err()
	}
	end := int(off) + len(p)
	if len(f.n.data) < end {
		f.n.data = append(f.n.data, make([]byte, end-len(f.n.data))...)
	}
	copy(f.n.data[off:], p)
	if f.n.lo == f.n.hi {
		f.n.lo, f.n.hi = int(off), end
	}
	f.n.lo, f.n.hi = min(f.n.lo, int(off)), max(f.n.hi, end)
	if x != none {
		return 0, x.err() // as os.File does: what a failing write wrote is not told
	}
	return len(p), nil
}

func (f *memFile) Truncate(size int64) error {
	f.d.mu.Lock()
	defer f.d.mu.Unlock()
	if x := f.d.step("truncate"); x != none {
		return x.err()
	}
	f.n.data = f.n.data[:min(int(size), len(f.n.data))]
	f.n.hi = min(f.n.hi, len(f.n.data))
	f.n.lo = min(f.n.lo, f.n.hi)
	return nil
}

func (f *memFile) Sync() error {
	f.d.mu.Lock()
	defer f.d.mu.Unlock()
	x := f.d.step("sync")
	if x == kill {
		return x.err()
	}
	n := f.n
	if x == none || x == killed {
		size := len(n.data)
		if len(n.disk) < size {
			n.disk = append(n.disk, make([]byte, size-len(n.disk))...)
		}
		n.disk = n.disk[:size]
		copy(n.disk[min(n.lo, size):min(n.hi, size)], n.data[min(n.lo, size):min(n.hi, size)])
	}
	n.lo, n.hi = 0, 0 // also after a failure: the pages are clean, and lost
	return x.err()
}

func (f *memFile) Stat() (info, error) {
	f.d.mu.Lock()
	defer f.d.mu.Unlock()
	if x := f.d.step("stat"); x != none {
		return info{}, x.err()
	}
	return f.n.info(), nil
}

func (f *memFile) Close() error {
	f.d.mu.Lock()
	defer f.d.mu.Unlock()
	x := f.d.step("close")
	if f.n.locked == f {
		f.n.locked = nil // the descriptor is gone whatever close says
		f.d.freed.Broadcast()
	}
	return x.err()
}

func (f *memFile) Lock(wait bool) error {
	f.d.mu.Lock()
	defer f.d.mu.Unlock()
	if x := f.d.step("lock"); x != none {
		return x.err()
	}
	for f.n.locked != nil && f.n.locked != f {
		if !wait {
			return errBusy
		}
		f.d.freed.Wait()
	}
	f.n.locked = f
	return nil
}

func (f *memFile) Unlock() error {
	f.d.mu.Lock()
	defer f.d.mu.Unlock()
	if x := f.d.step("unlock"); x != none {
		return x.err()
	}
	f.n.locked = nil
	f.d.freed.Broadcast()
	return nil
}

type memNode struct {
	dir    bool
	ino    uint64
	mode   fs.FileMode
	links  uint64
	data   []byte
	disk   []byte // what is on the platter
	lo, hi int    // dirty range of data
	locked *memFile
}

func (n *memNode) info() info {
	return info{Size: int64(len(n.data)), Mode: n.mode, Nlink: n.links, UID: os.Geteuid(), ID: fileID{1, n.ino}}
}
