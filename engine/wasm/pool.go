package wasm

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"
)

// A pool gives every call an instance without traces of other calls.
//
// If memory and globals are all the state that a module can change, the first instance is kept as a snapshot
// after its start and a sample, and every other instance, and every one after a call, is reset to that: a
// copy of the memory, some hundred microseconds, after the answer is given. If it can change more (its
// tables, its segments), each call gets a new instance, which is made beforehand.
//
// An instance with an error, or with grown memory, is discarded.
type pool struct {
	compiled *compiled
	module   *metered
	speaks   abi
	limits   Limits
	slots    chan struct{} // one for each instance in use or being put back
	idle     chan *instance
	closed   chan struct{}
	once     sync.Once
	start    *snapshot // nil: instances cannot be put back
	took     time.Duration
	memory   uint32
}

var errClosed = errors.New("it is closed")

// newPool makes a pool, and returns the result of its first instance for the sample.
func newPool(ctx context.Context, c *compiled, m *metered, speaks abi, l Limits) (*pool, [][]byte, error) {
	if err := speaks.check(c.module.ExportedFunctions()); err != nil {
		return nil, nil, err
	}
	size := 2 * runtime.GOMAXPROCS(0)
	p := &pool{
		compiled: c, module: m, speaks: speaks, limits: l,
		slots: make(chan struct{}, size), idle: make(chan *instance, size), closed: make(chan struct{}),
	}
	begin := time.Now()
	first, err := p.begin(ctx)
	if err != nil {
		return nil, nil, err
	}
	p.took = time.Since(begin)
	outputs, err := p.keep(ctx, first)
	if err != nil {
		first.close()
		return nil, nil, err
	}
	p.memory = first.memory.Size()
	return p, outputs, nil
}

// keep lets the first instance judge a sample, returns the result, and makes it the snapshot to which every
// instance is reset, itself included.
func (p *pool) keep(ctx context.Context, first *instance) ([][]byte, error) {
	input, err := encode(sampleInput())
	if err != nil {
		return nil, err
	}
	outputs, err := p.judge(ctx, first, input)
	if err != nil {
		return nil, err
	}
	if p.module.lasting != "" {
		first.close()
		return outputs, nil
	}
	if p.start, err = first.snapshot(); err != nil {
		return nil, err
	}
	if err := first.restore(p.start, p.limits.pages()); err != nil {
		return nil, err
	}
	p.idle <- first
	return outputs, nil
}

// next makes an instance as every call wants it.
func (p *pool) next(ctx context.Context) (*instance, error) {
	if p.start == nil {
		return p.begin(ctx)
	}
	i, err := p.instantiate(ctx)
	if err != nil {
		return nil, err
	}
	if err := i.restore(p.start, p.limits.pages()); err != nil {
		i.close()
		return nil, err
	}
	return i, nil
}

// judge lets one instance judge, within its time.
func (p *pool) judge(ctx context.Context, i *instance, input []byte) ([][]byte, error) {
	ctx, c := p.compiled.newCall(ctx, p.limits.time(), judging)
	outputs, err := p.speaks.judge(ctx, i, p.limits, input)
	return outputs, c.saying(err)
}

// evaluate lets an instance judge an encoded input and returns the result.
func (p *pool) evaluate(ctx context.Context, input []byte) ([][]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	select {
	case p.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, fmt.Errorf("wait for an instance: %w", ctx.Err())
	}
	select {
	case <-p.closed:
		<-p.slots
		return nil, errClosed
	default:
	}
	var i *instance
	select {
	case i = <-p.idle:
	default:
		var err error
		if i, err = p.next(ctx); err != nil {
			<-p.slots
			return nil, err
		}
	}
	output, err := p.judge(ctx, i, input)
	go p.putBack(i, err == nil)
	return output, err
}

// putBack makes an instance, or another in its place, ready for the next call. The answer does not
// wait for it.
func (p *pool) putBack(i *instance, sound bool) {
	defer func() { <-p.slots }()
	if sound && p.start != nil && i.restore(p.start, p.limits.pages()) == nil {
		p.idle <- i
		return
	}
	i.close()
	ctx, cancel := context.WithTimeout(context.Background(), maxBegin)
	defer cancel()
	if i, err := p.next(ctx); err == nil { // otherwise the next call tries, and has the error
		p.idle <- i
	}
}

// close waits for calls under way and frees everything.
func (p *pool) close() error {
	var err error
	p.once.Do(func() {
		close(p.closed)
		for range cap(p.slots) { // each is free once no call and no putBack has it
			p.slots <- struct{}{}
		}
		for range cap(p.slots) { // waiters find the pool closed
			<-p.slots
		}
		err = p.compiled.close()
	})
	return err
}
