package kubernetes_test

import (
	"context"
	"fmt"
	"net"
	"os/exec"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/sallyport-dev/sallyport/internal/leftout"
)

// gateway is the address of the node for pods of the cluster of make kubernetes-test.
const gateway = "10.244.77.1"

// TestClusterNetwork opens a session where no network plugin enforces the policy, and one where a rule of the
// node does. Policies hear of a closed network only there, until the policy goes.
func TestClusterNetwork(t *testing.T) {
	r := needCluster(t)
	if r.dir == "" {
		leftout.Skip(t, leftout.Cluster, "the cluster is none of make kubernetes-test")
	}
	leftout.Command(t, "ip")
	args := r.configured(t, listening(t))
	env, got := judgedIn(t, args...)
	if got.Network != "unknown" {
		t.Errorf("nothing enforces the policy: %+v", got)
	}
	_ = env.Close()
	r.nothingLeft(t)

	r.enforced(t)
	env, got = judgedIn(t, args...)
	if got.Network != "none" {
		t.Fatalf("the policy is enforced: %+v", got)
	}
	p := begin(t, env, "sleep 600")
	policies := r.in(schema.GroupVersionResource{Group: "networking.k8s.io", Version: "v1",
		Resource: "networkpolicies"}, "agents")
	if err := policies.Delete(t.Context(), "sessions", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	defer r.apply(t, "namespace.yaml")
	contains(t, p.Wait().Error, "its network is no longer known to be closed",
		"no NetworkPolicy denies connections from the pod")
	r.nothingLeft(t)
}

// listening is the configuration of a trial with an address of the node.
func listening(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "0.0.0.0:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return fmt.Sprintf("network: {dial: [%q]}\n", fmt.Sprintf("%s:%d", gateway, l.Addr().(*net.TCPAddr).Port))
}

// enforced has enforce run until the end of the test.
func (r *real) enforced(t *testing.T) {
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); r.enforce(ctx, t) }()
	t.Cleanup(func() { stop(); <-done })
}

// enforce is a network plugin of one line: it drops all answers of the node to pods of sessions.
func (r *real) enforce(ctx context.Context, t *testing.T) {
	ruled := map[string]bool{}
	rule := func(verb, ip string) {
		if out, err := exec.Command("ip", strings.Fields("rule "+verb+" to "+ip+
			"/32 blackhole pref 100")...).CombinedOutput(); err != nil {
			t.Errorf("ip rule %s: %v: %s", verb, err, out)
		}
	}
	w, err := r.pods().Watch(ctx, metav1.ListOptions{LabelSelector: "app.kubernetes.io/managed-by=sallyport"})
	if err != nil {
		t.Error(err)
		return
	}
	defer w.Stop()
	for e := range w.ResultChan() { // it is closed with the context
		p, ok := e.Object.(*unstructured.Unstructured)
		if !ok {
			continue
		}
		if ip, _, _ := unstructured.NestedString(p.Object, "status", "podIP"); ip != "" && !ruled[ip] {
			ruled[ip] = true
			rule("add", ip)
		}
	}
	for ip := range ruled {
		rule("del", ip)
	}
}
