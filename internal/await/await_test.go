package await_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"github.com/sallyport-dev/sallyport/internal/await"
)

// recorder is a test that notes its failure and ends its goroutine, as a real one does.
type recorder struct {
	testing.TB
	message string
}

func (r *recorder) Helper() {}

func (r *recorder) Fatalf(format string, args ...any) {
	r.message = format
	panic(r)
}

// failure runs f and returns with which format it failed; "" when it did not.
func failure(f func(t testing.TB)) string {
	r := &recorder{}
	func() {
		defer func() {
			if v := recover(); v != nil && v != any(r) {
				panic(v)
			}
		}()
		f(r)
	}()
	return r.message
}

func TestWaitsForWhatComes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		looks := 0
		c := make(chan int)
		go func() { c <- 7 }()
		if m := failure(func(t testing.TB) {
			await.True(t, "the third look", func() bool { looks++; return looks == 3 })
			if got := await.Receive(t, "number", c); got != 7 {
				panic(got)
			}
		}); m != "" || looks != 3 {
			t.Errorf("%q after %d looks", m, looks)
		}
		close(c)
		if got := await.Receive(t, "end", c); got != 0 {
			t.Errorf("a closed channel gives %d", got)
		}
		if err := await.Context(t).Err(); err != nil {
			t.Error(err)
		}
	})
}

// TestTheGuardEndsEveryWait runs by the fake clock of a bubble, which moves on when all wait.
func TestTheGuardEndsEveryWait(t *testing.T) {
	t.Parallel()
	for name, wait := range map[string]func(t testing.TB){
		"True":    func(t testing.TB) { await.True(t, "it never comes", func() bool { return false }) },
		"Receive": func(t testing.TB) { await.Receive(t, "value", make(chan int)) },
	} {
		synctest.Test(t, func(t *testing.T) {
			if m := failure(wait); !strings.Contains(m, "no ") {
				t.Errorf("%s: failed with %q", name, m)
			}
		})
	}
	synctest.Test(t, func(t *testing.T) {
		if await.Holds(func() bool { return false }) {
			t.Error("Holds says that what is false holds")
		}
		<-await.Context(t).Done()
	})
}
