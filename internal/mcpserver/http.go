package mcpserver

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

// HTTPOptions configure the HTTP server and its access.
type HTTPOptions struct {
	Address string // host:port; port 0 takes a free one
	Public  bool   // Address may be one that other machines reach; without it only loopback is served
	Token   string // bearer token, required of every client
	// Tokens, when not nil, are the tokens now, in place of Token: each lets in.
	Tokens func() []string
	// Certificate, when not nil, is the certificate now: TLS is served.
	Certificate func() (*tls.Certificate, error)
	// Drain is the time that calls under way get at the end, while no new ones are taken.
	Drain time.Duration
	// End is called when the server stops. It must end all calls that are under way, as closing their gate
	// does; their answers are still sent.
	End func() error
	// Ready, when not nil, is told the address of the endpoint once it is open.
	Ready func(url string)

	times httpTimes // set by tests; a zero value means the default
}

// httpTimes bound the parts of an exchange.
type httpTimes struct {
	header time.Duration // for the header of a request
	body   time.Duration // for its body
	answer time.Duration // for the answers of calls that end with the server
}

const (
	endpoint = "/mcp"

	headerTime  = 10 * time.Second
	bodyTime    = 30 * time.Second
	answerTime  = 5 * time.Second
	idleTime    = 2 * time.Minute // between the requests of a connection
	sessionTime = 24 * time.Hour  // after the last sign of life of a session that nobody ended
	headerBytes = 64 << 10
)

// ListenHTTP serves over HTTP until ctx ends. Its error is about the transport.
func (s *Server) ListenHTTP(ctx context.Context, o HTTPOptions) error {
	return serveHTTP(ctx, s.mcp, s.o.Log, o)
}

func serveHTTP(ctx context.Context, m *server.MCPServer, log hclog.Logger, o HTTPOptions) error {
	if o.End == nil {
		return errors.New("serve MCP over HTTP: nothing would end the calls under way: give End")
	}
	// Messages of mcp-go are mostly about clients that hang up: debug. Messages of net/http are rare:
	// warnings.
	transport := server.NewStreamableHTTPServer(m,
		server.WithStateful(true), // a session id that this process did not give out is not one
		server.WithSessionIdleTTL(sessionTime),
		server.WithStreamableHTTPLogger(slog.New(slogTo(log, hclog.Debug))))
	acknowledge(m, cmp.Or(o.times.answer, answerTime))
	return serveHandler(ctx, transport, transport.Shutdown, log, o)
}

// acknowledge has the server wait until its answers to subscriptions are written.
func acknowledge(m *server.MCPServer, limit time.Duration) {
	var hooks server.Hooks
	hooks.AddAfterSubscriptionsListen(acknowledged(limit))
	server.WithHooks(&hooks)(m)
}

// serveHandler serves messages with a handler; shutdown ends the streams on which clients listen.
func serveHandler(
	ctx context.Context, transport http.Handler, shutdown func(context.Context) error, log hclog.Logger,
	o HTTPOptions,
) error {
	if o.Tokens == nil {
		if err := CheckToken(o.Token); err != nil {
			return err
		}
		o.Tokens = func() []string { return []string{o.Token} }
	}
	times := httpTimes{
		header: cmp.Or(o.times.header, headerTime), body: cmp.Or(o.times.body, bodyTime),
		answer: cmp.Or(o.times.answer, answerTime),
	}
	listener, err := listen(ctx, o.Address, o.Public)
	if err != nil {
		return err
	}
	loud := slogTo(log, hclog.Warn)
	calls, cancelCalls := context.WithCancel(context.WithoutCancel(ctx))
	defer cancelCalls()
	door := newGuard(o.Tokens, times.body, noting(transport))
	web := &http.Server{
		Handler:           door,
		ReadHeaderTimeout: times.header,
		IdleTimeout:       idleTime,
		MaxHeaderBytes:    headerBytes,
		ErrorLog:          slog.NewLogLogger(loud, slog.LevelWarn),
		// A call that ctx ends may still be answered, so calls do not end with it but with End. Each also
		// ends with its connection: an answer cannot be fetched later, so it would run for nobody.
		BaseContext: func(net.Listener) context.Context { return calls },
	}
	served, scheme := make(chan error, 1), "http://"
	if o.Certificate != nil {
		scheme = "https://"
		web.TLSConfig = &tls.Config{
			MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"},
			GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return o.Certificate() },
		}
		listener = tls.NewListener(listener, web.TLSConfig)
	}
	go func() { served <- web.Serve(listener) }()
	if o.Ready != nil {
		o.Ready(scheme + listener.Addr().String() + endpoint)
	}
	select {
	case err := <-served:
		return errors.Join(fmt.Errorf("serve MCP at %s: %w", listener.Addr(), err), o.End())
	case <-ctx.Done():
	}
	door.drain(o.Drain)
	return stop(web, shutdown, times.answer, o.End, cancelCalls)
}

// slogTo passes log entries on to log, at a level of ours.
func slogTo(log hclog.Logger, level hclog.Level) slog.Handler {
	return slog.NewTextHandler(log.StandardWriter(&hclog.StandardLoggerOptions{ForceLevel: level}),
		&slog.HandlerOptions{
			ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
				if a.Key == slog.TimeKey || a.Key == slog.LevelKey {
					return slog.Attr{} // log has its own
				}
				return a
			},
		})
}

// stop ends an HTTP server in order: no new requests, calls ended, answers sent, connections closed.
func stop(
	web *http.Server, shutdown func(context.Context) error, limit time.Duration, end func() error,
	cancelCalls func(),
) error {
	answered, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	closed := make(chan error, 1)
	go func() { closed <- web.Shutdown(answered) }()
	errs := []error{end()}
	// Ends the streams on which clients listen: Shutdown would wait for them.
	if err := shutdown(answered); err != nil {
		errs = append(errs, fmt.Errorf("end MCP sessions: %w", err))
	}
	err := <-closed
	cancelCalls()
	if errors.Is(err, context.DeadlineExceeded) {
		// A client that does not take its answer is no reason to stay.
		err = web.Close()
	}
	if err != nil {
		errs = append(errs, fmt.Errorf("close the MCP endpoint: %w", err))
	}
	return errors.Join(errs...)
}

// listen opens address, which must be on loopback unless it may be public. The host is resolved once and
// the listener takes that very IP: a name that resolves anew could lead elsewhere.
func listen(ctx context.Context, address string, public bool) (net.Listener, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("read HTTP address %q: %w: use HOST:PORT, such as 127.0.0.1:8080", address, err)
	}
	ip := net.IPv4zero
	if host != "" {
		found, err := net.DefaultResolver.LookupIPAddr(ctx, host)
		if err != nil {
			return nil, fmt.Errorf("resolve HTTP address %q: %w", address, err)
		}
		ip = found[0].IP
	}
	if !public && !ip.IsLoopback() {
		return nil, fmt.Errorf(
			"listen on %s: %s is not a loopback address, so other machines could reach it: use 127.0.0.1, or pass "+
				"--http-public to allow that", address, ip)
	}
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", net.JoinHostPort(ip.String(), port))
	if err != nil {
		return nil, fmt.Errorf("listen on %s: %w", address, err)
	}
	return l, nil
}

// mcp-go answers a subscription to nothing at once, and drops its acknowledgement where the goroutine that
// was to write it is slower. So the answer waits until something was written.

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
	return func(ctx context.Context, _ any, _ *mcp.SubscriptionsListenRequest,
		_ *mcp.SubscriptionsListenResult) {
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
