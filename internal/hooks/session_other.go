//go:build !linux

package hooks

import "iter"

func machine() string { return "" }

// ancestors knows no way to look at processes: sessions stay apart.
func ancestors(int) iter.Seq[ancestor] { return func(func(ancestor) bool) {} }
