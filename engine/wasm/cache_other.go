//go:build !unix

package wasm

import "io/fs"

// others is "" here: the mode bits of this system do not show writers. A user's state directory there is the
// user's own by the rights that it inherits.
func others(fs.FileInfo) string { return "" }
