package main

import (
	"context"
	"fmt"
	"time"

	"github.com/sallyport-dev/sallyport/engine/config"
	"github.com/sallyport-dev/sallyport/plugins"
)

// served reports the bundles of policy servers, which it asks.
func (d *doctor) served(ctx context.Context, l *config.Loaded) {
	bundles, err := plugins.Served(ctx, l)
	if err != nil {
		d.fail("policies", err, "")
		return
	}
	for _, b := range bundles {
		what := fmt.Sprintf("%s: revision %s", b.Place, b.Revision)
		if b.Serial > 0 {
			what += fmt.Sprintf(", serial %d", b.Serial)
		}
		if b.Trouble != nil {
			d.add("policies", "warn", fmt.Sprintf("%s, confirmed at %s, is in force: %v", what, b.Asked.UTC().Format(time.RFC3339), b.Trouble), "check the server: this bundle stays in force until the server has a valid one")
			continue
		}
		d.add("policies", "ok", what+", current at the server", "")
	}
}
