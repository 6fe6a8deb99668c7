package canary

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Ground is a trial with its objects on this machine. Every user of the machine can reach them, so that only
// confinement keeps a process from them.
type Ground struct {
	Trial
	dir       string
	listeners []net.Listener
}

// Lay makes the objects below the first directory in which that is possible. The trial includes the network.
func Lay(places []string) (g *Ground, err error) {
	g = &Ground{}
	defer func() {
		if err != nil {
			g.Remove()
		}
	}()
	for _, place := range places {
		removeLeft(place)
		if g.dir, err = os.MkdirTemp(place, prefix); err == nil {
			break
		}
	}
	if g.dir == "" {
		return g, errors.Join(errors.New("there is no hidden place to try to reach"), err)
	}
	in := func(name string) string { return filepath.Join(g.dir, name) }
	g.Read, g.Write, g.Connect = in("hidden"), in("shown"), in("socket")
	err = errors.Join(os.Chmod(g.dir, 0o755), os.WriteFile(g.Read, []byte("hidden"), 0o644),
		os.Mkdir(g.Write, 0o700), os.Chmod(g.Write, 0o777),
		g.listen("unix", g.Connect), g.listen("tcp", "127.0.0.1:0"))
	if err != nil {
		return g, err
	}
	g.Dial = g.listeners[len(g.listeners)-1].Addr().String()
	g.PID = os.Getpid()
	g.Began, err = Began(g.PID)
	return g, err
}

const (
	prefix = "sallyport-trial-"
	// forgotten is the age at which nobody uses the objects any more: a trial takes some seconds.
	forgotten = 10 * time.Minute
)

// removeLeft removes objects that a process left which was killed.
func removeLeft(place string) {
	all, _ := filepath.Glob(filepath.Join(place, prefix+"*"))
	for _, dir := range all {
		info, err := os.Lstat(dir)
		if err == nil && info.IsDir() && time.Since(info.ModTime()) > forgotten {
			_ = os.RemoveAll(dir)
		}
	}
}

// listen takes connections, to close them at once.
func (g *Ground) listen(network, address string) error {
	l, err := net.Listen(network, address)
	if err != nil {
		return err
	}
	g.listeners = append(g.listeners, l)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_ = c.Close()
		}
	}()
	return nil
}

// Outside makes the trial from here. All of it must succeed, or its failure elsewhere is evidence of nothing.
func (g *Ground) Outside() error {
	if got := g.Run(); len(got.Done) != 5 {
		return fmt.Errorf("no trial is possible: outside, only this works: %s", strings.Join(got.Done, ", "))
	}
	return nil
}

// Remove removes the objects.
func (g *Ground) Remove() {
	for _, l := range g.listeners {
		_ = l.Close()
	}
	if g.dir != "" {
		_ = os.RemoveAll(g.dir)
	}
}
