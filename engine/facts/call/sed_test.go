package call

import (
	"slices"
	"testing"
)

func TestSedScript(t *testing.T) {
	t.Parallel()
	tests := []struct {
		script string
		runs   bool
		files  []string
	}{
		{"s/a/b/g", false, nil},
		{"s/e/w/g; p", false, nil},
		{"1,40p", false, nil},
		{"/^end/d", false, nil},
		{"$!{h;d}", false, nil},
		{"y/abc/xyz/", false, nil},
		{"a e this is text", false, nil},
		{"s|/etc|/e|", false, nil},
		{"3,9c\\\nimport e\\\n\\\ne = 1\np", false, nil},
		{"1a x\n1e id", true, nil},
		{"1e id", true, nil},
		{"e", true, nil},
		{"/x/e id", true, nil},
		{"\\,x,e id", true, nil},
		{"s/.*/id/e", true, nil},
		{"s/.*/id/ge", true, nil},
		{"p;s,a\\,b,id,e", true, nil},
		{"w out.txt", false, []string{"out.txt"}},
		{"/x/w /etc/motd\np", false, []string{"/etc/motd"}},
		{"s/a/b/gw out.txt", false, []string{"out.txt"}},
		{"s/a/b", false, nil},
		{"", false, nil},
	}
	for _, tt := range tests {
		reader := sedReader{text: tt.script}
		runs := false
		var files []string
		for reader.next() {
			runs = runs || reader.runs
			if reader.file != "" {
				files = append(files, reader.file)
			}
		}
		if runs != tt.runs || !slices.Equal(files, tt.files) {
			t.Errorf("sed %q: runs %v, writes %q; want %v, %q", tt.script, runs, files, tt.runs, tt.files)
		}
	}
}
