package command

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/sallyport-dev/sallyport/engine/lazyregexp"
	"github.com/sallyport-dev/sallyport/runners/wire"
)

// Manifest makes a command line an installable runner: its name, and the digest of its program.
type Manifest struct {
	Name      string `yaml:"name"`
	Version   string `yaml:"version"`
	Interface int    `yaml:"interface"` // the version of the protocol with the supervisor that it leads to
	// Command is the command line. Its first word is an absolute path, or one that begins with ./ and is meant
	// from the directory of the manifest.
	Command []string `yaml:"command"`
	SHA256  string   `yaml:"sha256"` // of the program, hex
	// Start is the time until its supervisor must answer, such as 5m for one that makes machines; "" for a
	// minute.
	Start string `yaml:"start"`
	// Facts says that the program tells the facts of each place, isolation and network among them.
	Facts bool `yaml:"facts"`
	// Places says that the program keeps places, and lists and removes them: see Kept.
	Places bool `yaml:"places"`
	// Isolation and Network are the facts for policies, unless the operator sets others.
	Isolation string `yaml:"isolation"`
	Network   string `yaml:"network"`
}

// Plugin is a manifest that was read.
type Plugin struct {
	Manifest
	File    string // of the manifest
	Program string // absolute path
}

const (
	// maxManifest bounds a manifest, and maxProgram a program, in bytes.
	maxManifest = 64 << 10
	maxProgram  = 1 << 30
	maxStart    = time.Hour
)

// LoadPlugin reads a manifest. It does not look at the program: that is done when it is started.
func LoadPlugin(file string) (Plugin, error) {
	p, _, err := loadPlugin(file)
	if err == nil && !digestPattern.MatchString(p.SHA256) {
		err = fmt.Errorf("load plugin %s: sha256: %q: 64 hexadecimal digits, lower case: run sallyport plugin seal",
			file, p.SHA256)
	}
	return p, err
}

func loadPlugin(file string) (p Plugin, text []byte, err error) {
	fail := func(err error) (Plugin, []byte, error) {
		return Plugin{}, nil, fmt.Errorf("load plugin %s: %w", file, err)
	}
	if p.File, err = filepath.Abs(file); err != nil {
		return fail(err)
	}
	f, err := openRegular(p.File, maxManifest)
	if err != nil {
		return fail(err)
	}
	defer func() { _ = f.Close() }() // it was only read
	if text, err = io.ReadAll(f); err != nil {
		return fail(err)
	}
	d := yaml.NewDecoder(bytes.NewReader(text))
	d.KnownFields(true)
	if err := d.Decode(&p.Manifest); err != nil {
		return fail(err)
	}
	if err := d.Decode(new(any)); !errors.Is(err, io.EOF) {
		return fail(errors.New("more than one document"))
	}
	if err := p.check(); err != nil {
		return fail(err)
	}
	p.Program = p.Command[0]
	if !filepath.IsAbs(p.Program) {
		p.Program = filepath.Join(filepath.Dir(p.File), p.Program)
	}
	return p, text, nil
}

var (
	namePattern    = lazyregexp.New(`^[a-z][a-z0-9_-]{0,63}$`)
	versionPattern = lazyregexp.New(`^[0-9A-Za-z][0-9A-Za-z.+_-]{0,63}$`)
	digestPattern  = lazyregexp.New(`^[0-9a-f]{64}$`)
	digestLine     = lazyregexp.New(`(?m)^sha256:.*$`)
)

// errFacts refuses words about a place beside the facts of it.
var errFacts = errors.New(
	"isolation and network: the plugin tells them of each place (facts: true): remove them")

func (m Manifest) check() error {
	switch {
	case !namePattern.MatchString(m.Name):
		return fmt.Errorf("name: %q: lower case letters, digits, \"_\" and \"-\", a letter first, at most 64",
			m.Name)
	case !versionPattern.MatchString(m.Version):
		return fmt.Errorf("version: %q: letters, digits, \".\", \"+\", \"-\" and \"_\", at most 64", m.Version)
	case m.Interface != wire.Version:
		return fmt.Errorf("interface: %d: this build speaks version %d of the protocol with supervisors",
			m.Interface, wire.Version)
	case len(m.Command) == 0:
		return errors.New("command: the command line is empty")
	case !filepath.IsAbs(m.Command[0]) && !strings.HasPrefix(m.Command[0], "./"):
		return fmt.Errorf("command: %q is neither an absolute path nor one that begins with ./", m.Command[0])
	case slices.ContainsFunc(m.Command, func(word string) bool { return strings.Contains(word, "\x00") }):
		return errors.New("command: it holds a NUL byte")
	case m.Start != "" && (m.startTime() < time.Second || m.startTime() > maxStart):
		return fmt.Errorf("start: %q: write a time from 1s to %s, such as 5m", m.Start, maxStart)
	case m.Facts && m.Isolation+m.Network != "":
		return errFacts
	case m.Isolation != "" && !slices.Contains(isolations(), m.Isolation):
		return fmt.Errorf("isolation: %q: %s", m.Isolation, strings.Join(isolations(), ", "))
	case m.Network != "" && !slices.Contains(networks(), m.Network):
		return fmt.Errorf("network: %q: %s", m.Network, strings.Join(networks(), ", "))
	}
	return nil
}

// startTime is Start as a time; 0 where it says none.
func (m Manifest) startTime() time.Duration {
	d, err := time.ParseDuration(m.Start)
	if err != nil {
		return 0
	}
	return d
}

func isolations() []string { return []string{"remote", "container", "namespace", "none"} }
func networks() []string   { return []string{"unknown", "none", "bridge", "host"} }

// Verify reports the reason for which the program cannot be started; nil for none.
func (p Plugin) Verify() error {
	f, err := p.open()
	if err != nil {
		return err
	}
	return f.Close()
}

// open opens the program and reads it through: the opened file is the one that runs.
func (p Plugin) open() (*os.File, error) {
	f, sum, err := digest(p.Program)
	if err == nil && sum != p.SHA256 {
		_ = f.Close()
		err = fmt.Errorf(
			"its sha256 is %s, and the manifest says %s: if the program is the right one, run sallyport plugin "+
				"seal %s", sum, p.SHA256, p.File)
	}
	if err != nil {
		return nil, fmt.Errorf("open plugin %s: program %s: %w", p.Name, p.Program, err)
	}
	return f, nil
}

// digest opens a program and returns its SHA-256.
func digest(program string) (*os.File, string, error) {
	f, err := openRegular(program, maxProgram)
	if err != nil {
		return nil, "", err
	}
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		_ = f.Close()
		return nil, "", err
	}
	return f, hex.EncodeToString(h.Sum(nil)), nil
}

// openRegular opens a regular file of at most the given size. Anything else could make us wait.
func openRegular(file string, most int64) (*os.File, error) {
	info, err := os.Stat(file)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > most {
		return nil, fmt.Errorf("%s is not a regular file of at most %d bytes", file, most)
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	if now, err := f.Stat(); err != nil || !os.SameFile(info, now) {
		_ = f.Close()
		return nil, fmt.Errorf("%s was exchanged meanwhile", file)
	}
	return f, nil
}

// SealPlugin writes the digest of the program into its manifest, and returns it.
func SealPlugin(file string) (string, error) {
	p, text, err := loadPlugin(file)
	if err != nil {
		return "", err
	}
	if len(digestLine.Get().FindAll(text, -1)) != 1 {
		return "", fmt.Errorf("seal plugin %s: it needs one line \"sha256:\" to write to", file)
	}
	f, sum, err := digest(p.Program)
	if err != nil {
		return "", fmt.Errorf("seal plugin %s: %w", file, err)
	}
	_ = f.Close() // it was only read
	if err := os.WriteFile(file, digestLine.Get().ReplaceAll(text, []byte("sha256: "+sum)), 0o644); err != nil {
		return "", fmt.Errorf("seal plugin %s: %w", file, err)
	}
	return sum, nil
}
