package kubernetes

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/sallyport-dev/sallyport/internal/release"
)

// Usage is the help of the program.
const Usage = `Usage: sallyport-kubernetes [doctor|list|prune] [--config FILE] [--image IMAGE] [flags]

Makes a pod, connects standard input and output with the supervisor in it, and deletes the pod at the end.
It is a runner plugin: sallyport starts it, and a manifest names it.

  runners:
    cluster:
      plugin: /opt/sallyport/kubernetes.yaml
      args: [--config, /etc/sallyport/pod.yaml]
      workspace: /workspace

  doctor   ask the cluster for each right that is needed, and whether it would take the pod; with network.dial
           or --dial HOST:PORT make two pods, and see that a session's cannot connect there
  list     list the pods of this installation in the namespace
  prune    delete those whose session is gone
`

// Exit statuses of Main.
const (
	exitOK, exitFault, exitUsage = 0, 1, 2
)

// Main is the program; it returns its exit status.
func Main(ctx context.Context, args []string, s Streams) int {
	c, verb, all, dial, err := parse(args, s.Out)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return exitOK
	case err != nil:
		fmt.Fprintf(s.Err, "sallyport-kubernetes: %v\n", err)
		return exitUsage
	case verb == "version":
		fmt.Fprintf(s.Out, "sallyport-kubernetes %s\n", release.Version())
		return exitOK
	}
	if err := act(ctx, c, verb, all, dial, s); err != nil {
		fmt.Fprintf(s.Err, "sallyport-kubernetes: %v\n", err)
		return exitFault
	}
	return exitOK
}

// parse reads flags over the configuration file that one of them names.
func parse(args []string, out io.Writer) (c Config, verb string, all bool, dial string, err error) {
	c = Defaults()
	flags, version := flag.NewFlagSet("sallyport-kubernetes", flag.ContinueOnError), false
	flags.SetOutput(io.Discard)
	file := flags.String("config", "", "`file` of the pod's configuration")
	flags.BoolVar(&version, "version", false, "say which release this is")
	flags.BoolVar(&all, "all", false, "list and prune: pods of all installations in the namespace")
	flags.StringVar(
		&dial, "dial", "", "doctor: `address` to which a session must not connect, and other pods must")
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
	text("workspace-claim", "`name` of a PersistentVolumeClaim for the workspace")
	err = flags.Parse(args)
	if words := flags.Args(); err == nil && len(words) > 0 {
		verb = words[0]
		err = flags.Parse(words[1:]) // flags may follow it
	}
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprint(out, Usage+"\nFlags:\n")
		flags.SetOutput(out)
		flags.PrintDefaults()
		return c, "", false, "", err
	case err != nil:
		return c, "", false, "", fmt.Errorf("%w: see sallyport-kubernetes --help", err)
	case version:
		return c, "version", false, "", nil
	}
	if *file != "" {
		if c, err = Load(*file); err != nil {
			return c, "", false, "", err
		}
	}
	for name, field := range map[string]*string{
		"image": &c.Image, "namespace": &c.Namespace, "context": &c.Context, "kubeconfig": &c.Kubeconfig,
		"supervisor-image": &c.Supervisor.Image, "supervisor-path": &c.Supervisor.Path,
		"runtime-class": &c.RuntimeClass, "memory": &c.Resources.Memory, "cpu": &c.Resources.CPU,
		"workspace-claim": &c.Workspace.Claim,
	} {
		if value := *given[name]; value != "" {
			*field = value
		}
	}
	switch {
	case flags.NArg() > 0:
		err = fmt.Errorf("unknown argument %q: write nothing after %s but flags", flags.Arg(0), verb)
	case verb == "":
		verb, err = "session", c.Check()
	case verb != "doctor" && verb != "list" && verb != "prune":
		err = fmt.Errorf("unknown argument %q: write doctor, list or prune", verb)
	}
	return c, verb, all, dial, err
}

// act carries out a subcommand.
func act(ctx context.Context, c Config, verb string, all bool, dial string, s Streams) error {
	k, err := Connect(c)
	if err != nil {
		return err
	}
	owner := Self()
	of := owner.Installation
	if all {
		of = ""
	}
	switch verb {
	case "doctor":
		return k.tell(ctx, c, owner, dial, s.Out)
	case "list":
		return k.show(ctx, of, s.Out)
	case "prune":
		removed, err := k.Prune(ctx, of, time.Now())
		for _, name := range removed {
			fmt.Fprintf(s.Out, "deleted pod %s\n", name)
		}
		if err == nil && len(removed) == 0 {
			fmt.Fprintln(s.Out, "nothing to delete")
		}
		return err
	}
	return k.Run(ctx, c, owner, s)
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

// show prints the sessions of an installation, or with "" of all.
func (k *Cluster) show(ctx context.Context, of string, out io.Writer) error {
	now := time.Now()
	sessions, err := k.Sessions(ctx, of, now)
	if err != nil {
		return err
	}
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "POD\tPHASE\tNODE\tIMAGE\tAGE\tOWNER\tSESSION")
	for _, s := range sessions {
		state, image := "alive", ""
		if s.Stale {
			state = "gone"
		}
		if len(s.Pod.Spec.Containers) > 0 {
			image = s.Pod.Spec.Containers[0].Image
		}
		age := now.Sub(s.Pod.CreationTimestamp.Time).Round(time.Second)
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n",
			s.Pod.Name, s.Pod.Status.Phase, s.Pod.Spec.NodeName, image, age, s.Owner, state)
	}
	return t.Flush()
}
