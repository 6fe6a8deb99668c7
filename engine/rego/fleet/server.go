package fleet

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/open-policy-agent/opa/v1/hooks"
	"github.com/open-policy-agent/opa/v1/plugins"
	"github.com/open-policy-agent/opa/v1/plugins/discovery"
	"github.com/open-policy-agent/opa/v1/plugins/rest"
	"github.com/open-policy-agent/opa/v1/storage/inmem"

	"github.com/sallyport-dev/sallyport/engine/lazyregexp"
)

// server is one server with the OPA plugins that follow it.
type server struct {
	f         *Fleet
	o         Server
	client    *http.Client
	manager   *plugins.Manager
	started   bool
	resources map[string]*resource // by address; guarded by Fleet.mu
}

const (
	serviceName   = "server"
	doorName      = "sallyport"
	discoveryName = "discovery"
)

func newServer(f *Fleet, o Server) (*server, error) {
	s := &server{f: f, o: o, resources: map[string]*resource{}}
	var err error
	if s.client, err = newClient(o); err != nil {
		return nil, fmt.Errorf("reach %s: %w", o.URL, err)
	}
	if o.Discovery != "" {
		place := o.URL + "/" + o.Discovery
		s.resources[place] = &resource{name: discoveryName, place: place, discovery: true}
	}
	for _, place := range o.Bundles {
		s.resources[place] = &resource{name: s.nameOf(place), place: place}
	}
	return s, nil
}

// oddCharacters are those that a name of a bundle cannot have.
var oddCharacters = lazyregexp.New(`[^A-Za-z0-9._-]+`)

// nameOf is the name of a bundle in reports: its path below the server.
func (s *server) nameOf(place string) string {
	name := strings.TrimPrefix(strings.TrimPrefix(place, s.o.URL), "/")
	name = strings.TrimSuffix(strings.TrimSuffix(name, ".gz"), ".tar")
	name = strings.Trim(oddCharacters.ReplaceAllString(name, "-"), ".-")
	taken := func(name string) bool {
		for _, r := range s.resources {
			if r.name == name {
				return true
			}
		}
		return name == ""
	}
	unique := name
	for n := 2; taken(unique); n++ {
		unique = fmt.Sprintf("%s-%d", name, n)
	}
	return unique
}

// start starts the plugins.
func (s *server) start(ctx context.Context) error {
	boot := s.config()
	text, err := json.Marshal(boot)
	if err != nil {
		return fmt.Errorf("follow %s: %w", s.o.URL, err)
	}
	store := &receipts{Store: inmem.New(), take: s.take}
	logger := opaLog{s.f.o.Log, s.o.URL}
	s.manager, err = plugins.New(text, random(), store, plugins.Logger(logger), plugins.ConsoleLogger(logger))
	if err != nil {
		return fmt.Errorf("follow %s: %w", s.o.URL, err)
	}
	s.started = true
	s.manager.Register(doorName, door{s})
	generic := map[string]any{}
	if err := json.Unmarshal(text, &generic); err != nil {
		return fmt.Errorf("follow %s: %w", s.o.URL, err)
	}
	d, err := discovery.New(s.manager, discovery.BootConfig(generic), discovery.Hooks(hooks.New(discovered{s})))
	if err != nil {
		return fmt.Errorf("follow %s: %w", s.o.URL, err)
	}
	s.manager.Register(discovery.Name, d)
	if err := s.manager.Start(ctx); err != nil {
		return fmt.Errorf("follow %s: %w", s.o.URL, err)
	}
	return nil
}

func (s *server) stop(ctx context.Context) {
	if s.started {
		s.manager.Stop(ctx)
	}
	s.client.CloseIdleConnections()
}

// config is the configuration for OPA.
func (s *server) config() map[string]any {
	c := map[string]any{
		"labels": s.f.labels(s.o),
		"services": map[string]any{serviceName: map[string]any{"url": s.o.URL,
			"credentials": map[string]any{"plugin": doorName}}},
		"keys": map[string]any{sealID: map[string]any{"key": s.f.seal.public, "algorithm": "ES256"}},
	}
	if s.o.Discovery != "" {
		c["discovery"] = map[string]any{"service": serviceName, "resource": s.o.Discovery,
			"decision": discoveryName, "signing": map[string]any{"keyid": sealID}, "polling": s.polling()}
	} else if len(s.o.Bundles) > 0 {
		c["bundles"] = s.bundles(s.resources)
	}
	if s.o.Status {
		c["status"] = map[string]any{"service": serviceName}
	}
	if s.o.Decisions {
		c["decision_logs"] = map[string]any{"service": serviceName, "reporting": map[string]any{
			"min_delay_seconds": 2, "max_delay_seconds": 5, "upload_size_limit_bytes": maxUpload,
			"buffer_size_limit_bytes": maxUnsent,
		}}
	}
	return c
}

func (s *server) polling() map[string]any {
	return map[string]any{"min_delay_seconds": int64(s.o.PollMin / time.Second),
		"max_delay_seconds": int64(s.o.PollMax / time.Second)}
}

// bundles is the part of the configuration that names bundles.
func (s *server) bundles(resources map[string]*resource) map[string]any {
	bundles := map[string]any{}
	for place, r := range resources {
		if !r.discovery {
			bundles[r.name] = map[string]any{
				"service": serviceName, "resource": strings.TrimPrefix(place, s.o.URL+"/"),
				"signing": map[string]any{"keyid": sealID}, "polling": s.polling(),
			}
		}
	}
	return bundles
}

// door lets OPA's plugins speak through RoundTrip.
type door struct{ s *server }

func (d door) Start(context.Context) error {
	d.s.manager.UpdatePluginStatus(doorName, &plugins.Status{State: plugins.StateOK})
	return nil
}
func (door) Stop(context.Context)             {}
func (door) Reconfigure(context.Context, any) {}

// NewClient returns a client that verifies every response.
func (d door) NewClient(rest.Config) (*http.Client, error) { return &http.Client{Transport: d.s}, nil }

// Prepare does nothing: the token is put on at the door, where it is told if there is none.
func (door) Prepare(*http.Request) error { return nil }

// take activates the bundles of the receipts that OPA is about to commit.
func (s *server) take(ctx context.Context, digests map[string]string) error {
	f := s.f
	f.swap.Lock()
	defer f.swap.Unlock()
	f.mu.Lock()
	next := map[*resource]*delivery{}
	for _, r := range s.resources {
		digest, named := digests[r.name]
		if !named || r.discovery || r.active != nil && r.active.digest == digest {
			continue
		}
		if r.pending == nil || r.pending.digest != digest {
			f.mu.Unlock()
			return fmt.Errorf("activate %s: its receipt is not of the bundle that came last", r.place)
		}
		next[r] = r.pending
	}
	texts := f.texts(next)
	whole := !slices.ContainsFunc(
		f.missing(), func(place string) bool { _, there := texts[place]; return !there })
	f.mu.Unlock()
	var err error
	if whole { // until then nothing judges at all
		err = f.activate(ctx, texts)
	}
	if err != nil && len(next) == 0 {
		// A bundle is no longer one of this machine's. OPA cannot be refused here; the policies in force go
		// on.
		f.o.Log.Refused(s.o.URL, err)
		return nil
	}
	for r, d := range next {
		if err != nil {
			f.trouble(r, refusal{err}, true)
		} else {
			f.activated(r, d)
		}
	}
	return err
}

// activated notes that a bundle is active, and keeps it.
func (f *Fleet) activated(r *resource, d *delivery) {
	if !d.kept {
		if err := f.keep(r.place, d); err != nil {
			f.o.Log.Warn(fmt.Sprintf("%s: %v: at the next start it may be missing", r.place, err))
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	r.active, r.pending, r.failed, r.asked = d, nil, false, d.asked
	if !d.kept {
		r.trouble, r.told = nil, ""
	}
	f.changed()
}
