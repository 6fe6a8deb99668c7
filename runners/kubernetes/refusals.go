package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// when is the time of an event, whichever of its fields has it.
func when(e corev1.Event) time.Time {
	for _, t := range []time.Time{e.LastTimestamp.Time, e.EventTime.Time, e.FirstTimestamp.Time} {
		if !t.IsZero() {
			return t
		}
	}
	return e.CreationTimestamp.Time
}

// refusals are the words by which an API server refuses a pod.
var refusals = []ending{
	{"exceeded quota", "the quota of the namespace is used up",
		"delete what is not needed (sallyport-kubernetes list), lower resources, or raise the ResourceQuota"},
	{"failed quota", "the quota of the namespace does not count such a pod", "correct the ResourceQuota"},
	{"violates PodSecurity", "Pod Security refuses the pod", "correct user, or the level of the namespace"},
	{"admission webhook", "an admission webhook refuses the pod",
		"ask the owner of the webhook, or change the pod as it demands"},
	{"ValidatingAdmissionPolicy", "an admission policy refuses the pod",
		"ask the owner of the policy, or change the pod as it demands"},
	{"RuntimeClass", "the runtime class is not there",
		"correct runtime_class, or install it (kubectl get runtimeclasses)"},
	{"usage per Container is", "the LimitRange of the namespace refuses the pod",
		"change resources within its limits"},
	{"usage per Pod is", "the LimitRange of the namespace refuses the pod",
		"change resources within its limits"},
	{"could not find the requested resource", "agent-sandbox is not installed, or not with its API v1beta1",
		"install it, or remove pool"},
	{"is being terminated", "the namespace is being deleted", "use another, or wait and create it anew"},
	{"error looking up service account", "the namespace has no service account yet",
		"wait until the cluster has made it"},
}

// Refused explains the error of a call to the API server; do names the call, as in "create the pod".
func Refused(do string, err error) error {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return unreached(do, err)
	}
	said := status.Status().Message
	for _, r := range refusals {
		if strings.Contains(said, r.cluster) {
			return End{do + ": " + r.what, said, r.fix}
		}
	}
	switch {
	case apierrors.IsUnauthorized(err):
		return End{
			do + ": the cluster does not accept the credentials", said,
			"log in anew, or correct kubeconfig and context",
		}
	case apierrors.IsForbidden(err) && !strings.Contains(said, " cannot "):
		return End{do + ": the cluster's admission refuses the pod", said, "change the pod as it demands"}
	case apierrors.IsForbidden(err):
		return End{
			do + ": a right is missing", said,
			"run sallyport-kubernetes doctor, and apply docs/examples/kubernetes/rbac.yaml",
		}
	case apierrors.IsNotFound(err) && strings.HasPrefix(said, "namespaces"):
		return End{
			do + ": the namespace is not there", said,
			"create it: docs/examples/kubernetes/namespace.yaml",
		}
	case apierrors.IsInvalid(err) || apierrors.IsBadRequest(err):
		return End{do + ": the API server takes the pod for invalid", said, "correct the configuration"}
	case apierrors.IsTooManyRequests(err) || apierrors.IsServerTimeout(err) || apierrors.IsTimeout(err) ||
		apierrors.IsServiceUnavailable(err):
		return End{do + ": the API server is overloaded or starting", said, "try again in a moment"}
	}
	return End{do + ": the API server refuses", said, "run sallyport-kubernetes doctor"}
}

// unreached explains an error that no API server answered with.
func unreached(do string, err error) error {
	var operation *net.OpError
	what := ": the API server cannot be asked"
	if errors.As(err, &operation) || errors.Is(err, context.DeadlineExceeded) {
		what = ": the API server does not answer"
	}
	return End{do + what, err.Error(), "see that it runs and that kubeconfig and context are right (kubectl version)"}
}

// Lost explains the end of the stream to a pod: by the pod's own state, and else by the error of the stream.
// With problem, the pod could not be looked at; a nil pod is gone.
func Lost(name string, pod *corev1.Pod, events []corev1.Event, problem, stream error) error {
	switch {
	case problem != nil:
		return fmt.Errorf("pod %s: the stream broke, and why is not known: %w", name, problem)
	case pod == nil:
		return End{
			"pod " + name + ": it was deleted, and not by this session", warning(events),
			"the next request makes a new pod",
		}
	}
	if e, ok := Ended(pod, events); ok {
		return e
	}
	said := "the supervisor ended"
	if stream != nil {
		said = stream.Error()
	}
	if strings.Contains(said, "not found") || strings.Contains(said, "no such file") {
		return End{
			"pod " + name + ": the supervisor cannot be started", said,
			"correct supervisor.image and supervisor.path",
		}
	}
	return End{"pod " + name + ": the stream to the supervisor broke, and the pod still runs", said,
		"the next request makes a new pod; commands may have been out of memory (resources.memory), or " +
			"the node's kubelet or the API server has restarted"}
}
