//go:build !unix

package mcpserver

import (
	"context"
	"io"
)

// readerGone cannot be told here before something is written: the channel is never closed.
func readerGone(context.Context, io.Writer) <-chan struct{} { return make(chan struct{}) }
