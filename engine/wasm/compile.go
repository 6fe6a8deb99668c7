package wasm

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

// maxCompile bounds the time that compiling one module takes.
const maxCompile = time.Minute

// compiled is a module that is ready to be instantiated, with the runtime that holds it.
type compiled struct {
	runtime wazero.Runtime
	cache   wazero.CompilationCache // nil for none
	module  wazero.CompiledModule
	took    time.Duration
	clock   func() time.Time
	kept    string // where the compiled form is kept, for people
}

// compile makes native code of a metered module, or reads it from the cache, within limit.
func compile(
	ctx context.Context, m *metered, provided map[imported]hostFunction, cacheDir string, limit time.Duration,
) (*compiled, error) {
	start := time.Now()
	cache, kept, err := openCache(cacheDir)
	if err != nil {
		return nil, err
	}
	c, err := compileWith(ctx, m, provided, cache, limit)
	if err != nil && cache != nil && ctx.Err() == nil && !errors.Is(err, ErrInterpreted) {
		// A file of the cache may be damaged or the disk full: neither says anything about the module.
		kept = fmt.Sprintf("memory: the cache could not be used: %v", err)
		c, err = compileWith(ctx, m, provided, nil, limit)
	}
	if err != nil {
		return nil, err
	}
	c.took, c.kept = time.Since(start), kept
	return c, nil
}

func compileWith(
	ctx context.Context, m *metered, provided map[imported]hostFunction,
	cache wazero.CompilationCache, limit time.Duration,
) (*compiled, error) {
	config := wazero.NewRuntimeConfig()
	if m.native {
		config = wazero.NewRuntimeConfigCompiler()
	}
	// SIMD is off because metering does not know it.
	config = config.WithCoreFeatures(api.CoreFeaturesV2.SetEnabled(api.CoreFeatureSIMD, false))
	if cache != nil {
		config = config.WithCompilationCache(cache)
	}
	c := &compiled{cache: cache, clock: time.Now}
	done := make(chan error, 1)
	go func() { done <- c.make(ctx, m, config) }() // compiling cannot be interrupted, only left alone
	timer := time.NewTimer(limit)
	defer timer.Stop()
	var err error
	select {
	case err = <-done:
	case <-ctx.Done():
		return nil, fmt.Errorf("compile: %w", ctx.Err())
	case <-timer.C:
		return nil, fmt.Errorf("compile: it took more than %v: make the module smaller", limit)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("compile: %w", err), c.close())
	}
	if err := instantiateHost(ctx, c.runtime, c.module, provided); err != nil {
		return nil, errors.Join(err, c.close())
	}
	return c, nil
}

// ErrInterpreted is the error for a module that must become native code, where modules can only be
// interpreted, which takes fifty times as long: on processors that the runtime has no compiler for, and where
// memory cannot be made executable.
var ErrInterpreted = errors.New("this machine does not run WebAssembly as native code")

// make makes the runtime and the module in it.
func (c *compiled) make(ctx context.Context, m *metered, config wazero.RuntimeConfig) (err error) {
	defer func() {
		if !m.native {
			return
		}
		if cause := recover(); cause != nil { // that is how the compiler says that it cannot work here
			err = fmt.Errorf("%w: %v", ErrInterpreted, cause)
		}
	}()
	c.runtime = wazero.NewRuntimeWithConfig(ctx, config)
	c.module, err = c.runtime.CompileModule(ctx, m.binary)
	return err
}

func (c *compiled) close() error {
	var err error
	if c.runtime != nil {
		err = c.runtime.Close(context.Background())
	}
	if c.cache != nil {
		err = errors.Join(err, c.cache.Close(context.Background()))
	}
	return err
}
