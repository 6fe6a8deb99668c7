package rego

import "runtime"

// workers run evaluations on goroutines that stay. An evaluation needs a deep stack, and growing
// one anew for each request takes a third of a small request's time (measured: 1.0 ms against 0.65).
// One that never returns keeps its goroutine, and the next gets another.
type workers struct {
	idle chan chan func()
}

func newWorkers() *workers {
	return &workers{idle: make(chan chan func(), runtime.GOMAXPROCS(0))}
}

// do runs f beside the caller and returns at once.
func (w *workers) do(f func()) {
	select {
	case jobs := <-w.idle:
		jobs <- f
	default:
		go w.work(f)
	}
}

func (w *workers) work(f func()) {
	jobs := make(chan func(), 1)
	for ok := true; ok; f, ok = <-jobs {
		f()
		f = nil //nolint:ineffassign,wastedassign // free its variables while there is no work
		select {
		case w.idle <- jobs:
		default:
			return
		}
	}
}

// stop ends the workers that are idle.
func (w *workers) stop() {
	for {
		select {
		case jobs := <-w.idle:
			close(jobs)
		default:
			return
		}
	}
}
