package main

import (
	"runtime"
	"sync"

	"golang.org/x/sys/unix"
)

// spareThreads is how many threads are made at the start. The runtime keeps them, and so needs no new one
// when a command has used up all the processes that there may be: without one it would end this program.
const spareThreads = 32

// harden keeps this program out of reach of commands that run as the same user, as far as it can: nobody but
// root can look into it or trace it. That they can signal it only another user or another process namespace
// prevents.
func harden() {
	_ = unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0) // it cannot fail with these arguments
	var ready, over sync.WaitGroup
	ready.Add(spareThreads)
	for range spareThreads {
		over.Go(func() {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			ready.Done()
			ready.Wait() // all hold a thread of their own now
		})
	}
	over.Wait()
}
