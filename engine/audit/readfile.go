package audit

import (
	"iter"
	"os"
	"path/filepath"
)

// ReadFile returns the entries of one file of records that f selects, in its order: a file of a log, or what
// was copied out of one. Errors are as those of Read. f.Last is not heeded.
func ReadFile(name string, f Filter) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		file, err := osFS{}.OpenFile(name, os.O_RDONLY, 0)
		if err != nil {
			yield(Entry{}, err)
			return
		}
		defer file.Close() // read only: nothing can be lost
		info, err := file.Stat()
		if err != nil {
			yield(Entry{}, err)
			return
		}
		readPart(file, filepath.Base(name), 0, info.Size, f, yield)
	}
}
