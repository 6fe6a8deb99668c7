package docker

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/sallyport-dev/sallyport/runners/local"
	"github.com/sallyport-dev/sallyport/runners/looks"
	"github.com/sallyport-dev/sallyport/runners/wire"
)

// What a user may see here by a group that he is not in there, only the container can tell.
func TestFewerGroups(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	must(t, errors.Join(os.MkdirAll(base+"/group/below", 0o750), os.Mkdir(base+"/all", 0o755), os.Chmod(base, 0o755),
		os.WriteFile(base+"/all/file", nil, 0o640), os.WriteFile(base+"/group/below/file", nil, 0o644)))
	f := fewer{local.FS(nil), wire.User{UID: os.Getuid() + 1}, []int{os.Getgid()}}
	for name, want := range map[string]bool{"all": true, "all/file": true, "group": true, "group/below": false, "group/below/file": false, "group/absent": false} {
		if _, err := f.Lstat(filepath.Join(base, name)); (err == nil) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, _, err := f.ReadFile(base+"/all/file", 1); !errors.Is(err, looks.ErrAsk) {
		t.Error(err)
	}
	if _, err := f.ReadDir(base + "/all"); err != nil {
		t.Error(err)
	}
}
