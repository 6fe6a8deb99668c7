package rego

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"

	"github.com/open-policy-agent/opa/v1/bundle"
)

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
			s.sources = append(s.sources, &source{name: below(file, name[1:]), text: string(m.Raw), custom: true})
		}
	}
	if len(s.sources) == before {
		s.problem(file, "read policies: no .rego file in it").as("bundle").suggest("a bundle that holds WebAssembly alone belongs under plugins")
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
	s.documents = append(s.documents, document{name: below(file, "data.json"), sum: hex.EncodeToString(sum[:]), value: data})
}

// inOrder refuses a signed bundle that is older than one that judged, and notes its serial. Without keys a serial
// proves nothing: anybody may write it.
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
