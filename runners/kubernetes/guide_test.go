package kubernetes_test

import (
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/sallyport-dev/sallyport/internal/await"
	"github.com/sallyport-dev/sallyport/internal/leftout"
	"github.com/sallyport-dev/sallyport/internal/testprogram"
)

// TestClusterGuide follows docs/kubernetes.md, with the programs of an installation and the images of
// the tests.
func TestClusterGuide(t *testing.T) {
	r := needCluster(t)
	dir := t.TempDir()
	text, err := os.ReadFile("../../docs/kubernetes.md")
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindSubmatch(text)
	if block == nil {
		t.Fatal("the guide shows no configuration")
	}
	here := strings.NewReplacer("/opt/sallyport/", dir+"/", "/etc/sallyport/", dir+"/", "workspace: .",
		"workspace: "+dir)
	write(t, filepath.Join(dir, "c.yaml"), here.Replace(string(block[1])))
	pod, err := os.ReadFile("../../docs/examples/kubernetes/pod.yaml")
	if err != nil {
		t.Fatal(err)
	}
	images := strings.NewReplacer("registry.example/agent:1", agentImage, "registry.example/sallyport:1",
		supervisorImage,
		`cpu: "1", memory: 2Gi`, `cpu: 100m, memory: 256Mi`)
	write(t, filepath.Join(dir, "pod.yaml"), images.Replace(string(pod)))
	manifest, err := os.ReadFile("../../docs/examples/kubernetes/plugin.yaml")
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "kubernetes.yaml"), string(manifest))
	if err := testprogram.Build(dir, "cmd/sallyport", "cmd/sallyport-kubernetes"); err != nil {
		t.Fatal(err)
	}
	kubeconfig := r.args[1]
	do := func(words ...string) string {
		t.Helper()
		name := words[0]
		if name != "sh" {
			name = filepath.Join(dir, name)
		}
		c := exec.Command(name, words[1:]...)
		c.Dir = dir
		c.Env = append(os.Environ(), "KUBECONFIG="+kubeconfig, "HOME="+dir, "XDG_STATE_HOME="+dir+"/state",
			"XDG_CONFIG_HOME="+dir+"/config")
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("%q: %v: %s", words, err, out)
		}
		return string(out)
	}
	do("sallyport", "plugin", "seal", "kubernetes.yaml")
	do("sallyport-kubernetes", "--config", "pod.yaml", "doctor")
	out := do("sallyport", "--config", "c.yaml", "exec", "--", "sh", "-c", "pwd; uname -n; id -u")
	if !regexp.MustCompile(`^/workspace\nsallyport-[0-9a-f]{10}\n1000\n$`).MatchString(out) {
		t.Errorf("got %q", out)
	}
	r.judged(t, dir, do)
	if out := do("sallyport", "--config", "c.yaml", "doctor"); !strings.Contains(out, "ok    supervisor") {
		t.Errorf("%s", out)
	}
	r.kept(t, dir, do)
	r.nothingLeft(t)
}

// kept has env list the pods of running commands, show their log, remove one, and prune the one of a killed
// session.
func (r *real) kept(t *testing.T, dir string, do func(...string) string) {
	t.Helper()
	env := func(words ...string) string {
		return do(append([]string{"sallyport", "--config", "c.yaml", "env"}, words...)...)
	}
	for _, end := range []func(pod string){
		func(pod string) {
			if out := env("rm", pod); !strings.HasPrefix(out, "cluster-") {
				t.Errorf("removed: %s", out)
			}
		},
		func(pod string) {
			do("sh", "-c", "pkill -KILL -f 'sallyport-kubernete[s].*"+dir+"'")
			leases := r.in(schema.GroupVersionResource{Group: "coordination.k8s.io", Version: "v1",
				Resource: "leases"}, "agents")
			old := []byte(`{"spec":{"renewTime":"2020-01-01T00:00:00.000000Z"}}`)
			if _, err := leases.Patch(t.Context(), pod, types.MergePatchType, old, metav1.PatchOptions{}); err != nil {
				t.Error(err)
			}
			if out := env("prune"); out != "container "+pod+"\n" {
				t.Errorf("pruned: %s", out)
			}
		},
	} {
		done := make(chan string)
		go func() {
			done <- do("sh", "-c", dir+"/sallyport --config c.yaml exec -- sleep 600 2>&1; test $? -ne 0")
		}()
		listed := regexp.MustCompile(`(?m)^cluster-\S+ +cluster +\S+ +- +running +` + agentImage)
		await.True(t, "the pod is listed", func() bool { // under its own name until its log names it
			out := env("list")
			return listed.MatchString(out) && len(r.names(t)) == 1 && !strings.Contains(out, "\nsallyport-")
		})
		pod := r.names(t)[0]
		await.True(t, "its log has the command", func() bool {
			out := env("logs", pod)
			return strings.Contains(out, "container_id "+pod) && strings.Contains(out, "sleep 600")
		})
		end(pod)
		<-done
	}
}

// TestClusterGate runs testdata/gate: the gate in the cluster, with AGENTSxCOMMANDS of SALLYPORT_TEST_AGENTS.
func TestClusterGate(t *testing.T) {
	if needCluster(t).dir == "" {
		leftout.Skip(t, leftout.Cluster, "the cluster is none of make kubernetes-test")
	}
	for _, name := range []string{"nginx", "jq", "openssl"} {
		leftout.Command(t, name)
	}
	agents, commands, _ := strings.Cut(cmp.Or(os.Getenv("SALLYPORT_TEST_AGENTS"), "6x5"), "x")
	out, err := exec.Command("testdata/gate", os.Getenv("SALLYPORT_TEST_CLUSTER"), agents,
		commands).CombinedOutput()
	if t.Logf("%s", out); err != nil {
		t.Error(err)
	}
}

// judged looks for the facts of the pod in the record of its command, and has a rule judge by them: the rule
// allows the digest of that very image, and no other.
func (r *real) judged(t *testing.T, dir string, do func(...string) string) {
	t.Helper()
	place := regexp.MustCompile(
		`"isolation":"container","network":"unknown".*"place":\{"seen":true,"runtime":"",` +
			`"image":"` + agentImage + `","digest":"(sha256:[0-9a-f]{64})","node":"127.0.0.1","cpu":100,` +
			`"memory":268435456,"storage":\d{8,}\}`)
	var digest string
	_ = filepath.WalkDir(filepath.Join(dir, "state"), func(file string, _ os.DirEntry, _ error) error {
		text, _ := os.ReadFile(file)
		if found := place.FindSubmatch(text); found != nil {
			digest = string(found[1])
		}
		return nil
	})
	if digest == "" {
		t.Fatal("no record has the facts of the pod")
	}
	rules := filepath.Join(dir, "pods")
	if err := os.CopyFS(rules, os.DirFS("../../docs/examples/policies/pods")); err != nil {
		t.Fatal(err)
	}
	config, err := os.ReadFile(filepath.Join(dir, "c.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "ruled.yaml"), string(config)+"policies: ["+rules+"]\n")
	data := func(digest string) string {
		return "runners: [cluster]\nruntimes: [\"\"]\ndigests: [\"" + digest + "\"]\nmemory: 268435456\n"
	}
	write(t, filepath.Join(rules, "custom/pods/data.yaml"), data(digest))
	do("sallyport", "--config", "ruled.yaml", "exec", "--", "true")
	write(t, filepath.Join(rules, "custom/pods/data.yaml"), data("sha256:"+strings.Repeat("0", 64)))
	out := do("sh", "-c", dir+"/sallyport --config ruled.yaml exec -- true 2>&1; test $? -ne 0")
	if !strings.Contains(out, "custom/system/pods") {
		t.Errorf("the rule does not deny another image: %s", out)
	}
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// BenchmarkSession measures a session from nothing with one command, and BenchmarkCommand a command in one
// that is open.
func BenchmarkSession(b *testing.B) {
	r := needCluster(b)
	for b.Loop() {
		env := open(b, r.args...)
		begin(b, env, "true").Wait()
		if err := env.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkCommand(b *testing.B) {
	r := needCluster(b)
	env := open(b, append(r.args, "--cpu", "1")...) // a smaller limit would slow the commands
	defer env.Close()
	for b.Loop() {
		begin(b, env, "true").Wait()
	}
}

// BenchmarkManySessions measures 20 sessions at once, from nothing, with one command each.
func BenchmarkManySessions(b *testing.B) {
	r := needCluster(b)
	for b.Loop() {
		done := make(chan error)
		for range 20 {
			go func() {
				env, err := try(append(r.args, "--cpu", "50m", "--memory", "64Mi")...)
				if err == nil {
					begin(b, env, "true").Wait()
					err = env.Close()
				}
				done <- err
			}()
		}
		for range 20 {
			if err := <-done; err != nil {
				b.Error(err)
			}
		}
	}
}
