package supervisor

import (
	"errors"
	"fmt"
	"runtime"

	"golang.org/x/sys/unix"

	"github.com/sallyport-dev/sallyport/runners/seccomp"
	"github.com/sallyport-dev/sallyport/runners/slack"
)

// forker starts processes on one thread. They are to be killed when sallyport dies, and the kernel takes the
// thread that started them for sallyport (PR_SET_PDEATHSIG, prctl(2)): so it lives on. Rights that the thread
// has given up, its children never had.
type forker struct {
	work chan func()
	stop <-chan struct{}
}

// newForker creates the thread; gives drops the thread's rights.
func newForker(stop <-chan struct{}, gives func() error) (*forker, error) {
	f := &forker{work: make(chan func()), stop: stop}
	ready := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		err := gives()
		ready <- err
		for err == nil {
			select {
			case w := <-f.work:
				w()
			case <-stop:
				return // and the thread with it, by which time nothing is left to kill
			}
		}
	}()
	return f, <-ready
}

// run runs a function on the thread, if that has not ended.
func (f *forker) run(do func() error) error {
	done := make(chan error, 1)
	select {
	case f.work <- func() { done <- do() }:
		return <-done
	case <-f.stop:
		return errors.New("environment is closed")
	}
}

// behind is the nice value of commands in a container. It gives the supervisor ten times the share of any of
// their processes, and takes nothing from the container: its share of the machine is its control group's.
const behind = 10

// prepareForkers makes the threads that commands start from. Commands of our own user are not kept from
// rights that the user can get: that is for environments which confine.
func (h *host) prepareForkers(o Options) (err error) {
	take := func() error { // of this thread
		slack.Narrow()
		if o.User == nil {
			return nil
		}
		_ = unix.Setpriority(unix.PRIO_PROCESS, 0, behind) // it cannot fail
		return dropInheritable()
	}
	if h.plain, err = newForker(h.stop, take); err != nil {
		return err
	}
	h.bare = h.plain
	rules := o.refused()
	if o.Suspect != nil || o.Programs != "" {
		h.prepareNames(o)
	}
	if o.User == nil && len(rules) == 0 && h.names == nil {
		return nil
	}
	bare := func() error {
		if err := take(); err != nil {
			return err
		}
		if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
			return fmt.Errorf("give up new privileges: %w", err)
		}
		if len(rules) == 0 {
			return nil
		}
		return seccomp.Install(rules)
	}
	if h.names != nil && o.Programs != "" {
		// The program that begins each command installs the filter.
		if h.bare, err = newForker(h.stop, bare); err == nil {
			err = h.bare.run(func() error { h.prepareStarter(o); return nil })
		}
		if err != nil || h.starter != "" {
			return err
		}
		if o.Suspect == nil {
			h.names.Close()
			h.names = nil
			return nil
		}
	}
	if h.names == nil {
		h.bare, err = newForker(h.stop, bare)
		return err
	}
	h.bare, err = newForker(h.stop, func() error { return errors.Join(bare(), h.names.Install()) })
	if err == nil {
		err = h.bare.run(func() error { return tryNames(o) })
	}
	if err == nil {
		return nil
	}
	h.withoutNames(err)
	h.bare, err = newForker(h.stop, bare)
	return err
}

// refused are the system calls that commands are kept from.
func (o Options) refused() (rules []seccomp.Rule) {
	if o.User != nil && seccomp.Supported() {
		rules = append(rules, seccomp.NoOddSockets()...)
	}
	if o.NoSetID {
		rules = append(rules, seccomp.NoSetID()...)
	}
	if o.NoUnixSockets {
		rules = append(rules, seccomp.NoUnixSockets()...)
	}
	return rules
}

// dropInheritable drops the capabilities that a program with capabilities of its own could inherit. The other
// rights of root end with the change of the user.
func dropInheritable() error {
	head := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var sets [2]unix.CapUserData
	if err := unix.Capget(&head, &sets[0]); err != nil {
		return fmt.Errorf("read capabilities: %w", err)
	}
	sets[0].Inheritable, sets[1].Inheritable = 0, 0
	if err := unix.Capset(&head, &sets[0]); err != nil {
		return fmt.Errorf("give up inheritable capabilities: %w", err)
	}
	_ = unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0,
		0) // they ended with the others; older kernels have none
	return nil
}
