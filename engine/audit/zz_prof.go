package audit

import (
	"fmt"
	"slices"
	"time"
)

var Prof = map[string][]time.Duration{}
var profLast time.Time

func P0() { profLast = time.Now() }
func P(name string) {
	n := time.Now()
	Prof[name] = append(Prof[name], n.Sub(profLast))
	profLast = time.Now()
}
func PDump() {
	for k, v := range Prof {
		slices.Sort(v)
		fmt.Printf("%-20s p10 %v p50 %v p90 %v\n", k, v[len(v)/10], v[len(v)/2], v[len(v)*9/10])
	}
}
