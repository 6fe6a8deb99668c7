// Command hostile is a rule plugin that does harm when a command asks it to: it is for tests.
package main

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"strings"
	"time"
	"unsafe"

	"github.com/sallyport-dev/sallyport/plugins/sdk"
)

func main() {}

var (
	kept  [][]byte
	raw   []byte // output that does not come from the SDK
	calls int
)

//go:wasmexport sallyport_evaluate
func evaluate(at, size uint32) uint64 {
	raw = nil
	result := sdk.Evaluate(at, size, judge)
	if raw != nil {
		return uint64(uintptr(unsafe.Pointer(unsafe.SliceData(raw))))<<32 | uint64(len(raw))
	}
	return result
}

func finding() sdk.Finding {
	return sdk.Finding{Rule: "plugin/hostile/rule", Effect: sdk.Warn, Severity: sdk.Low, Title: "T", Command: 0, Path: sdk.None}
}

func judge(in *sdk.Input) []sdk.Finding {
	mode := ""
	if len(in.Commands) > 0 && len(in.Commands[0].Argv) == 2 {
		mode = in.Commands[0].Argv[1]
	}
	f := finding()
	switch mode {
	case "loop":
		for {
			kept = kept[:0]
		}
	case "memory":
		for {
			kept = append(kept, make([]byte, 1<<20))
		}
	case "recursion":
		return []sdk.Finding{{Title: fmt.Sprint(deeper(1))}}
	case "output":
		f.Message = strings.Repeat("x", 1<<20)
	case "utf8":
		raw = []byte("{\"findings\":[{\"rule\":\"\xff\"}]}")
	case "types":
		raw = []byte(`{"findings":{"rule":1}}`)
	case "nothing":
		raw = []byte(`null`)
	case "panic":
		panic("this is the end")
	case "exit":
		os.Exit(0)
	case "nil":
		var p *sdk.Input
		f.Title = p.Request.Command
	case "effect":
		f.Effect = "allow"
	case "rule":
		f.Rule = "dangerous/recursive_delete"
	case "index":
		f.Command = 1 << 20
	case "sleep":
		time.Sleep(time.Hour)
	case "wait":
		<-make(chan int)
	case "reach": // reports the parts of the machine that it can reach
		f.Message = reach()
	case "count":
		calls++
		f.Message = fmt.Sprint(calls)
	default:
		return nil
	}
	return []sdk.Finding{f}
}

func deeper(n int) int {
	if n < 0 {
		return 0
	}
	return deeper(n+1) + deeper(n+2)
}

func reach() string {
	got := map[string]any{"arguments": len(os.Args), "variables": len(os.Environ())}
	for name, try := range map[string]func() error{
		"read a file":  func() error { _, err := os.ReadFile("/etc/passwd"); return err },
		"write a file": func() error { return os.WriteFile("/tmp/sallyport-hostile", nil, 0o600) },
		"list":         func() error { _, err := os.ReadDir("/"); return err },
		"dial":         func() error { _, err := net.DialTimeout("tcp", "127.0.0.1:1", time.Second); return err },
		"standard input": func() error {
			_, err := os.Stdin.Read(make([]byte, 1))
			return err
		},
		"start": func() error {
			_, err := os.StartProcess("/bin/true", []string{"true"}, &os.ProcAttr{})
			return err
		},
	} {
		got[name] = try() == nil
	}
	if wd, err := os.Getwd(); err == nil && wd != "" && wd != "/" {
		got["working directory"] = wd
	}
	if host, err := os.Hostname(); err == nil && host != "wasip1" { // a constant of Go's
		got["host"] = host
	}
	got["time"] = time.Now().UnixNano()
	text, err := json.Marshal(got)
	if err != nil {
		return err.Error()
	}
	return string(text)
}
