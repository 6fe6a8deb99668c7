package kubernetes_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/streaming/pkg/httpstream"
	"k8s.io/streaming/pkg/httpstream/spdy"
	"k8s.io/streaming/pkg/httpstream/wsstream"

	"github.com/sallyport-dev/sallyport/internal/await"
)

// server is an API server in as far as the runner asks one. An exec starts the supervisor on this machine.
type server struct {
	t    *testing.T
	http *httptest.Server

	mu      sync.Mutex
	pods    map[string]*corev1.Pod
	leases  map[string]*coordinationv1.Lease
	events  []corev1.Event
	deleted []string
	running []*exec.Cmd

	// refuse answers the creation of a pod, and become is its state after it; both may be nil.
	refuse func(*corev1.Pod) *metav1.Status
	become func(*corev1.Pod)
	// missing is a right that nobody has, as Right.String has it.
	missing string
	// old servers know no WebSocket.
	old bool
	// closed is a cluster with a network that enforces the policy for sessions, which is there unless open is
	// set.
	closed  bool
	open    bool
	changed chan struct{} // ends a watch of the policies
}

func serve(t *testing.T) *server {
	t.Helper()
	s := &server{t: t, pods: map[string]*corev1.Pod{}, leases: map[string]*coordinationv1.Lease{},
		changed: make(chan struct{})}
	mux := http.NewServeMux()
	const pods, leases = "/api/v1/namespaces/agents/pods",
		"/apis/coordination.k8s.io/v1/namespaces/agents/leases"
	mux.HandleFunc("POST "+pods, s.createPod)
	mux.HandleFunc("GET "+pods, s.listPods)
	mux.HandleFunc("GET "+pods+"/{name}", s.getPod)
	mux.HandleFunc("DELETE "+pods+"/{name}", s.deletePod)
	mux.HandleFunc(pods+"/{name}/exec", s.exec)
	mux.HandleFunc("POST "+leases, s.putLease)
	mux.HandleFunc("PUT "+leases+"/{name}", s.putLease)
	mux.HandleFunc("GET "+leases, s.listLeases)
	mux.HandleFunc("GET /api/v1/namespaces/agents/events", func(w http.ResponseWriter, _ *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		answer(w, 200, corev1.EventList{TypeMeta: meta("EventList"), Items: s.events})
	})
	mux.HandleFunc("GET /apis/networking.k8s.io/v1/namespaces/agents/networkpolicies", s.listPolicies)
	mux.HandleFunc("POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews", s.review)
	s.http = httptest.NewServer(mux)
	t.Cleanup(s.end)
	return s
}

func (s *server) end() {
	s.mu.Lock()
	running := s.running
	s.mu.Unlock()
	for _, c := range running {
		_ = c.Process.Kill()
	}
	s.http.CloseClientConnections()
	s.http.Close()
}

// kubeconfig writes one that leads to the server.
func (s *server) kubeconfig() string {
	file := filepath.Join(s.t.TempDir(), "kubeconfig")
	text := fmt.Sprintf(
		`{apiVersion: v1, kind: Config, current-context: test, clusters: [{name: test, cluster: {server: %q}}],
contexts: [{name: test, context: {cluster: test, user: test, namespace: agents}}], users: [{name: test, user: {token: x}}]}`, s.http.URL)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
	return file
}

func meta(kind string) metav1.TypeMeta { return metav1.TypeMeta{APIVersion: "v1", Kind: kind} }

func answer(w http.ResponseWriter, status int, object any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(object)
}

func refused(w http.ResponseWriter, s *metav1.Status) {
	s.TypeMeta, s.Status = meta("Status"), metav1.StatusFailure
	answer(w, int(s.Code), s)
}

func missing(w http.ResponseWriter, name string) {
	refused(w, &metav1.Status{Code: 404, Reason: metav1.StatusReasonNotFound,
		Message: `pods "` + name + `" not found`})
}

func decode[T any](t *testing.T, r *http.Request) *T {
	object := new(T)
	if err := json.NewDecoder(r.Body).Decode(object); err != nil {
		t.Errorf("%s %s: %v", r.Method, r.URL, err)
	}
	return object
}

func (s *server) createPod(w http.ResponseWriter, r *http.Request) {
	pod := decode[corev1.Pod](s.t, r)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.refuse != nil {
		if status := s.refuse(pod); status != nil {
			refused(w, status)
			return
		}
	}
	pod.UID, pod.Namespace, pod.CreationTimestamp = types.UID("uid-"+pod.Name), "agents", metav1.Now()
	pod.Spec.NodeName = "node-1"
	if r.URL.Query().Get("dryRun") == "" {
		become := s.become
		if become == nil {
			become = runs
		}
		become(pod)
		s.pods[pod.Name] = pod
	}
	answer(w, 201, pod)
}

// runs is the state of a pod that runs.
func runs(pod *corev1.Pod) {
	pod.Status = corev1.PodStatus{Phase: corev1.PodRunning, ContainerStatuses: []corev1.ContainerStatus{
		{Name: "work", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}},
	}}
}

func (s *server) listPods(w http.ResponseWriter, r *http.Request) {
	selector, err := labels.Parse(r.URL.Query().Get("labelSelector"))
	if err != nil {
		s.t.Error(err)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	all := corev1.PodList{TypeMeta: meta("PodList")}
	for _, p := range s.pods {
		if !selector.Matches(labels.Set(p.Labels)) {
			continue
		}
		all.Items = append(all.Items, *p)
	}
	answer(w, 200, all)
}

func (s *server) getPod(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p := s.pods[r.PathValue("name")]; p != nil {
		answer(w, 200, p)
		return
	}
	missing(w, r.PathValue("name"))
}

func (s *server) deletePod(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	name := r.PathValue("name")
	if s.pods[name] == nil {
		missing(w, name)
		return
	}
	delete(s.pods, name)
	delete(s.leases, name)
	s.deleted = append(s.deleted, name)
	answer(w, 200, metav1.Status{TypeMeta: meta("Status"), Status: metav1.StatusSuccess})
}

func (s *server) putLease(w http.ResponseWriter, r *http.Request) {
	l := decode[coordinationv1.Lease](s.t, r)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.leases[l.Name] = l
	answer(w, 201, l)
}

func (s *server) listLeases(w http.ResponseWriter, _ *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := coordinationv1.LeaseList{TypeMeta: metav1.TypeMeta{APIVersion: "coordination.k8s.io/v1",
		Kind: "LeaseList"}}
	for _, l := range s.leases {
		all.Items = append(all.Items, *l)
	}
	answer(w, 200, all)
}

func (s *server) listPolicies(w http.ResponseWriter, r *http.Request) {
	if r.URL.Query().Get("watch") != "" {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusOK)
		_ = http.NewResponseController(w).Flush()
		select {
		case <-s.changed:
			_, _ = io.WriteString(
				w,
				`{"type": "DELETED", "object": {"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy", "metadata": {}}}`+"\n")
		case <-r.Context().Done():
		}
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.missing == "list networkpolicies" {
		refused(w, &metav1.Status{Code: 403, Reason: metav1.StatusReasonForbidden,
			Message: "networkpolicies is forbidden"})
		return
	}
	all := networkingv1.NetworkPolicyList{TypeMeta: metav1.TypeMeta{APIVersion: "networking.k8s.io/v1",
		Kind: "NetworkPolicyList"}}
	if !s.open {
		all.Items = []networkingv1.NetworkPolicy{{ObjectMeta: metav1.ObjectMeta{Name: "sessions"},
			Spec: networkingv1.NetworkPolicySpec{
				PodSelector: metav1.LabelSelector{MatchLabels: map[string]string{"app.kubernetes.io/managed-by": "sallyport"}},
				PolicyTypes: []networkingv1.PolicyType{networkingv1.PolicyTypeEgress},
			}}}
	}
	answer(w, 200, all)
}

func (s *server) review(w http.ResponseWriter, r *http.Request) {
	v := decode[authorizationv1.SelfSubjectAccessReview](s.t, r)
	a := v.Spec.ResourceAttributes
	name := a.Verb + " " + a.Resource
	if a.Subresource != "" {
		name += "/" + a.Subresource
	}
	v.Status = authorizationv1.SubjectAccessReviewStatus{Allowed: name != s.missing && a.Namespace == "agents"}
	answer(w, 201, v)
}

// set changes the cluster.
func (s *server) set(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
}

// change changes the one pod that is there, and ends the processes in it if end is set.
func (s *server) change(end bool, change func(*corev1.Pod)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name, p := range s.pods {
		if change == nil {
			delete(s.pods, name)
		} else {
			change(p)
		}
	}
	for _, c := range s.running {
		if end {
			_ = c.Process.Kill()
		}
	}
}

// nothingLeft waits until no pod is there.
func (s *server) nothingLeft() {
	s.t.Helper()
	await.True(s.t, "no pod is left", func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return len(s.pods) == 0
	})
}

// exec runs the supervisor for a WebSocket, or for SPDY.
func (s *server) exec(w http.ResponseWriter, r *http.Request) {
	command := r.URL.Query()["command"]
	if len(command) == 0 || !strings.HasSuffix(command[0], "sallyport-supervisor") {
		s.t.Errorf("command %q", command)
		return
	}
	s.mu.Lock()
	if p := s.pods[r.PathValue("name")]; s.closed && p != nil &&
		p.Labels["app.kubernetes.io/managed-by"] == "sallyport" &&
		len(command) > 1 && command[1] == "--canary" {
		command = []string{"", "--canary", "{}"} // it gets nowhere
	}
	s.mu.Unlock()
	if r.Method == http.MethodPost {
		s.execSPDY(w, r, command[1:])
		return
	}
	if s.old {
		http.Error(w, "Upgrade request required", http.StatusBadRequest)
		return
	}
	conn := wsstream.NewConn(map[string]wsstream.ChannelProtocolConfig{"v5.channel.k8s.io": {Binary: true,
		Channels: []wsstream.ChannelType{
			wsstream.ReadChannel, wsstream.WriteChannel, wsstream.WriteChannel, wsstream.WriteChannel,
			wsstream.ReadChannel,
		}}})
	_, streams, err := conn.Open(w, r)
	if err != nil {
		s.t.Error(err)
		return
	}
	defer conn.Close()
	s.run(command[1:], streams[0], streams[1], streams[2], streams[3])
}

func (s *server) execSPDY(w http.ResponseWriter, r *http.Request, args []string) {
	if _, err := httpstream.Handshake(r, w, []string{"v4.channel.k8s.io"}); err != nil {
		s.t.Error(err)
		return
	}
	came := make(chan httpstream.Stream, 4)
	conn := spdy.NewResponseUpgrader().UpgradeResponse(w, r,
		func(st httpstream.Stream, sent <-chan struct{}) error {
			go func() { <-sent; came <- st }()
			return nil
		})
	if conn == nil {
		return
	}
	defer conn.Close()
	of := map[string]httpstream.Stream{}
	for len(of) < 4 {
		st := <-came
		of[st.Headers().Get(corev1.StreamType)] = st
	}
	s.run(args, of["stdin"], of["stdout"], of["stderr"], of["error"])
}

func (s *server) run(args []string, in io.Reader, out, errs, status io.Writer) {
	c := exec.Command(program, args...)
	c.Env = append(os.Environ(), "HOME=/tmp")
	stdin, err := c.StdinPipe()
	if err != nil {
		s.t.Error(err)
		return
	}
	c.Stdout, c.Stderr = out, errs
	if err := c.Start(); err != nil {
		s.t.Error(err)
		return
	}
	s.mu.Lock()
	s.running = append(s.running, c)
	s.mu.Unlock()
	go func() { _, _ = io.Copy(stdin, in); _ = stdin.Close() }()
	result := metav1.Status{Status: metav1.StatusSuccess}
	if err := c.Wait(); err != nil {
		result = metav1.Status{Status: metav1.StatusFailure, Message: err.Error(), Reason: "InternalError"}
	}
	_ = json.NewEncoder(status).Encode(result)
}
