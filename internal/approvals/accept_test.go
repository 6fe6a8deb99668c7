package approvals

import (
	"path/filepath"
	"runtime"
	"testing"
	"time"
)

// TestAcceptFails: a question can be answered although the process could not accept a connection for a while.
func TestAcceptFails(t *testing.T) {
	t.Parallel()
	q := Queue{Dir: filepath.Join(t.TempDir(), "q"), User: "ann"}
	o, err := q.offer(t.Context(), Question{ID: "one"})
	if err != nil {
		t.Fatal(err)
	}
	defer o.close()
	for range 1000 { // each accept fails, and one of them begins meanwhile
		if err := o.listener.SetDeadline(time.Unix(1, 0)); err != nil {
			t.Fatal(err)
		}
		runtime.Gosched()
	}
	if err := o.listener.SetDeadline(time.Time{}); err != nil {
		t.Fatal(err)
	}
	if _, err := q.Reply(t.Context(), "one", Answer{Granted: true}); err != nil {
		t.Fatal(err)
	}
	if a, err := o.answer(t.Context()); err != nil || !a.Granted {
		t.Errorf("%+v, %v", a, err)
	}
}
