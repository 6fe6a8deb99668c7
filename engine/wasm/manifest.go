package wasm

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/sallyport-dev/sallyport/engine/lazyregexp"
)

// Interface is the version of the interface between plugins and this package (docs/writing-plugins.md).
const Interface = 1

// Manifest is the description beside a module. A module that does not match its manifest is not loaded.
type Manifest struct {
	Name      string   `json:"name"`
	Version   string   `json:"version"`
	Interface int      `json:"interface"`
	SHA256    string   `json:"sha256"` // of the module, hex
	Rules     []string `json:"rules"`  // names without "plugin/<name>/"
	// Policy marks a policy compiled by OPA, which has no description of its rules, and describes them by
	// name. nil: it is a rule plugin.
	Policy map[string]About `json:"policy,omitempty"`
	Limits Limits           `json:"limits"`
}

// About is the METADATA of a rule in Rego.
type About struct {
	Title       string `json:"title"`
	Severity    string `json:"severity"`
	Remediation string `json:"remediation"`
}

// Limits bound one call of a plugin.
type Limits struct {
	MemoryMiB int `json:"memory_mib"`
	TimeMS    int `json:"time_ms"`
	OutputKiB int `json:"output_kib"`
}

// DefaultLimits hold where a manifest names none.
func DefaultLimits() Limits { return Limits{MemoryMiB: 32, TimeMS: 1000, OutputKiB: 256} }

func (l Limits) pages() uint32       { return uint32(l.MemoryMiB) << 4 } // of 64 KiB
func (l Limits) time() time.Duration { return time.Duration(l.TimeMS) * time.Millisecond }
func (l Limits) output() uint32      { return uint32(l.OutputKiB) << 10 }

// ManifestFile is where the manifest of a module stands: x.manifest.json beside x.wasm or x.tar.gz.
func ManifestFile(module string) string {
	return strings.TrimSuffix(strings.TrimSuffix(module, ".wasm"), bundleSuffix) + ".manifest.json"
}

// Rule is the id of a plugin's rule.
func (m Manifest) Rule(name string) string { return "plugin/" + m.Name + "/" + name }

// maxManifest bounds the size of a manifest, in bytes.
const maxManifest = 64 << 10

func readManifest(file string) (Manifest, error) {
	m, err := parseManifest(file)
	if err != nil {
		return Manifest{}, err
	}
	if err := m.check(); err != nil {
		return Manifest{}, fmt.Errorf("read manifest: %s: %w", file, err)
	}
	return m, nil
}

func parseManifest(file string) (Manifest, error) {
	text, err := readLimited(file, maxManifest)
	if errors.Is(err, fs.ErrNotExist) {
		return Manifest{}, fmt.Errorf(
			"read manifest: %w: every module needs one beside it (docs/writing-plugins.md)", err)
	}
	if err != nil {
		return Manifest{}, fmt.Errorf("read manifest: %w", err)
	}
	m := Manifest{Limits: DefaultLimits()}
	var limits, policy json.RawMessage
	err = decodeObject(text, map[string]any{
		"name": &m.Name, "version": &m.Version, "interface": &m.Interface, "sha256": &m.SHA256, "rules": &m.Rules,
		"limits": &limits, "policy": &policy,
	})
	if err == nil && limits != nil {
		err = prefixed("limits", decodeObject(limits, map[string]any{
			"memory_mib": &m.Limits.MemoryMiB, "time_ms": &m.Limits.TimeMS, "output_kib": &m.Limits.OutputKiB,
		}))
	}
	if err == nil && policy != nil {
		m.Policy, err = abouts(policy, m.Rules)
	}
	if err != nil {
		return Manifest{}, fmt.Errorf("read manifest: %s: %w", file, err)
	}
	return m, nil
}

// abouts reads the descriptions of a compiled policy's rules: of each of them, and of no other.
func abouts(text []byte, rules []string) (map[string]About, error) {
	parts, into := make([]json.RawMessage, len(rules)), map[string]any{}
	for i, r := range rules {
		into[r] = &parts[i]
	}
	if err := decodeObject(text, into); err != nil {
		return nil, prefixed("policy", err)
	}
	all := map[string]About{}
	for i, r := range rules {
		var a About
		if parts[i] == nil {
			return nil, fmt.Errorf("policy: %s is missing: describe the rule", r)
		}
		err := decodeObject(parts[i], map[string]any{"title": &a.Title, "severity": &a.Severity,
			"remediation": &a.Remediation})
		switch {
		case err != nil:
		case a.Title == "":
			err = errors.New("title is missing")
		case !slices.Contains(severities, a.Severity):
			err = fmt.Errorf("unknown severity %q: low, medium, high or critical", a.Severity)
		}
		if err != nil {
			return nil, prefixed("policy: "+r, err)
		}
		all[r] = a
	}
	return all, nil
}

// Seal writes the digest of a module into the manifest beside it, for the author of a plugin after a build.
// It returns the digest.
func Seal(module string) (string, error) {
	file := ManifestFile(module)
	m, err := parseManifest(file)
	if err != nil {
		return "", err
	}
	binary, err := readLimited(module, maxModule)
	if err != nil {
		return "", fmt.Errorf("read module: %w", err)
	}
	m.SHA256 = digest(binary)
	if err := m.check(); err != nil {
		return "", fmt.Errorf("read manifest: %s: %w", file, err)
	}
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return "", fmt.Errorf("write manifest: %w", err)
	}
	if err := os.WriteFile(file, append(text, '\n'), 0o644); err != nil {
		return "", fmt.Errorf("write manifest: %w", err)
	}
	return m.SHA256, nil
}

func digest(binary []byte) string {
	sum := sha256.Sum256(binary)
	return hex.EncodeToString(sum[:])
}

func prefixed(key string, err error) error {
	if err != nil {
		err = fmt.Errorf("%s: %w", key, err)
	}
	return err
}

var (
	namePattern    = lazyregexp.New(`^[a-z][a-z0-9_]{0,63}$`)
	versionPattern = lazyregexp.New(`^[0-9A-Za-z][0-9A-Za-z.+_-]{0,63}$`)
	digestPattern  = lazyregexp.New(`^[0-9a-f]{64}$`)
)

func (m Manifest) check() error {
	switch {
	case !namePattern.MatchString(m.Name):
		return fmt.Errorf("name: %q: lower case letters, digits and \"_\", a letter first, at most 64", m.Name)
	case !versionPattern.MatchString(m.Version):
		return fmt.Errorf("version: %q: letters, digits, \".\", \"+\", \"-\" and \"_\", at most 64", m.Version)
	case m.Interface != Interface:
		return fmt.Errorf("interface: %d: this build speaks interface %d", m.Interface, Interface)
	case !digestPattern.MatchString(m.SHA256):
		return fmt.Errorf("sha256: %q: 64 hexadecimal digits, lower case: run sallyport plugin seal", m.SHA256)
	case len(m.Rules) == 0:
		return errors.New("rules: name at least one")
	}
	for i, r := range m.Rules {
		if !namePattern.MatchString(r) {
			return fmt.Errorf("rules[%d]: %q: lower case letters, digits and \"_\", a letter first, at most 64", i, r)
		}
		if slices.Contains(m.Rules[:i], r) {
			return fmt.Errorf("rules[%d]: %q comes twice", i, r)
		}
	}
	for _, l := range []struct {
		key         string
		value, most int
	}{{"memory_mib", m.Limits.MemoryMiB, 256}, {"time_ms", m.Limits.TimeMS, 4000},
		{"output_kib", m.Limits.OutputKiB, 4096}} {
		if l.value < 1 || l.value > l.most {
			return fmt.Errorf("limits: %s: %d is out of range: from 1 to %d", l.key, l.value, l.most)
		}
	}
	return nil
}

// readLimited reads a regular file of at most the given number of bytes.
func readLimited(file string, most int64) ([]byte, error) {
	info, err := os.Stat(file) // before it is opened: opening a pipe would wait
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", file)
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(b)) > most {
		err = fmt.Errorf("%s has more than %d bytes", file, most)
	}
	return b, err
}

// isBundle reports whether a file is a bundle of OPA's by its name.
func isBundle(file string) bool { return strings.HasSuffix(file, bundleSuffix) }

const bundleSuffix = ".tar.gz"

// readBundle takes the compiled policy and the document data out of a bundle that `opa build -t wasm`
// has made. The sources in it are not looked at.
func readBundle(text []byte) (module, data []byte, err error) {
	z, err := gzip.NewReader(bytes.NewReader(text))
	if err != nil {
		return nil, nil, fmt.Errorf("read bundle: %w", err)
	}
	data = []byte("{}")
	files := map[string]*[]byte{"/policy.wasm": &module, "/data.json": &data}
	seen := map[string]bool{}
	for t, left := tar.NewReader(z), int64(2*maxModule); ; {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, nil, fmt.Errorf("read bundle: %w", err)
		}
		if left -= h.Size; left < 0 {
			return nil, nil, fmt.Errorf("read bundle: it holds more than %d bytes", 2*maxModule)
		}
		name := path.Clean("/" + h.Name)
		into, ok := files[name]
		if !ok || h.Typeflag != tar.TypeReg {
			continue
		}
		if seen[name] {
			return nil, nil, fmt.Errorf("read bundle: it has two files %s", name)
		}
		seen[name] = true
		if *into, err = io.ReadAll(t); err != nil {
			return nil, nil, fmt.Errorf("read bundle: %w", err)
		}
	}
	if module == nil {
		return nil, nil, errors.New("read bundle: it has no policy.wasm: build it with opa build -t wasm")
	}
	return module, data, nil
}
