package kubernetes

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/sallyport-dev/sallyport/internal/release"
)

// Usage is the help of the program.
const Usage = `Usage: sallyport-kubernetes [doctor|list|remove NAME…|prune|template] [--config FILE] [flags]

Makes a pod, connects standard input and output with the supervisor in it, and deletes the pod at the end.
It is a runner plugin: sallyport starts it, and a manifest names it.

  runners:
    cluster:
      plugin: /opt/sallyport/kubernetes.yaml
      args: [--config, /etc/sallyport/pod.yaml]
      workspace: /workspace

  doctor   ask the cluster for each right that is needed, and whether it would take the pod; with network.dial
           or --dial HOST:PORT make two pods, and see that a session's cannot connect there
  list     list the pods of this installation in the namespace, a JSON document for each
  remove   delete those that are named
  prune    delete those whose session is gone
  template print the SandboxTemplate and the SandboxWarmPool of agent-sandbox for such pods, as JSON
`

// order is a command line.
type order struct {
	config Config
	verb   string
	names  []string
	all    bool
	dial   string
}

// Exit statuses of Main.
const (
	exitOK, exitFault, exitUsage = 0, 1, 2
)

// Main is the program; it returns its exit status.
func Main(ctx context.Context, args []string, s Streams) int {
	o, err := parse(args, s.Out)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return exitOK
	case err != nil:
		fmt.Fprintf(s.Err, "sallyport-kubernetes: %v\n", err)
		return exitUsage
	case o.verb == "version":
		fmt.Fprintf(s.Out, "sallyport-kubernetes %s\n", release.Version())
		return exitOK
	}
	if err := act(ctx, o, s); err != nil {
		fmt.Fprintf(s.Err, "sallyport-kubernetes: %v\n", err)
		return exitFault
	}
	return exitOK
}

// parse reads flags over the configuration file that one of them names.
func parse(args []string, out io.Writer) (o order, err error) {
	c := Defaults()
	flags, version := flag.NewFlagSet("sallyport-kubernetes", flag.ContinueOnError), false
	flags.SetOutput(io.Discard)
	file := flags.String("config", "", "`file` of the pod's configuration")
	flags.BoolVar(&version, "version", false, "say which release this is")
	flags.BoolVar(&o.all, "all", false, "list, remove and prune: pods of all installations in the namespace")
	flags.StringVar(
		&o.dial, "dial", "", "doctor: `address` to which a session must not connect, and other pods must")
	given := map[string]*string{}
	text := func(name, usage string) { given[name] = flags.String(name, "", usage) }
	text("image", "`image` in which commands run")
	text("namespace", "`name` of the namespace; default: that of the context")
	text("context", "`name` of a context of the kubeconfig; default: its current one")
	text("kubeconfig", "`file`; default: KUBECONFIG, ~/.kube/config, or inside of a pod its service account")
	text("supervisor-image", "`image` from which an init container copies sallyport-supervisor")
	text("supervisor-path",
		"`path` of sallyport-supervisor in that image, or without one in the image of commands")
	text("runtime-class", "`name` of a RuntimeClass, such as gvisor")
	text("memory", "`limit` of memory, such as 2Gi")
	text("cpu", "`limit` of processors, such as 500m")
	text("pool", "`name` of a SandboxWarmPool of agent-sandbox with such pods")
	text("workspace-claim", "`name` of a PersistentVolumeClaim for the workspace")
	err = flags.Parse(args)
	if words := flags.Args(); err == nil && len(words) > 0 {
		o.verb = words[0]
		err = flags.Parse(words[1:]) // flags may follow it
	}
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(out, Usage+"\nFlags:\n")
		flags.SetOutput(out)
		flags.PrintDefaults()
		return o, err
	case err != nil:
		return o, fmt.Errorf("%w: see sallyport-kubernetes --help", err)
	case version:
		o.verb = "version"
		return o, nil
	}
	if *file != "" {
		if c, err = Load(*file); err != nil {
			return o, err
		}
	}
	for name, field := range map[string]*string{
		"image": &c.Image, "namespace": &c.Namespace, "context": &c.Context, "kubeconfig": &c.Kubeconfig,
		"supervisor-image": &c.Supervisor.Image, "supervisor-path": &c.Supervisor.Path,
		"runtime-class": &c.RuntimeClass, "memory": &c.Resources.Memory, "cpu": &c.Resources.CPU,
		"workspace-claim": &c.Workspace.Claim, "pool": &c.Pool,
	} {
		if value := *given[name]; value != "" {
			*field = value
		}
	}
	o.config, o.names = c, flags.Args()
	switch {
	case o.verb == "":
		o.verb, err = "session", c.Check()
	case !slices.Contains([]string{"doctor", "list", "remove", "prune", "template"}, o.verb):
		err = fmt.Errorf("unknown argument %q: write doctor, list, remove, prune or template", o.verb)
	case o.verb == "template" && c.Pool == "":
		err = errors.New("pool: missing: name the SandboxWarmPool to be made (pool: or --pool)")
	case (o.verb == "remove") != (len(o.names) > 0):
		err = fmt.Errorf("%s %q: only remove takes names, at least one", o.verb, o.names)
	}
	return o, err
}

// act carries out a subcommand.
func act(ctx context.Context, o order, s Streams) error {
	k, err := Connect(o.config)
	if err != nil {
		return err
	}
	owner := Self()
	of, chosen := owner.Installation, stale
	if o.all {
		of = ""
	}
	var found []Session
	switch o.verb {
	case "session":
		return k.Run(ctx, o.config, owner, s)
	case "doctor":
		return k.tell(ctx, o.config, owner, o.dial, s.Out)
	case "template":
		all, err := o.config.Template(k.Namespace)
		for _, object := range all {
			err = cmp.Or(err, json.NewEncoder(s.Out).Encode(object))
		}
		return err
	case "list":
		found, err = k.Sessions(ctx, of, time.Now())
	case "remove":
		chosen = func(s Session) bool { return slices.Contains(o.names, s.Pod.Name) }
		fallthrough
	case "prune":
		found, err = k.Remove(ctx, of, time.Now(), chosen)
	}
	to := json.NewEncoder(s.Out)
	for _, f := range found {
		err = cmp.Or(err, to.Encode(f.kept()))
	}
	if err == nil && o.verb == "remove" && len(found) < len(o.names) {
		err = fmt.Errorf("namespace %s has no such pod of %s: sallyport-kubernetes list --all shows all",
			k.Namespace, owner.Name)
	}
	return err
}

// tell prints the findings of Diagnose.
func (k *Cluster) tell(ctx context.Context, c Config, owner Owner, dial string, out io.Writer) error {
	fmt.Fprintf(out, "cluster %s, namespace %s, as %s\n", k.Host, k.Namespace, owner.Name)
	bad, all := 0, k.Diagnose(ctx, c, owner)
	if dial != "" {
		c.Network.Dial = []string{dial}
	}
	if len(c.Network.Dial) > 0 && !slices.ContainsFunc(all, func(f Finding) bool { return f.Problem != nil }) {
		all = append(all, k.Probe(ctx, c, owner))
	}
	for _, f := range all {
		if f.Problem == nil {
			fmt.Fprintf(out, "ok       %s\n", f.Check)
			continue
		}
		bad++
		fmt.Fprintf(out, "problem  %s: %v\n", f.Check, f.Problem)
	}
	if bad > 0 {
		return fmt.Errorf("problems: %d", bad)
	}
	return nil
}
