package wasm

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/tetratelabs/wazero"
)

// openCache opens the directory of compiled modules. It holds native code that this process will run: write
// access to it runs code here, so that a directory with other writers is an error. A directory that cannot be
// created or written is only slow. The text names the place of compiled modules.
func openCache(dir string) (wazero.CompilationCache, string, error) {
	if dir == "" {
		return nil, "memory: there is no state directory", nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Sprintf("memory: %v", err), nil
	}
	if err := ownTree(dir); err != nil {
		return nil, "", fmt.Errorf("open the cache of compiled plugins: %w", err)
	}
	probe, err := os.CreateTemp(dir, ".probe-*")
	if err != nil {
		return nil, fmt.Sprintf("memory: %v", err), nil
	}
	probe.Close()
	if err := os.Remove(probe.Name()); err != nil {
		return nil, fmt.Sprintf("memory: %v", err), nil
	}
	cache, err := wazero.NewCompilationCacheWithDir(dir)
	if err != nil {
		return nil, fmt.Sprintf("memory: %v", err), nil
	}
	return cache, dir, nil
}

// tried names the file that records that this very program, which contains the module, has tried it.
// It is "" without a directory.
func tried(dir string) string {
	name, err := os.Executable()
	if dir == "" || err != nil {
		return ""
	}
	info, err := os.Stat(name)
	if err != nil {
		return ""
	}
	id := sha256.Sum256(fmt.Appendf(nil, "%s\n%d\n%d", name, info.Size(), info.ModTime().UnixNano()))
	return filepath.Join(dir, "tried-"+hex.EncodeToString(id[:]))
}

// forgetAfter is how long a compiled form is kept. It is made anew in a second.
const forgetAfter = 60 * 24 * time.Hour

// ownTree refuses a directory with files that somebody else could have put there, and removes old ones. Other
// processes may add and remove files meanwhile.
func ownTree(dir string) error {
	return filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		var info fs.FileInfo
		if err == nil {
			info, err = os.Lstat(path)
		}
		if errors.Is(err, fs.ErrNotExist) && path != dir {
			return nil
		}
		if err != nil {
			return err
		}
		if !info.IsDir() && !info.Mode().IsRegular() {
			return fmt.Errorf("%s is neither a directory nor a file: remove %s", path, dir)
		}
		if who := others(info); who != "" {
			return fmt.Errorf("%s can be written by %s, and its files run as code: remove %s, "+
				"which is made anew", path, who, dir)
		}
		if info.Mode().IsRegular() && time.Since(info.ModTime()) > forgetAfter {
			if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
		return nil
	})
}
