package sdk

import "unsafe"

// version of the interface that this package speaks.
const version = 1

//go:wasmexport sallyport_interface
func speaks() uint32 { return version }

// The input and the output of the call that is going on. Sallyport puts the memory back after each
// call, so that nothing is ever freed; the variables keep the collector from doing it.
var input, output []byte

//go:wasmexport sallyport_alloc
func alloc(size uint32) uint32 {
	input = make([]byte, max(size, 1))
	return uint32(uintptr(unsafe.Pointer(unsafe.SliceData(input))))
}

// Evaluate judges the input that lies at the given place in memory and returns where the findings
// lie: the address in the upper, the length in the lower 32 bits. What cannot be decoded or encoded
// ends the plugin, which sallyport takes for a fault and refuses on.
func Evaluate(at, size uint32, judge func(*Input) []Finding) uint64 {
	if at != uint32(uintptr(unsafe.Pointer(unsafe.SliceData(input)))) || size > uint32(len(input)) {
		panic("sallyport_evaluate: this is not what sallyport_alloc gave")
	}
	var err error
	if output, err = Judge(input[:size], judge); err != nil {
		panic(err)
	}
	return uint64(uintptr(unsafe.Pointer(unsafe.SliceData(output))))<<32 | uint64(len(output))
}
