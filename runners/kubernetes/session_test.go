package kubernetes_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/internal/await"
	"github.com/sallyport-dev/sallyport/internal/testprogram"
	"github.com/sallyport-dev/sallyport/runners/command"
	"github.com/sallyport-dev/sallyport/runners/kubernetes"
	"github.com/sallyport-dev/sallyport/runners/runnertest"
)

// program is the supervisor; TestMain builds it.
var program string

// In the environment of this test binary, asPlugin makes it the plugin, and theArgs holds its arguments.
const (
	asPlugin = "SALLYPORT_KUBERNETES_TEST_PLUGIN"
	theArgs  = "SALLYPORT_KUBERNETES_TEST_ARGS"
)

func TestMain(m *testing.M) {
	if os.Getenv(asPlugin) != "" {
		os.Exit(kubernetes.Main(context.Background(), os.Args[1:], kubernetes.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}))
	}
	runnertest.Gateway("pod", func() (engine.Environment, error) { return try(strings.Fields(os.Getenv(theArgs))...) })
	os.Exit(testprogram.Main(m, func(dir string) { program = filepath.Join(dir, "sallyport-supervisor") },
		"cmd/sallyport-supervisor"))
}

// try opens an environment through the plugin.
func try(args ...string) (engine.Environment, error) {
	r, err := command.New(command.Options{
		Name: "cluster", Facts: true, Command: append([]string{os.Args[0]}, args...), Host: append(os.Environ(), asPlugin+"=1"),
	})
	if err != nil {
		return nil, err
	}
	return r.Open(context.Background(), engine.EnvironmentSpec{Layout: facts.Layout{}})
}

func open(t testing.TB, args ...string) engine.Environment {
	t.Helper()
	env, err := try(args...)
	if err != nil {
		t.Fatal(err)
	}
	return env
}

func (s *server) args() []string {
	return []string{"--kubeconfig", s.kubeconfig(), "--image", "agent:1", "--supervisor-image", "sallyport:1"}
}

// TestThroughAnAPIServer takes the suite through a stream of each kind, to a supervisor on this machine.
func TestThroughAnAPIServer(t *testing.T) {
	for _, old := range []bool{false, true} {
		t.Run(map[bool]string{false: "WebSocket", true: "SPDY"}[old], func(t *testing.T) {
			s := serve(t)
			s.old = old
			args := s.args()
			t.Setenv(theArgs, strings.Join(args, " "))
			o := runnertest.Options{Gateway: "pod", Parts: []string{"streams", "output", "ends", "gateway"}}
			runnertest.RunIn(t, o, func(t *testing.T) engine.Environment { return open(t, args...) })
			s.nothingLeft()
		})
	}
}

// A session that waits for its pod ends when the gate does, and leaves nothing.
func TestGateLeavesEarly(t *testing.T) {
	s := serve(t)
	s.become = func(p *corev1.Pod) { p.Status.Phase = corev1.PodPending }
	in, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(os.Args[0], s.args()...)
	c.Env, c.Stdin = append(os.Environ(), asPlugin+"=1"), in
	var said strings.Builder
	c.Stderr = &said
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	in.Close()
	await.True(t, "the pod is there", func() bool { s.mu.Lock(); defer s.mu.Unlock(); return len(s.pods) == 1 && len(s.leases) == 1 })
	if _, err := w.WriteString("sallyport-supervisor/6\n"); err != nil {
		t.Fatal(err)
	}
	w.Close()
	if err := c.Wait(); err == nil || !strings.Contains(said.String(), "the gate has closed its end") {
		t.Errorf("%v: %s", err, said.String())
	}
	s.nothingLeft()
}

// TestEndsAreTold ends a pod in the middle of a command, and looks for the cluster's reason in the error.
func TestEndsAreTold(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*corev1.Pod)
		want   []string
	}{
		"evicted": {func(p *corev1.Pod) {
			p.Status.Phase, p.Status.Reason, p.Status.Message = corev1.PodFailed, "Evicted", "The node was low on resource: memory."
		}, []string{"the node evicted the pod", "low on resource: memory", "raise resources.storage"}},
		"deadline": {func(p *corev1.Pod) {
			p.Status.Phase, p.Status.Reason, p.Status.Message = corev1.PodFailed, "DeadlineExceeded", "Pod was active on the node longer than the specified deadline"
		}, []string{"the lifetime of the pod is over", "longer than the specified deadline", "raise lifetime"}},
		"out of memory": {func(p *corev1.Pod) {
			p.Status.Phase = corev1.PodFailed
			p.Status.ContainerStatuses[0].State = corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Reason: "OOMKilled", ExitCode: 137}}
		}, []string{"container work was out of memory", "OOMKilled", "raise resources.memory"}},
		"deleted":           {nil, []string{"it was deleted, and not by this session", "makes a new pod"}},
		"being deleted":     {func(p *corev1.Pod) { now := metav1.Now(); p.DeletionTimestamp = &now }, []string{"is being deleted"}},
		"supervisor killed": {func(*corev1.Pod) {}, []string{"broke, and the pod still runs"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t)
			env := open(t, s.args()...)
			p := begin(t, env, "echo here; sleep 600")
			await.True(t, "it runs", func() bool { out, _ := p.Output(); return out.Text == "here\n" })
			s.change(true, tc.change)
			x := p.Wait()
			if x.Error == nil || x.Code != -1 {
				t.Fatalf("%+v", x)
			}
			for _, want := range tc.want {
				if !strings.Contains(x.Error.Error(), want) {
					t.Errorf("%v\nwant %q", x.Error, want)
				}
			}
			if err := env.Close(); err != nil {
				t.Error(err)
			}
			s.nothingLeft()
		})
	}
}

// TestAPIServerGone ends the API server in the middle of a command.
func TestAPIServerGone(t *testing.T) {
	s := serve(t)
	env := open(t, s.args()...)
	defer env.Close()
	p := begin(t, env, "echo here; sleep 600")
	await.True(t, "it runs", func() bool { out, _ := p.Output(); return out.Text == "here\n" })
	s.http.Listener.Close()
	s.http.CloseClientConnections() // idle ones, too
	s.change(true, func(*corev1.Pod) {})
	x := p.Wait()
	if x.Error == nil || !strings.Contains(x.Error.Error(), "API server does not answer") {
		t.Errorf("%+v", x)
	}
}

func begin(t testing.TB, env engine.Environment, text string) engine.Process {
	t.Helper()
	c, err := env.Prepare(text, "/")
	if err != nil {
		t.Fatal(err)
	}
	c.ID, c.Timeout, c.Output = "D-test", time.Hour, 1<<16
	p, err := env.Start(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestStartsThatFail gives a pod a state, or refuses it, and looks for the words of the error.
func TestStartsThatFail(t *testing.T) {
	waits := func(reason, message string) func(*corev1.Pod) {
		return func(p *corev1.Pod) {
			p.Status = corev1.PodStatus{Phase: corev1.PodPending, InitContainerStatuses: []corev1.ContainerStatus{
				{Name: "install", Image: "sallyport:1", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: message}}},
			}}
		}
	}
	forbid := func(message string) func(*corev1.Pod) *metav1.Status {
		return func(*corev1.Pod) *metav1.Status {
			return &metav1.Status{Code: 403, Reason: metav1.StatusReasonForbidden, Message: message}
		}
	}
	for name, tc := range map[string]struct {
		refuse func(*corev1.Pod) *metav1.Status
		become func(*corev1.Pod)
		want   []string
	}{
		"image":     {nil, waits("ImagePullBackOff", `Back-off pulling image "sallyport:1"`), []string{"the image cannot be pulled (sallyport:1)", "Back-off pulling", "correct the image"}},
		"secret":    {nil, waits("CreateContainerConfigError", `secret "token" not found`), []string{`secret "token" not found`, "create the Secret"}},
		"quota":     {forbid(`pods "sallyport-1" is forbidden: exceeded quota: small, requested: pods=1`), nil, []string{"the quota of the namespace is used up", "exceeded quota: small"}},
		"admission": {forbid(`admission webhook "deny.example" denied the request: no latest`), nil, []string{"an admission webhook refuses the pod", "no latest"}},
		"rights":    {forbid(`pods is forbidden: User "u" cannot create resource "pods"`), nil, []string{"a right is missing", "doctor"}},
		"unschedulable": {nil, func(p *corev1.Pod) {
			p.Status = corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{
				{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: "Unschedulable", Message: "0/3 nodes are available: 3 Insufficient memory."},
			}}
		}, []string{"not running after 1s", "no node can take it", "3 Insufficient memory", "lower resources"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t)
			s.refuse, s.become = tc.refuse, tc.become
			config := filepath.Join(t.TempDir(), "pod.yaml")
			if err := os.WriteFile(config, []byte("wait: 1s\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := try(append(s.args(), "--config", config)...)
			if err == nil {
				t.Fatal("it opened")
			}
			for _, want := range tc.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%v\nwant %q", err, want)
				}
			}
			s.nothingLeft()
		})
	}
}
