package kubernetes

import (
	"context"
	"fmt"
	"slices"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Right is a right in the namespace that the runner needs.
type Right struct{ Group, Resource, Subresource, Verb string }

// String is the right as kubectl auth can-i takes it.
func (r Right) String() string {
	name := r.Resource
	if r.Subresource != "" {
		name += "/" + r.Subresource
	}
	if r.Group != "" {
		name += "." + r.Group
	}
	return r.Verb + " " + name
}

// Rights are all that the runner needs, with those for claims where it uses a pool. A WebSocket asks for get
// of pods/exec and SPDY for create; newer servers ask for create of both.
func Rights(c Config) []Right {
	type rights struct {
		Right
		verbs []string
	}
	needed := []rights{
		{Right{Resource: "pods"}, []string{"create", "delete", "get", "list"}},
		{Right{Resource: "pods", Subresource: "exec"}, []string{"create", "get"}},
		{Right{Resource: "events"}, []string{"list"}},
		{Right{Group: leaseGroup, Resource: "leases"}, []string{"create", "list", "update"}},
		{Right{Group: networkGroup, Resource: "networkpolicies"}, []string{"list", "watch"}},
	}
	if c.Pool != "" {
		needed = append(needed,
			rights{Right{Group: claimGroup, Resource: "sandboxclaims"}, []string{"create", "delete", "get"}},
			rights{Right{Group: sandboxGroup, Resource: "sandboxes"}, []string{"get"}})
	}
	var all []Right
	for _, of := range needed {
		for _, verb := range of.verbs {
			r := of.Right
			r.Verb = verb
			all = append(all, r)
		}
	}
	return all
}

// Finding is a check of doctor's; Problem is nil where it holds.
type Finding struct {
	Check   string
	Problem error
}

// Diagnose asks the cluster for each right, and whether it would take the pod of the configuration. It
// creates nothing.
func (k *Cluster) Diagnose(ctx context.Context, c Config, owner Owner) []Finding {
	all := make([]Finding, 0, len(Rights(c))+1)
	reviews := k.objects.Resource(kind("authorization.k8s.io", "selfsubjectaccessreviews"))
	for _, r := range Rights(c) {
		review, err := create(ctx, reviews, &authorizationv1.SelfSubjectAccessReview{
			TypeMeta: metav1.TypeMeta{APIVersion: "authorization.k8s.io/v1", Kind: "SelfSubjectAccessReview"},
			Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &authorizationv1.ResourceAttributes{
				Namespace: k.Namespace, Group: r.Group, Version: kind(r.Group, "").Version,
				Resource: r.Resource, Subresource: r.Subresource, Verb: r.Verb,
			}},
		}, metav1.CreateOptions{})
		f := Finding{Check: "right to " + r.String()}
		switch {
		case err != nil:
			f.Problem = Refused("ask for rights", err)
			return append(all, f) // so it would be for each
		case !review.Status.Allowed:
			f.Problem = End{
				"missing in namespace " + k.Namespace, review.Status.Reason, "apply docs/examples/kubernetes/rbac.yaml",
			}
		}
		all = append(all, f)
	}
	if slices.ContainsFunc(all, func(f Finding) bool { return f.Problem != nil }) {
		return all
	}
	f, dry := Finding{Check: "the cluster would take the pod"},
		metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}
	if err := c.Check(); err != nil {
		f.Problem = fmt.Errorf("configuration: %w", err)
		return append(all, f)
	}
	pod := c.Pod(podName(), owner)
	if made, err := create(ctx, k.in("", "pods"), pod, dry); err != nil {
		f.Problem = Refused("try to create the pod", err)
	} else if !mounted(pod, made) {
		f.Problem = errNoImageVolumes
	} else if c.Pool != "" {
		_, err := k.in(claimGroup, "sandboxclaims").Create(ctx, c.claim(podName(), owner, time.Now()), dry)
		if f.Check = "the cluster would take the claim"; err != nil {
			f.Problem = Refused("try to create the SandboxClaim", err)
		}
	}
	return append(all, f)
}
