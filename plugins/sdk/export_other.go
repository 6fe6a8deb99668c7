//go:build !wasip1

package sdk

// Evaluate exists so that a plugin compiles on systems other than wasip1, for its tests: they call
// the plugin's own function, or Judge.
func Evaluate(_, _ uint32, _ func(*Input) []Finding) uint64 {
	panic("sdk.Evaluate: there is no memory to share outside WebAssembly: build for wasip1, or call Judge")
}
