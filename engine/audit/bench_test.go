package audit

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/redact"
)

// BenchmarkRecord compares one durable record with a bare write and sync of as many bytes, in turns
// on the same disk, since what a disk does differs from minute to minute.
func BenchmarkRecord(b *testing.B) {
	o := testOptions(b)
	o.Reserve = 0
	l := mustOpen(b, o)
	r := decision("0123456789abcdef", "git status", engine.Deny)
	p, err := encode(r, testTime, l.red, defaultRecord)
	if err != nil {
		b.Fatal(err)
	}
	line := appendLine(nil, 1, p, l.writer, tlog.Hash{})
	bare, err := os.Create(filepath.Join(filepath.Dir(o.Dir), "bare"))
	if err != nil {
		b.Fatal(err)
	}
	var ours, theirs time.Duration
	for b.Loop() {
		start := time.Now()
		if err := l.Record(context.Background(), r); err != nil {
			b.Fatal(err)
		}
		middle := time.Now()
		if _, err := bare.Write(line); err != nil {
			b.Fatal(err)
		}
		if err := dataSync(bare); err != nil {
			b.Fatal(err)
		}
		ours, theirs = ours+middle.Sub(start), theirs+time.Since(middle)
	}
	b.ReportMetric(float64(ours.Microseconds())/float64(b.N), "record-us")
	b.ReportMetric(float64(theirs.Microseconds())/float64(b.N), "bare-us")
	b.ReportMetric(float64(ours)/float64(theirs), "ratio")
	mustClose(b, l)
	if err := bare.Close(); err != nil {
		b.Fatal(err)
	}
}

func BenchmarkRecord64Writers(b *testing.B) {
	o := testOptions(b)
	o.Reserve = 0
	l := mustOpen(b, o)
	var left atomic.Int64
	left.Store(int64(b.N))
	var wg sync.WaitGroup
	b.ResetTimer()
	for w := range 64 {
		wg.Go(func() {
			r := decision(fmt.Sprintf("writer-%d", w), "git status", engine.Deny)
			for left.Add(-1) >= 0 {
				if err := l.Record(context.Background(), r); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "rec/s")
	mustClose(b, l)
}

func BenchmarkEncode(b *testing.B) {
	red := redact.New([]byte("k"), redact.Extra{})
	r := decision("0123456789abcdef", "git status && npm run build", engine.Deny)
	for b.Loop() {
		if _, err := encode(r, testTime, red, defaultRecord); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkVerify reads a log of 200,000 records that was made in memory and written at once.
func BenchmarkVerify(b *testing.B) {
	const n = 200_000
	o := testOptions(b)
	l := mustOpen(b, o)
	fill(b, l, 0, 1)
	p, err := encode(decision("0123456789abcdef", "git status", engine.Deny), testTime, nil, defaultRecord)
	if err != nil {
		b.Fatal(err)
	}
	batch := make([]*request, 1000)
	for i := range batch {
		batch[i] = &request{records: []payload{p}, result: make(chan error, n)}
	}
	for range n / len(batch) {
		l.process(batch, false) // the committer is idle: nothing is queued
	}
	for _, r := range batch {
		for range n / len(batch) {
			if err := <-r.result; err != nil {
				b.Fatal(err)
			}
		}
	}
	mustClose(b, l)
	fi, err := os.Stat(filepath.Join(o.Dir, segmentName(1)))
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(fi.Size())
	var records int64
	for b.Loop() {
		records += mustVerify(b, o.Dir).Records
	}
	b.ReportMetric(float64(records)/b.Elapsed().Seconds(), "rec/s")
}
