//go:build unix

package wasm

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sallyport-dev/sallyport/internal/leftout"
)

// What lies in the cache is run: nobody else may have been able to write there.
func TestCacheOfOthersIsNotUsed(t *testing.T) {
	t.Parallel()
	module := installed(t, newAssembly().binary(), nil)
	for name, tt := range map[string]struct {
		spoil func(dir, file string) error
		want  string
	}{
		"a directory for everybody":   {func(dir, _ string) error { return os.Chmod(dir, 0o777) }, "can be written by everybody"},
		"a directory for its group":   {func(dir, _ string) error { return os.Chmod(dir, 0o770) }, "can be written by its group"},
		"a file for everybody":        {func(_, file string) error { return os.Chmod(file, 0o666) }, "can be written by everybody"},
		"a link in place of a file":   {func(_, file string) error { return os.Symlink(module, file+".link") }, "neither a directory nor a file"},
		"a directory of another user": {func(dir, _ string) error { return os.Chown(dir, 12345, -1) }, "can be written by its owner, user 12345"},
		"a file of another user":      {func(_, file string) error { return os.Chown(file, 12345, -1) }, "can be written by its owner, user 12345"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "compiled")
			o := Options{Module: module, Cache: dir}
			p, err := Open(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			p.Close()
			files, err := filepath.Glob(filepath.Join(dir, "*", "*"))
			if err != nil || len(files) != 1 {
				t.Fatal(files, err)
			}
			if err := tt.spoil(dir, files[0]); err != nil {
				if os.Geteuid() != 0 {
					leftout.Skip(t, leftout.Root, "only root can give files away")
				}
				t.Fatal(err)
			}
			if _, err := Open(t.Context(), o); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want an error with %q", err, tt.want)
			}
		})
	}
}
