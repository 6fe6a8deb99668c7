package kubernetes_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/sallyport-dev/sallyport/runners/command"
	"github.com/sallyport-dev/sallyport/runners/kubernetes"
)

func load(t *testing.T, text string) (kubernetes.Config, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "pod.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := kubernetes.Load(file)
	if err != nil {
		return c, err
	}
	return c, c.Check()
}

// The example loads, and says the defaults.
func TestExample(t *testing.T) {
	t.Parallel()
	c, err := kubernetes.Load("../../docs/examples/kubernetes/pod.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Check(); err != nil {
		t.Fatal(err)
	}
	want := kubernetes.Defaults()
	want.Namespace, want.Image, want.Supervisor.Image = "agents", "registry.example/agent:1",
		"registry.example/sallyport:1"
	want.Network.Dial = []string{}
	want.NodeSelector, want.Env = map[string]string{}, map[string]string{}
	want.Tolerations, want.ImagePullSecrets, want.Secrets = []kubernetes.Toleration{}, []string{}, []string{}
	if diff := cmp.Diff(want, c); diff != "" {
		t.Errorf("(-defaults +example):\n%s", diff)
	}
	_, err = command.LoadPlugin("../../docs/examples/kubernetes/plugin.yaml")
	if err == nil || !strings.Contains(err.Error(), "run sallyport plugin seal") {
		t.Errorf("the manifest: %v", err)
	}
}

func TestConfigurations(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"image: a\nnetwork: {dial: [nowhere]}":              "network.dial",
		"":                                                  "image: missing",
		"image: a\nimages: b":                               "images",
		"image: a\n---\nimage: b":                           "more than one document",
		"image: a\nuser: 0":                                 "ordinary user",
		"image: a\nlifetime: 5":                             "no duration",
		"image: a\nlifetime: 10s":                           "from 1m",
		"image: a\nlifetime: 5m\nwait: 6m":                  "less than lifetime",
		"image: a\nresources: {memory: much}":               "resources.memory",
		"image: a\nresources: {cpu: -1}":                    "resources.cpu",
		"image: a\nworkspace: {size: ''}":                   "workspace.size",
		"image: a\nworkspace: {path: work}":                 "absolute path",
		"image: a\nworkspace: {path: /a/..}":                "absolute path",
		"image: a\nworkspace: {path: /tmp/x}":               "overlaps /tmp",
		"image: a\nworkspace: {path: /home}":                "overlaps /home/agent",
		"image: a\nworkspace: {claim: A_B}":                 "workspace.claim",
		"image: a\nworkspace: {claim: a, storage_class: b}": "write one of them",
		"image: a\nsupervisor: {volume: true}":              "no image to mount",
		"image: a\nsupervisor: {path: x}":                   "supervisor.path",
		"image: a\nsecrets: ['']":                           "secrets",
		"image: a\nenv: {'A=B': x}":                         "no name of a variable",
		"image: a\ntolerations: [{operator: is}]":           "Equal or Exists",
	} {
		if _, err := load(t, text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want something about %q", text, err, want)
		}
	}
}

// TestPod holds each field on which the confinement of a pod rests.
func TestPod(t *testing.T) {
	t.Parallel()
	c, err := load(t, `
image: agent:1
supervisor: {image: sallyport:1}
workspace: {claim: data}
resources: {memory: 1Gi}
runtime_class: gvisor
node_selector: {pool: agents}
tolerations: [{key: agents, operator: Exists, effect: NoSchedule}]
image_pull_secrets: [registry]
secrets: [token]
env: {B: "2", A: "1"}
lifetime: 2h
`)
	if err != nil {
		t.Fatal(err)
	}
	p := c.Pod("sallyport-1", kubernetes.Owner{Installation: "i", Name: "u@m"})
	s := p.Spec
	if p.Labels["app.kubernetes.io/managed-by"] != "sallyport" ||
		p.Labels["sallyport.dev/installation"] != "i" || p.Annotations["sallyport.dev/owner"] != "u@m" {
		t.Errorf("%v, %v", p.Labels, p.Annotations)
	}
	if *s.AutomountServiceAccountToken || *s.EnableServiceLinks ||
		s.RestartPolicy != corev1.RestartPolicyNever || s.HostNetwork || s.HostPID || s.HostIPC {
		t.Errorf("%+v", s)
	}
	if time.Duration(*s.ActiveDeadlineSeconds)*time.Second != 2*time.Hour ||
		*s.TerminationGracePeriodSeconds != 1 || *s.RuntimeClassName != "gvisor" {
		t.Errorf("%+v", s)
	}
	if !*s.SecurityContext.RunAsNonRoot || *s.SecurityContext.RunAsUser != 1000 ||
		s.SecurityContext.SeccompProfile.Type != corev1.SeccompProfileTypeRuntimeDefault {
		t.Errorf("%+v", s.SecurityContext)
	}
	if len(s.InitContainers) != 1 || len(s.Containers) != 1 {
		t.Fatalf("%d and %d containers", len(s.InitContainers), len(s.Containers))
	}
	for _, x := range append(s.InitContainers, s.Containers...) {
		sc := x.SecurityContext
		if *sc.AllowPrivilegeEscalation || !*sc.ReadOnlyRootFilesystem || !*sc.RunAsNonRoot ||
			sc.Privileged != nil ||
			len(sc.Capabilities.Drop) != 1 || sc.Capabilities.Drop[0] != "ALL" || len(sc.Capabilities.Add) != 0 {
			t.Errorf("%s: %+v", x.Name, sc)
		}
		if len(x.Resources.Limits) != 3 || !cmp.Equal(x.Resources.Limits, x.Resources.Requests) {
			t.Errorf("%s: %+v", x.Name, x.Resources)
		}
	}
	install, work := s.InitContainers[0], s.Containers[0]
	if diff := cmp.Diff([]string{"/usr/bin/sallyport-supervisor", "--install",
		"/opt/sallyport/sallyport-supervisor"}, install.Command); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"/opt/sallyport/sallyport-supervisor", "--init"}, work.Command); diff != "" {
		t.Error(diff)
	}
	for _, m := range work.VolumeMounts {
		if m.ReadOnly != (m.MountPath == "/opt/sallyport") {
			t.Errorf("%+v", m)
		}
	}
	if diff := cmp.Diff([]corev1.EnvVar{{Name: "HOME", Value: "/home/agent"}, {Name: "A", Value: "1"},
		{Name: "B", Value: "2"}}, work.Env); diff != "" {
		t.Error(diff)
	}
	if work.EnvFrom[0].SecretRef.Name != "token" || s.ImagePullSecrets[0].Name != "registry" ||
		s.Tolerations[0].Key != "agents" ||
		s.NodeSelector["pool"] != "agents" || s.Volumes[0].PersistentVolumeClaim.ClaimName != "data" {
		t.Errorf("%+v", s)
	}
	c.Supervisor = kubernetes.Supervisor{Path: "/bin/sallyport-supervisor"}
	if p := c.Pod("sallyport-1", kubernetes.Owner{}); len(p.Spec.InitContainers) != 0 ||
		p.Spec.Containers[0].Command[0] != "/bin/sallyport-supervisor" {
		t.Errorf("%+v", p.Spec)
	}
}
