package wire

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/facts"
)

// remoteFS is the place's file system, for facts.
type remoteFS struct {
	e     *Environment
	until time.Time // after which everything is an error; zero for never
}

var _ facts.Far = remoteFS{}

// ask makes a request of it.
func (f remoteFS) ask(op, path string) request {
	return request{Op: op, Path: exact(path), until: f.until}
}

// Until returns the same files, for facts that somebody waits for.
func (f remoteFS) Until(t time.Time) facts.FS { return remoteFS{f.e, t} }

func (f remoteFS) Lstat(path string) (fs.FileInfo, error) { return f.e.look(f.ask(opLstat, path)) }
func (f remoteFS) ReadLink(path string) (string, error)   { return f.e.follow(f.ask(opReadLink, path)) }

// maxNodes bounds the results of a walk: some hundred paths through a few directories and links each.
const maxNodes = 1 << 15

// Walk asks at once for all that lies on the ways to paths. When it fails, asking for one by one fails too.
func (f remoteFS) Walk(paths []string) map[string]facts.Node {
	q := f.ask(opWalk, "")
	q.Paths = exacts(paths)
	r, err := f.e.call(q)
	if err != nil {
		return nil
	}
	found, _ := f.e.nodes(r, len(paths)) // the environment is broken by an error
	return found
}

// nodes returns the nodes on the ways to so many paths.
func (e *Environment) nodes(r reply, paths int) (map[string]facts.Node, error) {
	if err := e.few(r, paths); err != nil {
		return nil, err
	}
	return r.Nodes, nil
}

// few breaks the environment if there are too many.
func (e *Environment) few(r reply, paths int) error {
	if len(r.Nodes) > maxNodes {
		return e.broke(violation("%d files on the ways to %d", len(r.Nodes), paths))
	}
	return nil
}

// factEntries is how many entries of a directory facts are shown. They give up on far smaller ones, and
// say so.
const factEntries = 1 << 13

func (f remoteFS) ReadDir(path string) ([]fs.DirEntry, error) {
	q := f.ask(opReadDir, path)
	q.Limit = factEntries
	return f.e.list(q, f.Lstat)
}

func (f remoteFS) ReadFile(path string, limit int) ([]byte, bool, error) {
	asked := min(limit, maxContent)
	q := f.ask(opReadFile, path)
	q.Limit = asked
	r, err := f.e.call(q)
	if err != nil {
		return nil, false, err
	}
	if len(r.Content) > asked {
		return nil, false, f.e.broke(violation("%d bytes of a file of which %d were asked for", len(r.Content),
			asked))
	}
	return r.Content, r.Whole, nil
}

// remoteFiles is how file tools reach the files of the place.
type remoteFiles struct{ e *Environment }

func (f remoteFiles) Lstat(path string) (fs.FileInfo, error) {
	return f.e.look(request{Op: opFilesLstat, Path: exact(path)})
}

func (f remoteFiles) ReadLink(path string) (string, error) {
	return f.e.follow(request{Op: opFilesReadLink, Path: exact(path)})
}

func (f remoteFiles) ReadDir(path string) ([]fs.DirEntry, error) {
	return f.e.list(request{Op: opFilesReadDir, Path: exact(path)}, f.Lstat)
}

func (f remoteFiles) Mkdir(path string) error {
	_, err := f.e.call(request{Op: opFilesMkdir, Path: exact(path)})
	return err
}

func (f remoteFiles) Chmod(path string, mode fs.FileMode) error {
	_, err := f.e.call(request{Op: opFilesChmod, Path: exact(path), Mode: uint32(mode.Perm())})
	return err
}

func (f remoteFiles) Symlink(target, path string) error {
	_, err := f.e.call(request{Op: opFilesSymlink, Path: exact(path), Target: exact(target)})
	return err
}

func (f remoteFiles) Remove(path string) error {
	_, err := f.e.call(request{Op: opFilesRemove, Path: exact(path)})
	return err
}

func (e *Environment) look(q request) (fs.FileInfo, error) {
	r, err := e.call(q)
	switch {
	case err != nil:
		return nil, err
	case r.Info == nil:
		return nil, e.broke(violation("%s without an answer", q.Op))
	}
	return fileInfo{*r.Info}, nil
}

func (e *Environment) follow(q request) (string, error) {
	r, err := e.call(q)
	return string(r.Target), err
}

// list reads a directory: at most as many entries as the request says, or all of it for 0.
func (e *Environment) list(q request, lstat func(string) (fs.FileInfo, error)) ([]fs.DirEntry, error) {
	c, err := e.dial(q)
	if err != nil {
		return nil, err
	}
	path, most := string(q.Path), maxListing
	if q.Limit > 0 {
		most = q.Limit
	}
	var found []fs.DirEntry
	var last exact
	for {
		r, err := c.reply()
		if err != nil {
			return nil, err
		}
		if r.Error != nil {
			c.free()
			return nil, r.Error.err()
		}
		if len(found)+len(r.Entries) > most || r.More && len(r.Entries) == 0 {
			return nil, c.bad(violation("directory %.200q with more than %d entries", path, most))
		}
		for _, x := range r.Entries {
			if err := x.check(last); err != nil {
				return nil, c.bad(err)
			}
			last = x.File
			found = append(found, dirEntry{x, path, lstat})
		}
		if !r.More {
			c.free()
			return found, nil
		}
	}
}

// Open reads a file. The content is complete only after io.EOF.
func (f remoteFiles) Open(path string) (io.ReadCloser, error) {
	c, err := f.e.dial(request{Op: opFilesOpen, Path: exact(path)})
	if err != nil {
		return nil, err
	}
	r, err := c.reply()
	if err != nil {
		return nil, err
	}
	if r.Error != nil {
		c.free()
		return nil, r.Error.err()
	}
	return &content{c: c, chunks: chunks{r: c}, path: path}, nil
}

// content is an open file. A file that cannot be read to its end breaks its stream off, and nothing else.
type content struct {
	chunks
	c    *callStream
	path string
}

func (o *content) Read(p []byte) (int, error) {
	if !o.done {
		o.c.patient()
	}
	n, err := o.chunks.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = fmt.Errorf("read %s: %w", o.path, err)
	}
	return n, err
}

// Close gives the stream back if the content was read to its end, and gives the rest up otherwise.
func (o *content) Close() error {
	if o.c == nil {
		return fs.ErrClosed
	}
	c := o.c
	o.c = nil
	if o.done {
		c.free()
		return nil
	}
	return c.Close()
}

// Write sends content behind the request. It returns when the other side has the file, or has given up
// on it, and content is not read any more.
func (f remoteFiles) Write(path string, content io.Reader, o engine.WriteOptions) (int64, error) {
	q := request{Op: opFilesWrite, Path: exact(path), Replace: o.Replace}
	if o.Like != nil {
		q.Like = infoOf(o.Like)
	}
	c, err := f.e.dial(q)
	if err != nil {
		return 0, err
	}
	type sent struct {
		n           int64
		read, write error
	}
	done := make(chan sent, 1)
	go func() {
		n, read, write := sendChunks(c, content)
		if read != nil {
			_ = c.Close() // an end without the sign of the end: no file comes of it
		}
		_ = c.SetReadDeadline(time.Now().Add(answerTime)) // from here on the other side is to move
		done <- sent{n, read, write}
	}()
	var r reply
	err = readFrame(c, &r)
	if err != nil || r.Error != nil {
		_ = c.Close() // stops the sender, wherever it is
	}
	s := <-done
	switch {
	case s.read != nil:
		return 0, fmt.Errorf("write %s: %w", path, s.read)
	case err != nil:
		return 0, c.bad(err)
	case r.Error != nil:
		return 0, r.Error.err()
	case s.write != nil:
		return 0, c.bad(s.write)
	case r.Bytes != s.n:
		return 0, c.bad(violation("%d bytes were written of %d", r.Bytes, s.n))
	}
	c.free()
	return s.n, nil
}
