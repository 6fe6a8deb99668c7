package plugins

import (
	"context"
	"time"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/rego"
)

// watchPause is how often the directories of policies are looked at. A change holds after two looks.
const watchPause = time.Second

// InForce are the policies that judge now.
func (s *Sallyport) InForce() *rego.Evaluator { return s.reloading.Policies() }

// Watch follows the directories of policies, and reports bundles from servers, until ctx ends. Changes are
// compiled aside and judge, as a whole, from the next request on; invalid policies change nothing. Both are
// on record before they take effect. tell receives both, and failed records, which also change nothing.
//
// Rule plugins and the configuration itself are not followed.
func (s *Sallyport) Watch(ctx context.Context, tell func(engine.PolicyBody, error)) {
	s.watch(ctx, watchPause, tell)
}

func (s *Sallyport) watch(ctx context.Context, pause time.Duration, tell func(engine.PolicyBody, error)) {
	if s.served != nil {
		s.served.listen(tell)
		defer s.served.listen(nil)
	}
	tick := time.NewTicker(pause)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		// Its error is that of accept, which was told, or of ctx.
		_ = s.reloading.Reload(ctx, func(body engine.PolicyBody) error {
			err := s.RecordPolicy(ctx, body)
			tell(body, err)
			return err
		})
	}
}
