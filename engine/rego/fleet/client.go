package fleet

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"
)

// maxRedirects is how often a server may send us on, to another address of its own.
const maxRedirects = 3

// newClient makes the client that speaks with a server.
func newClient(o Server) (*http.Client, error) {
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if o.CAFile != "" {
		text, err := os.ReadFile(o.CAFile)
		if err != nil {
			return nil, fmt.Errorf("read certificates: %w", err)
		}
		config.RootCAs = x509.NewCertPool()
		if !config.RootCAs.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("read certificates: %s holds none in PEM", o.CAFile)
		}
	}
	if o.CertFile != "" {
		if _, err := tls.LoadX509KeyPair(o.CertFile, o.KeyFile); err != nil {
			return nil, fmt.Errorf("read certificate of this machine: %w", err)
		}
		// Certificates are short-lived where machines have them: the one that is there now counts.
		config.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			c, err := tls.LoadX509KeyPair(o.CertFile, o.KeyFile)
			return &c, err
		}
	}
	return &http.Client{
		Timeout: o.Timeout,
		Transport: &http.Transport{
			Proxy:                  http.ProxyFromEnvironment,
			TLSClientConfig:        config,
			ForceAttemptHTTP2:      true,
			MaxResponseHeaderBytes: 64 << 10,
			IdleConnTimeout:        90 * time.Second,
			DisableCompression:     true, // a bundle is packed already, and automatic decompression has no bound
		},
		CheckRedirect: func(req *http.Request, via []*http.Request) error {
			if req.URL.Scheme != via[0].URL.Scheme || req.URL.Host != via[0].URL.Host {
				return fmt.Errorf("it sends us to %s://%s: name that server in the configuration if it is meant",
					req.URL.Scheme, req.URL.Host)
			}
			if len(via) > maxRedirects {
				return fmt.Errorf("it sends us on more than %d times", maxRedirects)
			}
			return nil
		},
	}, nil
}

// authorize puts the token on a request. It is read anew, for tokens change.
func authorize(req *http.Request, file string) error {
	if file == "" {
		return nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("read token: %w", err)
	}
	token := strings.TrimSpace(string(text))
	if token == "" || strings.ContainsFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return errors.New("read token: " + file + " holds no token: one line of printable characters")
	}
	req.Header.Set("Authorization", "Bearer "+token)
	return nil
}
