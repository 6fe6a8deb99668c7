package kubernetes

import (
	"context"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A session renews the lease of its pod. A pod with a stale lease has lost its session.
const (
	leaseGroup = "coordination.k8s.io"
	renewTime  = 30 * time.Second
	// staleTime is the age of a lease from which on its session is gone. It is longer than the time within
	// which a session notices that its stream is lost.
	staleTime = 5 * time.Minute
)

// lease is the lease of a pod: of its name, and deleted by the cluster when the pod is.
func lease(pod *corev1.Pod, now time.Time) *coordinationv1.Lease {
	holder, seconds, at := pod.Annotations[annotationOwner], int32(staleTime.Seconds()), metav1.NewMicroTime(now)
	return &coordinationv1.Lease{
		TypeMeta: metav1.TypeMeta{APIVersion: leaseGroup + "/v1", Kind: "Lease"},
		ObjectMeta: metav1.ObjectMeta{
			Name: pod.Name, Namespace: pod.Namespace,
			Labels: map[string]string{labelManager: manager, labelInstallation: pod.Labels[labelInstallation]},
			OwnerReferences: []metav1.OwnerReference{
				{APIVersion: "v1", Kind: "Pod", Name: pod.Name, UID: pod.UID},
			},
		},
		Spec: coordinationv1.LeaseSpec{
			HolderIdentity: &holder, LeaseDurationSeconds: &seconds, AcquireTime: &at, RenewTime: &at,
		},
	}
}

// renew keeps the lease of a pod until ctx ends. A renewal that fails is tried again at the next turn.
func (k *Cluster) renew(ctx context.Context, held *coordinationv1.Lease) {
	turn := time.NewTicker(renewTime)
	defer turn.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-turn.C:
			at := metav1.NewMicroTime(now)
			held.Spec.RenewTime = &at
			u, err := untyped(held)
			if err != nil {
				return
			}
			call, cancel := context.WithTimeout(ctx, callTime)
			if got, err := k.in(leaseGroup, "leases").Update(call, u, metav1.UpdateOptions{}); err == nil {
				held.ResourceVersion = got.GetResourceVersion()
			}
			cancel()
		}
	}
}

// Session is a pod of Sallyport's.
type Session struct {
	Pod   corev1.Pod
	Seen  time.Time // the last renewal of its lease, or its creation
	Stale bool
}

// Kept is a session as the verbs list, remove and prune tell of it. Names are those of the interface of
// plugins.
type Kept struct {
	Name    string    `json:"name"`
	State   string    `json:"state"`
	Image   string    `json:"image"`
	Created time.Time `json:"created"`
	Owner   string    `json:"owner"`
}

func (s Session) kept() Kept {
	k := Kept{Name: s.Pod.Name, State: "running", Created: s.Pod.CreationTimestamp.Time,
		Owner: s.Pod.Annotations[annotationOwner]}
	for _, c := range s.Pod.Spec.Containers {
		if c.Name == workContainer {
			k.Image = c.Image
		}
	}
	ended := s.Pod.Status.Phase == corev1.PodFailed || s.Pod.Status.Phase == corev1.PodSucceeded
	switch {
	case s.Stale:
		k.State = "dead"
	case ended || s.Pod.DeletionTimestamp != nil:
		k.State = "stopped"
	}
	return k
}

// Sessions lists the pods of Sallyport's in the namespace: those of one installation, or with "" all.
func (k *Cluster) Sessions(ctx context.Context, installation string, now time.Time) ([]Session, error) {
	selector := labelManager + "=" + manager
	if installation != "" {
		selector += "," + labelInstallation + "=" + installation
	}
	o := metav1.ListOptions{LabelSelector: selector}
	pods, err := list[corev1.Pod](ctx, k.in("", "pods"), o)
	if err != nil {
		return nil, Refused("list pods", err)
	}
	// After the pods: the lease of each that has one is there.
	leases, err := list[coordinationv1.Lease](ctx, k.in(leaseGroup, "leases"), o)
	if err != nil {
		return nil, Refused("list leases", err)
	}
	seen := map[string]time.Time{}
	for _, l := range leases {
		if l.Spec.RenewTime != nil {
			seen[l.Name] = l.Spec.RenewTime.Time
		}
	}
	all := make([]Session, 0, len(pods))
	for _, p := range pods {
		s := Session{Pod: p, Seen: p.CreationTimestamp.Time}
		if at, err := time.Parse(time.RFC3339, p.Annotations[annotationSince]); err == nil {
			s.Seen = at // it waited in a pool before
		}
		if at, ok := seen[p.Name]; ok {
			s.Seen = at
		}
		s.Stale = now.Sub(s.Seen) > staleTime
		all = append(all, s)
	}
	return all, nil
}

// Remove deletes the pods of sessions that are chosen, and returns those sessions.
func (k *Cluster) Remove(ctx context.Context, installation string, now time.Time, chosen func(Session) bool) (
	removed []Session, err error) {
	all, err := k.Sessions(ctx, installation, now)
	if err != nil {
		return nil, err
	}
	for _, s := range all {
		if s.Pod.DeletionTimestamp != nil || !chosen(s) {
			continue
		}
		call, cancel := context.WithTimeout(ctx, callTime)
		err := k.remove(call, &s.Pod)
		cancel()
		if err != nil {
			return removed, err
		}
		removed = append(removed, s)
	}
	return removed, nil
}

// stale chooses the sessions that have ended.
func stale(s Session) bool { return s.Stale }

// hold creates the lease of a pod.
func (k *Cluster) hold(ctx context.Context, pod *corev1.Pod, now time.Time) (*coordinationv1.Lease, error) {
	held, err := create(ctx, k.in(leaseGroup, "leases"), lease(pod, now), metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return nil, Refused("create the lease of pod "+pod.Name, err)
	}
	return held, nil
}
