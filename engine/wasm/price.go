package wasm

// A passage is a stretch of code that is paid for once, before anything in it can repeat: a function
// or a loop, without the loops in it.
type passage struct {
	gaps []int // where its price goes
	cost int
}

// pay takes the price of the current passage from the counter, and asks the host when that is spent.
func (f *function) pay() {
	p := &f.passes[f.open[len(f.open)-1]]
	f.w.byte(opGlobalGet)
	f.w.u32(f.m.declared)
	f.w.byte(opI64Const)
	p.gaps = append(p.gaps, f.w.gap())
	f.settle()
}

// small is the cost of a function that neither loops nor calls and need not be paid for: its caller pays for
// the call.
const small = 32

// before pays for the function ahead of an instruction that could lead out of its first straight
// stretch. Most functions of some compilers are one loop: then the loop pays for both.
func (f *function) before(op byte) {
	switch op {
	case opIf, opBr, opBrIf, opBrTable, opReturn, opCall, opCallIndirect, opMemoryGrow, opMore:
	case opEnd:
		if len(f.open) > 1 || f.passes[0].cost <= small {
			return
		}
	default:
		return
	}
	f.pay()
	f.due = false
}

// loop begins a passage of its own.
func (f *function) loop() {
	if f.due {
		f.due = false
		f.open = append(f.open, 0)
	} else {
		f.passes = append(f.passes, passage{})
		f.open = append(f.open, len(f.passes)-1)
	}
	f.pay()
}

// settle ends a charge: counter and price are on the stack.
func (f *function) settle() {
	w := &f.w
	w.byte(opI64Sub, opLocalTee)
	w.u32(f.counter())
	w.byte(opGlobalSet)
	w.u32(f.m.declared)
	w.byte(opLocalGet)
	w.u32(f.counter())
	w.byte(opI64Const, 0, opI64LtS, opIf, blockEmpty, opCall)
	w.u32(f.m.tick)
	w.byte(opGlobalSet)
	w.u32(f.m.declared)
	w.byte(opEnd)
}

// Indexes of the locals that are ours.
func (f *function) counter() uint32 { return uint32(f.locals) }
func (f *function) size() uint32    { return uint32(f.locals) + 1 }

// charge takes a price that depends on the number on top of the stack: times 2 to the power of up.
func (f *function) charge(up int) {
	w := &f.w
	w.byte(opLocalTee)
	w.u32(f.size())
	w.byte(opGlobalGet)
	w.u32(f.m.declared)
	w.byte(opLocalGet)
	w.u32(f.size())
	w.byte(opI64ExtendU, opI64Const)
	if up < 0 {
		w.byte(byte(-up), opI64ShrU)
	} else {
		w.byte(byte(up), opI64Shl)
	}
	f.settle()
}

// The cost of a unit of a bulk instruction, as a power of two: eight bytes are a step.
const (
	perByte  = -3
	perEntry = 0
	perPage  = 13
)

// memory rewrites memory.size and memory.grow. The size is the global's. Growing first uses the part of the
// memory beyond that, and only then makes it larger.
func (f *function) memory(op byte) {
	w, size, delta := &f.w, f.m.size(), f.size()
	get := func(op byte, index uint32) {
		w.byte(op)
		w.u32(index)
	}
	if op == opMemorySize {
		get(opGlobalGet, size)
		return
	}
	f.charge(perPage)
	get(opLocalSet, delta)
	w.byte(opBlock, valI32)
	get(opGlobalGet, size)
	w.byte(opI64ExtendU)
	get(opLocalGet, delta)
	w.byte(opI64ExtendU, opI64Add, opMemorySize, 0, opI64ExtendU, opI64GtU, opIf, blockEmpty)
	get(opGlobalGet, size)
	get(opLocalGet, delta)
	w.byte(opI32Add, opMemorySize, 0, opI32Sub, opMemoryGrow, 0, opI32Const)
	w.signed(-1)
	w.byte(opI32Eq, opIf, blockEmpty, opI32Const)
	w.signed(-1)
	w.byte(opBr, 2, opEnd, opEnd)
	get(opGlobalGet, size)
	get(opGlobalGet, size)
	get(opLocalGet, delta)
	w.byte(opI32Add)
	get(opGlobalSet, size)
	w.byte(opEnd)
}
