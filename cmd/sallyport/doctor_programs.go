package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/sallyport-dev/sallyport/internal/show"
)

// programs compares the two programs of an installation: sallyport, which has started this one, and sallyport-full.
// A program alone, as the go command installs it, is whole. front is the build that sallyport reported; "" for none.
func (d *doctor) programs(front string) {
	self, err := os.Executable()
	if err == nil {
		self, err = filepath.EvalSymlinks(self)
	}
	if err != nil {
		d.fail("programs", fmt.Errorf("find this program: %w", err), "")
		return
	}
	const fix = "install sallyport and sallyport-full of one release together"
	beside := filepath.Join(filepath.Dir(self), "sallyport"+filepath.Ext(self))
	switch own := version().Build(); {
	case front == own:
		d.add("programs", "ok", "sallyport and sallyport-full of one build, in "+filepath.Dir(self), "")
	case front != "":
		d.add("programs", "fail", fmt.Sprintf("sallyport is %s, and %s is %s", front, self, own), fix)
	case strings.HasPrefix(filepath.Base(self), show.Whole):
		d.add("programs", "warn", self+" was started by itself, and "+beside+" was not compared with it", "run sallyport doctor")
	default:
		d.add("programs", "ok", self+" is the whole program, without sallyport-full beside it", "")
	}
}
