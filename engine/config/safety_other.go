//go:build !unix

package config

import "io/fs"

// writers is "" here: the mode bits of this system do not show writers.
func writers(fs.FileInfo) string { return "" }
