package kubernetes

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/sallyport-dev/sallyport/runners/canary"
)

// controlled is the label of the pod that no policy for sessions selects.
const controlled = manager + "-control"

// Probe shows whether the network of sessions is closed. It makes a pod as a session has it, which must fail to
// connect to an address, and one that no NetworkPolicy for sessions selects, which must succeed: without that,
// a failure shows nothing.
func (k *Cluster) Probe(ctx context.Context, c Config, owner Owner, address string) Finding {
	f := Finding{Check: "pods of sessions cannot connect to " + address}
	c.Lifetime = min(c.Lifetime, c.Wait+Duration(5*time.Minute))
	connects, err := k.dial(ctx, c, owner, controlled, address)
	if err != nil {
		f.Problem = err
		return f
	}
	if !connects {
		f.Problem = End{
			"not shown", "a pod that is no session's cannot connect either",
			"name an address that other pods of the namespace reach (--dial)",
		}
		return f
	}
	connects, err = k.dial(ctx, c, owner, manager, address)
	switch {
	case err != nil:
		f.Problem = err
	case connects:
		f.Problem = End{
			"they can", "no NetworkPolicy selects them, or the network plugin enforces none",
			"apply docs/examples/kubernetes/namespace.yaml, on a network plugin that knows NetworkPolicy",
		}
	}
	return f
}

// dial tries to connect from a pod of its own with a value of the label by which policies select it.
func (k *Cluster) dial(ctx context.Context, c Config, owner Owner, label, address string) (connects bool, err error) {
	pod := c.Pod(podName(), owner)
	pod.Labels[labelManager] = label
	made, err := k.make(ctx, pod)
	if err != nil {
		return false, err
	}
	defer func() { err = k.drop(ctx, made, err) }()
	if _, err := k.await(ctx, made.Name, time.Duration(c.Wait)); err != nil {
		return false, err
	}
	trial, err := json.Marshal(canary.Trial{Dial: address})
	if err != nil {
		return false, fmt.Errorf("encode trial: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	var out, errs bytes.Buffer
	var nothing io.Reader = strings.NewReader("")
	if err := k.exec(ctx, made.Name, nothing, &out, &errs, c.SupervisorPath(), "--canary", string(trial)); err != nil {
		return false, fmt.Errorf("try the network from pod %s: %w: %.200q", made.Name, err, errs.String())
	}
	var report canary.Report
	if err := json.Unmarshal(out.Bytes(), &report); err != nil {
		return false, fmt.Errorf("try the network from pod %s: it says %.200q: %w", made.Name, out.String(), err)
	}
	return slices.Contains(report.Done, canary.Dial), nil
}
