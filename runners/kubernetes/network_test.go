package kubernetes_test

import (
	"os"
	"path/filepath"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/runners/command"
)

// judgedIn opens an environment as a gate does, and returns the facts for policies.
func judgedIn(t *testing.T, args ...string) (engine.Environment, facts.Runner) {
	t.Helper()
	r, err := command.New(command.Options{
		Name: "cluster", Facts: true, Command: append([]string{os.Args[0]}, args...),
		Host: append(os.Environ(), asPlugin+"=1"),
	})
	if err != nil {
		t.Fatal(err)
	}
	env, err := r.Open(t.Context(), engine.EnvironmentSpec{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = env.Close() })
	return env, r.Describe()
}

// dialing are the arguments of a session that tries an address: "" for that of the server, and "-" for none.
func (s *server) dialing(t *testing.T, address string) []string {
	t.Helper()
	if address == "" {
		address = s.http.Listener.Addr().String()
	}
	file := filepath.Join(t.TempDir(), "pod.yaml")
	text := "network: {dial: [\"" + address + "\"]}\n"
	if address == "-" {
		text = ""
	}
	write(t, file, text)
	return append(s.args(), "--config", file)
}

func ofNode(pod *corev1.Pod) {
	runs(pod)
	pod.Spec.HostNetwork = true
}

func refuseControl(pod *corev1.Pod) *metav1.Status {
	if pod.Labels["app.kubernetes.io/managed-by"] == "sallyport" {
		return nil
	}
	return &metav1.Status{Code: 403, Reason: metav1.StatusReasonForbidden, Message: "exceeded quota"}
}

// Policies hear of a closed network only where a policy denies connections, the session cannot connect, and
// another pod can.
func TestNetworkIsTold(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		set  func(*server)
		dial string
		want string
	}{
		"closed":            {func(s *server) { s.closed = true }, "", "none"},
		"no address":        {func(s *server) { s.closed = true }, "-", "unknown"},
		"not enforced":      {func(*server) {}, "", "unknown"},
		"no policy":         {func(s *server) { s.closed, s.open = true, true }, "", "unknown"},
		"nothing there":     {func(s *server) { s.closed = true }, "127.0.0.1:1", "unknown"},
		"network of a node": {func(s *server) { s.closed, s.become = true, ofNode }, "", "host"},
		"no right to look": {func(s *server) { s.closed, s.missing = true, "list networkpolicies" }, "",
			"unknown"},
		"control is refused": {func(s *server) { s.closed, s.refuse = true, refuseControl }, "", "unknown"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t)
			tc.set(s)
			if _, got := judgedIn(t, s.dialing(t, tc.dial)...); got.Network != tc.want || !got.Place.Seen {
				t.Errorf("got %+v", got)
			}
		})
	}
}

// A session ends when its network, which policies took for closed, is no longer known to be.
func TestNetworkThatOpensEndsTheSession(t *testing.T) {
	t.Parallel()
	s := serve(t)
	s.closed = true
	env, got := judgedIn(t, s.dialing(t, "")...)
	if got.Network != "none" {
		t.Fatalf("got %+v", got)
	}
	p := begin(t, env, "echo here; sleep 600")
	s.changed <- struct{}{} // to the same
	s.changed <- struct{}{} // it watches on
	s.set(func() { s.open = true })
	close(s.changed)
	contains(t, p.Wait().Error, "its network is no longer known to be closed",
		"no NetworkPolicy denies connections from the pod")
	s.nothingLeft()
}
