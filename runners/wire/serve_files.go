package wire

import (
	"io"
	"io/fs"
	"net"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/engine/facts/disk"
)

// calls answers requests one after the other.
func (s *server) calls(st net.Conn) {
	for {
		var q request
		if readFrame(st, &q) != nil {
			return
		}
		var err error
		switch q.Op {
		case opFilesOpen:
			err = s.open(st, q)
		case opFilesWrite:
			err = s.write(st, q)
		case opReadDir, opFilesReadDir:
			err = s.list(st, q)
		case opEnviron:
			err = s.environs.write(st, q.Path, s.answer(q))
		default:
			err = writeFrame(st, s.answer(q))
		}
		if err != nil {
			return
		}
	}
}

// answer handles calls with a single reply.
func (s *server) answer(q request) (r reply) {
	var err error
	look := func(i fs.FileInfo, e error) {
		if err = e; e == nil {
			r.Info = infoOf(i)
		}
	}
	follow := func(target string, e error) { r.Target, err = exact(target), e }
	path, seen, files := string(q.Path), s.env.FS(), s.env.Files()
	switch q.Op {
	case opEnviron:
		var c engine.Command
		if c, err = s.env.Prepare("", path); err == nil {
			r.Env, r.Nodes = c.Env, walk(seen, plains(q.Paths))
		}
	case opLstat:
		look(seen.Lstat(path))
	case opWalk:
		r.Nodes = walk(seen, plains(q.Paths))
	case opReadLink:
		follow(seen.ReadLink(path))
	case opReadFile:
		if q.Limit < 0 || q.Limit > maxContent {
			err = violation("read %d bytes at once", q.Limit)
			break
		}
		r.Content, r.Whole, err = seen.ReadFile(path, q.Limit)
	case opFilesLstat:
		look(files.Lstat(path))
	case opFilesReadLink:
		follow(files.ReadLink(path))
	case opFilesMkdir:
		err = files.Mkdir(path)
	case opFilesSymlink:
		err = files.Symlink(string(q.Target), path)
	case opFilesChmod:
		err = files.Chmod(path, fs.FileMode(q.Mode).Perm())
	case opFilesRemove:
		err = files.Remove(path)
	default:
		err = violation("unknown operation %.40q", q.Op)
	}
	if err != nil {
		return reply{Error: failureOf(err)}
	}
	return r
}

// walk looks at the ways to paths, in the way that suits the files.
func walk(seen facts.FS, paths []string) map[string]facts.Node {
	if w, ok := seen.(interface {
		Walk(paths []string) map[string]facts.Node
	}); ok {
		return w.Walk(paths)
	}
	return disk.Walk(seen, paths)
}

// list sends a directory in as many replies as it needs.
func (s *server) list(st net.Conn, q request) error {
	read := s.env.FS().ReadDir
	if q.Op == opFilesReadDir {
		read = s.env.Files().ReadDir
	}
	found, err := read(string(q.Path))
	if err != nil {
		return writeFrame(st, reply{Error: failureOf(err)})
	}
	if q.Limit > 0 && len(found) > q.Limit {
		found = found[:q.Limit]
	}
	for {
		n := min(len(found), maxEntries)
		r := reply{More: n < len(found)}
		for _, e := range found[:n] {
			r.Entries = append(r.Entries, entry{exact(e.Name()), uint32(e.Type())})
		}
		if err := writeFrame(st, r); err != nil || !r.More {
			return err
		}
		found = found[n:]
	}
}

// open sends the content of a file behind the reply. One that cannot be read to its end breaks off.
func (s *server) open(st net.Conn, q request) error {
	f, err := s.env.Files().Open(string(q.Path))
	if err != nil {
		return writeFrame(st, reply{Error: failureOf(err)})
	}
	defer func() { _ = f.Close() }() // it was only read
	if err := writeFrame(st, reply{}); err != nil {
		return err
	}
	_, read, write := sendChunks(st, f)
	if read != nil {
		return read
	}
	return write
}

// write makes a file of the content behind the request. When it fails before all of that has come,
// the stream ends with the reply.
func (s *server) write(st net.Conn, q request) error {
	o := engine.WriteOptions{Replace: q.Replace}
	if q.Like != nil {
		o.Like = fileInfo{*q.Like}
	}
	content := &chunks{r: st}
	n, err := s.env.Files().Write(string(q.Path), content, o)
	if err := writeFrame(st, reply{Error: failureOf(err), Bytes: n}); err != nil {
		return err
	}
	if !content.done {
		return io.ErrUnexpectedEOF
	}
	return nil
}
