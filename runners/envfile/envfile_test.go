package envfile_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sallyport-dev/sallyport/runners/envfile"
)

func written(t testing.TB, content string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "vars")
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestRead(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		content string
		names   []string
		want    map[string]string
	}{
		"empty":         {"", nil, map[string]string{}},
		"plain":         {"A=1\r\nB=\n", nil, map[string]string{"A": "1", "B": ""}},
		"export":        {"export A=1\n", nil, map[string]string{"A": "1"}},
		"comments":      {"# A=0\nA=1 # of it\nB='#2'\nC=x#y\n", nil, map[string]string{"A": "1", "B": "#2", "C": "x#y"}},
		"quotes":        {"A=\"x \\\"y\\\"\\nz\"\nB='x $A \\n'\n", nil, map[string]string{"A": "x \"y\"\nz", "B": `x $A \n`}},
		"several lines": {"KEY=\"-----BEGIN\nabc\n-----END\"\nB=1\n", nil, map[string]string{"KEY": "-----BEGIN\nabc\n-----END", "B": "1"}},
		"above":         {"A=1\nB=${A}2\nC=\"$B 3\"\n", nil, map[string]string{"A": "1", "B": "12", "C": "12 3"}},
		"mark":          {"\xef\xbb\xbfA=1\n", nil, map[string]string{"A": "1"}},
		"equals":        {"URL=https://x/?a=b&c=d\n", nil, map[string]string{"URL": "https://x/?a=b&c=d"}},
		"some":          {"A=1\nB=2\nC=3\n", []string{"B", "ABSENT"}, map[string]string{"B": "2"}},
		"last counts":   {"A=1\nA=2\n", nil, map[string]string{"A": "2"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := envfile.Read(written(t, tc.content), tc.names)
			if d := cmp.Diff(tc.want, got); d != "" || err != nil {
				t.Errorf("%v, -want +got:\n%s", err, d)
			}
		})
	}
}

func TestReadRefuses(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("A=1\n", 100_000)
	for name, tc := range map[string]struct{ content, want string }{
		"no value":             {"A=1\nB=2\nthis is s3cret\nC=3\n", "line 3"},
		"open quote":           {"A=1\nB=\"s3cret\n", "line 2"},
		"behind several lines": {"A=\"1\n2\n3\"\ns3cret\n", "line 4"},
		"at the end of many":   {long + "s3cret", "line 100001"},
		"at the head of many":  {"s3cret\n" + long, "line 1"},
		"shell":                {"BASH_ENV=s3cret\n", "BASH_ENV"},
		"loader":               {"LD_PRELOAD=s3cret\n", "LD_PRELOAD"},
		"function":             {"BASH_FUNC_ls=s3cret\n", "BASH_FUNC_ls"},
		"no name":              {"A=1\n=s3cret\n", "line 2"},
		"bad name":             {"A.B=s3cret\n", "A.B"},
		"zero byte":            {"A=\"s3\x00cret\"\n", "A"},
		"long":                 {strings.Repeat("# s3cret\n", 1<<17), "at most 1048576 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := envfile.Read(written(t, tc.content), nil)
			if err == nil || !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "cret") {
				t.Errorf("got %v, want something about %q and no secret", err, tc.want)
			}
		})
	}
	if _, err := envfile.Read(os.DevNull, nil); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("a device: %v", err)
	}
	if _, err := envfile.Read(filepath.Join(t.TempDir(), "none"), nil); err == nil {
		t.Error("a file that is not there was read")
	}
}

func FuzzRead(f *testing.F) {
	f.Add("A=1\nexport B='x y'\n#c\nC=\"a\\nb $A\"\n")
	f.Add("\"")
	f.Add("A='\n\n${B")
	f.Fuzz(func(t *testing.T, content string) {
		got, err := envfile.Read(written(t, content), nil)
		if err != nil && got != nil {
			t.Error("an error and variables")
		}
		for name, value := range got {
			if !envfile.ValidName(name) || envfile.Hijacks(name) || strings.Contains(value, "\x00") {
				t.Errorf("took %q=%q", name, value)
			}
		}
	})
}
