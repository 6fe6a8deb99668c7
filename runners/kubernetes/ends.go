package kubernetes

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// End says why a pod does not run, or runs no longer.
type End struct {
	What   string // in our words
	Reason string // the cluster's own words; may be ""
	Fix    string
}

// Error has the problem, the cluster's reason and the fix, on one line.
func (e End) Error() string {
	text := e.What
	if e.Reason != "" {
		text += ": " + e.Reason
	}
	return strings.Join(strings.Fields(text+": "+e.Fix), " ")
}

// ending is a row of a table of reasons: a text in the cluster's words, and ours.
type ending struct{ cluster, what, fix string }

// podReasons are the reasons of a pod that failed. The first is also that of an event.
var podReasons = []ending{
	{"Evicted", "the node evicted the pod", "raise resources.storage or resources.memory, or free the node"},
	{"DeadlineExceeded", "the lifetime of the pod is over", "raise lifetime, or begin a new session"},
	{"NodeLost", "the node of the pod is lost",
		"look at the node (kubectl get nodes); a new session gets another one"},
	{"NodeShutdown", "the node of the pod shut down", "begin a new session on another node"},
	{"Terminated", "the node of the pod shut down", "begin a new session on another node"},
	{"OutOfmemory", "the node has too little memory", "lower resources.memory or add nodes"},
	{"OutOfcpu", "the node has too few processors", "lower resources.cpu or add nodes"},
	{"OutOfpods", "the node has no place for another pod", "add nodes"},
	{"NodeAffinity", "the node does not fit node_selector", "correct node_selector"},
	{"Preempting", "the pod had to make room for one of higher priority",
		"add nodes, or begin a new session later"},
	{"UnexpectedAdmissionError", "the node refused the pod", "look at the node (kubectl describe node)"},
}

// disruptions are the reasons of the condition DisruptionTarget.
var disruptions = []ending{
	{"PreemptionByScheduler", "the pod had to make room for one of higher priority",
		"add nodes, or begin a new session later"},
	{"DeletionByTaintManager", "the node of the pod is lost or has a new taint",
		"look at the node (kubectl get nodes), or add a toleration"},
	{"EvictionByEvictionAPI", "the pod was evicted, as for a drain of its node",
		"begin a new session on another node"},
	{"DeletionByPodGC", "the node of the pod is gone", "begin a new session on another node"},
	{"TerminationByKubelet", "the node ended the pod",
		"raise resources.storage or resources.memory, or free the node"},
}

// waitings are the reasons of a container that waits and cannot start without a change.
var waitings = []ending{
	{"ImagePullBackOff", "the image cannot be pulled",
		"correct the image, add image_pull_secrets, or let the node reach the registry"},
	{"InvalidImageName", "the name of the image is invalid", "correct the image"},
	{"ErrImageNeverPull", "the image is not on the node, and may not be pulled", "load it there"},
	{"ImageInspectError", "the image cannot be read", "build it anew"},
	{"CreateContainerConfigError", "the container cannot be configured",
		"create the Secret that it names, or correct user and secrets"},
	{"CreateContainerError", "the container cannot be created",
		"take an image of Linux for this node; supervisor.volume needs a runtime with image volumes"},
	{"RunContainerError", "the container cannot start",
		"supervisor.image must have supervisor.path for this kind of processor"},
}

// Ended returns why a pod ended or is about to; false while nothing says that it does.
func Ended(pod *corev1.Pod, events []corev1.Event) (End, bool) {
	name := "pod " + pod.Name + ": "
	status := pod.Status
	if status.Reason != "" {
		for _, r := range podReasons {
			if status.Reason == r.cluster {
				return End{name + r.what, cmp.Or(status.Message, status.Reason), r.fix}, true
			}
		}
	}
	if e, ok := killed(pod); ok {
		return e, true
	}
	for _, v := range events { // before the status has it
		if v.Reason == podReasons[0].cluster {
			return End{name + podReasons[0].what, v.Message, podReasons[0].fix}, true
		}
	}
	for _, c := range status.Conditions {
		if c.Type != corev1.DisruptionTarget || c.Status != corev1.ConditionTrue {
			continue
		}
		for _, r := range disruptions {
			if c.Reason == r.cluster {
				return End{name + r.what, cmp.Or(c.Message, c.Reason), r.fix}, true
			}
		}
	}
	if pod.DeletionTimestamp != nil {
		return End{
			name + "it is being deleted, and not by this session", warning(events),
			"the next request makes a new pod",
		}, true
	}
	if status.Phase != corev1.PodFailed && status.Phase != corev1.PodSucceeded {
		return End{}, false
	}
	for _, c := range slices.Concat(status.InitContainerStatuses, status.ContainerStatuses) {
		if t := c.State.Terminated; t != nil && (t.ExitCode != 0 || c.Name == workContainer) {
			return exited(name, c.Name, t), true
		}
	}
	reason := cmp.Or(status.Message, status.Reason, warning(events))
	return End{name + "it ended", reason, "kubectl describe pod " + pod.Name}, true
}

// killed tells of a container that the kernel ended for want of memory.
func killed(pod *corev1.Pod) (End, bool) {
	for _, c := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		for _, t := range []*corev1.ContainerStateTerminated{c.State.Terminated, c.LastTerminationState.Terminated} {
			if t != nil && t.Reason == "OOMKilled" {
				return End{
					fmt.Sprintf("pod %s: container %s was out of memory", pod.Name, c.Name),
					strings.TrimSpace("OOMKilled " + t.Message), "raise resources.memory, or have commands use less",
				}, true
			}
		}
	}
	return End{}, false
}

func exited(name, container string, t *corev1.ContainerStateTerminated) End {
	reason := strings.TrimSpace(fmt.Sprintf("%s, status %d %s", cmp.Or(t.Reason, "Error"), t.ExitCode,
		t.Message))
	if container == installContainer {
		return End{name + "the supervisor cannot be installed", reason,
			"supervisor.image must have supervisor.path of this release, which knows --install"}
	}
	return End{name + "container " + container + " ended", reason, "the next request makes a new pod"}
}

// Stuck returns the reason for which a pod does not run. Fatal says that waiting does not help.
func Stuck(pod *corev1.Pod, events []corev1.Event) (e End, fatal bool) {
	name := "pod " + pod.Name + ": "
	for _, c := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		w := c.State.Waiting
		if w == nil {
			continue
		}
		for _, r := range waitings {
			if w.Reason == r.cluster {
				return End{name + r.what + " (" + c.Image + ")", detail(w, events), r.fix}, true
			}
		}
		if w.Reason == "ErrImagePull" || w.Reason == "RegistryUnavailable" {
			r := waitings[0]
			return End{name + r.what + " (" + c.Image + ")", detail(w, events), r.fix}, false
		}
	}
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse {
			return End{
				name + "no node can take it", cmp.Or(c.Message, c.Reason, warning(events)),
				"lower resources, correct node_selector, tolerations, runtime_class and workspace, or add nodes",
			}, false
		}
	}
	reason := cmp.Or(warning(events), "its phase is "+cmp.Or(string(pod.Status.Phase), "unknown"))
	if pod.Spec.NodeName == "" {
		return End{
			name + "no scheduler has looked at it", reason,
			"see that kube-scheduler runs (kubectl get pods -n kube-system)",
		}, false
	}
	return End{
		name + "node " + pod.Spec.NodeName + " has not started it", reason,
		"kubectl describe pod " + pod.Name + ", or raise wait",
	}, false
}

// detail is the longest message of the cluster about a container that waits.
func detail(w *corev1.ContainerStateWaiting, events []corev1.Event) string {
	said := warning(events)
	if len(w.Message) > len(said) || !strings.HasPrefix(said, "Failed") {
		said = w.Message
	}
	return cmp.Or(said, w.Reason)
}

// warning is the newest of the warnings about a pod; a failure counts before a repeated attempt. Those about
// name servers keep no pod from running.
func warning(events []corev1.Event) string {
	said, failure := "", false
	for _, e := range events {
		if e.Type != corev1.EventTypeWarning || e.Message == "" || strings.Contains(e.Reason, "DNS") {
			continue
		}
		f := strings.HasPrefix(e.Reason, "Failed")
		if f || !failure {
			said, failure = e.Message, f
		}
	}
	return said
}

// sorted puts events in the order of their times.
func sorted(events []corev1.Event) []corev1.Event {
	slices.SortStableFunc(events, func(a, b corev1.Event) int { return when(a).Compare(when(b)) })
	return events
}
