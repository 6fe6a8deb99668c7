package kubernetes_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/internal/await"
	"github.com/sallyport-dev/sallyport/internal/leftout"
	"github.com/sallyport-dev/sallyport/runners/kubernetes"
	"github.com/sallyport-dev/sallyport/runners/runnertest"
)

// Images of the tests: one with bash and the programs that runnertest needs, and one with the supervisor.
const (
	agentImage      = "sallyport.test/agent:1"
	supervisorImage = "sallyport.test/supervisor:1"
)

// real is a cluster with the documents of docs/examples/kubernetes applied.
type real struct {
	admin   *rest.Config
	objects dynamic.Interface
	args    []string // of the plugin, as a service account with the documented rights
	dir     string   // of the cluster of make kubernetes-test; "" for another
}

func needCluster(t testing.TB) *real {
	t.Helper()
	file := os.Getenv("SALLYPORT_TEST_KUBECONFIG")
	if file == "" {
		leftout.Skip(t, leftout.Cluster, "no cluster is named, which may pull or has "+agentImage+" and "+
			supervisorImage)
	}
	admin, err := clientcmd.BuildConfigFromFlags("", file)
	if err != nil {
		t.Fatal(err)
	}
	objects, err := dynamic.NewForConfig(admin)
	if err != nil {
		t.Fatal(err)
	}
	r := &real{admin: admin, objects: objects, dir: os.Getenv("SALLYPORT_TEST_CLUSTER")}
	r.apply(t, "namespace.yaml")
	r.apply(t, "rbac.yaml")
	r.args = []string{
		"--kubeconfig", r.kubeconfig(t), "--image", cmp.Or(os.Getenv("SALLYPORT_TEST_POD_IMAGE"), agentImage),
		"--supervisor-image", cmp.Or(os.Getenv("SALLYPORT_TEST_SUPERVISOR_IMAGE"), supervisorImage), "--cpu",
		"100m", "--memory", "256Mi",
	}
	return r
}

var kinds = map[string]string{
	"Namespace": "namespaces", "ResourceQuota": "resourcequotas", "NetworkPolicy": "networkpolicies",
	"CustomResourceDefinition": "customresourcedefinitions", "ServiceAccount": "serviceaccounts",
	"Role": "roles", "RoleBinding": "rolebindings",
}

func (r *real) in(gvr schema.GroupVersionResource, namespace string) dynamic.ResourceInterface {
	if namespace == "" {
		return r.objects.Resource(gvr)
	}
	return r.objects.Resource(gvr).Namespace(namespace)
}

// apply applies the documents of an example.
func (r *real) apply(t testing.TB, name string) {
	t.Helper()
	for _, u := range documents(t, name) {
		_, err := r.of(t, u).Apply(t.Context(), u.GetName(), u,
			metav1.ApplyOptions{FieldManager: "test", Force: true})
		if err != nil {
			t.Fatalf("%s of %s: %v", u.GetKind(), name, err)
		}
	}
}

// remove deletes the documents of an example.
func (r *real) remove(t testing.TB, name string) {
	t.Helper()
	for _, u := range documents(t, name) {
		if err := r.of(t, u).Delete(context.Background(), u.GetName(), metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	}
}

// of are the objects of the kind and the namespace of a document.
func (r *real) of(t testing.TB, u *unstructured.Unstructured) dynamic.ResourceInterface {
	t.Helper()
	gv, err := schema.ParseGroupVersion(u.GetAPIVersion())
	if err != nil {
		t.Fatal(err)
	}
	return r.in(gv.WithResource(kinds[u.GetKind()]), u.GetNamespace())
}

// documents are the objects of an example.
func documents(t testing.TB, name string) (all []*unstructured.Unstructured) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../docs/examples/kubernetes", name))
	if err != nil {
		t.Fatal(err)
	}
	for d := yaml.NewDecoder(bytes.NewReader(text)); ; {
		var fields map[string]any
		if err := d.Decode(&fields); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		encoded, err := json.Marshal(fields)
		if err != nil {
			t.Fatal(err)
		}
		u := &unstructured.Unstructured{}
		if err := u.UnmarshalJSON(encoded); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		all = append(all, u)
	}
}

// kubeconfig is one of the service account of the example, for an hour.
func (r *real) kubeconfig(t testing.TB) string {
	t.Helper()
	request := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest",
		"metadata": map[string]any{"name": "sallyport"},
		"spec":     map[string]any{"expirationSeconds": int64(3600)},
	}}
	got, err := r.in(schema.GroupVersionResource{Version: "v1", Resource: "serviceaccounts"}, "agents").
		Create(t.Context(), request, metav1.CreateOptions{}, "token")
	if err != nil {
		t.Fatal(err)
	}
	token, _, _ := unstructured.NestedString(got.Object, "status", "token")
	file := filepath.Join(t.TempDir(), "kubeconfig")
	text, err := json.Marshal(map[string]any{
		"apiVersion": "v1", "kind": "Config", "current-context": "test",
		"clusters": []any{map[string]any{"name": "test",
			"cluster": map[string]any{"server": r.admin.Host, "certificate-authority-data": r.admin.CAData}}},
		"users": []any{map[string]any{"name": "test", "user": map[string]any{"token": token}}},
		"contexts": []any{map[string]any{"name": "test",
			"context": map[string]any{"cluster": "test", "user": "test", "namespace": "agents"}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func (r *real) pods() dynamic.ResourceInterface {
	return r.in(schema.GroupVersionResource{Version: "v1", Resource: "pods"}, "agents")
}

// names are those of the pods that no deletion has reached.
func (r *real) names(t *testing.T) (names []string) {
	t.Helper()
	all, err := r.pods().List(context.Background(),
		metav1.ListOptions{LabelSelector: "app.kubernetes.io/managed-by=sallyport"})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range all.Items {
		if p.GetDeletionTimestamp() == nil {
			names = append(names, p.GetName())
		}
	}
	return names
}

func (r *real) nothingLeft(t *testing.T) {
	t.Helper()
	await.True(t, "no pod is left", func() bool { return len(r.names(t)) == 0 })
}

// configured writes a configuration, and returns the flags with it.
func (r *real) configured(t *testing.T, text string) []string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "pod.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return append([]string{"--config", file}, r.args...)
}

// TestClusterRunsTheSuite takes the whole suite through pods of a real cluster, with the documented
// rights alone.
func TestClusterRunsTheSuite(t *testing.T) {
	r := needCluster(t)
	args := append(r.args, "--cpu", "500m") // a smaller limit would slow the commands
	t.Setenv(theArgs, strings.Join(args, " "))
	o := runnertest.Options{Memory: true, Gateway: "pod"}
	runnertest.RunIn(t, o, func(t *testing.T) engine.Environment { return open(t, args...) })
	r.nothingLeft(t)
}

// TestClusterConfines tries the ways out that Pod Security and the pod's own fields are to prevent.
func TestClusterConfines(t *testing.T) {
	r := needCluster(t)
	env := open(t, r.args...)
	defer env.Close()
	for text, want := range map[string]bool{
		`test "$(id -u)" = 1000`: true,
		`echo x >/workspace/mine && echo x >/tmp/mine && echo x >~/m`: true,
		`touch /usr/bin/mine || touch /mine`:                          false,
		`touch /opt/sallyport/mine`:                                   false,
		`test -e /var/run/secrets/kubernetes.io`:                      false,
		`env | grep KUBERNETES`:                                       false,
		`grep -q 'CapEff:.*[1-9a-f]' /proc/self/status`:               false,
		`grep -q 'NoNewPrivs:.*1' /proc/self/status`:                  true,
		`grep -q 'Seccomp:.*2' /proc/self/status`:                     true,
	} {
		if x := begin(t, env, text).Wait(); (x.Code == 0) != want || x.Error != nil {
			t.Errorf("%s: %+v", text, x)
		}
	}
}

// TestClusterEnds provokes the ends of a pod that a test can, and looks for the cluster's own words in the
// errors.
func TestClusterEnds(t *testing.T) {
	r := needCluster(t)
	for name, tc := range map[string]struct {
		config string
		more   []string
		want   []string
	}{
		"image": {"", []string{"--image", "registry.invalid/none:1"},
			[]string{"the image cannot be pulled (registry.invalid/none:1)", "lookup registry.invalid"}},
		"root's image": {"user: 0\n", nil, []string{"user: 0"}},
		"unschedulable": {"wait: 3s\n", []string{"--memory", "60Gi"},
			[]string{"no node can take it", "Insufficient memory"}},
		"quota": {"", []string{"--memory", "900Gi"},
			[]string{"the quota of the namespace is used up", "limits.memory=900"}},
		"node selector": {"wait: 3s\nnode_selector: {disk: fast}\n", nil,
			[]string{"no node can take it", "node affinity"}},
		"secret": {"secrets: [nobodys]\n", nil, []string{`secret "nobodys" not found`}},
		"claim": {"wait: 3s\nworkspace: {claim: nobodys}\n", nil,
			[]string{`persistentvolumeclaim "nobodys" not found`}},
		"runtime class": {"runtime_class: nobodys\n", nil, []string{"the runtime class is not there"}},
		"image volume": {"supervisor: {volume: true}\n", nil,
			[]string{"the API server has no image volumes", "ImageVolume"}},
		"storage class": {"wait: 3s\nworkspace: {storage_class: nobodys}\n", nil,
			[]string{"no node can take it", "unbound immediate PersistentVolumeClaims"}},
		"no installer": {"supervisor: {path: /nothing}\n", nil, []string{"/nothing"}},
		"namespace":    {"", []string{"--namespace", "nobodys"}, []string{"right is missing"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := try(append(r.configured(t, tc.config), tc.more...)...)
			contains(t, err, tc.want...)
		})
	}
	for name, tc := range map[string]struct {
		config, text string
		want         []string
	}{
		"deadline": {"lifetime: 60s\nwait: 59s\n", "echo here; sleep 600",
			[]string{"the lifetime of the pod is over"}},
		"eviction": {"workspace: {size: 10Mi}\n", "echo here; head -c 40M /dev/zero >/workspace/large; sleep 600",
			[]string{"the node evicted the pod", "exceeds the limit"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r.ends(t, r.configured(t, tc.config), tc.text, func() {}, tc.want...)
		})
	}
	t.Cleanup(func() { r.nothingLeft(t) })
}

// TestClusterOutOfMemory ends a whole container for want of memory. The kernel ends one process at a time:
// the test gives the first one the highest score, and the command fills a file in memory, which is no
// process's.
func TestClusterOutOfMemory(t *testing.T) {
	r := needCluster(t)
	if r.dir == "" {
		leftout.Skip(t, leftout.Cluster, "the cluster is none of make kubernetes-test")
	}
	raise := func() {
		pod, err := r.pods().Get(t.Context(), r.names(t)[0], metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		found := 0
		all, _ := filepath.Glob("/proc/[0-9]*")
		for _, process := range all {
			group, _ := os.ReadFile(process + "/cgroup")
			text, _ := os.ReadFile(process + "/cmdline")
			if strings.Contains(string(group), string(pod.GetUID())) &&
				strings.HasSuffix(string(text), "\x00--init\x00") {
				found++
				if err := os.WriteFile(process+"/oom_score_adj", []byte("1000"), 0o644); err != nil {
					t.Error(err)
				}
			}
		}
		if found != 1 {
			t.Errorf("%d first processes", found)
		}
	}
	const text = "echo here; sleep 3; while head -c 500K /dev/zero >>/dev/shm/x; do :; done"
	r.ends(t, append(r.args, "--memory", "48Mi"), text, raise, "container work was out of memory", "OOMKilled")
	r.nothingLeft(t)
}

// TestClusterWorkspace makes the workspace by a class of storage: a directory of the node that can be claimed
// once.
func TestClusterWorkspace(t *testing.T) {
	r := needCluster(t)
	if r.dir == "" {
		leftout.Skip(t, leftout.Cluster, "the cluster is none of make kubernetes-test")
	}
	dir := t.TempDir()
	meta := map[string]any{"name": "sallyport-test"}
	for kind, u := range map[schema.GroupVersionResource]map[string]any{
		{Group: "storage.k8s.io", Version: "v1", Resource: "storageclasses"}: {
			"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": meta,
			"provisioner": "kubernetes.io/no-provisioner", "volumeBindingMode": "WaitForFirstConsumer",
		},
		{Version: "v1", Resource: "persistentvolumes"}: {
			"apiVersion": "v1", "kind": "PersistentVolume", "metadata": meta,
			"spec": map[string]any{
				"capacity": map[string]any{"storage": "1Gi"}, "accessModes": []any{"ReadWriteOnce"},
				"storageClassName": "sallyport-test", "local": map[string]any{"path": dir},
				"nodeAffinity": map[string]any{"required": map[string]any{"nodeSelectorTerms": []any{map[string]any{
					"matchExpressions": []any{map[string]any{"key": "kubernetes.io/hostname", "operator": "Exists"}},
				}}}},
			},
		},
	} {
		if _, err := r.in(kind, "").Create(t.Context(), &unstructured.Unstructured{Object: u},
			metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		defer func() { _ = r.in(kind, "").Delete(context.Background(), "sallyport-test", metav1.DeleteOptions{}) }()
	}
	env := open(t, r.configured(t, "workspace: {storage_class: sallyport-test, size: 1Gi}\n")...)
	if x := begin(t, env, "echo mine >/workspace/file").Wait(); x.Code != 0 {
		t.Errorf("%+v", x)
	}
	if text, err := os.ReadFile(filepath.Join(dir, "file")); string(text) != "mine\n" {
		t.Errorf("%q, %v", text, err)
	}
	_ = env.Close()
	await.True(t, "the claim is gone", func() bool {
		all, err := r.in(schema.GroupVersionResource{Version: "v1", Resource: "persistentvolumeclaims"},
			"agents").List(t.Context(), metav1.ListOptions{})
		return err == nil && len(all.Items) == 0
	})
	r.nothingLeft(t)
}

// contains looks for texts in an error.
func contains(t *testing.T, err error, wants ...string) {
	t.Helper()
	t.Log(err)
	for _, want := range wants {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q", want)
		}
	}
}

// ends begins a command that says here, does something to its pod, and looks for texts in the error.
func (r *real) ends(t *testing.T, args []string, text string, do func(), wants ...string) {
	t.Helper()
	env := open(t, args...)
	defer env.Close()
	p := begin(t, env, text)
	await.True(t, "it runs", func() bool { out, _ := p.Output(); return strings.HasPrefix(out.Text, "here\n") })
	do()
	contains(t, p.Wait().Error, wants...)
}

// TestClusterLosses deletes a pod, and kills programs of the cluster, in the middle of a command. The next
// session opens.
func TestClusterLosses(t *testing.T) {
	r := needCluster(t)
	again := func(name string) func() {
		return func() {
			dir := os.Getenv("SALLYPORT_TEST_CLUSTER")
			if out, err := exec.Command("testdata/cluster", dir, "restart", name).CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		}
	}
	for name, tc := range map[string]struct {
		do   func()
		want string
	}{
		"deleted": {func() {
			for _, name := range r.names(t) {
				if err := r.pods().Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
					t.Error(err)
				}
			}
		}, "not by this session"},
		"kubelet killed":    {again("kubelet"), "the stream to the supervisor broke"},
		"API server killed": {again("apiserver"), "the stream"},
	} {
		t.Run(name, func(t *testing.T) {
			if strings.HasSuffix(name, " killed") && os.Getenv("SALLYPORT_TEST_CLUSTER") == "" {
				leftout.Skip(t, leftout.Cluster, "the cluster is none of make kubernetes-test")
			}
			r.ends(t, r.args, "echo here; sleep 600", tc.do, tc.want)
			await.True(t, "the next session opens", func() bool {
				env, err := try(r.args...)
				if err == nil {
					err = env.Close()
				}
				return err == nil
			})
			r.nothingLeft(t)
		})
	}
}

// TestClusterDoctor asks with the documented rights, and with one right less.
func TestClusterDoctor(t *testing.T) {
	r := needCluster(t)
	said := func() (string, int) {
		var out, errs strings.Builder
		status := kubernetes.Main(t.Context(), append(r.args[:len(r.args):len(r.args)], "doctor"),
			kubernetes.Streams{In: strings.NewReader(""), Out: &out, Err: &errs})
		return out.String() + errs.String(), status
	}
	if out, status := said(); status != 0 || strings.Contains(out, "problem") {
		t.Errorf("status %d:\n%s", status, out)
	}
	roles := r.in(schema.GroupVersionResource{Group: "rbac.authorization.k8s.io", Version: "v1",
		Resource: "roles"}, "agents")
	if _, err := roles.Patch(t.Context(), "sallyport", types.JSONPatchType,
		[]byte(`[{"op":"remove","path":"/rules/2"}]`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	defer r.apply(t, "rbac.yaml")
	await.True(t, "the missing right is told", func() bool {
		out, status := said()
		return status == 1 && strings.Contains(out, "problem  right to list events: missing in namespace agents")
	})
}
