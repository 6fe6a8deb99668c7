package looks

import (
	"cmp"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/runners/wire"
)

// memory is the cache for environments of the same specification.
type memory struct {
	Key   string
	Place wire.Place
	// Environs are the variables of commands, but for PWD, by their virtual environment.
	Environs map[string][]variable
	Nodes    map[string]facts.Node // by paths that go through no link
}

// variable is one of a command. Of one that was given the value is not kept: it may be a secret.
type variable struct {
	Name  string
	Value string `json:",omitempty"`
	Given bool   `json:",omitempty"`
}

// Bounds of the cache. A full one begins anew, and the oldest go first.
const (
	maxNodes    = 4096
	maxEnvirons = 64
	maxMemory   = 4 << 20
	maxMemories = 64
)

func newMemory(key string) memory {
	return memory{Key: key, Environs: map[string][]variable{}, Nodes: map[string]facts.Node{}}
}

// environ returns the variables for a virtual environment, with the values of those that are given.
func (m *memory) environ(venv string, given []string) ([]string, bool) {
	kept, ok := m.Environs[venv]
	if !ok {
		return nil, false
	}
	values := map[string]string{}
	for _, kv := range given {
		name, value, _ := strings.Cut(kv, "=")
		values[name] = value
	}
	env := make([]string, 0, len(kept)+1)
	for _, v := range kept {
		if v.Given {
			v.Value = values[v.Name]
		}
		env = append(env, v.Name+"="+v.Value)
	}
	return env, true
}

func (m *memory) keepEnviron(venv string, env, given []string) {
	if len(m.Environs) >= maxEnvirons {
		clear(m.Environs)
	}
	last := map[string]string{} // of two with one name the last holds
	for _, kv := range given {
		name, _, _ := strings.Cut(kv, "=")
		last[name] = kv
	}
	kept := make([]variable, 0, len(env))
	for _, kv := range env {
		name, value, _ := strings.Cut(kv, "=")
		v := variable{Name: name, Value: value}
		if last[name] == kv {
			v = variable{Name: name, Given: true}
		}
		kept = append(kept, v)
	}
	m.Environs[venv] = kept
}

// keepNode caches the file at a path, unless it changes by itself or cannot be encoded.
func (m *memory) keepNode(p string, n facts.Node) bool {
	for _, dir := range []string{"/proc", "/sys", "/dev/pts"} {
		if strings.HasPrefix(p, dir+"/") {
			return false
		}
	}
	if !utf8.ValidString(p) || !utf8.ValidString(n.Link) {
		return false
	}
	if len(m.Nodes) >= maxNodes {
		clear(m.Nodes)
	}
	m.Nodes[p] = n
	return true
}

// recall reads the cache of a key. An incomplete file, or one that others could have written, counts as none.
func recall(dir, key string) (memory, bool) {
	if dir == "" || !private(dir) {
		return memory{}, false
	}
	f, err := openOwn(filepath.Join(dir, fileOf(key)))
	if err != nil {
		return memory{}, false
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxMemory+1))
	m := newMemory(key)
	if err != nil || len(text) > maxMemory || json.Unmarshal(text, &m) != nil || m.Key != key ||
		m.Nodes == nil || m.Environs == nil {
		return memory{}, false
	}
	return m, true
}

// keep writes it down, whole or not at all.
func (m *memory) keep(dir string) {
	if dir == "" || os.MkdirAll(dir, 0o700) != nil || !private(dir) {
		return
	}
	text, err := json.Marshal(m)
	if err != nil || len(text) > maxMemory {
		return
	}
	f, err := os.CreateTemp(dir, ".new-")
	if err != nil {
		return
	}
	_, err = f.Write(text)
	if err = cmp.Or(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), filepath.Join(dir, fileOf(m.Key)))
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	tidy(dir)
}

func fileOf(key string) string { return key + ".json" }

// tidy removes the oldest of too many.
func tidy(dir string) {
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) <= maxMemories {
		return
	}
	age := func(e os.DirEntry) int64 {
		info, err := e.Info()
		if err != nil {
			return 0
		}
		return info.ModTime().UnixNano()
	}
	slices.SortFunc(entries, func(a, b os.DirEntry) int { return cmp.Compare(age(a), age(b)) })
	for _, e := range entries[:len(entries)-maxMemories] {
		_ = os.Remove(filepath.Join(dir, e.Name()))
	}
}
