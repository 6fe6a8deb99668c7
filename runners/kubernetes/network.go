package kubernetes

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/watch"
)

const (
	networkGroup = "networking.k8s.io"
	// settleTries is the number of trials in a pod: network plugins take a moment for a new one.
	settleTries = 4
	// watchTime bounds one watch of the policies. The network is looked at again after it.
	watchTime = 5 * time.Minute
)

// closed reports that the network of a running pod is closed, as a trial has shown: NetworkPolicies deny all
// connections from it, and it fails to connect to addresses to which another pod of its node connects. The
// error names the missing condition. The text names the policies and their contents.
func (k *Cluster) closed(
	ctx context.Context, c Config, owner Owner, pod *corev1.Pod,
) (seen string, err error) {
	if pod.Spec.HostNetwork {
		return "", End{"the pod has the network of its node", "", "ask for the reason of that admission"}
	}
	if len(c.Network.Dial) == 0 {
		return "", End{"not tried", "", "name addresses that other pods of the namespace reach (network.dial)"}
	}
	all, err := k.policies(ctx)
	if err != nil {
		return "", Refused("list NetworkPolicies", err)
	}
	if err := denied(all, pod); err != nil {
		return "", err
	}
	control, err := k.control(ctx, c, owner, pod.Spec.NodeName)
	if err != nil {
		return "", err
	}
	defer func() { _ = k.drop(ctx, control, nil) }() // its lifetime ends it otherwise
	for _, address := range c.Network.Dial {
		switch connects, err := k.dial(ctx, c, control, address); {
		case err != nil:
			return "", err
		case !connects:
			return "", End{
				"not shown", "a pod that is no session's cannot connect to " + address + " either",
				"name an address that other pods of the namespace reach (network.dial or --dial)",
			}
		}
	}
	for _, address := range c.Network.Dial {
		if err := k.shut(ctx, c, pod, address); err != nil {
			return "", err
		}
	}
	return identity(all), nil
}

// shut reports that a pod cannot connect to an address.
func (k *Cluster) shut(ctx context.Context, c Config, pod *corev1.Pod, address string) error {
	for range settleTries {
		connects, err := k.dial(ctx, c, pod, address)
		if err != nil || !connects {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("try the network from pod %s: %w", pod.Name, context.Cause(ctx))
		case <-time.After(settleTime / 4):
		}
	}
	return End{
		"it connects to " + address, "the network plugin does not enforce the NetworkPolicy of the pod",
		"take a network plugin that knows NetworkPolicy",
	}
}

// policies are the NetworkPolicies of the namespace.
func (k *Cluster) policies(ctx context.Context) (*networkingv1.NetworkPolicyList, error) {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	found, err := k.in(networkGroup, "networkpolicies").List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	all := &networkingv1.NetworkPolicyList{}
	all.ResourceVersion = found.GetResourceVersion()
	for i := range found.Items {
		p, err := typed[networkingv1.NetworkPolicy](&found.Items[i])
		if err != nil {
			return nil, err
		}
		all.Items = append(all.Items, *p)
	}
	return all, nil
}

// identity names policies and their contents: a change of one changes it.
func identity(all *networkingv1.NetworkPolicyList) string {
	var each []string
	for _, p := range all.Items {
		each = append(each, fmt.Sprintf("%s %d", p.UID, p.Generation))
	}
	slices.Sort(each)
	return strings.Join(each, "\n")
}

// denied reports that policies deny all connections from a pod.
func denied(all *networkingv1.NetworkPolicyList, pod *corev1.Pod) error {
	selected := false
	for _, p := range all.Items {
		selector, err := metav1.LabelSelectorAsSelector(&p.Spec.PodSelector)
		if err != nil {
			return fmt.Errorf("read NetworkPolicy %s: %w", p.Name, err)
		}
		egress := slices.Contains(p.Spec.PolicyTypes, networkingv1.PolicyTypeEgress)
		if !egress || !selector.Matches(labels.Set(pod.Labels)) {
			continue
		}
		if len(p.Spec.Egress) > 0 {
			return End{"NetworkPolicy " + p.Name + " allows connections from the pod", "", "remove its egress rules"}
		}
		selected = true
	}
	if !selected {
		return End{
			"no NetworkPolicy denies connections from the pod", "", "apply docs/examples/kubernetes/namespace.yaml",
		}
	}
	return nil
}

// control makes a pod on a node that no NetworkPolicy for sessions selects, and waits for it.
func (k *Cluster) control(ctx context.Context, c Config, owner Owner, node string) (*corev1.Pod, error) {
	c.Lifetime = min(c.Lifetime, c.Wait+Duration(5*time.Minute))
	c.Env, c.Secrets, c.Workspace = nil, nil, Workspace{Path: c.Workspace.Path, Size: "64Mi"}
	c.Resources = Resources{CPU: "100m", Memory: "64Mi", Storage: "64Mi"}
	pod := c.Pod(podName(), owner)
	pod.Labels[labelManager] = controlled
	at := corev1.NodeSelectorTerm{MatchFields: []corev1.NodeSelectorRequirement{
		{Key: "metadata.name", Operator: corev1.NodeSelectorOpIn, Values: []string{node}},
	}}
	if node != "" {
		pod.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
				NodeSelectorTerms: []corev1.NodeSelectorTerm{at},
			},
		}}
	}
	made, err := k.make(ctx, pod)
	if err != nil {
		return nil, fmt.Errorf("try the network: %w", err)
	}
	if _, err := k.await(ctx, made.Name, time.Duration(c.Wait)); err != nil {
		return nil, k.drop(ctx, made, fmt.Errorf("try the network: %w", err))
	}
	return made, nil
}

// network is the fact for policies about a running pod. With "none" it names the NetworkPolicies.
func (k *Cluster) network(ctx context.Context, c Config, owner Owner, pod *corev1.Pod) (fact, seen string) {
	seen, err := k.closed(ctx, c, owner, pod)
	if err != nil {
		return networkUnknown, "" // doctor says why
	}
	return networkNone, seen
}

// guard waits until the network of a pod is no longer known to be closed, and returns why. It tries it again
// when policies of the namespace change.
func (k *Cluster) guard(ctx context.Context, c Config, owner Owner, made *corev1.Pod, seen string) error {
	for {
		all, why := k.policies(ctx)
		pod, err := k.pod(ctx, made.Name)
		version := ""
		switch {
		case apierrors.IsForbidden(why):
			why = Refused("list NetworkPolicies", why)
		case why != nil || err != nil || pod == nil: // the stream shows it if the API server or the pod is gone
			why = nil
		default:
			version, why = all.ResourceVersion, denied(all, pod)
			if why == nil && identity(all) != seen {
				seen, why = k.closed(ctx, c, owner, pod)
			}
		}
		switch {
		case ctx.Err() != nil:
			return nil
		case why != nil:
			return End{
				"pod " + made.Name + ": its network is no longer known to be closed", why.Error(),
				"the next request makes a new pod, and tries its network anew",
			}
		}
		k.changed(ctx, version)
	}
}

// changed waits until NetworkPolicies of the namespace change after a version, or for some time.
func (k *Cluster) changed(ctx context.Context, since string) {
	ctx, cancel := context.WithTimeout(ctx, watchTime)
	defer cancel()
	w, err := k.in(networkGroup, "networkpolicies").Watch(ctx, metav1.ListOptions{ResourceVersion: since})
	if err != nil {
		select {
		case <-ctx.Done():
		case <-time.After(settleTime):
		}
		return
	}
	defer w.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case e, ok := <-w.ResultChan():
			if !ok || e.Type == watch.Error { // of a server that restarts, or has forgotten the version
				select {
				case <-ctx.Done():
				case <-time.After(settleTime):
				}
				return
			}
			if e.Type != watch.Bookmark {
				return
			}
		}
	}
}

// check reports the first of the addresses that is none.
func (n Network) check() error {
	if len(n.Dial) > maxDial {
		return fmt.Errorf("network.dial: write at most %d addresses", maxDial)
	}
	for _, address := range n.Dial {
		if host, port, ok := strings.Cut(address, ":"); !ok || host == "" || port == "" {
			return fmt.Errorf("network.dial: %q: write HOST:PORT, such as 10.96.0.1:443", address)
		}
	}
	return nil
}
