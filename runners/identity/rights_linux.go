package identity

import (
	"errors"
	"fmt"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// maxIdle is how many threads are kept for further calls.
const maxIdle = 8

// Rights runs functions on threads that use files with a user's rights (setfsuid(2)). Only that is changed of
// a thread: signals and tracing still go by its real user, and that is root. A nil *Rights runs them as they
// are.
type Rights struct {
	become func() error // gives its thread these rights
	what   string       // for errors
	idle   chan chan func()
	stop   chan struct{}
}

// NewRights makes a first thread, and with it sure that there can be any.
func NewRights(u User) (*Rights, error) {
	if err := u.Check(); err != nil {
		return nil, fmt.Errorf("use files as user %d: %w", u.UID, err)
	}
	r, err := newRights(fmt.Sprintf("use files as user %d", u.UID), u.become)
	if err != nil {
		return nil, fmt.Errorf("%w: run the supervisor as root with SETUID and SETGID", err)
	}
	return r, nil
}

// WithoutCapabilities returns the rights that this process's user has by being that user. They are nil where
// it has no others.
func WithoutCapabilities() (*Rights, error) {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var held [2]unix.CapUserData
	if err := unix.Capget(&header, &held[0]); err != nil {
		return nil, fmt.Errorf("read own capabilities: %w", err)
	}
	if held[0].Effective|held[1].Effective == 0 {
		return nil, nil
	}
	return newRights("use files without capabilities", func() error {
		var none [2]unix.CapUserData
		return unix.Capset(&header, &none[0]) // of this thread
	})
}

func newRights(what string, become func() error) (*Rights, error) {
	r := &Rights{become: become, what: what, idle: make(chan chan func(), maxIdle), stop: make(chan struct{})}
	if err := r.run(func() {}); err != nil {
		return nil, fmt.Errorf("%s: %w", what, err)
	}
	return r, nil
}

// Do runs f with the user's rights and returns when it has. A panic in f comes out of Do.
func (r *Rights) Do(f func()) {
	if r == nil {
		f()
		return
	}
	if err := r.run(f); err != nil {
		// The first thread could be made and another cannot: to go on would be to go on as root.
		panic(fmt.Sprintf("%s: %v", r.what, err))
	}
}

// Close ends the kept threads. It does not wait for running calls, and later ones still work.
func (r *Rights) Close() {
	if r != nil {
		close(r.stop)
	}
}

// run runs f on an idle thread or a new one.
func (r *Rights) run(f func()) error {
	var panicked any
	done := make(chan error, 1)
	work := func() {
		defer func() {
			panicked = recover()
			done <- nil
		}()
		f()
	}
	select {
	case thread := <-r.idle:
		select {
		case thread <- work:
		case <-r.stop: // it may have ended
			go r.thread(work, done)
		}
	default:
		go r.thread(work, done)
	}
	err := <-done
	if panicked != nil {
		panic(panicked)
	}
	return err
}

// thread becomes the user and works until nobody keeps it. It is never unlocked, so it ends with the
// goroutine and no other ever runs on it.
func (r *Rights) thread(work func(), failed chan<- error) {
	runtime.LockOSThread()
	if err := r.become(); err != nil {
		failed <- err
		return
	}
	next := make(chan func())
	for {
		work()
		select {
		case r.idle <- next:
		default:
			return
		}
		select {
		case work = <-next:
		case <-r.stop:
			return
		}
	}
}

// become gives this very thread the user's rights on files. The functions of package syscall would give
// them to all threads.
func (u User) become() error {
	groups := make([]uint32, len(u.Groups))
	for i, g := range u.Groups {
		groups[i] = uint32(g)
	}
	var first unsafe.Pointer
	if len(groups) > 0 {
		first = unsafe.Pointer(&groups[0])
	}
	if _, _, errno := unix.RawSyscall(unix.SYS_SETGROUPS, uintptr(len(groups)), uintptr(first), 0); errno != 0 {
		return fmt.Errorf("set groups: %w", errno)
	}
	runtime.KeepAlive(groups)
	// These two return no error but the previous value, and -1 changes nothing.
	_, _ = unix.SetfsgidRetGid(u.GID)
	_, _ = unix.SetfsuidRetUid(u.UID)
	gid, _ := unix.SetfsgidRetGid(-1)
	uid, _ := unix.SetfsuidRetUid(-1)
	if gid != u.GID || uid != u.UID {
		return errors.New("the kernel does not let this process use files as another user")
	}
	return nil
}
