package kubernetes

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"os/user"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// kind is a kind of objects.
func kind(group, name string) schema.GroupVersionResource {
	version := "v1"
	if group == sandboxGroup || group == claimGroup {
		version = beta
	}
	return schema.GroupVersionResource{Group: group, Version: version, Resource: name}
}

// Owner is the installation of Sallyport to which a pod belongs.
type Owner struct {
	Installation string // a label: the same for one user of one machine
	Name         string // for people
}

// Self is the owner of the pods of this user on this machine.
func Self() Owner {
	machine, err := os.Hostname()
	if err != nil {
		machine = "unknown"
	}
	name := "unknown"
	if u, err := user.Current(); err == nil {
		name = cmp.Or(u.Username, u.Uid)
	}
	id := "" // names of machines repeat
	if b, err := os.ReadFile("/etc/machine-id"); err == nil {
		id = string(b)
	}
	sum := sha256.Sum256([]byte(machine + "\x00" + name + "\x00" + id))
	return Owner{Installation: hex.EncodeToString(sum[:8]), Name: name + "@" + machine}
}

// Cluster is an API server and a namespace.
type Cluster struct {
	rest      *rest.Config
	objects   dynamic.Interface
	Namespace string
	Host      string // of the API server, for people
}

// callTime bounds one call to the API server.
const callTime = 15 * time.Second

// Connect reads the kubeconfig, or the service account of the pod in which this runs. It asks the cluster
// nothing.
func Connect(c Config) (*Cluster, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = c.Kubeconfig
	overrides := &clientcmd.ConfigOverrides{CurrentContext: c.Context}
	overrides.Context.Namespace = c.Namespace
	loader := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, overrides)
	config, err := loader.ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("read kubeconfig: %w: name one (kubeconfig: or KUBECONFIG), and its context", err)
	}
	namespace, _, err := loader.Namespace()
	if err != nil {
		return nil, fmt.Errorf("read kubeconfig: namespace: %w: write namespace: or --namespace", err)
	}
	config.UserAgent, config.QPS, config.Burst = "sallyport-kubernetes", 20, 40
	config.WarningHandler = rest.NoWarnings{} // they would be among the reasons of an end
	objects, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("read kubeconfig: %w: correct it", err)
	}
	return &Cluster{rest: config, objects: objects, Namespace: namespace, Host: config.Host}, nil
}

// in returns the objects of a kind in the namespace.
func (k *Cluster) in(group, name string) dynamic.ResourceInterface {
	return k.objects.Resource(kind(group, name)).Namespace(k.Namespace)
}

// untyped is an object as the dynamic client sends it.
func untyped(object any) (*unstructured.Unstructured, error) {
	fields, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		return nil, fmt.Errorf("encode object: %w", err)
	}
	return &unstructured.Unstructured{Object: fields}, nil
}

// typed reads an object that the API server sent.
func typed[T any](u *unstructured.Unstructured) (*T, error) {
	object := new(T)
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, object); err != nil {
		return nil, fmt.Errorf("decode object: %w", err)
	}
	return object, nil
}

// create creates an object and returns it as the cluster holds it.
func create[T any](
	ctx context.Context, in dynamic.ResourceInterface, object *T, o metav1.CreateOptions,
) (*T, error) {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	u, err := untyped(object)
	if err != nil {
		return nil, err
	}
	made, err := in.Create(ctx, u, o)
	if err != nil {
		return nil, err
	}
	return typed[T](made)
}

// list lists objects.
func list[T any](ctx context.Context, in dynamic.ResourceInterface, o metav1.ListOptions) ([]T, error) {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	found, err := in.List(ctx, o)
	if err != nil {
		return nil, err
	}
	all := make([]T, 0, len(found.Items))
	for i := range found.Items {
		object, err := typed[T](&found.Items[i])
		if err != nil {
			return nil, err
		}
		all = append(all, *object)
	}
	return all, nil
}

// pod returns a pod; nil when it is gone.
func (k *Cluster) pod(ctx context.Context, name string) (*corev1.Pod, error) {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	u, err := k.in("", "pods").Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	return typed[corev1.Pod](u)
}

// events returns the events of a pod, oldest first; none when they may not be read.
func (k *Cluster) events(ctx context.Context, name string) []corev1.Event {
	all, err := list[corev1.Event](ctx, k.in("", "events"), metav1.ListOptions{
		FieldSelector: "involvedObject.kind=Pod,involvedObject.name=" + name,
	})
	if err != nil {
		return nil // the state of the pod says enough without them
	}
	return sorted(all)
}

// remove deletes this very pod and no later one of its name; of a pool, its claim. A pod that is gone is no
// error.
func (k *Cluster) remove(ctx context.Context, pod *corev1.Pod) error {
	if claim := pod.Annotations[annotationClaim]; claim != "" {
		return k.release(ctx, claim)
	}
	o := metav1.DeleteOptions{}
	if pod.UID != "" {
		o.Preconditions = &metav1.Preconditions{UID: &pod.UID}
	}
	return gone("delete pod "+pod.Name, k.in("", "pods").Delete(ctx, pod.Name, o))
}

// gone is the error of a deletion, unless the object is gone.
func gone(do string, err error) error {
	if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
		return Refused(do, err)
	}
	return nil
}
