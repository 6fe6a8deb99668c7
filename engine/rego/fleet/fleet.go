// Package fleet gets bundles of policies from servers, the way a fleet of machines is run: with the plugins
// of OPA, so that every server of bundles for OPA works here.
//
// OPA's bundle, discovery, status and decision log plugins do the asking, the waiting, the ETags and the
// reports. Their requests pass one door, which is ours: it verifies a bundle by the keys of the
// configuration, refuses a bundle older than the last one, bounds size and time, and follows no redirect to
// elsewhere. OPA gets a receipt in place of the bundle, signed by a key that lives as long as the process; so
// nothing that has not passed the door can become active. It becomes active in the moment in which OPA's
// store commits the receipt: there the bundle itself is handed on, and a bundle that cannot judge is refused
// there, so that OPA keeps the old one and reports the error.
//
// The last bundle that was accepted is kept, with its signature, and is good enough to start with where a
// server is away. It is verified anew whenever it is read.
//
// The package judges nothing and compiles no policies. It and engine/rego are the only importers of OPA.
package fleet

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sallyport-dev/sallyport/engine/rego"
)

// Server is one server and the bundles that come from it.
type Server struct {
	URL       string   // beginning of its addresses, without a slash at the end
	Bundles   []string // addresses of bundles, all below URL
	Discovery string   // path below URL of a bundle that names the bundles, in place of Bundles

	TokenFile, CAFile, CertFile, KeyFile string // "" for none

	PollMin, PollMax time.Duration
	Timeout          time.Duration // for a whole answer
	MaxSize          int64         // of a bundle as it is sent

	Status    bool // report the policies in use
	Decisions bool // send copies of decision records
	Labels    map[string]string
}

// Options name the servers of bundles and the requirements on bundles.
type Options struct {
	Servers []Server
	Keys    [][]byte     // public keys in PEM, one of which must have signed each bundle; nil for bundles that are not signed
	Serials rego.Serials // which signed bundles judged before
	Dir     string       // where the last accepted bundles are kept, 0700
	Name    string       // of this process, in reports
	Look    bool         // ask even if the cached copy is fresh, and cache nothing
	Log     Log

	limits limits // of tests
}

// limits bound how long Start waits for bundles, and Close for pending reports. Zero values mean the
// defaults.
type limits struct{ start, closing time.Duration }

// Log receives messages for the operator. Refused hears of each rejected bundle, once as long as nothing
// changes; it is more than a log message.
type Log struct {
	Debug, Warn func(string)
	Refused     func(place string, err error)
}

// Activate takes the bundles that judge together from now on, by address. After an error the old ones stay in
// force.
type Activate func(ctx context.Context, texts map[string][]byte) error

// Fleet follows servers. It is safe for concurrent use.
type Fleet struct {
	o        Options
	seal     seal
	servers  []*server
	activate Activate

	swap sync.Mutex // one activation at a time; never taken with mu held
	mu   sync.Mutex
	wake chan struct{} // closed and made anew whenever something has changed

	decisions chan Event
	lost      atomic.Int64
	sending   sync.WaitGroup
}

// State is the state of one bundle.
type State struct {
	Place    string
	Revision string
	Serial   int64     // 0 for none
	Digest   string    // SHA-256 in hex; "" while none is in use
	Kept     bool      // it is the cached copy, and the server has not confirmed it since
	Asked    time.Time // when the server last confirmed it or sent it
	Trouble  error     // why the last answer of the server was not taken, or there was none
}

// Open prepares to follow servers. It asks nobody.
func Open(o Options) (*Fleet, error) {
	f := &Fleet{o: o, wake: make(chan struct{}), decisions: make(chan Event, decisionsWaiting)}
	for _, hear := range []*func(string){&f.o.Log.Debug, &f.o.Log.Warn} {
		if *hear == nil {
			*hear = func(string) {}
		}
	}
	if f.o.Log.Refused == nil {
		f.o.Log.Refused = func(string, error) {}
	}
	if err := checkDir(o.Dir); err != nil {
		return nil, err
	}
	var err error
	if f.seal, err = newSeal(); err != nil {
		return nil, err
	}
	for i := range o.Servers {
		s, err := newServer(f, o.Servers[i])
		if err != nil {
			return nil, err
		}
		f.servers = append(f.servers, s)
	}
	return f, nil
}

// Kept returns the bundles that are kept, if all are there that the configuration names and are fresh:
// confirmed by their servers within the longest time between two questions. Then there is no need to ask.
func (f *Fleet) Kept() (texts map[string][]byte, ok bool) {
	texts = map[string][]byte{}
	for _, s := range f.servers {
		if s.o.Discovery != "" {
			return nil, false
		}
		for _, r := range s.resources {
			kept, err := f.kept(r.place)
			if err != nil || kept == nil || !kept.fresh(s.o.PollMax) {
				return nil, false
			}
			texts[r.place] = kept.text
		}
	}
	return texts, true
}

// Start follows the servers until Close. It returns when all bundles are active: from their servers, or from
// the cache if a server does not answer. If a bundle is unavailable, it ends its work and says why.
func (f *Fleet) Start(ctx context.Context, activate Activate) error {
	f.activate = activate
	wait := time.Second
	for _, s := range f.servers {
		wait = max(wait, 2*s.o.Timeout+5*time.Second)
		if err := s.start(ctx); err != nil {
			f.Close(ctx)
			return err
		}
	}
	if f.o.limits.start > 0 {
		wait = f.o.limits.start
	}
	f.sending.Go(f.send)
	if err := f.await(ctx, wait); err != nil {
		f.Close(ctx)
		return err
	}
	return nil
}

func (f *Fleet) await(ctx context.Context, wait time.Duration) error {
	late := time.NewTimer(wait)
	defer late.Stop()
	for {
		f.mu.Lock()
		missing, err, changed := f.missing(), f.failed(), f.wake
		f.mu.Unlock()
		switch {
		case len(missing) == 0:
			return nil
		case err != nil:
			return err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return fmt.Errorf("fetch policies: %w", ctx.Err())
		case <-late.C:
			return fmt.Errorf("fetch policies: no answer about %s within %v, and none is kept", missing[0], wait)
		}
	}
}

// missing lists the places of bundles that are not active. f.mu is held.
func (f *Fleet) missing() []string {
	var places []string
	for _, s := range f.servers {
		for _, r := range s.resources {
			if r.active == nil {
				places = append(places, r.place)
			}
		}
	}
	slices.Sort(places)
	return places
}

// failed says why a bundle that is not active cannot be had. f.mu is held.
func (f *Fleet) failed() error {
	var errs []error
	for _, s := range f.servers {
		for _, r := range s.resources {
			if r.active == nil && r.failed {
				errs = append(
					errs, fmt.Errorf("fetch policies: %s: %w: no bundle of it is kept that could judge in its place",
						r.place, r.trouble))
			}
		}
	}
	return errors.Join(errs...)
}

// changed wakes the waiters. f.mu is held.
func (f *Fleet) changed() {
	close(f.wake)
	f.wake = make(chan struct{})
}

// Texts returns the active bundles by address.
func (f *Fleet) Texts() map[string][]byte {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.texts(nil)
}

// texts are the bundles that are active, with others in place of some. f.mu is held.
func (f *Fleet) texts(others map[*resource]*delivery) map[string][]byte {
	texts := map[string][]byte{}
	for _, s := range f.servers {
		for _, r := range s.resources {
			d := r.active
			if other, ok := others[r]; ok {
				d = other
			}
			if d != nil && !r.discovery {
				texts[r.place] = d.text
			}
		}
	}
	return texts
}

// States tells about all bundles, sorted by place.
func (f *Fleet) States() []State {
	f.mu.Lock()
	defer f.mu.Unlock()
	var all []State
	for _, s := range f.servers {
		for _, r := range s.resources {
			state := State{Place: r.place, Asked: r.asked, Trouble: r.trouble}
			if d := r.active; d != nil {
				state.Revision, state.Serial, state.Digest, state.Kept = d.info.Revision, d.info.Serial, d.digest,
					d.kept && r.trouble != nil
			}
			all = append(all, state)
		}
	}
	slices.SortFunc(all, func(a, b State) int { return slices.Compare([]string{a.Place}, []string{b.Place}) })
	return all
}

// Close stops asking and sends the rest within a moment.
func (f *Fleet) Close(ctx context.Context) {
	closing := 3 * time.Second
	if f.o.limits.closing > 0 {
		closing = f.o.limits.closing
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closing)
	defer cancel()
	f.mu.Lock()
	if f.decisions != nil {
		close(f.decisions)
		f.decisions = nil
	}
	f.mu.Unlock()
	sent := make(chan struct{})
	go func() {
		f.sending.Wait()
		close(sent)
	}()
	select {
	case <-sent:
	case <-ctx.Done():
	}
	stopped := make(chan struct{})
	go func() {
		var stopping sync.WaitGroup
		for _, s := range f.servers {
			stopping.Go(func() { s.stop(ctx) })
		}
		stopping.Wait()
		close(stopped)
	}()
	select {
	case <-stopped:
	case <-time.After(closing + time.Second): // a plugin that waits for its server ends with that
	}
}

// labels are those of a server's reports.
func (f *Fleet) labels(s Server) map[string]string {
	labels := maps.Clone(s.Labels)
	if labels == nil {
		labels = map[string]string{}
	}
	labels["name"] = f.o.Name
	return labels
}
