package fleet

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/config"

	"github.com/sallyport-dev/sallyport/engine/lazyregexp"
)

// discovered reads a discovery bundle. Only its bundles count: a server names policies, and neither other
// servers nor keys.
type discovered struct{ s *server }

// OnConfigDiscovery replaces a discovered configuration by the part that counts.
func (h discovered) OnConfigDiscovery(_ context.Context, c *config.Config) (*config.Config, error) {
	s, f := h.s, h.s.f
	place := s.o.URL + "/" + s.o.Discovery
	bundles, err := s.named(c.Bundles)
	f.mu.Lock()
	r := s.resources[place]
	f.mu.Unlock()
	if err != nil {
		f.trouble(r, refusal{err}, true)
		return nil, err
	}
	f.mu.Lock()
	d := r.pending
	for address, old := range s.resources {
		if now, stays := bundles[address]; stays && now.name == old.name || old.discovery {
			bundles[address] = old // with its state
		}
	}
	s.resources = bundles
	f.mu.Unlock()
	text, err := json.Marshal(s.bundles(bundles))
	if err != nil {
		return nil, err
	}
	if d != nil {
		if err := f.o.Serials.Accept(map[string]int64{place: d.info.Serial}); err != nil {
			return nil, err
		}
		f.activated(r, d)
	}
	return &config.Config{Bundles: text}, nil
}

// discoveredName matches valid names of bundles.
var discoveredName = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$`)

// named reads the bundles of a discovered configuration.
func (s *server) named(text json.RawMessage) (map[string]*resource, error) {
	var bundles map[string]struct {
		Resource string `json:"resource"`
	}
	if err := json.Unmarshal(text, &bundles); err != nil || len(bundles) == 0 {
		return nil,
			fmt.Errorf(
				"read discovery bundle: it names no bundles: want {\"bundles\": {\"NAME\": {\"resource\": \"PATH\"}}}")
	}
	all := map[string]*resource{}
	for _, name := range slices.Sorted(maps.Keys(bundles)) {
		at := strings.TrimPrefix(bundles[name].Resource, "/")
		if at == "" {
			at = "bundles/" + name
		}
		if !discoveredName.MatchString(name) || name == discoveryName {
			return nil, fmt.Errorf("read discovery bundle: %q is no name of a bundle", name)
		}
		if path.Clean("/"+at) != "/"+at || strings.ContainsAny(at, "?#%\\ :") {
			return nil, fmt.Errorf("read discovery bundle: %q is no plain path below %s", at, s.o.URL)
		}
		place := s.o.URL + "/" + at
		if all[place] != nil {
			return nil, fmt.Errorf("read discovery bundle: %s is named twice", at)
		}
		all[place] = &resource{name: name, place: place}
	}
	return all, nil
}
