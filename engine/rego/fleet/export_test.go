package fleet

import "time"

// SetLimits sets how long Start waits for bundles and, unless it is 0, Close for pending reports.
func (o *Options) SetLimits(start, closing time.Duration) { o.limits = limits{start, closing} }

// Limited reports whether SetLimits was called.
func (o *Options) Limited() bool { return o.limits != limits{} }
