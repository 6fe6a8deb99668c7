// Package seccomp makes filters that keep a process and its descendants from certain system calls.
//
// A filter here is a list of refused calls; all others pass. It closes the gaps of file permissions and
// namespaces, and is no confinement by itself: an unlisted call is allowed.
package seccomp

import (
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"syscall"

	"golang.org/x/net/bpf"
)

// Rule refuses a system call.
type Rule struct {
	Call  uintptr       // its number on this architecture (unix.SYS_…)
	Errno syscall.Errno // the caller's error
	When  []Match       // all of them must hold; none for every call
}

// Match compares the lower half of an argument, by value: a filter cannot follow a pointer.
type Match struct {
	Arg         int // 0 to 5
	Mask, Value uint32
	Not         bool
}

// Equal holds for one value of an argument.
func Equal(arg int, value uint32) Match { return Match{Arg: arg, Mask: ^uint32(0), Value: value} }

// AnyBit holds when an argument has one of some bits.
func AnyBit(arg int, bits uint32) Match { return Match{Arg: arg, Mask: bits, Not: true} }

// ErrUnsupported says that there are no filters for this system or architecture.
var ErrUnsupported = errors.New("no seccomp filters for " + runtime.GOOS + "/" + runtime.GOARCH)

// Supported reports whether there are filters here.
func Supported() bool { return auditArch != 0 }

// Return values of a filter (seccomp(2)).
const (
	killProcess = 0x80000000
	returnErrno = 0x00050000
	notify      = 0x7fc00000
	allow       = 0x7fff0000
)

// Offsets of a filter's input (struct seccomp_data).
const (
	offCall = 0
	offArch = 4
	offArgs = 16
)

// x32 is the bit by which x86-64 tells calls of its 32-bit form, which have numbers of their own.
const x32 = 0x40000000

// Program assembles a filter in the kernel's form: instructions of 8 bytes each in the byte order of this
// machine. A process of another architecture, with other numbers of calls, is killed at its first call.
func Program(rules []Rule) ([]byte, error) {
	raw, err := assemble(rules, nil)
	if err != nil {
		return nil, err
	}
	out := make([]byte, 0, 8*len(raw))
	for _, i := range raw {
		out = binary.NativeEndian.AppendUint16(out, i.Op)
		out = append(out, i.Jt, i.Jf)
		out = binary.NativeEndian.AppendUint32(out, i.K)
	}
	return out, nil
}

func assemble(refused, told []Rule) ([]bpf.RawInstruction, error) {
	if auditArch == 0 {
		return nil, ErrUnsupported
	}
	code := []bpf.Instruction{
		bpf.LoadAbsolute{Off: offArch, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpEqual, Val: auditArch, SkipTrue: 1},
		bpf.RetConstant{Val: killProcess},
		bpf.LoadAbsolute{Off: offCall, Size: 4},
	}
	if runtime.GOARCH == "amd64" {
		code = append(code,
			bpf.JumpIf{Cond: bpf.JumpLessThan, Val: x32, SkipTrue: 1},
			bpf.RetConstant{Val: returnErrno | uint32(syscall.ENOSYS)})
	}
	for i, r := range slices.Concat(refused, told) {
		answer := uint32(notify)
		if i < len(refused) {
			answer = returnErrno | uint32(r.Errno)
		}
		body, err := r.body(answer)
		if err != nil {
			return nil, err
		}
		code = append(code, bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: uint32(r.Call), SkipTrue: uint8(len(body))})
		code = append(code, body...)
	}
	return bpf.Assemble(append(code, bpf.RetConstant{Val: allow}))
}

// body is the rest after the call matched the rule's. It ends with the number of the call loaded, as it
// began, or does not come back.
func (r Rule) body(answer uint32) ([]bpf.Instruction, error) {
	if answer == returnErrno || len(r.When) > 16 {
		return nil, fmt.Errorf("make seccomp filter: call %d: no error to return, or more than 16 comparisons",
			r.Call)
	}
	refuse := bpf.RetConstant{Val: answer}
	if len(r.When) == 0 {
		return []bpf.Instruction{refuse}, nil
	}
	var body []bpf.Instruction
	for i, m := range r.When {
		if m.Arg < 0 || m.Arg > 5 {
			return nil, fmt.Errorf("make seccomp filter: call %d has no argument %d", r.Call, m.Arg)
		}
		rest := uint8(3*(len(r.When)-1-i) + 1) // the comparisons that follow, and the refusal
		cond := bpf.JumpNotEqual
		if m.Not {
			cond = bpf.JumpEqual
		}
		body = append(body,
			bpf.LoadAbsolute{Off: offArgs + 8*uint32(m.Arg) + lowHalf, Size: 4},
			bpf.ALUOpConstant{Op: bpf.ALUOpAnd, Val: m.Mask},
			bpf.JumpIf{Cond: cond, Val: m.Value, SkipTrue: rest})
	}
	return append(body, refuse, bpf.LoadAbsolute{Off: offCall, Size: 4}), nil
}
