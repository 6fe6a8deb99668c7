// Command sallyport-kubernetes is a runner plugin: it makes a pod for each session of Sallyport in a
// Kubernetes cluster, and connects its standard input and output with sallyport-supervisor in that pod.
//
// It is a program of its own so that the gate holds no client of a cluster.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/sallyport-dev/sallyport/runners/kubernetes"
)

func main() { os.Exit(run()) }

func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	// Without a reader it still deletes the pod.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	return kubernetes.Main(ctx, os.Args[1:], kubernetes.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr})
}
