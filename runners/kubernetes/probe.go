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

	corev1 "k8s.io/api/core/v1"

	"github.com/sallyport-dev/sallyport/runners/canary"
)

// controlled is the label of the pod that no policy for sessions selects.
const controlled = manager + "-control"

// Probe shows whether the network of sessions is closed. It makes a pod as a session has it, and one that no
// NetworkPolicy for sessions selects.
func (k *Cluster) Probe(ctx context.Context, c Config, owner Owner) Finding {
	f := Finding{Check: "pods of sessions cannot connect to " + strings.Join(c.Network.Dial, ", ")}
	c.Lifetime = min(c.Lifetime, c.Wait+Duration(5*time.Minute))
	made, err := k.make(ctx, c.Pod(podName(), owner))
	if err != nil {
		f.Problem = err
		return f
	}
	pod, err := k.await(ctx, made.Name, time.Duration(c.Wait))
	if err == nil {
		_, err = k.closed(ctx, c, owner, pod)
	}
	f.Problem = k.drop(ctx, made, err)
	return f
}

// dial tries to connect from a pod that runs.
func (k *Cluster) dial(
	ctx context.Context, c Config, pod *corev1.Pod, address string,
) (connects bool, err error) {
	trial, err := json.Marshal(canary.Trial{Dial: address})
	if err != nil {
		return false, fmt.Errorf("encode trial: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	var out, errs bytes.Buffer
	var nothing io.Reader = strings.NewReader("")
	err = k.exec(ctx, pod.Name, nothing, &out, &errs, c.SupervisorPath(), "--canary", string(trial))
	if err != nil {
		return false, fmt.Errorf("try the network from pod %s: %w: %.200q", pod.Name, err, errs.String())
	}
	var report canary.Report
	if err := json.Unmarshal(out.Bytes(), &report); err != nil {
		return false, fmt.Errorf("try the network from pod %s: it says %.200q: %w", pod.Name, out.String(), err)
	}
	return slices.Contains(report.Done, canary.Dial), nil
}
