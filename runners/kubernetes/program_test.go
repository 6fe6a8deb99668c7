package kubernetes_test

import (
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/sallyport-dev/sallyport/internal/await"
	"github.com/sallyport-dev/sallyport/runners/kubernetes"
)

// run runs the program with arguments and returns its output and status.
func run(t *testing.T, args ...string) (out, errs string, status int) {
	t.Helper()
	var o, e strings.Builder
	status = kubernetes.Main(t.Context(), args, kubernetes.Streams{In: strings.NewReader(""), Out: &o, Err: &e})
	return o.String(), e.String(), status
}

func TestCommandLine(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		args   string
		status int
		want   string
	}{
		{"--help", 0, "Usage: sallyport-kubernetes"},
		{"--version", 0, "sallyport-kubernetes "},
		{"--imge x", 2, "see sallyport-kubernetes --help"},
		{"", 2, "image: missing"},
		{"start", 2, `unknown argument "start"`},
		{"list prune", 2, "only remove takes names"},
		{"list --al", 2, "see sallyport-kubernetes --help"},
		{"--config /nothing list", 2, "read configuration: open /nothing"},
		{"--kubeconfig /nothing list", 1, "read kubeconfig"},
		{"--image a --memory x", 2, "resources.memory"},
	} {
		out, errs, status := run(t, strings.Fields(tc.args)...)
		if status != tc.status || !strings.Contains(out+errs, tc.want) {
			t.Errorf("%s: status %d: %s%s", tc.args, status, out, errs)
		}
	}
}

func TestDoctor(t *testing.T) {
	t.Parallel()
	s := serve(t)
	doctor := append(s.args(), "doctor")
	out, errs, status := run(t, doctor...)
	if status != 0 || strings.Count(out, "ok  ") != len(kubernetes.Rights(kubernetes.Config{}))+1 {
		t.Errorf("status %d: %s%s", status, out, errs)
	}
	s.nothingLeft()
	s.refuse = func(*corev1.Pod) *metav1.Status {
		return &metav1.Status{Code: 403, Reason: metav1.StatusReasonForbidden,
			Message: `pods "p" is forbidden: violates PodSecurity "restricted:latest"`}
	}
	if out, _, status := run(t, doctor...); status != 1 ||
		!strings.Contains(out,
			"problem  the cluster would take the pod: try to create the pod: Pod Security refuses") {
		t.Errorf("status %d: %s", status, out)
	}
	s.missing = "create pods/exec"
	if out, _, status := run(t, doctor...); status != 1 ||
		!strings.Contains(out, "problem  right to create pods/exec: missing in namespace agents") {
		t.Errorf("status %d: %s", status, out)
	}
	s.http.Close()
	if out, _, status := run(t, doctor...); status != 1 ||
		!strings.Contains(out, "the API server does not answer") {
		t.Errorf("status %d: %s", status, out)
	}
}

// A network is closed when a session's pod cannot connect where another can.
func TestProbe(t *testing.T) {
	t.Parallel()
	s := serve(t)
	doctor := func(address string) string {
		t.Helper()
		out, errs, _ := run(t, append(s.args(), "doctor", "--dial", address)...)
		s.nothingLeft()
		return out + errs
	}
	address := s.http.Listener.Addr().String()
	if out := doctor(address); !strings.Contains(out,
		"problem  pods of sessions cannot connect to "+address+": it connects to "+address+
			": the network plugin does not enforce") {
		t.Error(out)
	}
	if out := doctor("127.0.0.1:1"); !strings.Contains(out,
		"not shown: a pod that is no session's cannot connect to 127.0.0.1:1 either") {
		t.Error(out)
	}
	s.set(func() { s.open = true })
	if out := doctor(address); !strings.Contains(out, "no NetworkPolicy denies connections from the pod") {
		t.Error(out)
	}
	s.set(func() { s.open, s.closed = false, true })
	if out := doctor(address); !strings.Contains(out, "ok       pods of sessions cannot connect to "+address) ||
		strings.Contains(out, "problem") {
		t.Error(out)
	}
}

// Prune, and the next session of an installation, delete its pods with stale leases, and no others.
func TestSweep(t *testing.T) {
	t.Parallel()
	s := serve(t)
	old := time.Now().Add(-time.Hour)
	place := func(name, installation string, created, renewed time.Time) {
		m := metav1.ObjectMeta{
			Name: name, UID: types.UID("uid-" + name), CreationTimestamp: metav1.NewTime(created),
			Labels: map[string]string{"app.kubernetes.io/managed-by": "sallyport",
				"sallyport.dev/installation": installation},
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.pods[name] = &corev1.Pod{TypeMeta: meta("Pod"), ObjectMeta: m,
			Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "work", Image: "agent:1"}}}}
		if !renewed.IsZero() {
			at := metav1.NewMicroTime(renewed)
			s.leases[name] = &coordinationv1.Lease{ObjectMeta: m, Spec: coordinationv1.LeaseSpec{RenewTime: &at}}
		}
	}
	mine := kubernetes.Self().Installation
	fill := func() {
		place("alive", mine, old, time.Now())
		place("stale", mine, old, old)
		place("never-held", mine, old, time.Time{})
		place("being-made", mine, time.Now(), time.Time{})
		place("of-another", "another", old, old)
	}
	fill()
	out, errs, status := run(t, append(s.args(), "list")...)
	if status != 0 || strings.Count(out, `"state":"dead"`) != 2 ||
		strings.Count(out, `"state":"running"`) != 2 ||
		strings.Contains(out, "of-another") {
		t.Errorf("status %d:\n%s%s", status, out, errs)
	}
	if out, _, status := run(t, append(s.args(), "prune")...); status != 0 ||
		strings.Count(out, "\n") != 2 || !strings.Contains(out, "stale") ||
		!strings.Contains(out, "never-held") {
		t.Errorf("status %d: %s", status, out)
	}
	if out, _, _ := run(t, append(s.args(), "prune")...); out != "" {
		t.Errorf("%s", out)
	}
	_, errs, status = run(t, append(s.args(), "remove", "of-another")...)
	if status != 1 || !strings.Contains(errs, "namespace agents has no such pod of") {
		t.Errorf("status %d: %s", status, errs)
	}
	out, _, _ = run(t, append(s.args(), "prune", "--all")...)
	if !strings.Contains(out, `{"name":"of-another"`) || strings.Count(out, "\n") != 1 {
		t.Errorf("%s", out)
	}
	if out, errs, status = run(t, append(s.args(), "remove", "alive")...); status != 0 ||
		!strings.Contains(out, `{"name":"alive","state":"running","image":"agent:1"`) {
		t.Errorf("status %d: %s%s", status, out, errs)
	}
	fill()
	env := open(t, s.args()...)
	defer env.Close()
	await.True(t, "stale pods are gone", func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.pods["stale"] == nil && s.pods["never-held"] == nil
	})
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pods["alive"] == nil || s.pods["of-another"] == nil {
		t.Error("a pod of another session is gone")
	}
}
