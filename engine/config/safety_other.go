//go:build !unix

package config

import "io/fs"

// writers says nothing: the mode bits of this system do not tell who may write.
func writers(fs.FileInfo) string { return "" }
