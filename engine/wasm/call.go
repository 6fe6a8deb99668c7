package wasm

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tetratelabs/wazero/api"
)

// call is one call of a plugin, from the host's side. It travels in the context.
type call struct {
	ctx      context.Context
	deadline time.Time
	clock    func() time.Time
	now      uint64 // the next time of its clock
	said     []byte // the beginning of the output to its standard streams
}

type callKey struct{}

func callOf(ctx context.Context) *call { return ctx.Value(callKey{}).(*call) }

// Its clock shows the same times in every call: one while it begins, a later one while it judges.
const (
	beginning = 1e18 // 2001-09-09, in nanoseconds
	judging   = beginning + 1e9
)

var errTime = errors.New("it did not end in time")

// newCall begins a call with the given time limit. The next reading of its own clock is now.
func (c *compiled) newCall(ctx context.Context, limit time.Duration, now uint64) (context.Context, *call) {
	begun := &call{ctx: ctx, deadline: c.clock().Add(limit), clock: c.clock, now: now}
	if d, ok := ctx.Deadline(); ok && d.Before(begun.deadline) {
		begun.deadline = d
	}
	return context.WithValue(ctx, callKey{}, begun), begun
}

// mustGoOn ends the call if its time is over. The clock is read, not a timer waited for: timers need
// a processor, and the plugin may have it.
func (c *call) mustGoOn() {
	if err := c.ctx.Err(); err != nil {
		panic(err)
	}
	if !c.clock().Before(c.deadline) {
		panic(errTime)
	}
}

// quantum is how many steps a module may take until it asks again: less than a millisecond.
const quantum = 400_000

func tick(ctx context.Context, _ api.Module, stack []uint64) {
	callOf(ctx).mustGoOn()
	stack[0] = quantum
}

// saying adds the plugin's earlier output to an error.
func (c *call) saying(err error) error {
	said := strings.TrimSpace(strings.ToValidUTF8(string(c.said), "�"))
	if err == nil || said == "" {
		return err
	}
	lines := strings.Split(said, "\n")
	lines = slices.DeleteFunc(lines[:min(len(lines), 3)],
		func(l string) bool { return strings.TrimSpace(l) == "" })
	return fmt.Errorf("%w; it wrote %q", err, strings.Join(lines, " / "))
}
