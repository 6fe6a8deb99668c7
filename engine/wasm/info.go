package wasm

import (
	"context"
	"maps"
	"slices"
	"time"
)

// Info describes an open plugin, for people.
type Info struct {
	Name      string   `json:"name"`
	Version   string   `json:"version"`
	File      string   `json:"file"`
	SHA256    string   `json:"sha256"`
	Bytes     int      `json:"bytes"`
	Interface int      `json:"interface"`
	Rules     []string `json:"rules"` // ids
	Limits    Limits   `json:"limits"`
	Imports   []string `json:"imports"`
	Reset     Reset    `json:"reset"`
	MemoryKiB int      `json:"memory_kib"` // of an instance that waits for a call
	Compiled  string   `json:"compiled"`   // where the compiled form is kept: a directory, or "memory: " and why
	Cost      Cost     `json:"cost"`
}

// Reset says how state is kept from surviving a call.
type Reset struct {
	How string `json:"how"` // "snapshot" or "new instance"
	Why string `json:"why"` // the state that cannot be reset; "" for a snapshot
}

// Cost is measured on this machine, in microseconds.
type Cost struct {
	Load     float64 `json:"load_us"`     // compiling, or reading the compiled form
	Instance float64 `json:"instance_us"` // making an instance
	Calls    int     `json:"calls"`       // that the next two are of
	Median   float64 `json:"call_p50_us"` // one call with a small input
	Slowest  float64 `json:"call_max_us"`
}

func micros(d time.Duration) float64 { return float64(d.Nanoseconds()/100) / 10 }

// Info describes the plugin, and measures the given number of calls.
func (p *Plugin) Info(ctx context.Context, calls int) (Info, error) {
	m := p.manifest
	info := Info{
		Name: m.Name, Version: m.Version, File: p.file, SHA256: m.SHA256, Bytes: p.size, Interface: m.Interface,
		Rules: slices.Sorted(maps.Keys(p.rules)), Limits: m.Limits, Imports: []string{}, Reset: Reset{How: "snapshot"},
		MemoryKiB: int(p.pool.memory >> 10), Compiled: p.pool.compiled.kept,
		Cost: Cost{Load: micros(p.pool.compiled.took), Instance: micros(p.pool.took), Calls: calls},
	}
	if p.pool.start == nil {
		info.Reset = Reset{How: "new instance", Why: p.pool.module.lasting}
	}
	for _, i := range p.imports {
		info.Imports = append(info.Imports, i.String())
	}
	slices.Sort(info.Imports)
	info.Imports = slices.Compact(info.Imports)
	if calls == 0 {
		return info, nil
	}
	took := make([]time.Duration, calls)
	for i := range took {
		start := time.Now()
		if _, err := p.Evaluate(ctx, sampleInput()); err != nil {
			return Info{}, err
		}
		took[i] = time.Since(start)
	}
	slices.Sort(took)
	info.Cost.Median, info.Cost.Slowest = micros(took[calls/2]), micros(took[calls-1])
	return info, nil
}
