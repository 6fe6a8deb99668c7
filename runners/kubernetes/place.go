package kubernetes

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// placeLine begins the line that tells the gate the facts of a pod, before all that the supervisor says. The
// number is the version of the protocol.
const placeLine = "sallyport-place/10 "

// Values of the network of a place.
const (
	networkNone    = "none"
	networkHost    = "host"
	networkUnknown = "unknown"
)

// Place has the facts of a running pod, as the cluster shows them. Names are those of the protocol.
type Place struct {
	Name      string `json:"name"`
	Isolation string `json:"isolation"`
	Network   string `json:"network"`
	Runtime   string `json:"runtime"`
	Image     string `json:"image"`
	Digest    string `json:"digest"`
	Node      string `json:"node"`
	CPU       int64  `json:"cpu"`    // thousandths
	Memory    int64  `json:"memory"` // bytes
	Storage   int64  `json:"storage"`
}

// Look reads the facts of a pod from its specification and status. Both may differ from the pod that was
// asked for: admission may change it. A trial shows its network.
func Look(pod *corev1.Pod, network string) Place {
	p := Place{Name: pod.Name, Isolation: isolation(pod), Network: network, Node: pod.Spec.NodeName}
	if pod.Spec.HostNetwork {
		p.Network = networkHost
	}
	if class := pod.Spec.RuntimeClassName; class != nil {
		p.Runtime = *class
	}
	limits := corev1.ResourceList{}
	for _, c := range pod.Spec.Containers {
		if c.Name == workContainer {
			p.Image, limits = c.Image, c.Resources.Limits
		}
	}
	for _, c := range pod.Status.ContainerStatuses {
		if c.Name != workContainer {
			continue
		}
		if _, sum, ok := strings.Cut(c.ImageID, "sha256:"); ok {
			p.Digest = "sha256:" + sum
		}
		if c.Resources != nil {
			limits = c.Resources.Limits // in force: those of the specification may be about to be
		}
	}
	p.CPU, p.Memory = limits.Cpu().MilliValue(), limits.Memory().Value()
	p.Storage = limits.StorageEphemeral().Value()
	return p
}

// isolation is "container" for a pod that shares no namespace with its node and has no privileged container.
func isolation(pod *corev1.Pod) string {
	if pod.Spec.HostNetwork || pod.Spec.HostPID || pod.Spec.HostIPC {
		return "none"
	}
	for _, c := range pod.Spec.Containers {
		if s := cmp.Or(c.SecurityContext, &corev1.SecurityContext{}); s.Privileged != nil && *s.Privileged {
			return "none"
		}
	}
	for _, v := range pod.Spec.Volumes {
		if v.HostPath != nil {
			return "none"
		}
	}
	return "container"
}

// tell writes the facts to the gate.
func (p Place) tell(out io.Writer) error {
	text, err := json.Marshal(p)
	if err == nil {
		_, err = fmt.Fprintf(out, "%s%s\n", placeLine, text)
	}
	if err != nil {
		return fmt.Errorf("tell the facts of the pod: %w", err)
	}
	return nil
}
