package wasm

// The binary format of WebAssembly 2.0, as far as metering must know it.

// Kinds of imports and exports.
const (
	kindFunc byte = iota
	kindTable
	kindMemory
	kindGlobal
)

const (
	valI32     = 0x7f
	valI64     = 0x7e
	valF32     = 0x7d
	valF64     = 0x7c
	refFunc    = 0x70
	refExtern  = 0x6f
	funcType   = 0x60
	header     = "\x00asm\x01\x00\x00\x00"
	hasMaximum = 1
)

// Sections of a module, by id.
const (
	secCustom byte = iota
	secType
	secImport
	secFunction
	secTable
	secMemory
	secGlobal
	secExport
	secStart
	secElement
	secCode
	secData
	secDataCount
)

// order is the order in which sections stand in a module.
var order = [...]byte{
	secType, secImport, secFunction, secTable, secMemory, secGlobal, secExport, secStart, secElement,
	secDataCount, secCode, secData,
}

// The instructions that metering must know. All others are copied with their operands.
const (
	opUnreachable  = 0x00
	opNop          = 0x01
	opBlock        = 0x02
	opLoop         = 0x03
	opIf           = 0x04
	opElse         = 0x05
	opEnd          = 0x0b
	opBr           = 0x0c
	opBrIf         = 0x0d
	opBrTable      = 0x0e
	opReturn       = 0x0f
	opCall         = 0x10
	opCallIndirect = 0x11
	opDrop         = 0x1a
	opSelect       = 0x1b
	opSelectTyped  = 0x1c
	opLocalGet     = 0x20
	opLocalSet     = 0x21
	opLocalTee     = 0x22
	opGlobalGet    = 0x23
	opGlobalSet    = 0x24
	opTableGet     = 0x25
	opTableSet     = 0x26
	opFirstMemory  = 0x28
	opLastMemory   = 0x3e
	opMemorySize   = 0x3f
	opMemoryGrow   = 0x40
	opI32Const     = 0x41
	opI64Const     = 0x42
	opF32Const     = 0x43
	opF64Const     = 0x44
	opFirstPlain   = 0x45 // comparisons, arithmetic, conversions: no operands
	opI32Eq        = 0x46
	opI64LtS       = 0x53
	opI64GtU       = 0x56
	opI32Add       = 0x6a
	opI32Sub       = 0x6b
	opI64Add       = 0x7c
	opI64Sub       = 0x7d
	opI64Shl       = 0x86
	opI64ShrU      = 0x88
	opI64ExtendU   = 0xad
	opLastPlain    = 0xc4
	opRefNull      = 0xd0
	opRefIsNull    = 0xd1
	opRefFunc      = 0xd2
	opMore         = 0xfc // a second number follows

	moreMemoryInit = 8
	moreDataDrop   = 9
	moreMemoryCopy = 10
	moreMemoryFill = 11
	moreTableInit  = 12
	moreElemDrop   = 13
	moreTableCopy  = 14
	moreTableGrow  = 15
	moreTableSize  = 16
	moreTableFill  = 17

	blockEmpty = 0x40
)
