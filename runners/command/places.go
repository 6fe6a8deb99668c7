package command

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/sallyport-dev/sallyport/engine/lazyregexp"
)

// Kept is a place that a plugin has made and keeps, such as a pod.
type Kept struct {
	Name    string    `json:"name"`
	State   string    `json:"state"` // running, stopped, or dead: its session has ended
	Image   string    `json:"image"`
	Created time.Time `json:"created"`
	Owner   string    `json:"owner"` // for people
}

// Verbs of a plugin with places: further words of its command line. Each writes the places that it concerns.
const (
	VerbList   = "list"
	VerbRemove = "remove" // and a name
	VerbPrune  = "prune"  // those of sessions that have ended
)

const (
	// placesTime is the time that a plugin gets for one verb.
	placesTime = 30 * time.Second
	// maxPlaces bounds its answer, in bytes.
	maxPlaces = 4 << 20
)

var placePattern = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9._-]{0,252}$`)

// Keeps reports whether the runner is a plugin that lists and removes its places.
func (r *Runner) Keeps() bool { return r.o.Plugin != nil && r.o.Plugin.Places }

// Places has the plugin carry out a verb, and returns the places that it lists or has removed.
func (r *Runner) Places(ctx context.Context, verb string, names ...string) ([]Kept, error) {
	fail := func(err error) ([]Kept, error) {
		return nil, fmt.Errorf("%s places of runner %s: %w", verb, r.o.Name, err)
	}
	if !r.Keeps() {
		return fail(errors.New("its plugin does not say that it keeps places (places: true)"))
	}
	ctx, cancel := context.WithTimeout(ctx, placesTime)
	defer cancel()
	p, err := r.start(append([]string{verb}, names...)...)
	if err != nil {
		return fail(err)
	}
	defer func() { _ = p.Close() }() // Wait has its end
	stop := context.AfterFunc(ctx, func() { _ = p.Close() })
	defer stop()
	_ = p.CloseInput() // of a program that has ended it is closed
	all, problem := readPlaces(p)
	if problem != nil {
		return fail(p.Explain(cmp.Or(context.Cause(ctx), problem)))
	}
	if err := p.Wait(); err != nil {
		return fail(cmp.Or(context.Cause(ctx), err))
	}
	return all, nil
}

// readPlaces reads one JSON document for each place, in bounds.
func readPlaces(from io.Reader) ([]Kept, error) {
	bounded := &io.LimitedReader{R: from, N: maxPlaces}
	d := json.NewDecoder(bounded)
	d.DisallowUnknownFields()
	var all []Kept
	for {
		var k Kept
		switch err := d.Decode(&k); {
		case bounded.N <= 0:
			return nil, errors.New("its answer has no end")
		case errors.Is(err, io.EOF):
			return all, nil
		case err != nil:
			return nil, fmt.Errorf("its answer is none: %w", err)
		case !placePattern.MatchString(k.Name) || !slices.Contains([]string{"running", "stopped", "dead"},
			k.State) ||
			len(k.Image)+len(k.Owner) > maxManifest:
			return nil, fmt.Errorf("its answer is none: place %.200q, state %.200q", k.Name, k.State)
		}
		all = append(all, k)
	}
}
