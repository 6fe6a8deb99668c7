package wire

import "io/fs"

// identity names a file among those of this machine. Here a description of a file does not tell.
func identity(fs.FileInfo) string { return "" }
