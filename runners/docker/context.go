package docker

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// defaultContext is the name of the context that stands for the environment and the engine's default.
const defaultContext = "default"

// currentContext reads which engine the docker command would use: the context named, or the one in use
// by dir/config.json. It reports whether there is one besides the default.
func currentContext(dir, name string) (endpoint, bool, error) {
	if name == "" {
		var config struct {
			CurrentContext string `json:"currentContext"`
		}
		file := filepath.Join(dir, "config.json")
		if err := readJSON(file, &config); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return endpoint{}, false, fmt.Errorf("read %s: %w: fix the file, or name the engine under docker.host", file, err)
		}
		name = config.CurrentContext
	}
	if name == "" || name == defaultContext {
		return endpoint{}, false, nil
	}
	a, err := readContext(dir, name)
	if err != nil {
		return endpoint{}, false, fmt.Errorf("docker context %q: %w: see \"docker context ls\", or name the engine under docker.host", name, err)
	}
	return a, true, nil
}

// readContext reads a context of the docker command. Its files lie below the hash of its name.
func readContext(dir, name string) (endpoint, error) {
	sum := sha256.Sum256([]byte(name))
	id := hex.EncodeToString(sum[:])
	var meta struct {
		Endpoints map[string]struct {
			Host          string
			SkipTLSVerify bool
		}
	}
	if err := readJSON(filepath.Join(dir, "contexts", "meta", id, "meta.json"), &meta); err != nil {
		return endpoint{}, err
	}
	engine, ok := meta.Endpoints["docker"]
	if !ok || engine.Host == "" {
		return endpoint{}, errors.New("it names no engine")
	}
	a := endpoint{host: engine.Host, from: "context " + name, insecure: engine.SkipTLSVerify}
	certs := filepath.Join(dir, "contexts", "tls", id, "docker")
	for _, file := range []struct {
		name string
		path *string
	}{{"ca.pem", &a.ca}, {"cert.pem", &a.cert}, {"key.pem", &a.key}} {
		if full := filepath.Join(certs, file.name); exists(full) {
			*file.path, a.tls = full, true
		}
	}
	return a, nil
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

// readJSON reads a file of the docker command and ignores unknown keys.
func readJSON(file string, v any) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, v)
}
