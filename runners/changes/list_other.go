//go:build !linux

package changes

import "os"

func openDirectory(dir string) (*os.File, error) { return os.Open(dir) }

func listable(_ string, do func() error) error { return do() }
