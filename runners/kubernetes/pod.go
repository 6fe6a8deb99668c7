package kubernetes

import (
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Places of every pod besides its workspace.
const (
	home      = "/home/agent"
	temporary = "/tmp"
	installed = "/opt/sallyport"
)

// Names in a pod: of containers, and of the volume with the supervisor.
const (
	workContainer    = "work"
	installContainer = "install"
	supervisorVolume = "supervisor"
)

// Labels by which pods and leases are found.
const (
	labelManager      = "app.kubernetes.io/managed-by"
	labelInstallation = "sallyport.dev/installation"
	manager           = "sallyport"
	annotationOwner   = "sallyport.dev/owner"
)

// SupervisorPath is the path of the supervisor in the pod.
func (c Config) SupervisorPath() string {
	switch {
	case c.Supervisor.Image == "":
		return c.Supervisor.Path
	case c.Supervisor.Volume:
		return installed + c.Supervisor.Path
	}
	return installed + "/sallyport-supervisor"
}

// Pod is the pod of a session. It keeps to Pod Security "restricted", has no token of the cluster and a root
// file system that cannot be written, and ends by itself when its lifetime is over.
func (c Config) Pod(name string, owner Owner) *corev1.Pod {
	life, grace, no, nobody := int64(time.Duration(c.Lifetime).Seconds()), int64(1), false, c.User
	yes, policy := true, corev1.FSGroupChangeOnRootMismatch
	pod := &corev1.Pod{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{
			Name:        name,
			Labels:      map[string]string{labelManager: manager, labelInstallation: owner.Installation},
			Annotations: map[string]string{annotationOwner: owner.Name},
		},
		Spec: corev1.PodSpec{
			RestartPolicy: corev1.RestartPolicyNever, ActiveDeadlineSeconds: &life,
			TerminationGracePeriodSeconds: &grace, AutomountServiceAccountToken: &no, EnableServiceLinks: &no,
			NodeSelector: c.NodeSelector,
			SecurityContext: &corev1.PodSecurityContext{
				RunAsNonRoot: &yes, RunAsUser: &nobody, RunAsGroup: &nobody,
				FSGroup: &nobody, FSGroupChangePolicy: &policy,
				SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
			},
			Volumes:    c.volumes(),
			Containers: []corev1.Container{c.work()},
		},
	}
	if c.RuntimeClass != "" {
		pod.Spec.RuntimeClassName = &c.RuntimeClass
	}
	for _, t := range c.Tolerations {
		pod.Spec.Tolerations = append(pod.Spec.Tolerations, corev1.Toleration{
			Key: t.Key, Operator: corev1.TolerationOperator(t.Operator), Value: t.Value,
			Effect: corev1.TaintEffect(t.Effect),
		})
	}
	for _, name := range c.ImagePullSecrets {
		pod.Spec.ImagePullSecrets = append(pod.Spec.ImagePullSecrets, corev1.LocalObjectReference{Name: name})
	}
	if c.Supervisor.Image != "" && !c.Supervisor.Volume {
		pod.Spec.InitContainers = []corev1.Container{c.install()}
	}
	return pod
}

// confined is the security context of each container.
func confined() *corev1.SecurityContext {
	yes, no := true, false
	return &corev1.SecurityContext{
		AllowPrivilegeEscalation: &no, ReadOnlyRootFilesystem: &yes, RunAsNonRoot: &yes,
		Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
	}
}

// work is the container of the commands. Its first process collects ended processes, and nothing else.
func (c Config) work() corev1.Container {
	limits := corev1.ResourceList{
		corev1.ResourceCPU:              resource.MustParse(c.Resources.CPU),
		corev1.ResourceMemory:           resource.MustParse(c.Resources.Memory),
		corev1.ResourceEphemeralStorage: resource.MustParse(c.Resources.Storage),
	}
	w := corev1.Container{
		Name: workContainer, Image: c.Image, Command: []string{c.SupervisorPath(), "--init"},
		WorkingDir: c.Workspace.Path, SecurityContext: confined(),
		Resources:                corev1.ResourceRequirements{Limits: limits, Requests: limits},
		TerminationMessagePolicy: corev1.TerminationMessageFallbackToLogsOnError,
		Env:                      []corev1.EnvVar{{Name: "HOME", Value: home}},
		VolumeMounts: []corev1.VolumeMount{
			{Name: "workspace", MountPath: c.Workspace.Path}, {Name: "home", MountPath: home},
			{Name: "temporary", MountPath: temporary},
		},
	}
	if c.Supervisor.Image != "" {
		w.VolumeMounts = append(w.VolumeMounts,
			corev1.VolumeMount{Name: supervisorVolume, MountPath: installed, ReadOnly: true})
	}
	for _, name := range slices.Sorted(maps.Keys(c.Env)) {
		w.Env = append(w.Env, corev1.EnvVar{Name: name, Value: c.Env[name]})
	}
	for _, name := range c.Secrets {
		w.EnvFrom = append(w.EnvFrom, corev1.EnvFromSource{
			SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: name}},
		})
	}
	return w
}

// install is the container in which the supervisor copies itself into the pod: its image needs no shell.
func (c Config) install() corev1.Container {
	limits := corev1.ResourceList{
		corev1.ResourceCPU: resource.MustParse("100m"), corev1.ResourceMemory: resource.MustParse("64Mi"),
		corev1.ResourceEphemeralStorage: resource.MustParse("64Mi"),
	}
	return corev1.Container{
		Name: installContainer, Image: c.Supervisor.Image,
		Command:         []string{c.Supervisor.Path, "--install", c.SupervisorPath()},
		SecurityContext: confined(), Resources: corev1.ResourceRequirements{Limits: limits, Requests: limits},
		TerminationMessagePolicy: corev1.TerminationMessageFallbackToLogsOnError,
		VolumeMounts:             []corev1.VolumeMount{{Name: supervisorVolume, MountPath: installed}},
	}
}

// volumes are the places of a pod that can be written.
func (c Config) volumes() []corev1.Volume {
	empty := func(name, size string) corev1.Volume {
		q := resource.MustParse(size)
		dir := corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{SizeLimit: &q}}
		return corev1.Volume{Name: name, VolumeSource: dir}
	}
	workspace := empty("workspace", c.Workspace.Size)
	switch class := c.Workspace.Class; {
	case c.Workspace.Claim != "":
		workspace.VolumeSource = corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: c.Workspace.Claim},
		}
	case class != "": // the cluster makes a claim for the pod, and deletes it with the pod
		workspace.VolumeSource = corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{
			VolumeClaimTemplate: &corev1.PersistentVolumeClaimTemplate{Spec: corev1.PersistentVolumeClaimSpec{
				StorageClassName: &class, AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
				Resources: corev1.VolumeResourceRequirements{
					Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(c.Workspace.Size)},
				},
			}},
		}}
	}
	all := []corev1.Volume{workspace, empty("home", c.Resources.Storage),
		empty("temporary", c.Resources.Storage)}
	switch {
	case c.Supervisor.Volume:
		image := &corev1.ImageVolumeSource{Reference: c.Supervisor.Image}
		all = append(all, corev1.Volume{Name: supervisorVolume, VolumeSource: corev1.VolumeSource{Image: image}})
	case c.Supervisor.Image != "":
		all = append(all, empty(supervisorVolume, "64Mi"))
	}
	return all
}
