package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// API of kubernetes-sigs/agent-sandbox. A SandboxClaim gets a Sandbox of a SandboxWarmPool, with a pod.
const (
	sandboxGroup = "agents.x-k8s.io"
	claimGroup   = "extensions." + sandboxGroup
	beta         = "v1beta1"
	// annotationPod names, on a Sandbox, a pod of another name than its own.
	annotationPod = sandboxGroup + "/pod-name"
)

// Annotations of a pod of a pool: the claim by which a session has it, and the time of that claim.
const (
	annotationClaim = "sallyport.dev/claim"
	annotationSince = "sallyport.dev/since"
)

// claim is the SandboxClaim of a session. The cluster deletes it, with the pod, when the lifetime is over.
func (c Config) claim(name string, owner Owner, now time.Time) *unstructured.Unstructured {
	end := now.Add(time.Duration(c.Lifetime)).UTC().Format(time.RFC3339)
	labels := map[string]any{labelManager: manager, labelInstallation: owner.Installation}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": claimGroup + "/" + beta, "kind": "SandboxClaim",
		"metadata": map[string]any{"name": name, "labels": labels},
		"spec": map[string]any{
			"warmPoolRef": map[string]any{"name": c.Pool},
			"lifecycle":   map[string]any{"shutdownTime": end, "shutdownPolicy": "Delete"},
			"additionalPodMetadata": map[string]any{"labels": labels, "annotations": map[string]any{
				annotationOwner: owner.Name, annotationClaim: name, annotationSince: now.UTC().Format(time.RFC3339),
			}},
		},
	}}
}

// begin makes the pod of a session, or claims one of the pool.
func (k *Cluster) begin(ctx context.Context, c Config, owner Owner) (*corev1.Pod, error) {
	if c.Pool == "" {
		return k.make(ctx, c.Pod(podName(), owner))
	}
	call, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	made, err := k.in(claimGroup, "sandboxclaims").Create(call, c.claim(podName(), owner, time.Now()),
		metav1.CreateOptions{})
	if err != nil {
		return nil, Refused("create the SandboxClaim", err)
	}
	var pod *corev1.Pod
	look := func(ctx context.Context) (done bool, problem error, fatal bool) {
		pod, problem = k.claimed(ctx, made, owner)
		return problem == nil, problem, false
	}
	err = until(ctx, "claim "+made.GetName(), time.Duration(c.Wait), look)
	if err == nil {
		return pod, nil
	}
	call, stop := context.WithTimeout(context.WithoutCancel(ctx), removeTime)
	defer stop()
	return nil, errors.Join(err, k.release(call, made.GetName()))
}

// claimed returns the pod of a claim, or names the missing condition: the pod belongs to the Sandbox, that to
// the claim, and the pod has the labels by which NetworkPolicies and later sessions find it.
func (k *Cluster) claimed(
	ctx context.Context, made *unstructured.Unstructured, owner Owner,
) (*corev1.Pod, error) {
	call, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	claim, err := k.in(claimGroup, "sandboxclaims").Get(call, made.GetName(), metav1.GetOptions{})
	if err != nil {
		return nil, Refused("look at SandboxClaim "+made.GetName(), err)
	}
	name, _, _ := unstructured.NestedString(claim.Object, "status", "sandbox", "name")
	if name == "" {
		return nil, End{"SandboxClaim " + made.GetName() + " has no Sandbox", conditions(claim),
			"see that the SandboxWarmPool is there and that the controller of agent-sandbox runs"}
	}
	sandbox, err := k.in(sandboxGroup, "sandboxes").Get(call, name, metav1.GetOptions{})
	if err != nil {
		return nil, Refused("look at Sandbox "+name, err)
	}
	if !owned(sandbox, made.GetUID()) {
		return nil, End{"Sandbox " + name + " is not of SandboxClaim " + made.GetName(), "", "look at its owners"}
	}
	if other := sandbox.GetAnnotations()[annotationPod]; other != "" {
		name = other
	}
	pod, err := k.pod(ctx, name)
	switch {
	case err != nil:
		return nil, Refused("look at pod "+name, err)
	case pod == nil:
		return nil, End{"Sandbox " + sandbox.GetName() + " has no pod " + name, conditions(sandbox),
			"kubectl describe sandbox " + sandbox.GetName()}
	case !owned(pod, sandbox.GetUID()):
		return nil, End{"pod " + name + " is not of Sandbox " + sandbox.GetName(), "", "look at its owners"}
	case pod.Labels[labelManager] != manager || pod.Labels[labelInstallation] != owner.Installation ||
		pod.Annotations[annotationClaim] != made.GetName():
		return nil, End{"pod " + name + " has no labels and annotations of the claim", "",
			"take a release of agent-sandbox that knows additionalPodMetadata"}
	}
	return pod, nil
}

// owned reports that another object controls this one: at most one does.
func owned(o metav1.Object, by types.UID) bool {
	owner := metav1.GetControllerOf(o)
	return owner != nil && by != "" && owner.UID == by
}

// conditions are the messages of the conditions that do not hold.
func conditions(u *unstructured.Unstructured) string {
	var said []string
	all, _, _ := unstructured.NestedSlice(u.Object, "status", "conditions")
	for _, one := range all {
		if c, ok := one.(map[string]any); ok && c["status"] != "True" {
			said = append(said, fmt.Sprint(c["reason"], ": ", c["message"]))
		}
	}
	return strings.Join(said, "; ")
}

// release deletes a claim, and by that its Sandbox and pod.
func (k *Cluster) release(ctx context.Context, name string) error {
	err := k.in(claimGroup, "sandboxclaims").Delete(ctx, name, metav1.DeleteOptions{})
	return gone("delete SandboxClaim "+name, err)
}

// free are the fields of a pod of a pool that may differ from the configuration: of its node, of pulling, and
// of its end. None of them gives a command more than it may have.
var free = map[string]bool{
	"nodeName": true, "schedulerName": true, "affinity": true, "tolerations": true, "overhead": true,
	"topologySpreadConstraints": true, "priority": true, "priorityClassName": true, "preemptionPolicy": true,
	"hostname": true, "subdomain": true, "dnsPolicy": true, "hostUsers": true,
	"serviceAccount": true, "serviceAccountName": true, "imagePullSecrets": true, // of which it has no token
	"restartPolicy": true, "activeDeadlineSeconds": true, "terminationGracePeriodSeconds": true,
	"volumes[].ephemeral.volumeClaimTemplate.spec.volumeMode": true, "volumes[].image.pullPolicy": true,
	"containers[].imagePullPolicy": true, "initContainers[].imagePullPolicy": true,
	"containers[].terminationMessagePath": true, "initContainers[].terminationMessagePath": true,
}

// Fits reports the first difference between a pod of a pool and the pod of the configuration. A right to
// change the template of a pool must not give commands more than the configuration does.
func (c Config) Fits(pod *corev1.Pod) error {
	want, err := untyped(&c.Pod(pod.Name, Owner{}).Spec)
	if err != nil {
		return err
	}
	got, err := untyped(&pod.Spec)
	if err != nil {
		return err
	}
	if said := difference("", want.Object, got.Object); said != "" {
		return End{"pod " + pod.Name + " of pool " + c.Pool + " is not the pod of the configuration", said,
			"apply what sallyport-kubernetes template prints"}
	}
	return nil
}

// difference is the first difference of two objects, as they are in JSON; "" for none.
func difference(at string, want, got any) string {
	if free[at] {
		return ""
	}
	wanted, isMap := want.(map[string]any)
	found, areMaps := got.(map[string]any)
	if isMap && areMaps || isMap && got == nil || areMaps && want == nil {
		keys := maps.Clone(wanted)
		if keys == nil {
			keys = map[string]any{}
		}
		maps.Copy(keys, found)
		for _, key := range slices.Sorted(maps.Keys(keys)) {
			if said := difference(strings.TrimPrefix(at+"."+key, "."), wanted[key], found[key]); said != "" {
				return said
			}
		}
		return ""
	}
	wants, isList := want.([]any)
	finds, areLists := got.([]any)
	if isList && areLists {
		if len(wants) != len(finds) {
			return fmt.Sprintf("%s: %d in the pool, %d in the configuration", at, len(finds), len(wants))
		}
		for i := range wants {
			if said := difference(at+"[]", wants[i], finds[i]); said != "" {
				return said
			}
		}
		return ""
	}
	if reflect.DeepEqual(want, got) {
		return ""
	}
	return fmt.Sprintf("%s: %.200s in the pool, %.200s in the configuration", at, fmt.Sprint(got),
		fmt.Sprint(want))
}

// Template are the SandboxTemplate and the SandboxWarmPool of the configuration.
func (c Config) Template(namespace string) ([]map[string]any, error) {
	pod := c.Pod("", Owner{})
	pod.Spec.ActiveDeadlineSeconds = nil // the pod waits in the pool; the claim has an end
	spec, err := untyped(&pod.Spec)
	if err != nil {
		return nil, err
	}
	object := func(kind string, spec map[string]any) map[string]any {
		return map[string]any{"apiVersion": claimGroup + "/" + beta, "kind": kind,
			"metadata": map[string]any{"name": c.Pool, "namespace": namespace}, "spec": spec}
	}
	return []map[string]any{
		object("SandboxTemplate", map[string]any{
			"podTemplate": map[string]any{"spec": spec.Object},
			// Its own NetworkPolicy would let commands reach the Internet.
			"networkPolicyManagement": "Unmanaged",
		}),
		object("SandboxWarmPool", map[string]any{
			"replicas": 1, "sandboxTemplateRef": map[string]any{"name": c.Pool},
		}),
	}, nil
}
