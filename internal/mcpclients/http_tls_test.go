package mcpclients

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// certify writes a certificate of loopback and its key, and returns the client that trusts it alone.
func certify(t *testing.T, cert, key string) *http.Client {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), NotBefore: time.Now().Add(-time.Hour),
		NotAfter:    time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, c, c, private.Public(), private)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	for file, b := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: der},
		key: {Type: "PRIVATE KEY", Bytes: secret}} {
		if err := os.WriteFile(file, pem.EncodeToMemory(b), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	return &http.Client{Transport: &http.Transport{DisableKeepAlives: true,
		TLSClientConfig: &tls.Config{RootCAs: pool}}}
}

// TestHTTPServesTLS renews the certificate and the tokens of a server that runs.
func TestHTTPServesTLS(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	cert, key := filepath.Join(p.home, "tls.crt"), filepath.Join(p.home, "tls.key")
	first := certify(t, cert, key)
	s := p.serve(t, "--http-cert", cert, "--http-key", key)
	if !strings.HasPrefix(s.url, "https://") {
		t.Fatalf("it serves at %s", s.url)
	}
	const handshake = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
	status := func(c *http.Client, token string) int {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.url, strings.NewReader(handshake))
		if err != nil {
			t.Fatal(err)
		}
		for name, value := range map[string]string{"Authorization": "Bearer " + token,
			"Content-Type": "application/json", "Accept": "application/json, text/event-stream"} {
			r.Header.Set(name, value)
		}
		resp, err := c.Do(r)
		if err != nil {
			return 0
		}
		resp.Body.Close()
		return resp.StatusCode
	}
	if got := status(first, token); got != http.StatusOK {
		t.Errorf("status %d", got)
	}
	plain := strings.Replace(s.url, "https", "http", 1)
	if resp, err := http.Get(plain); err == nil { // net/http says that it wants TLS
		resp.Body.Close()
		if resp.StatusCode != http.StatusBadRequest {
			t.Errorf("without TLS: status %d", resp.StatusCode)
		}
	}
	second := certify(t, cert, key)
	if err := os.WriteFile(filepath.Join(p.home, "token"), []byte("a-second-token-of-these-tests\n"+token+"\n"),
		0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		client *http.Client
		token  string
		want   int
	}{
		"the old certificate": {first, token, 0},
		"the old token":       {second, token, 200},
		"the new token":       {second, "a-second-token-of-these-tests", 200},
		"another token":       {second, "a-third-token-of-these-tests", 401},
	} {
		if got := status(c.client, c.token); got != c.want {
			t.Errorf("%s: status %d, want %d", name, got, c.want)
		}
	}
	resp, err := second.Get(strings.TrimSuffix(s.url, "/mcp") + "/readyz")
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Errorf("ready: %+v, %v", resp, err)
	}
	// The server says nothing of the client that tried without TLS but at the level of warnings.
	if err := s.cmd.Process.Kill(); err != nil {
		t.Error(err)
	}
}
