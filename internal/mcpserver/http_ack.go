package mcpserver

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// mcp-go answers a subscription to nothing at once, and drops its acknowledgement where the goroutine that was to
// write it is slower. So the answer waits until something was written.

// beginning is how a request's answer begins to be written; it is found in the context.
type beginning struct {
	http.ResponseWriter
	once    sync.Once
	written chan struct{} // closed when the first of it was
}

type beginningKey struct{}

// noting lets next's handlers wait until their notifications are written.
func noting(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b := &beginning{ResponseWriter: w, written: make(chan struct{})}
		next.ServeHTTP(b, r.WithContext(context.WithValue(r.Context(), beginningKey{}, b)))
	})
}

func (b *beginning) Write(p []byte) (int, error) {
	defer b.once.Do(func() { close(b.written) })
	return b.ResponseWriter.Write(p)
}

// Flush implements http.Flusher, which mcp-go needs for streams.
func (b *beginning) Flush() { _ = http.NewResponseController(b.ResponseWriter).Flush() }

// Unwrap is for http.ResponseController.
func (b *beginning) Unwrap() http.ResponseWriter { return b.ResponseWriter }

// acknowledged returns a hook that waits until the acknowledgement of a subscription was written.
func acknowledged(limit time.Duration) server.OnAfterSubscriptionsListenFunc {
	return func(ctx context.Context, _ any, _ *mcp.SubscriptionsListenRequest, _ *mcp.SubscriptionsListenResult) {
		b, ok := ctx.Value(beginningKey{}).(*beginning)
		if !ok {
			return
		}
		select {
		case <-b.written:
		case <-ctx.Done():
		case <-time.After(limit):
		}
	}
}
