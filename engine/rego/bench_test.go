package rego

import (
	"fmt"
	"testing"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/util"

	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/policies"
)

// BenchmarkNew measures what a process pays before its first decision.
func BenchmarkNew(b *testing.B) {
	for b.Loop() {
		if _, err := New(b.Context(), Options{Bundle: policies.FS(), Tested: true}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEvaluate(b *testing.B) {
	for _, profile := range []string{"standard", "massgen"} {
		e := builtin(b, profile)
		for _, size := range []struct {
			name string
			in   *facts.Input
		}{{"small", harmless()}, {"large", large()}} {
			b.Run(profile+"/"+size.name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					if _, err := e.Evaluate(b.Context(), size.in); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// BenchmarkEncode holds the encoder against the ways that OPA offers.
func BenchmarkEncode(b *testing.B) {
	encode, err := encoderOf[facts.Input]()
	if err != nil {
		b.Fatal(err)
	}
	for _, size := range []struct {
		name string
		in   *facts.Input
	}{{"small", harmless()}, {"large", large()}} {
		b.Run(size.name+"/encoder", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				encode.value(size.in)
			}
		})
		b.Run(size.name+"/round-trip", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				var v any = size.in
				if err := util.RoundTrip(&v); err != nil {
					b.Fatal(err)
				}
				if _, err := ast.InterfaceToValue(v); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// harmless is ls src.
func harmless() *facts.Input {
	in := request("ls src")
	in.Commands = []facts.Command{command("ls", "src")}
	in.Commands[0].Effects = []string{"read"}
	in.Commands[0].Paths = []int{0}
	in.Paths = []facts.Path{{
		Raw: "src", Path: "/w/src", Real: "/w/src", Access: "read", Source: "argument", Certainty: "exact", Exists: true,
		Type: "dir", Zone: "workspace", Permission: "write", Seen: "none",
	}}
	return in
}

// large has 20 commands that write and delete 100 places.
func large() *facts.Input {
	in := request("rm -r build")
	for i := range 20 {
		c := command("rm", "-r", "build")
		c.Effects = []string{"delete", "write"}
		c.Flags = []string{"recursive", "force"}
		c.Pipeline = facts.Pipeline{ID: i, Length: 1}
		for j := range 5 {
			c.Paths = append(c.Paths, i*5+j)
			in.Paths = append(in.Paths, facts.Path{
				Raw: fmt.Sprint("build", j), Path: fmt.Sprint("/w/build", j), Real: fmt.Sprint("/w/build", j),
				Access: []string{"read", "write", "delete"}[j%3], Source: "argument", Recursive: true, Certainty: "exact", Exists: true,
				Type: "dir", Zone: "workspace", Permission: "write", Labels: []string{"symlink_out", "generated_here"}[:j%3], Seen: "created", Command: i,
			})
		}
		in.Commands = append(in.Commands, c)
	}
	return in
}

func request(text string) *facts.Input {
	return &facts.Input{
		Version: facts.Version,
		Request: facts.Request{
			ID: "r", Time: time.Unix(0, 0), Tool: "execute_command", Command: text,
			WorkDir: "/w", WorkDirState: "dir", WorkDirAllowed: true, TimeoutSeconds: 60,
		},
		Subject: facts.Subject{Agent: "coder", Session: "s", User: "u"},
		Runner:  facts.Runner{Name: "local", Isolation: "none", Network: "host"},
		Shell:   facts.Shell{Parsed: true, Certainty: "exact"},
	}
}

func command(argv ...string) facts.Command {
	return facts.Command{
		Name: argv[0], Program: argv[0], Known: true, Argv: argv, Certainty: "exact",
		Pipeline: facts.Pipeline{Length: 1}, Matches: facts.Matches{Allow: true}, Dir: "/w",
	}
}
