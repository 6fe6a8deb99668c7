package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/sallyport-dev/sallyport/internal/mcpserver"
)

// httpFlags are the flags of mcp that are about HTTP.
type httpFlags struct {
	address, tokenFile string
	public             bool
}

// tokenVariable holds the token that clients must send, where no file does.
const tokenVariable = "SALLYPORT_HTTP_TOKEN"

func (f *httpFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.address, "http", "", "serve over HTTP at `host:port` and not on stdin and stdout; port 0 takes a free one")
	flags.StringVar(&f.tokenFile, "http-token-file", "", "`file` that holds the token which clients must send (default $"+tokenVariable+", otherwise one is generated and printed)")
	flags.BoolVar(&f.public, "http-public", false, "let --http be an address that other machines can reach")
}

// check refuses flags that mean nothing without --http.
func (f httpFlags) check() error {
	if f.address == "" && (f.tokenFile != "" || f.public) {
		return usageError{errors.New("--http-token-file and --http-public are about --http: say where to serve")}
	}
	return nil
}

// surviveClients makes a client that hangs up a failed write and nothing more. To ignore the signal would
// do so too, but the commands that we start would inherit that.
func surviveClients() { signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) }

// serveHTTP serves over HTTP until ctx ends; end must end all calls under way.
func (a *app) serveHTTP(ctx context.Context, server *mcpserver.Server, f httpFlags, end func() error) error {
	token, made, err := f.token(os.Getenv)
	if err != nil {
		return err
	}
	return server.ListenHTTP(ctx, mcpserver.HTTPOptions{
		Address: f.address, Public: f.public, Token: token, End: end,
		Ready: func(url string) {
			fmt.Fprintf(a.err, "sallyport: MCP at %s\n", url)
			if made {
				fmt.Fprintf(a.err, "sallyport: clients send the header  Authorization: Bearer %s\n", token)
			}
		},
	})
}

// token finds the token, or makes one. One that somebody gave is never shown.
func (f httpFlags) token(getenv func(string) string) (token string, made bool, err error) {
	switch {
	case f.tokenFile != "":
		token, err = readToken(f.tokenFile)
		return token, false, err
	case getenv(tokenVariable) != "":
		return getenv(tokenVariable), false, nil
	}
	return rand.Text(), true, nil
}

// readToken reads a token from a file that nobody else may read.
func readToken(file string) (string, error) {
	info, err := os.Stat(file)
	if err != nil {
		return "", fmt.Errorf("read token: %w", err)
	}
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return "", fmt.Errorf("read token from %s: others may read it too (mode %v): chmod 600 it", file, info.Mode().Perm())
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return "", fmt.Errorf("read token: %w", err)
	}
	return strings.TrimSpace(string(text)), nil
}
