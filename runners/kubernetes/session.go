// Package kubernetes keeps a pod for each session of Sallyport, and carries the protocol with the supervisor
// in it over an exec stream of the cluster's API. It is the runner plugin sallyport-kubernetes.
//
// The pod is made from a configuration, keeps to Pod Security "restricted", and ends with the session: by its
// deletion, by a later session that finds its lease stale, or at the latest by the deadline that the cluster
// holds. The package judges nothing, and no policy sees it: the gate tells them
// the facts of the running pod.
package kubernetes

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Streams are those of the gate: the protocol on In and Out, words for people on Err.
type Streams struct {
	In  io.Reader
	Out io.Writer
	Err io.Writer
}

const (
	// drainTime is the time that the supervisor gets to end its processes after the end of the input. The
	// gate kills this program some seconds after that.
	drainTime  = time.Second
	removeTime = 1500 * time.Millisecond
)

// errLeft says that the gate left before the pod ran.
var errLeft = errors.New("the gate has closed its end")

// Run makes a pod, connects the streams with the supervisor in it, and deletes the pod at the end. The end of
// the input or of ctx ends it.
func (k *Cluster) Run(ctx context.Context, c Config, owner Owner, s Streams) (err error) {
	in := read(s.In)
	opening, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	opened := make(chan struct{})
	go func() {
		select {
		case <-in.ended:
			cancel(errLeft)
		case <-opened:
		}
	}()
	made, err := k.begin(opening, c, owner)
	if err != nil {
		return err
	}
	defer func() { err = k.drop(ctx, made, err) }()
	held, err := k.hold(opening, made, time.Now())
	if err != nil {
		return err
	}
	background, end := context.WithCancel(ctx)
	defer end()
	if held != nil {
		go k.renew(background, held)
	}
	// doctor tells of missing rights
	go func() { _, _ = k.Remove(background, owner.Installation, time.Now(), stale) }()
	running, err := k.await(opening, made.Name, time.Duration(c.Wait))
	if err != nil {
		return err
	}
	if c.Pool != "" {
		if err := c.Fits(running); err != nil {
			return err
		}
	}
	network, seen := k.network(opening, c, owner, running)
	if err := Look(running, network).tell(s.Out); err != nil {
		return err
	}
	close(opened)
	if network != networkNone {
		return k.carry(ctx, made, c, in, s)
	}
	guarded, lose := context.WithCancelCause(ctx)
	defer lose(nil)
	go func() {
		if why := k.guard(background, c, owner, made, seen); why != nil {
			lose(why)
		}
	}()
	if err := k.carry(guarded, made, c, in, s); err != nil {
		return err
	}
	if why := context.Cause(guarded); ctx.Err() == nil && why != nil {
		return why
	}
	return nil
}

// make creates a pod. When nobody knows whether it was created, it is deleted.
func (k *Cluster) make(ctx context.Context, pod *corev1.Pod) (*corev1.Pod, error) {
	made, err := create(ctx, k.in("", "pods"), pod, metav1.CreateOptions{})
	if err == nil && mounted(pod, made) {
		return made, nil
	} else if err == nil {
		return nil, k.drop(ctx, made, errNoImageVolumes)
	}
	if apierrors.ReasonForError(err) == metav1.StatusReasonUnknown {
		call, cancel := context.WithTimeout(context.WithoutCancel(ctx), removeTime)
		defer cancel()
		_ = k.remove(call, pod) // the lifetime of the pod ends it otherwise
	}
	return nil, Refused("create the pod", err)
}

var errNoImageVolumes = End{"the API server has no image volumes", "it takes the pod without that volume",
	"turn on its feature gate ImageVolume, or remove supervisor.volume"}

// mounted reports that a pod has its image volume. A server that knows none leaves it out in silence.
func mounted(asked, made *corev1.Pod) bool {
	has := func(v corev1.Volume) bool { return v.Image != nil }
	return !slices.ContainsFunc(asked.Spec.Volumes, has) || slices.ContainsFunc(made.Spec.Volumes, has)
}

// podName is a name that no other pod has.
func podName() string {
	var b [5]byte
	if _, err := rand.Read(b[:]); err != nil {
		panic(err) // crypto/rand does not fail where Go runs
	}
	return "sallyport-" + hex.EncodeToString(b[:])
}

// drop deletes the pod. Where that fails, it says so beside the reason of the session's end, if there is one.
func (k *Cluster) drop(ctx context.Context, pod *corev1.Pod, reason error) error {
	call, cancel := context.WithTimeout(context.WithoutCancel(ctx), removeTime)
	defer cancel()
	err := k.remove(call, pod)
	if err == nil {
		return reason
	}
	if reason == nil {
		reason = err
	}
	return fmt.Errorf("%w; the pod stays until its lifetime is over or sallyport-kubernetes prune deletes it",
		reason)
}

// await waits until the work container runs, and returns the pod as it is then. It returns at once where
// waiting does not help.
func (k *Cluster) await(ctx context.Context, name string, most time.Duration) (*corev1.Pod, error) {
	var pod *corev1.Pod
	err := until(ctx, "pod "+name, most, func(ctx context.Context) (done bool, problem error, fatal bool) {
		pod, problem = k.pod(ctx, name)
		switch {
		case problem != nil:
			no := apierrors.IsForbidden(problem) || apierrors.IsUnauthorized(problem)
			return false, Refused("look at pod "+name, problem), no // else it may answer again
		case pod == nil:
			return false, Lost(name, nil, k.events(ctx, name), nil, nil), true
		case running(pod):
			return true, nil, false
		}
		events := k.events(ctx, name)
		if e, ok := Ended(pod, events); ok {
			return false, e, true
		}
		problem, fatal = Stuck(pod, events)
		return false, problem, fatal
	})
	return pod, err
}

// until tries something until it is done, fails for good, or the time is up.
func until(
	ctx context.Context, what string, most time.Duration, try func(context.Context) (bool, error, bool),
) error {
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	pause, last := 100*time.Millisecond, error(nil)
	for {
		done, problem, fatal := try(ctx)
		switch {
		case done:
			return nil
		case ctx.Err() != nil: // below
		case fatal:
			return problem
		default:
			last = problem
		}
		select {
		case <-ctx.Done():
			if errors.Is(context.Cause(ctx), context.DeadlineExceeded) && last != nil {
				return fmt.Errorf("not running after %s: %w", most, last)
			}
			return fmt.Errorf("wait for %s: %w", what, context.Cause(ctx))
		case <-time.After(pause):
			pause = min(2*pause, time.Second)
		}
	}
}

// running reports whether commands can be started in a pod.
func running(pod *corev1.Pod) bool {
	if pod.DeletionTimestamp != nil || pod.Status.Phase != corev1.PodRunning {
		return false
	}
	for _, c := range pod.Status.ContainerStatuses {
		if c.Name == workContainer {
			return c.State.Running != nil
		}
	}
	return false
}

// carry connects the streams with the supervisor until either side ends, and says why the pod's did.
func (k *Cluster) carry(ctx context.Context, pod *corev1.Pod, c Config, in *input, s Streams) error {
	stream, stop := context.WithCancel(ctx)
	defer stop()
	done := make(chan error, 1)
	go func() { done <- k.exec(stream, pod.Name, in, s.Out, s.Err, c.SupervisorPath()) }()
	var err error
	select {
	case err = <-done:
	case <-ctx.Done():
		return nil // asked to end
	case <-in.ended:
		select {
		case err = <-done: // of an exec; its input ended first
		case <-time.After(drainTime):
		}
		_ = err
		return nil
	}
	select {
	case <-in.ended:
		return nil // both ended
	case <-ctx.Done():
		return nil
	default:
	}
	return k.why(ctx, pod, in, err)
}

const (
	// settleTime separates looks at a cluster that changes.
	settleTime = 2 * time.Second
	// reportTime is the time that a busy node may take to report why a container ended, and an API server to
	// answer again.
	reportTime = 10 * time.Second
)

// why asks the cluster for the reason of the end of a stream.
func (k *Cluster) why(ctx context.Context, made *corev1.Pod, in *input, stream error) error {
	since := time.Now()
	for {
		pod, err := k.pod(ctx, made.Name)
		if pod != nil && pod.UID != made.UID {
			pod = nil
		}
		var events []corev1.Event
		if err == nil {
			events = k.events(ctx, made.Name)
		} else {
			err = Refused("look at the pod", err)
		}
		known := err == nil && pod == nil
		if pod != nil {
			_, known = Ended(pod, events)
		}
		if !known && time.Since(since) < reportTime {
			select {
			case <-time.After(settleTime / 10):
				continue
			case <-in.ended: // nobody waits for the answer
			}
		}
		return Lost(made.Name, pod, events, err, stream)
	}
}
