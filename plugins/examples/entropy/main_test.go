package main

import (
	"testing"

	"github.com/sallyport-dev/sallyport/plugins/sdk"
)

func TestJudge(t *testing.T) {
	for word, want := range map[string]bool{
		"--token=ghp_x7Kq2LmZ9vR4tB8nW3sY6dF1":           true,
		"zJ8s+Qm4Lx0Tn7Rb2Vk9Wc5Yd3":                     true,
		"--format=json":                                  false,
		"src/components/navigation/breadcrumbs.test.tsx": false,
		"aaaaaaaaaaaaaaaaaaaaaaaaaaaaa1":                 false,
	} {
		in := &sdk.Input{Commands: []sdk.Command{{Name: "curl", Argv: []string{"curl", word}}}}
		if got := len(judge(in)) == 1; got != want {
			t.Errorf("%s: found %v, want %v", word, got, want)
		}
	}
}
