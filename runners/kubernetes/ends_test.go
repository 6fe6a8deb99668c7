package kubernetes_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sallyport-dev/sallyport/runners/kubernetes"
)

func pod(change func(*corev1.Pod)) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "sallyport-1"}}
	change(p)
	return p
}

// inWords fails unless an error is one line with every part.
func inWords(t *testing.T, name string, err error, parts ...string) {
	t.Helper()
	if err == nil || strings.Contains(err.Error(), "\n") {
		t.Errorf("%s: %v", name, err)
		return
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%s: %v\nwant %q", name, err, part)
		}
	}
}

func TestEnded(t *testing.T) {
	t.Parallel()
	terminated := func(container, reason string, code int32, message string) corev1.ContainerStatus {
		return corev1.ContainerStatus{Name: container, State: corev1.ContainerState{
			Terminated: &corev1.ContainerStateTerminated{Reason: reason, ExitCode: code, Message: message},
		}}
	}
	for name, tc := range map[string]struct {
		change func(*corev1.Pod)
		want   []string
	}{
		"evicted": {func(p *corev1.Pod) {
			p.Status = corev1.PodStatus{Phase: corev1.PodFailed, Reason: "Evicted",
				Message: "Pod ephemeral local storage usage exceeds\nthe total limit"}
		},
			[]string{"pod sallyport-1: the node evicted the pod: Pod ephemeral local storage usage exceeds " +
				"the total " +
				"limit: raise resources.storage"}},
		"without a message": {func(
			p *corev1.Pod) {
			p.Status = corev1.PodStatus{Phase: corev1.PodFailed, Reason: "NodeLost"}
		}, []string{"the node of the pod is lost: NodeLost:"}},
		"preempted": {func(p *corev1.Pod) {
			p.Status.Conditions = []corev1.PodCondition{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue,
				Reason: "PreemptionByScheduler", Message: "preempting to accommodate a higher priority pod"}}
		}, []string{"higher priority: preempting to accommodate"}},
		"drained": {func(p *corev1.Pod) {
			p.Status.Conditions = []corev1.PodCondition{{Type: corev1.DisruptionTarget, Status: corev1.ConditionTrue,
				Reason: "EvictionByEvictionAPI"}}
		}, []string{"as for a drain of its node"}},
		"memory": {func(p *corev1.Pod) {
			p.Status.ContainerStatuses = []corev1.ContainerStatus{terminated("work", "OOMKilled", 137, "")}
		}, []string{"container work was out of memory: OOMKilled: raise resources.memory"}},
		"installer": {func(p *corev1.Pod) {
			p.Status = corev1.PodStatus{Phase: corev1.PodFailed, InitContainerStatuses: []corev1.ContainerStatus{
				terminated("install", "Error", 2, "sallyport-supervisor: unknown argument \"--install\"\nUsage:"),
			}}
		}, []string{"the supervisor cannot be installed: Error, status 2 sallyport-supervisor: unknown argument",
			"this release"}},
		"first process": {func(p *corev1.Pod) {
			p.Status = corev1.PodStatus{Phase: corev1.PodSucceeded,
				ContainerStatuses: []corev1.ContainerStatus{terminated("work", "Completed", 0, "")}}
		}, []string{"container work ended: Completed, status 0"}},
		"anything": {func(p *corev1.Pod) {
			p.Status = corev1.PodStatus{Phase: corev1.PodFailed, Reason: "Unheard", Message: "of this"}
		}, []string{"it ended: of this: kubectl describe pod sallyport-1"}},
		"deleted": {func(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{Time: time.Now()} },
			[]string{"is being deleted, and not by this session"}},
	} {
		e, ok := kubernetes.Ended(pod(tc.change), nil)
		if !ok {
			t.Errorf("%s: it has not ended", name)
		}
		inWords(t, name, e, tc.want...)
	}
	evicted := []corev1.Event{{Type: corev1.EventTypeWarning, Reason: "Evicted",
		Message: "Usage exceeds the limit"}}
	if e, ok := kubernetes.Ended(pod(runs), evicted); !ok ||
		!strings.Contains(e.Error(), "evicted the pod: Usage exceeds the limit") {
		t.Errorf("an eviction that the status does not have yet: %v", e)
	}
	if e, ok := kubernetes.Ended(pod(runs), nil); ok {
		t.Errorf("a pod that runs has ended: %v", e)
	}
}

func TestStuck(t *testing.T) {
	t.Parallel()
	waiting := func(reason, message string) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			p.Status.ContainerStatuses = []corev1.ContainerStatus{{
				Name: "work", Image: "agent:1", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}},
			}}
		}
	}
	at := func(second int, reason, message string) corev1.Event {
		return corev1.Event{Type: corev1.EventTypeWarning, Reason: reason, Message: message,
			LastTimestamp: metav1.Unix(int64(second), 0)}
	}
	for name, tc := range map[string]struct {
		change func(*corev1.Pod)
		events []corev1.Event
		fatal  bool
		want   []string
	}{
		"image, with the event": {waiting("ImagePullBackOff", "Back-off"), []corev1.Event{
			at(1, "Failed", `Failed to pull image "agent:1": 401 Unauthorized`),
			at(2, "BackOff", "Back-off pulling image"),
		}, true, []string{"the image cannot be pulled (agent:1): Failed to pull image", "401 Unauthorized",
			"image_pull_secrets"}},
		"image, first time": {waiting("ErrImagePull", "no such host"), nil, false, []string{"no such host"}},
		"image name": {waiting("InvalidImageName", "couldn't parse"), nil, true,
			[]string{"the name of the image is invalid"}},
		"never pulled": {waiting("ErrImageNeverPull", "is not present with pull policy of Never"), nil, true,
			[]string{"is not on the node"}},
		"root's image": {waiting("CreateContainerConfigError",
			"container has runAsNonRoot and image will run as root"), nil, true,
			[]string{"runAsNonRoot", "correct user"}},
		"other processor": {waiting("RunContainerError", "exec format error"), nil, true,
			[]string{"exec format error", "kind of processor"}},
		"creating": {waiting("CreateContainerError", "context deadline exceeded"), nil, true,
			[]string{"context deadline exceeded"}},
		"image read": {waiting("ImageInspectError", "bad"), nil, true, []string{"the image cannot be read"}},
		"unschedulable": {func(p *corev1.Pod) {
			p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse,
				Message: "0/1 nodes are available"}}
		}, nil, false, []string{"no node can take it: 0/1 nodes are available"}},
		"no scheduler": {func(p *corev1.Pod) { p.Status.Phase = corev1.PodPending }, nil, false,
			[]string{"no scheduler has looked at it: its phase is Pending"}},
		"mount": {func(p *corev1.Pod) { p.Spec.NodeName = "n" },
			[]corev1.Event{at(1, "FailedMount", "MountVolume.SetUp failed")}, false,
			[]string{"node n has not started it: MountVolume.SetUp failed"}},
	} {
		e, fatal := kubernetes.Stuck(pod(tc.change), tc.events)
		if fatal != tc.fatal {
			t.Errorf("%s: fatal %v", name, fatal)
		}
		inWords(t, name, e, tc.want...)
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	status := func(code int32, reason metav1.StatusReason, message string) error {
		return &apierrors.StatusError{ErrStatus: metav1.Status{Code: code, Reason: reason, Message: message}}
	}
	forbidden := func(message string) error { return status(403, metav1.StatusReasonForbidden, message) }
	for want, err := range map[string]error{
		"the quota of the namespace is used up": forbidden(
			`pods "p" is forbidden: exceeded quota: q, requested: pods=1, used: pods=20, limited: pods=20`),
		"does not count such a pod": forbidden(
			`pods "p" is forbidden: failed quota: q: must specify limits.cpu`),
		"Pod Security refuses the pod": forbidden(
			`pods "p" is forbidden: violates PodSecurity "restricted:latest": runAsNonRoot != true`),
		"an admission webhook refuses the pod": status(400, metav1.StatusReasonBadRequest,
			`admission webhook "v.example" denied the request: no`),
		"an admission policy refuses the pod": status(422, metav1.StatusReasonInvalid,
			`pods "p" is forbidden: ValidatingAdmissionPolicy 'a' with binding 'b' denied request: no`),
		"the runtime class is not there": forbidden(
			`pods "p" is forbidden: pod rejected: RuntimeClass "gvisor" not found`),
		"the LimitRange of the namespace refuses": forbidden(
			`pods "p" is forbidden: maximum memory usage per Container is 1Gi, but limit is 2Gi`),
		"the LimitRange of the namespace refuses the pod": forbidden(
			`pods "p" is forbidden: maximum cpu usage per Pod is 1, but limit is 2`),
		"the namespace is being deleted": forbidden(
			`pods "p" is forbidden: unable to create new content in namespace agents because it is being terminated`),
		"has no service account yet": forbidden(
			`pods "p" is forbidden: error looking up service account agents/default: not found`),
		"the cluster's admission refuses the pod: pods": forbidden(`pods "p" is forbidden: because`),
		"a right is missing": forbidden(
			`pods is forbidden: User "u" cannot create resource "pods" in API group "" in the namespace "agents"`),
		"the namespace is not there": status(404, metav1.StatusReasonNotFound,
			`namespaces "agents" not found`),
		"does not accept the credentials": status(401, metav1.StatusReasonUnauthorized,
			"Unauthorized"),
		"takes the pod for invalid": status(422, metav1.StatusReasonInvalid,
			`Pod "p" is invalid: spec`),
		"is overloaded or starting": status(429, metav1.StatusReasonTooManyRequests,
			"too many"),
		"agent-sandbox is not installed, or not with its API v1beta1: the server": status(404,
			metav1.StatusReasonNotFound,
			"the server could not find the requested resource"),
		"the API server refuses: etcd":                   status(500, metav1.StatusReasonInternalError, "etcd"),
		"the API server cannot be asked: x509: bad: see": errors.New("x509: bad"),
	} {
		inWords(t, want, kubernetes.Refused("create the pod", err), "create the pod: ", want)
	}
}

func TestLost(t *testing.T) {
	t.Parallel()
	broke := errors.New("websocket: close 1006")
	inWords(t, "gone", kubernetes.Lost("p", nil, nil, nil, broke),
		"pod p: it was deleted, and not by this session")
	inWords(t, "not asked", kubernetes.Lost("p", nil, nil, errors.New("no route"), broke),
		"why is not known: no route")
	inWords(t, "runs", kubernetes.Lost("p", pod(runs), nil, nil, broke),
		"the pod still runs: websocket: close 1006")
	inWords(t, "no supervisor", kubernetes.Lost("p", pod(runs), nil, nil,
		errors.New(`exec: "/x": stat /x: no such file or directory`)), "the supervisor cannot be started")
}

// Facts are of the pod as it runs: admission may have changed it, and a status can have other limits.
func TestLook(t *testing.T) {
	t.Parallel()
	yes, class := true, "gvisor"
	for name, tc := range map[string]struct {
		change func(*corev1.Pod)
		want   kubernetes.Place
	}{
		"as asked for": {func(p *corev1.Pod) {
			p.Spec.NodeName, p.Spec.RuntimeClassName = "n", &class
			p.Spec.Containers[0].Resources.Limits = corev1.ResourceList{"cpu": resource.MustParse("500m"),
				"memory": resource.MustParse("1Ki")}
			p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "work", ImageID: "docker.io/a@sha256:12"}}
		}, kubernetes.Place{Isolation: "container", Network: "unknown", Runtime: "gvisor", Image: "a",
			Digest: "sha256:12", Node: "n", CPU: 500, Memory: 1024}},
		"other limits in force": {func(p *corev1.Pod) {
			p.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "work",
				Resources: &corev1.ResourceRequirements{
					Limits: corev1.ResourceList{"memory": resource.MustParse("2Ki")},
				}}}
		}, kubernetes.Place{Isolation: "container", Network: "unknown", Image: "a", Memory: 2048}},
		"network of the node": {func(p *corev1.Pod) { p.Spec.HostNetwork = true },
			kubernetes.Place{Isolation: "none", Network: "host", Image: "a"}},
		"processes of the node": {func(p *corev1.Pod) { p.Spec.HostPID = true },
			kubernetes.Place{Isolation: "none", Network: "unknown", Image: "a"}},
		"privileged": {func(
			p *corev1.Pod) {
			p.Spec.Containers[0].SecurityContext = &corev1.SecurityContext{Privileged: &yes}
		},
			kubernetes.Place{Isolation: "none", Network: "unknown", Image: "a"}},
		"path of the node": {func(p *corev1.Pod) {
			p.Spec.Volumes = []corev1.Volume{{VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/"}}}}
		}, kubernetes.Place{Isolation: "none", Network: "unknown", Image: "a"}},
	} {
		p := pod(func(p *corev1.Pod) { p.Spec.Containers = []corev1.Container{{Name: "work", Image: "a"}} })
		tc.change(p)
		tc.want.Name = p.Name
		if got := kubernetes.Look(p, "unknown"); got != tc.want {
			t.Errorf("%s: got %+v, want %+v", name, got, tc.want)
		}
	}
}
