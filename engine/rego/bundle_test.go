package rego

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/open-policy-agent/opa/v1/bundle"

	"github.com/sallyport-dev/sallyport/engine"
)

// pair makes PEM of a private key and its public half.
func pair(t *testing.T, key any, public any) (private, pub []byte) {
	t.Helper()
	a, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	b, err := x509.MarshalPKIXPublicKey(public)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: a}), pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: b})
}

func elliptical(t *testing.T, c elliptic.Curve) (private, public []byte) {
	t.Helper()
	key, err := ecdsa.GenerateKey(c, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return pair(t, key, &key.PublicKey)
}

// packed is a bundle of one rule that asks about what a list names.
func packed(t *testing.T, key []byte) []byte {
	t.Helper()
	dir := directory(t, map[string]string{
		"x.rego":                 metadataText + "package custom.team.x\n\nask contains {\"command\": i} if {\n\tsome i, c in input.commands\n\tc.name in data.custom.lists.names\n}\n",
		"x_test.rego":            "package custom.team.x_test\n\ntest_x if data.custom.team.x.ask == set() with input as {}\n",
		"x.cases.yaml":           "cases: []\n",
		"custom/lists/data.yaml": "names: [ls]\nmore: {n: 1.50}\n",
	})
	text, err := BuildBundle(t.Context(), BundleOptions{Builtin: small(), Dirs: []string{dir}, Key: key})
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func loadBundle(t *testing.T, text []byte, keys ...[]byte) (*Evaluator, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "b.tar.gz")
	if err := os.WriteFile(file, text, 0o644); err != nil {
		t.Fatal(err)
	}
	return New(t.Context(), unbounded(Options{Bundle: small(), Custom: []string{file}, Keys: keys}))
}

func TestBundle(t *testing.T) {
	t.Parallel()
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	private, public := elliptical(t, elliptic.P256())
	_, other := elliptical(t, elliptic.P384())
	rsaPrivate, rsaPublic := pair(t, rsaKey, &rsaKey.PublicKey)
	for name, test := range map[string]struct {
		key  []byte
		keys [][]byte
	}{
		"not signed":       {nil, nil},
		"signed":           {private, [][]byte{public}},
		"one of two":       {private, [][]byte{other, public}},
		"signed by an RSA": {rsaPrivate, [][]byte{rsaPublic}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := packed(t, test.key)
			e, err := loadBundle(t, text, test.keys...)
			if err != nil {
				t.Fatal(err)
			}
			j, err := e.Evaluate(t.Context(), harmless())
			if err != nil || j.Effect != engine.Ask || j.Reasons[0].Rule != "custom/team/x" || !strings.HasSuffix(j.Reasons[0].Location.File, filepath.Join("b.tar.gz", "x.rego")) {
				t.Errorf("got %+v, %v", j, err)
			}
			info, err := VerifyBundle(text, test.keys)
			if err != nil || info.Signed != (test.key != nil) || len(info.Modules) != 1 || len(info.Revision) != 32 {
				t.Errorf("got %+v, %v", info, err)
			}
		})
	}
}

// Whatever is not signed by a key that is configured does not judge.
func TestBundlesThatAreRefused(t *testing.T) {
	t.Parallel()
	private, public := elliptical(t, elliptic.P256())
	_, other := elliptical(t, elliptic.P256())
	signed := packed(t, private)

	b, err := bundle.NewReader(bytes.NewReader(signed)).WithSkipBundleVerification(true).Read()
	if err != nil {
		t.Fatal(err)
	}
	write := func(change func(*bundle.Bundle)) []byte {
		c := b
		c.Modules = append([]bundle.ModuleFile{}, b.Modules...)
		change(&c)
		var out bytes.Buffer
		if err := bundle.NewWriter(&out).DisableFormat(true).Write(c); err != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	}
	changed := write(func(c *bundle.Bundle) { c.Modules[0].Raw = append([]byte("# more\n"), c.Modules[0].Raw...) })
	added := write(func(c *bundle.Bundle) {
		c.Modules = append(c.Modules, bundle.ModuleFile{URL: "/y.rego", Path: "/y.rego", Raw: []byte("package custom.y\n\nx := 1\n")})
	})
	data := write(func(c *bundle.Bundle) { c.Data = map[string]any{"custom": map[string]any{}} })
	// A public key is no secret: it must not do as one.
	shared := write(func(c *bundle.Bundle) {
		if err := c.GenerateSignature(bundle.NewSigningConfig(string(public), "HS256", ""), keyID, false); err != nil {
			t.Fatal(err)
		}
	})
	outside := write(func(c *bundle.Bundle) {
		c.Signatures = bundle.SignaturesConfig{}
		c.Data = map[string]any{"sallyport": map[string]any{"config": map[string]any{"profile": "massgen"}}}
		c.Manifest.Roots = &[]string{""}
	})
	for name, test := range map[string]struct {
		text []byte
		keys [][]byte
		want string
	}{
		"another key":              {signed, [][]byte{other}, "no configured key fits"},
		"not signed":               {packed(t, nil), [][]byte{public}, "no configured key fits"},
		"signed, and no key":       {signed, nil, "read bundle: "},
		"a changed module":         {changed, [][]byte{public}, "no configured key fits"},
		"a module more":            {added, [][]byte{public}, "no configured key fits"},
		"other data":               {data, [][]byte{public}, "no configured key fits"},
		"the public key as secret": {shared, [][]byte{public}, "no configured key fits"},
		"data of sallyport's own":  {outside, nil, "data.sallyport lies outside data.custom"},
		"no archive":               {[]byte("x"), nil, "read bundle: "},
		"half of one":              {signed[:len(signed)/2], [][]byte{public}, "unpack: unexpected EOF"},
		"no key":                   {signed, [][]byte{[]byte("x")}, "the key is no PEM"},
		"a private key":            {signed, [][]byte{private}, "use the public key"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := loadBundle(t, test.text, test.keys...); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want an error with %q", err, test.want)
			}
		})
	}
	if _, err := loadBundle(t, signed, public); err != nil {
		t.Errorf("the same bundle, unchanged: %v", err)
	}
}

func TestSignBundle(t *testing.T) {
	t.Parallel()
	private, public := elliptical(t, elliptic.P521())
	again, againPublic := elliptical(t, elliptic.P256())
	text, err := SignBundle(packed(t, nil), private)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := VerifyBundle(text, [][]byte{public}); err != nil {
		t.Error(err)
	}
	if text, err = SignBundle(text, again); err != nil {
		t.Fatal(err)
	}
	if _, err := VerifyBundle(text, [][]byte{public}); err == nil {
		t.Error("the first signature is still there")
	}
	if _, err := loadBundle(t, text, againPublic); err != nil {
		t.Error(err)
	}
	edPublic, edPrivate, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	edKey, edPEM := pair(t, edPrivate, edPublic)
	locked := pem.EncodeToMemory(&pem.Block{Type: "ENCRYPTED PRIVATE KEY", Bytes: []byte{1}})
	for want, key := range map[string][]byte{
		"the key is no PEM": []byte("x"), "signing needs the private one": public, "is not taken": edKey, "no key": nil, "the key is encrypted": locked,
	} {
		if _, err := SignBundle(text, key); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error with %q", err, want)
		}
	}
	if CheckKey(edPEM) == nil || CheckKey(public) != nil {
		t.Error("keys are taken for what they are not")
	}
}

func TestBuildBundleRefusesWhatDoesNotLoad(t *testing.T) {
	t.Parallel()
	dir := customRule(t, "deny := 1")
	if _, err := BuildBundle(t.Context(), BundleOptions{Builtin: small(), Dirs: []string{dir}}); err == nil || !strings.Contains(err.Error(), "must be a set") {
		t.Errorf("got %v", err)
	}
	a, b := customRule(t, "deny contains {} if input.request.background"), directory(t, map[string]string{"x.rego": metadataText + "package custom.y\n\ndeny contains {} if input.request.background\n"})
	text, err := BuildBundle(t.Context(), BundleOptions{Builtin: small(), Dirs: []string{a, b}, Revision: "v7"})
	if err != nil {
		t.Fatal(err)
	}
	info, err := VerifyBundle(text, nil)
	if err != nil || strings.Join(info.Modules, " ") != "1/x.rego 2/x.rego" || info.Revision != "v7" {
		t.Errorf("got %+v, %v", info, err)
	}
}

func TestReloadFollowsBundles(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "b.tar.gz")
	before := Look([]string{file})
	if err := os.WriteFile(file, []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	if Look([]string{file}) == before {
		t.Error("a bundle that comes makes no difference")
	}
}
