package rego

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/ecdsa"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/bundle"
	"github.com/open-policy-agent/opa/v1/dependencies"
)

// IsBundle reports whether a place of policies is a bundle, by its name.
func IsBundle(name string) bool {
	return IsRemote(name) || strings.HasSuffix(name, ".tar.gz") || strings.HasSuffix(name, ".tgz")
}

// maxBundle bounds a bundle as it is unpacked, so that a small archive cannot fill the memory.
const maxBundle = 64 << 20

// bounded refuses an archive that unpacks to more than maxBundle. It does not look into it.
func bounded(text []byte) error {
	unpacked, err := gzip.NewReader(bytes.NewReader(text))
	if err != nil {
		return fmt.Errorf("it is no gzip archive: %w", err)
	}
	switch n, err := io.Copy(io.Discard, io.LimitReader(unpacked, maxBundle+1)); {
	case err != nil:
		return fmt.Errorf("unpack: %w", err)
	case n > maxBundle:
		return fmt.Errorf("it unpacks to more than %d bytes", maxBundle)
	}
	return nil
}

// keyID is the name under which we sign. Which key verifies is settled by configuration, never by a name
// that a bundle gives.
const keyID = "sallyport"

// BundleOptions describe a bundle.
type BundleOptions struct {
	Builtin  fs.FS    // the built-in policies, which custom ones may refer to; they are no part of it
	Dirs     []string // directories of policies
	Revision string   // "" for one that names the content
	Serial   int64    // tells which of two bundles is the later one; 0 for none
	Key      []byte   // a private key in PEM, to sign with; nil for none
	WASM     bool     // the rules compiled to WebAssembly, too
}

// BuildBundle packs directories of policies into a bundle in OPA's format: modules without tests, and data.
// Policies that do not load are not packed.
func BuildBundle(ctx context.Context, o BundleOptions) ([]byte, error) {
	loaded, err := load(Options{Bundle: o.Builtin, Custom: o.Dirs})
	if err != nil {
		return nil, err
	}
	set := &fileSet{}
	set.readCustom(o.Dirs, isModule)
	b := bundle.Bundle{Data: map[string]any{}}
	for _, d := range set.documents {
		value := d.value
		for _, key := range slices.Backward(d.at) {
			value = map[string]any{key: value}
		}
		if at, ok := merge(b.Data, value); !ok {
			return nil, fmt.Errorf("build bundle: data.%s is given twice", at)
		}
	}
	for _, src := range set.sources {
		name, err := within(o.Dirs, src.name)
		if err != nil {
			return nil, fmt.Errorf("build bundle: %w", err)
		}
		b.Modules = append(b.Modules, bundle.ModuleFile{URL: name, Path: name, Raw: []byte(src.text)})
	}
	if o.Revision == "" {
		sum := sha256.Sum256([]byte(fmt.Sprint(loaded.revisions)))
		o.Revision = hex.EncodeToString(sum[:16])
	}
	b.Manifest.Revision = o.Revision
	if o.Serial > 0 {
		b.Manifest.Metadata = map[string]any{serialKey: json.Number(strconv.FormatInt(o.Serial, 10))}
	}
	b.Manifest.Roots = &[]string{"custom"}
	b.Manifest.SetRegoVersion(ast.RegoV1)
	if o.WASM {
		if err := o.addModule(ctx, loaded, &b); err != nil {
			return nil, err
		}
	}
	return pack(&b, o.Key)
}

// within is the path of a file in a bundle: its own below its directory, and the number of the directory
// before it where there are several, for files of one name.
func within(dirs []string, file string) (string, error) {
	for i, dir := range dirs {
		rel, err := filepath.Rel(dir, file)
		if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
			continue
		}
		name := "/" + filepath.ToSlash(rel)
		if len(dirs) > 1 {
			name = fmt.Sprintf("/%d%s", i+1, name)
		}
		return name, nil
	}
	return "", fmt.Errorf("%s lies in none of the directories", file)
}

// SignBundle signs a bundle, in place of any signature that it has.
func SignBundle(text, key []byte) ([]byte, error) {
	if err := bounded(text); err != nil {
		return nil, fmt.Errorf("read bundle: %w", err)
	}
	b, err := bundle.NewReader(bytes.NewReader(text)).WithSkipBundleVerification(true).WithSizeLimitBytes(
		maxBundle).WithRegoVersion(ast.RegoV1).Read()
	if err != nil {
		return nil, fmt.Errorf("read bundle: %w", err)
	}
	if key == nil {
		return nil, errors.New("sign bundle: no key")
	}
	b.Signatures = bundle.SignaturesConfig{}
	return pack(&b, key)
}

func pack(b *bundle.Bundle, key []byte) ([]byte, error) {
	// The hash covers the written text: both sides take it from JSON.
	data, err := asJSON(b.Data)
	if err != nil {
		return nil, fmt.Errorf("write bundle: %w", err)
	}
	b.Data, _ = data.(map[string]any)
	if key != nil {
		algorithm, err := algorithmOf(key, true)
		if err != nil {
			return nil, fmt.Errorf("sign bundle: %w", err)
		}
		if err := b.GenerateSignature(bundle.NewSigningConfig(string(key), algorithm, ""), keyID,
			false); err != nil {
			return nil, fmt.Errorf("sign bundle: %w", err)
		}
	}
	var out bytes.Buffer
	if err := bundle.NewWriter(&out).DisableFormat(true).Write(*b); err != nil {
		return nil, fmt.Errorf("write bundle: %w", err)
	}
	return out.Bytes(), nil
}

// BundleInfo is a bundle's description of itself.
type BundleInfo struct {
	Revision string   `json:"revision"`
	Serial   int64    `json:"serial"` // 0 for none
	Modules  []string `json:"modules"`
	Signed   bool     `json:"signed"`
}

// VerifyBundle reads a bundle and describes it. With keys it must be signed by one of them.
func VerifyBundle(text []byte, keys [][]byte) (BundleInfo, error) {
	b, err := openBundle(text, keys)
	if err != nil {
		return BundleInfo{}, err
	}
	serial, err := serialOf(b.Manifest)
	if err != nil {
		return BundleInfo{}, fmt.Errorf("read bundle: %w", err)
	}
	info := BundleInfo{Revision: b.Manifest.Revision, Serial: serial, Modules: []string{},
		Signed: len(b.Signatures.Signatures) > 0}
	for _, m := range b.Modules {
		info.Modules = append(info.Modules, strings.TrimPrefix(m.Path, "/"))
	}
	slices.Sort(info.Modules)
	return info, nil
}

// openBundle reads a bundle. The key decides the algorithm of a signature, not the bundle: otherwise a public
// key could be used as a shared secret.
func openBundle(text []byte, keys [][]byte) (bundle.Bundle, error) {
	if err := bounded(text); err != nil {
		return bundle.Bundle{}, fmt.Errorf("read bundle: %w", err)
	}
	read := func(c *bundle.VerificationConfig) (bundle.Bundle, error) {
		return bundle.NewReader(bytes.NewReader(text)).WithBundleVerificationConfig(c).WithSizeLimitBytes(
			maxBundle).
			WithRegoVersion(ast.RegoV1).WithCapabilities(capabilities()).Read()
	}
	if len(keys) == 0 {
		b, err := read(nil)
		if err == nil && len(b.Signatures.Signatures) > 0 || err != nil &&
			strings.Contains(err.Error(), "verification key not provided") {
			err = errors.New(
				"it is signed, and there is no key to verify it with: name its public key (policy_keys, --key)")
		}
		if err != nil {
			return bundle.Bundle{}, fmt.Errorf("read bundle: %w", err)
		}
		return b, nil
	}
	var errs []error
	for _, key := range keys {
		algorithm, err := algorithmOf(key, false)
		if err != nil {
			return bundle.Bundle{}, fmt.Errorf("read bundle: %w", err)
		}
		b, err := read(
			bundle.NewVerificationConfig(map[string]*bundle.KeyConfig{keyID: {Key: string(key), Algorithm: algorithm}},
				keyID, "", nil))
		if err == nil && len(b.Signatures.Signatures) == 0 {
			err = errors.New("it is not signed")
		}
		if err == nil {
			return b, nil
		}
		errs = append(errs, err)
	}
	return bundle.Bundle{}, fmt.Errorf("verify bundle: no configured key fits: %w", errors.Join(errs...))
}

// CheckKey reports the problem with a public key.
func CheckKey(key []byte) error {
	_, err := algorithmOf(key, false)
	return err
}

// algorithmOf is how a key signs.
func algorithmOf(key []byte, private bool) (string, error) {
	block, _ := pem.Decode(key)
	if block == nil {
		return "", errors.New("the key is no PEM: want a file with -----BEGIN … KEY-----")
	}
	switch secret := strings.HasSuffix(block.Type, "PRIVATE KEY"); {
	case private && !secret:
		return "", fmt.Errorf("the key is a %s: signing needs the private one", block.Type)
	case !private && secret:
		return "", fmt.Errorf("the key is a %s: use the public key (openssl pkey -pubout)", block.Type)
	case block.Type == "ENCRYPTED PRIVATE KEY" || block.Headers["DEK-Info"] != "":
		return "", errors.New("the key is encrypted: openssl pkey takes the passphrase away")
	}
	var parsed any
	var err error
	switch {
	case !private:
		parsed, err = x509.ParsePKIXPublicKey(block.Bytes)
	case block.Type == "EC PRIVATE KEY":
		parsed, err = x509.ParseECPrivateKey(block.Bytes)
	case block.Type == "RSA PRIVATE KEY":
		parsed, err = x509.ParsePKCS1PrivateKey(block.Bytes)
	default:
		parsed, err = x509.ParsePKCS8PrivateKey(block.Bytes)
	}
	if err != nil {
		what := map[bool]string{true: "private", false: "public"}[private]
		return "", fmt.Errorf("the key is no %s key: %w", what, err)
	}
	switch k := parsed.(type) {
	case *ecdsa.PrivateKey:
		return curve(k.Params().BitSize)
	case *ecdsa.PublicKey:
		return curve(k.Params().BitSize)
	case *rsa.PrivateKey, *rsa.PublicKey:
		return "RS256", nil
	}
	return "", fmt.Errorf("a key of type %T is not taken: use one on the curve P-256, or RSA", parsed)
}

func curve(bits int) (string, error) {
	algorithm := map[int]string{256: "ES256", 384: "ES384", 521: "ES512"}[bits]
	if algorithm == "" {
		return "", fmt.Errorf("a curve of %d bits is not taken: use P-256", bits)
	}
	return algorithm, nil
}

// IsRemote reports whether a place of policies is the address of a bundle.
func IsRemote(place string) bool { return strings.Contains(place, "://") }

// readBundle gathers the modules and the data of a bundle that is a file.
func (s *fileSet) readBundle(file string) {
	info, err := os.Stat(file)
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("not a regular file")
	}
	var text []byte
	if err == nil {
		text, err = os.ReadFile(file)
	}
	if err != nil {
		s.problem(file, "read policies: %v", err)
		return
	}
	s.unpack(file, text)
}

// unpack gathers the modules and the data of a bundle.
func (s *fileSet) unpack(file string, text []byte) {
	b, err := openBundle(text, s.keys)
	if err == nil {
		err = s.inOrder(file, b.Manifest)
	}
	if err != nil {
		s.problem(file, "%v", err).as("bundle")
		return
	}
	before := len(s.sources)
	for _, m := range b.Modules {
		if name := path.Clean("/" + m.Path); isModule(name) {
			s.sources = append(s.sources, &source{name: below(file, name[1:]), text: string(m.Raw),
				custom: true})
		}
	}
	if len(s.sources) == before {
		s.problem(file, "read policies: no .rego file in it").as("bundle").suggest("a bundle that holds " +
			"WebAssembly alone belongs under plugins")
	}
	if len(b.Data) > 0 {
		s.bundleData(file, b.Data)
	}
}

func (s *fileSet) bundleData(file string, data map[string]any) {
	for key := range data {
		if key != "custom" {
			s.problem(file, "read data: data.%s lies outside data.custom", key).as("data")
			return
		}
	}
	sum := sha256.Sum256([]byte(fmt.Sprint(data)))
	s.documents = append(s.documents, document{name: below(file, "data.json"),
		sum: hex.EncodeToString(sum[:]), value: data})
}

// inOrder refuses a signed bundle that is older than one that judged, and notes its serial. Without keys a
// serial proves nothing: anybody may write it.
func (s *fileSet) inOrder(place string, m bundle.Manifest) error {
	if len(s.keys) == 0 {
		return nil
	}
	serial, err := serialOf(m)
	if err == nil {
		err = s.known.Check(place, serial)
	}
	if err != nil {
		return fmt.Errorf("verify bundle: %w", err)
	}
	if serial > 0 {
		s.serials[place] = serial
	}
	return nil
}

// below is the name of a file of a place as it is shown: a directory, a bundle, or the address of one.
func below(place, name string) string {
	if IsRemote(place) {
		return place + "/" + name
	}
	return filepath.Join(place, filepath.FromSlash(name))
}

// wasmFile is where the module lies in a bundle of OPA's.
const wasmFile = "/policy.wasm"

// addModule compiles the sets of the rules in a bundle to WebAssembly, each an entrypoint as stock OPA would
// make it, and puts the module into the bundle, beside the sources.
func (o BundleOptions) addModule(ctx context.Context, loaded *ruleSet, b *bundle.Bundle) error {
	var entrypoints []string
	for _, r := range loaded.rules {
		if !r.custom() {
			continue
		}
		if err := loaded.selfContained(r); err != nil {
			return err
		}
		for _, verb := range r.verbs() {
			entrypoints = append(entrypoints, r.id+"/"+verb)
		}
	}
	set := &fileSet{}
	set.read(o.Builtin, "", false, isModule)
	set.readCustom(o.Dirs, isModule)
	set.leaveOutCompiled()
	set.sources = slices.DeleteFunc(set.sources, func(src *source) bool {
		// it needs a registry, and is no part of a rule
		return !src.custom && path.Dir(filepath.ToSlash(src.name)) == "sallyport/main"
	})
	module, err := set.assemble(ctx, entrypoints...)
	if err != nil {
		return err
	}
	b.WasmModules = []bundle.WasmModuleFile{{URL: wasmFile, Path: wasmFile, Raw: module}}
	for _, e := range entrypoints {
		b.Manifest.WasmResolvers = append(b.Manifest.WasmResolvers,
			bundle.WasmResolver{Entrypoint: e, Module: wasmFile})
	}
	return nil
}

// selfContained refuses a rule that reads the configuration: other programs that run the module do not have
// it.
func (p *ruleSet) selfContained(r *rule) error {
	for _, verb := range r.verbs() {
		set := ast.NewBody(ast.NewExpr(ast.NewTerm(r.pkg.Append(ast.StringTerm(verb)))))
		refs, err := dependencies.Base(p.compiler, set)
		if err != nil {
			return fmt.Errorf("compile policies: rule %s: %w", r.id, err)
		}
		for _, ref := range refs {
			if ref.HasPrefix(ast.MustParseRef("data.sallyport")) {
				return fmt.Errorf("compile policies: rule %s asks for %s, which only sallyport's own "+
					"configuration has: leave it out of what is built with --wasm",
					r.id, strings.TrimSuffix(ref.String(), "[_]"))
			}
		}
	}
	return nil
}
