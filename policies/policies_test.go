package policies_test

import (
	"errors"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/sallyport-dev/sallyport/policies"
)

func TestFSHoldsWhatJudges(t *testing.T) {
	t.Parallel()
	if err := fstest.TestFS(policies.FS(), "sallyport/main/main.rego", "sallyport/lib/lib.rego", "sallyport/profiles/data.json", "sallyport/config/data.json"); err != nil {
		t.Error(err)
	}
	err := fs.WalkDir(policies.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		if strings.HasSuffix(name, "_test.rego") || strings.Contains(name, "testing") {
			t.Errorf("%s is no part of the bundle", name)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	for _, name := range []string{"sallyport/main/main_test.rego", "sallyport/testing/testing.rego", "sallyport/testing"} {
		if _, err := fs.ReadFile(policies.FS(), name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("read %s: %v", name, err)
		}
		if _, err := policies.FS().Open(name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("open %s: %v", name, err)
		}
	}
}

func TestRevision(t *testing.T) {
	t.Parallel()
	revision := policies.Revision()
	if len(revision) != 32 || strings.Trim(revision, "0123456789abcdef") != "" {
		t.Errorf("the revision is %q", revision)
	}
	if hash := policies.Hash(); hash != revision {
		t.Errorf("the revision is %s, and the files are %s: run go generate ./policies", revision, hash)
	}
}
