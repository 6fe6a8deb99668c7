package facts

import "testing"

func TestTableCompiles(t *testing.T) {
	t.Parallel()
	rows := commands().rows
	for name, r := range rows {
		if _, err := compile(r); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if len(rows) < 400 {
		t.Errorf("%d commands are known, want at least 400", len(rows))
	}
}
