package kubernetes

import (
	"context"
	"fmt"
	"io"
	"net/url"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/remotecommand"
	"k8s.io/klog/v2"
	"k8s.io/streaming/pkg/httpstream"
)

// exec runs a command in the work container of a pod, with its three streams, until it ends or ctx does. It
// takes a WebSocket, and SPDY where the server or a proxy before it knows no WebSocket.
func (k *Cluster) exec(
	ctx context.Context, pod string, in io.Reader, out, errs io.Writer, command ...string,
) error {
	at, err := k.execURL(pod, command)
	if err != nil {
		return err
	}
	first, err := remotecommand.NewWebSocketExecutor(k.rest, "GET", at.String())
	if err != nil {
		return fmt.Errorf("open stream: %w", err)
	}
	second, err := remotecommand.NewSPDYExecutor(k.rest, "POST", at)
	if err != nil {
		return fmt.Errorf("open stream: %w", err)
	}
	executor, err := remotecommand.NewFallbackExecutor(first, second, func(err error) bool {
		return httpstream.IsUpgradeFailure(err) || httpstream.IsHTTPSProxyError(err)
	})
	if err != nil {
		return fmt.Errorf("open stream: %w", err)
	}
	o := remotecommand.StreamOptions{Stdin: in, Stdout: out, Stderr: errs}
	quiet := klog.NewContext(ctx, klog.Logger{}) // the end of the stream is told by its error
	return executor.StreamWithContext(quiet, o)
}

func (k *Cluster) execURL(pod string, command []string) (*url.URL, error) {
	config := rest.CopyConfig(k.rest)
	config.APIPath, config.GroupVersion = "/api", &schema.GroupVersion{Version: "v1"}
	base, versioned, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return nil, fmt.Errorf("open stream: address of the API server: %w", err)
	}
	at := base.JoinPath(versioned, "namespaces", k.Namespace, "pods", pod, "exec")
	at.RawQuery = url.Values{
		"container": {workContainer}, "command": command,
		"stdin": {"true"}, "stdout": {"true"}, "stderr": {"true"},
	}.Encode()
	return at, nil
}
