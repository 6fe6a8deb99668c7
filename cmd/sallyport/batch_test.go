package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/sallyport-dev/sallyport/engine/facts"
)

func TestRawString(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		`""`: "", `"a\"b\\c\/d"`: `a"b\c/d`, `"\b\f\n\r\t"`: "\b\f\n\r\t", `"\u0041\u00e9"`: "Aé",
		`"\ud83d\ude00"`: "😀", `"\ud83d"`: "\xed\xa0\xbd", `"\ud83dx"`: "\xed\xa0\xbdx", `"\udcff"`: "\xff", `"\ude00"`: "\xed\xb8\x80",
		`"\ud83d\u0041"`: "\xed\xa0\xbdA", "\"\xff\"": "\xff", `"\u0000"`: "\x00",
	} {
		if got, err := rawString([]byte(raw)); err != nil || got != want {
			t.Errorf("%s = %q, %v; want %q", raw, got, err, want)
		}
	}
	for _, raw := range []string{"null", "7", "{}", "[]", "true"} {
		if _, err := rawString([]byte(raw)); err == nil {
			t.Errorf("%s is taken for a string", raw)
		}
	}
}

// FuzzRawString holds it to encoding/json wherever that keeps the text: its answer has U+FFFD where
// it did not. Whether our own answer is valid UTF-8 says nothing, as two kept bytes can make a letter.
func FuzzRawString(f *testing.F) {
	for _, s := range []string{`"a"`, `"\ud83d\ude00"`, `"\ud83d"`, `"\\u0041"`, "\"\xff\\udc80\"", "\"\xda\\udc80\""} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		var want string
		if json.Unmarshal(raw, &want) != nil {
			return
		}
		got, err := rawString(raw)
		if strings.TrimSpace(string(raw)) == "null" {
			if err == nil {
				t.Fatal("null is taken for a string")
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if !strings.ContainsRune(want, utf8.RuneError) && got != want {
			t.Fatalf("%q = %q, want %q", raw, got, want)
		}
	})
}

func TestReadLine(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", maxLine+1)
	r := bufio.NewReaderSize(strings.NewReader("a\n\n"+long+"\nb\r\n"+strings.Repeat("y", 100)), 16)
	var got []string
	for {
		line, err := readLine(r)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			line = []byte(err.Error())
		}
		got = append(got, string(line))
	}
	if want := []string{"a", "", errLong.Error(), "b\r", strings.Repeat("y", 100)}; !slices.Equal(got, want) {
		t.Errorf("lines %.60q, want %.60q", got, want)
	}
}

func TestBatchRequest(t *testing.T) {
	t.Parallel()
	r, err := batchRequest([]byte(`{"command": "ls", "work_dir": "/tmp", "agent": "x"}`), facts.Subject{Session: "s"})
	if err != nil || r.Command != "ls" || r.WorkDir != "/tmp" || r.Subject.Agent != "x" || r.Subject.Session != "s" || r.Tool != "execute_command" {
		t.Errorf("%+v, %v", r, err)
	}
	for line, want := range map[string]string{
		`{}`: `there is no "command"`, `[]`: "read line", `{"command": 7}`: "command: want a string", `{"command": "x"`: "read line",
		`{"command": "x", "workdir": "/"}`: `unknown key "workdir"`, `ls`: "read line", `null`: `there is no "command"`,
	} {
		if _, err := batchRequest([]byte(line), facts.Subject{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", line, err, want)
		}
	}
}
