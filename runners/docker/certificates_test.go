package docker

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func sha(b []byte) []byte {
	sum := sha256.Sum256(b)
	return sum[:]
}

// clientCertificate writes what a client needs to trust a server, and a certificate of its own.
func clientCertificate(t *testing.T, dir string, server *httptest.Server) {
	t.Helper()
	certificate, key := selfSigned(t)
	for name, b := range map[string][]byte{
		"ca.pem":   pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}),
		"cert.pem": certificate, "key.pem": key,
	} {
		must(t, os.WriteFile(filepath.Join(dir, name), b, 0o600))
	}
}

func otherAuthority(t *testing.T) []byte {
	t.Helper()
	certificate, _ := selfSigned(t)
	return certificate
}

func selfSigned(t *testing.T) (certificate, key []byte) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	about := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true,
	}
	raw, err := x509.CreateCertificate(rand.Reader, about, about, &private.PublicKey, private)
	must(t, err)
	b, err := x509.MarshalECPrivateKey(private)
	must(t, err)
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw}), pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: b})
}
