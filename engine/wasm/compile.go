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
	if err != nil && cache != nil && ctx.Err() == nil {
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
	// SIMD is off because metering does not know it.
	config := wazero.NewRuntimeConfig().WithCoreFeatures(api.CoreFeaturesV2.SetEnabled(api.CoreFeatureSIMD, false))
	if cache != nil {
		config = config.WithCompilationCache(cache)
	}
	c := &compiled{runtime: wazero.NewRuntimeWithConfig(ctx, config), cache: cache, clock: time.Now}
	type result struct {
		module wazero.CompiledModule
		err    error
	}
	done := make(chan result, 1)
	go func() { // compiling cannot be interrupted, only left alone
		module, err := c.runtime.CompileModule(ctx, m.binary)
		done <- result{module, err}
	}()
	timer := time.NewTimer(limit)
	defer timer.Stop()
	var err error
	select {
	case r := <-done:
		c.module, err = r.module, r.err
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

func (c *compiled) close() error {
	err := c.runtime.Close(context.Background())
	if c.cache != nil {
		err = errors.Join(err, c.cache.Close(context.Background()))
	}
	return err
}
