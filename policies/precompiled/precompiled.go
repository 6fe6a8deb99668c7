// Package precompiled spares tests the time of making native code of the built-in policies.
package precompiled

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/sallyport-dev/sallyport/engine/wasm"
	"github.com/sallyport-dev/sallyport/internal/await"
	"github.com/sallyport-dev/sallyport/policies"
)

// Into puts native code, made once for all tests of a program, into a directory of compiled forms.
func Into(t testing.TB, dir string) {
	t.Helper()
	if err := Write(dir); err != nil {
		t.Fatal(err)
	}
}

// Write is Into where no test is at hand.
func Write(dir string) error {
	files, err := native()
	if err == nil {
		err = os.MkdirAll(dir, 0o700)
	}
	if err == nil {
		err = os.CopyFS(dir, files)
	}
	if err != nil {
		return fmt.Errorf("put native code in place: %w", err)
	}
	return nil
}

// native holds no file where topdown judges.
var native = sync.OnceValues(func() (fs.FS, error) {
	dir, err := os.MkdirTemp("", "sallyport-test-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	module, _ := policies.Compiled()
	p, err := wasm.OpenPolicies(context.Background(), wasm.PoliciesOptions{
		Module: module, Data: []byte("{}"), Cache: dir, Time: await.Guard, Native: true,
	})
	if errors.Is(err, wasm.ErrInterpreted) {
		return fstest.MapFS{}, nil
	} else if err != nil {
		return nil, err
	}
	files := fstest.MapFS{}
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		content, err := os.ReadFile(path)
		files[filepath.ToSlash(name)] = &fstest.MapFile{Data: content, Mode: 0o600}
		return err
	})
	return files, errors.Join(err, p.Close())
})
