package wasm

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
)

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
