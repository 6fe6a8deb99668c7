package kubernetes_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/sallyport-dev/sallyport/internal/await"
)

// sandboxes are the objects of a kind of agent-sandbox.
func (r *real) sandboxes(kind string) dynamic.ResourceInterface {
	group := "extensions.agents.x-k8s.io"
	if kind == "sandboxes" {
		group = "agents.x-k8s.io"
	}
	return r.in(schema.GroupVersionResource{Group: group, Version: "v1beta1", Resource: kind}, "agents")
}

// TestClusterPool claims pods of a warm pool: the CRDs have the documented fields, and the test is the
// controller.
func TestClusterPool(t *testing.T) {
	r := needCluster(t)
	config := "wait: 10s\n"
	if r.dir != "" {
		config += listening(t)
		r.enforced(t)
	}
	args := append(r.configured(t, config), "--pool", "python")
	_, err := try(args...)
	contains(t, err, "create the SandboxClaim: ")
	for _, name := range []string{"pool.yaml", "../../../runners/kubernetes/testdata/agent-sandbox.yaml"} {
		r.apply(t, name)
		defer r.remove(t, name)
	}
	out, errs, status := "", "", 1
	await.True(t, "the kinds of agent-sandbox are there", func() bool {
		out, errs, status = run(t, append(args, "doctor")...)
		return status == 0
	})
	if !strings.Contains(out, "ok       the cluster would take the claim") {
		t.Errorf("%s%s", out, errs)
	}
	text, errs, _ := run(t, append(args, "template")...)
	template := &unstructured.Unstructured{}
	d := json.NewDecoder(strings.NewReader(text))
	for _, kind := range []string{"sandboxtemplates", "sandboxwarmpools"} {
		u := &unstructured.Unstructured{}
		if err := d.Decode(&u.Object); err != nil {
			t.Fatalf("%v: %s", err, errs)
		}
		if _, err := r.sandboxes(kind).Create(t.Context(), u, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		if kind == "sandboxtemplates" {
			template = u
		}
	}
	for name, tc := range map[string]struct {
		change func(spec map[string]any)
		skip   string // a step of the controller
		want   string
	}{
		"as configured": {},
		"memory": {change: at("512Mi", "containers", 0, "resources", "limits", "memory"),
			want: "containers[].resources.limits.memory: 512Mi in the pool, 256Mi in the configuration"},
		"image": {change: at(supervisorImage, "containers", 0, "image"),
			want: "containers[].image: " + supervisorImage},
		"token": {change: at(true, "automountServiceAccountToken"),
			want: "automountServiceAccountToken: true in the pool"},
		"variable": {change: at("x", "containers", 0, "env", 0, "value"),
			want: "containers[].env[].value: x in the pool"},
		"user": {change: at(int64(7), "securityContext", "runAsUser"),
			want: "securityContext.runAsUser: 7 in the pool"},
		"volume": {change: func(s map[string]any) {
			s["volumes"] = append(s["volumes"].([]any), map[string]any{"name": "x", "emptyDir": map[string]any{}})
		}, want: "volumes: 5 in the pool, 4 in the configuration"},
		"sidecar": {change: sidecar, want: "containers: 2 in the pool, 1 in the configuration"},
		"no sandbox": {skip: "status",
			want: "has no Sandbox: NoController: the test: see that the SandboxWarmPool is there"},
		"no labels":   {skip: "labels", want: "has no labels and annotations of the claim"},
		"other's":     {skip: "owner", want: "is not of SandboxClaim"},
		"other's pod": {skip: "pod's owner", want: "is not of Sandbox"},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, stop := context.WithCancel(context.Background())
			ended := make(chan struct{})
			defer func() { stop(); <-ended }()
			spec := template.DeepCopy().Object["spec"].(map[string]any)["podTemplate"].(map[string]any)["spec"].(map[string]any)
			if tc.change != nil {
				tc.change(spec)
			}
			warm := r.warm(t, spec, tc.skip)
			go func() { defer close(ended); r.control(ctx, t, warm, tc.skip) }()
			if tc.want != "" {
				_, err := try(args...)
				contains(t, err, tc.want)
			} else {
				env, got := judgedIn(t, args...)
				if (got.Network != "none" && r.dir != "") || got.Isolation != "container" ||
					got.Place.Memory != 256<<20 ||
					!strings.HasPrefix(got.Place.Digest, "sha256:") {
					t.Errorf("%+v", got)
				}
				if x := begin(t, env, `test "$(id -u)" = 1000 && echo x >/workspace/mine`).Wait(); x.Code != 0 ||
					x.Error != nil {
					t.Errorf("%+v", x)
				}
				if out, _, _ := run(t, append(args, "list")...); !strings.Contains(out,
					`{"name":"`+warm+`","state":"running"`) {
					t.Errorf("list: %s", out)
				}
				env.Close()
			}
			_ = r.sandboxes("sandboxes").Delete(t.Context(), warm,
				metav1.DeleteOptions{}) // of no claim, where there was none
			await.True(t, "claim and pod are gone", func() bool {
				claims, err := r.sandboxes("sandboxclaims").List(t.Context(), metav1.ListOptions{})
				_, gone := r.pods().Get(t.Context(), warm, metav1.GetOptions{})
				return err == nil && len(claims.Items) == 0 && gone != nil
			})
		})
	}
}

// at returns a change of the value at a path.
func at(value any, path ...any) func(map[string]any) {
	return func(spec map[string]any) {
		var in any = spec
		for _, step := range path[:len(path)-1] {
			if i, ok := step.(int); ok {
				in = in.([]any)[i]
			} else {
				in = in.(map[string]any)[step.(string)]
			}
		}
		in.(map[string]any)[path[len(path)-1].(string)] = value
	}
}

// sidecar adds another container like the first.
func sidecar(spec map[string]any) {
	all := spec["containers"].([]any)
	text, _ := json.Marshal(all[0])
	more := map[string]any{}
	_ = json.Unmarshal(text, &more)
	more["name"] = "sidecar"
	spec["containers"] = append(all, more)
}

// controller is an owner reference.
func controller(u *unstructured.Unstructured) map[string]any {
	return map[string]any{"apiVersion": u.GetAPIVersion(), "kind": u.GetKind(), "name": u.GetName(),
		"uid": string(u.GetUID()), "controller": true}
}

// warm makes a Sandbox and its pod, and returns their name.
func (r *real) warm(t *testing.T, spec map[string]any, skip string) string {
	t.Helper()
	made, err := r.sandboxes("sandboxes").Create(t.Context(), &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "agents.x-k8s.io/v1beta1", "kind": "Sandbox",
		"metadata": map[string]any{"generateName": "python-"},
		"spec":     map[string]any{"podTemplate": map[string]any{"spec": spec}},
	}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	owner := controller(made)
	if skip == "pod's owner" {
		owner["controller"] = false
	}
	_, err = r.pods().Create(t.Context(), &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Pod", "spec": spec,
		"metadata": map[string]any{"name": made.GetName(), "ownerReferences": []any{owner}},
	}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return made.GetName()
}

// control hands the Sandbox to the next claim, but for a step that is left out.
func (r *real) control(ctx context.Context, t *testing.T, warm, skip string) {
	var claim *unstructured.Unstructured
	await.True(t, "there is a claim", func() bool {
		all, err := r.sandboxes("sandboxclaims").List(ctx, metav1.ListOptions{})
		if err == nil && len(all.Items) > 0 {
			claim = &all.Items[0]
		}
		return claim != nil || ctx.Err() != nil
	})
	if claim == nil {
		return
	}
	patch := func(in dynamic.ResourceInterface, metadata map[string]any) {
		text, _ := json.Marshal(map[string]any{"metadata": metadata})
		if _, err := in.Patch(ctx, warm, "application/merge-patch+json", text, metav1.PatchOptions{}); err != nil {
			t.Error(err)
		}
	}
	if skip != "owner" {
		patch(r.sandboxes("sandboxes"), map[string]any{"ownerReferences": []any{controller(claim)}})
	}
	if skip != "labels" {
		more, _, _ := unstructured.NestedMap(claim.Object, "spec", "additionalPodMetadata")
		patch(r.pods(), more)
	}
	claim.Object["status"] = map[string]any{"sandbox": map[string]any{"name": warm}}
	if skip == "status" {
		claim.Object["status"] = map[string]any{"conditions": []any{map[string]any{
			"type": "Ready", "status": "False", "reason": "NoController", "message": "the test",
		}}}
	}
	if _, err := r.sandboxes("sandboxclaims").UpdateStatus(ctx, claim, metav1.UpdateOptions{}); err != nil {
		t.Error(err)
	}
}
