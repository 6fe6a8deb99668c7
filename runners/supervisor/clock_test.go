package supervisor

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sallyport-dev/sallyport/internal/await"
)

// handClock is a clock on which time passes when a test says so.
type handClock struct {
	mu  sync.Mutex
	due map[time.Duration]map[*func()]bool
}

func (c *handClock) clock(d time.Duration, f func()) (stop func() bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.due == nil {
		c.due = map[time.Duration]map[*func()]bool{}
	}
	if c.due[d] == nil {
		c.due[d] = map[*func()]bool{}
	}
	c.due[d][&f] = true
	return func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		had := c.due[d][&f]
		delete(c.due[d], &f)
		return had
	}
}

func (c *handClock) waits(d time.Duration) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.due[d]) > 0
}

// pass waits until somebody waits for a time to pass, and lets it pass.
func (c *handClock) pass(t *testing.T, d time.Duration) {
	t.Helper()
	await.True(t, "somebody waits for "+d.String(), func() bool { return c.waits(d) })
	c.mu.Lock()
	due := c.due[d]
	delete(c.due, d)
	c.mu.Unlock()
	for f := range due {
		(*f)()
	}
}

// shows waits until the standard output of a command holds a text.
func shows(t testing.TB, p *Process, text string) {
	t.Helper()
	await.True(t, "it writes "+text, func() bool { out, _ := p.Output(); return strings.Contains(out.Text, text) })
}
