package kubernetes

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"
)

// Config describes the pod of a session, and the cluster in which it is made.
type Config struct {
	Kubeconfig string `yaml:"kubeconfig"` // "": KUBECONFIG, ~/.kube/config, or inside of a pod its service account
	Context    string `yaml:"context"`    // of the kubeconfig; "": its current one
	Namespace  string `yaml:"namespace"`  // "": that of the context

	Image      string     `yaml:"image"` // in which commands run; nothing of Sallyport needs to be in it
	Supervisor Supervisor `yaml:"supervisor"`
	Workspace  Workspace  `yaml:"workspace"`
	Resources  Resources  `yaml:"resources"`
	Network    Network    `yaml:"network"`
	Pool       string     `yaml:"pool"` // SandboxWarmPool that has such pods; "": each session makes its own

	RuntimeClass     string            `yaml:"runtime_class"`
	NodeSelector     map[string]string `yaml:"node_selector"`
	Tolerations      []Toleration      `yaml:"tolerations"`
	ImagePullSecrets []string          `yaml:"image_pull_secrets"`
	User             int64             `yaml:"user"`    // of the pod's processes, and their group; never 0
	Env              map[string]string `yaml:"env"`     // of commands, in the open
	Secrets          []string          `yaml:"secrets"` // Secrets of the namespace; their keys become variables
	Lifetime         Duration          `yaml:"lifetime"`
	Wait             Duration          `yaml:"wait"` // until the pod must run
}

// Supervisor says where the program sallyport-supervisor comes from.
type Supervisor struct {
	// Image has it, and an init container of this image copies it into the pod. Without an image the program
	// is in the image of the commands.
	Image string `yaml:"image"`
	Path  string `yaml:"path"` // in that image
	// Volume mounts the image in place of the copy. It needs a server and a runtime with image volumes.
	Volume bool `yaml:"volume"`
}

// Workspace is the directory of commands: a volume that ends with the pod, or a claim that stays.
type Workspace struct {
	Path  string `yaml:"path"`
	Size  string `yaml:"size"`          // of the volume that ends with the pod
	Class string `yaml:"storage_class"` // of that volume; "" for one on the disk of the node
	Claim string `yaml:"claim"`         // name of a PersistentVolumeClaim
}

// Resources are the limits of a pod. It requests the same, so that the scheduler counts them.
type Resources struct {
	CPU     string `yaml:"cpu"`
	Memory  string `yaml:"memory"`
	Storage string `yaml:"storage"` // of its root file system and volumes that end with it
}

// Network is how a trial of each session shows that its network is closed.
type Network struct {
	Dial []string `yaml:"dial"` // addresses that other pods of the namespace reach, and the session must not
}

// maxDial bounds the addresses of a trial: each takes some seconds.
const maxDial = 4

// Toleration lets the pod run on nodes with a taint.
type Toleration struct {
	Key      string `yaml:"key"`
	Operator string `yaml:"operator"` // Equal or Exists
	Value    string `yaml:"value"`
	Effect   string `yaml:"effect"`
}

// Duration is a time with a unit: 8h, 90s.
type Duration time.Duration

// UnmarshalYAML reads a duration as Go writes it.
func (d *Duration) UnmarshalYAML(n *yaml.Node) error {
	v, err := time.ParseDuration(n.Value)
	if err != nil {
		return fmt.Errorf("line %d: %q is no duration: write 8h, 30m or 90s", n.Line, n.Value)
	}
	*d = Duration(v)
	return nil
}

// Defaults are the values of settings that a configuration leaves out.
func Defaults() Config {
	return Config{
		Supervisor: Supervisor{Path: "/usr/bin/sallyport-supervisor"},
		Workspace:  Workspace{Path: "/workspace", Size: "10Gi"},
		Resources:  Resources{CPU: "1", Memory: "2Gi", Storage: "10Gi"},
		User:       1000,
		Lifetime:   Duration(8 * time.Hour),
		Wait:       Duration(5 * time.Minute),
	}
}

// maxConfig bounds a configuration file, in bytes.
const maxConfig = 1 << 20

// Load reads a configuration over the defaults. Unknown keys are errors.
func Load(file string) (Config, error) {
	c := Defaults()
	f, err := os.Open(file)
	if err != nil {
		return Config{}, fmt.Errorf("read configuration: %w", err)
	}
	defer func() { _ = f.Close() }() // it was only read
	text, err := io.ReadAll(io.LimitReader(f, maxConfig))
	if err != nil {
		return Config{}, fmt.Errorf("read configuration: %w", err)
	}
	d := yaml.NewDecoder(bytes.NewReader(text))
	d.KnownFields(true)
	if err := d.Decode(&c); err != nil && !errors.Is(err, io.EOF) {
		return Config{}, fmt.Errorf("%s: %w", file, err)
	}
	if err := d.Decode(new(any)); !errors.Is(err, io.EOF) {
		return Config{}, fmt.Errorf("%s: more than one document: write one", file)
	}
	return c, nil
}

// Check reports the first invalid value of a configuration, with its fix.
func (c Config) Check() error {
	if c.Image == "" {
		return errors.New("image: missing: name the image in which commands run (image: or --image)")
	}
	absolute := [][2]string{{"supervisor.path", c.Supervisor.Path}, {"workspace.path", c.Workspace.Path}}
	for _, p := range absolute {
		if !path.IsAbs(p[1]) || path.Clean(p[1]) != p[1] || p[1] == "/" {
			return fmt.Errorf("%s: %q: write an absolute path of Linux", p[0], p[1])
		}
	}
	for _, place := range []string{home, temporary, installed} {
		if w := c.Workspace.Path; w == place || strings.HasPrefix(place, w+"/") || strings.HasPrefix(w, place+"/") {
			return fmt.Errorf("workspace.path: %q overlaps %s of the pod: choose another, such as /workspace", w,
				place)
		}
	}
	switch {
	case c.Workspace.Class != "" && c.Workspace.Claim != "":
		return errors.New("workspace: storage_class makes a volume, and claim names one: write one of them")
	case c.Supervisor.Volume && c.Supervisor.Image == "":
		return errors.New("supervisor.volume: there is no image to mount: write supervisor.image")
	case c.User < 1 || c.User > 1<<31-1:
		return fmt.Errorf("user: %d: write the number of an ordinary user, such as 1000", c.User)
	case time.Duration(c.Lifetime) < time.Minute || time.Duration(c.Lifetime) > 365*24*time.Hour:
		return fmt.Errorf("lifetime: %s: write from 1m to 8760h", time.Duration(c.Lifetime))
	case time.Duration(c.Wait) < time.Second || c.Wait >= c.Lifetime:
		return fmt.Errorf("wait: %s: write from 1s up to less than lifetime (%s)",
			time.Duration(c.Wait), time.Duration(c.Lifetime))
	}
	return cmp.Or(c.checkQuantities(), c.Network.check(), c.checkNames())
}

func (c Config) checkQuantities() error {
	for _, q := range []struct{ key, value string }{
		{"workspace.size", c.Workspace.Size}, {"resources.cpu", c.Resources.CPU},
		{"resources.memory", c.Resources.Memory}, {"resources.storage", c.Resources.Storage},
	} {
		v, err := resource.ParseQuantity(q.value)
		if err != nil || v.Sign() <= 0 {
			return fmt.Errorf("%s: %q is no quantity: write 500m, 2Gi or the like", q.key, q.value)
		}
	}
	return nil
}

func (c Config) checkNames() error {
	names := map[string][]string{
		"namespace": {c.Namespace}, "pool": {c.Pool}, "runtime_class": {c.RuntimeClass},
		"workspace.claim": {c.Workspace.Claim}, "workspace.storage_class": {c.Workspace.Class},
		"secrets": c.Secrets, "image_pull_secrets": c.ImagePullSecrets,
	}
	for _, key := range slices.Sorted(maps.Keys(names)) {
		for _, name := range names[key] {
			list := key == "secrets" || key == "image_pull_secrets"
			if problems := validation.IsDNS1123Subdomain(name); (name != "" || list) && len(problems) > 0 {
				return fmt.Errorf("%s: %q is no name of an object: %s", key, name, problems[0])
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(c.Env)) {
		if problems := validation.IsEnvVarName(name); len(problems) > 0 {
			return fmt.Errorf("env: %q is no name of a variable: %s", name, problems[0])
		}
	}
	for _, t := range c.Tolerations {
		if op := cmp.Or(t.Operator, "Equal"); op != "Equal" && op != "Exists" {
			return fmt.Errorf("tolerations: operator %q: write Equal or Exists", t.Operator)
		}
	}
	return nil
}
