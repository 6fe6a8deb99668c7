package filetools_test

import (
	"testing"

	"github.com/sallyport-dev/sallyport/internal/leftout"
)

func makePipe(t *testing.T, _ string) {
	t.Helper()
	leftout.Skip(t, leftout.Platform, "no named pipes among the files of Windows")
}
