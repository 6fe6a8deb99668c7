package release

import (
	"encoding/json"
	"fmt"
	"io"
	"runtime"

	"github.com/sallyport-dev/sallyport/policies/revision"
)

// opa is the release of OPA that go.mod requires. A program that does not link OPA has no other way to tell.
const opa = "v1.22.0"

// Versions describes a build of sallyport and its parts.
type Versions struct {
	Sallyport string `json:"sallyport"`
	Commit    string `json:"commit"`
	Go        string `json:"go"`
	OPA       string `json:"opa"`
	Platform  string `json:"platform"`
	Policies  string `json:"policies"` // revision of the built-in policies
}

// ThisBuild reads the data that the linker and the go command put into the program.
func ThisBuild() Versions {
	return Versions{
		Sallyport: Version(), Commit: Commit(), OPA: opa, Go: runtime.Version(),
		Platform: runtime.GOOS + "/" + runtime.GOARCH, Policies: revision.Policies,
	}
}

// Whole is the name of the program that sallyport becomes for all that it does not answer itself.
const Whole = "sallyport-full"

// FrontVariable is the environment variable by which sallyport passes its Build to sallyport-full.
const FrontVariable = "SALLYPORT_FRONT"

// Build names one build: programs of one installation have the same.
func (v Versions) Build() string {
	return v.Sallyport + " (commit " + v.Commit + ", policies " + v.Policies + ")"
}

// Write prints the versions, as text or as JSON.
func (v Versions) Write(w io.Writer, asJSON bool) error {
	if asJSON {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(v)
	}
	_, err := fmt.Fprintf(
		w, "sallyport  %s\ncommit     %s\ngo         %s\nopa        %s\nplatform   %s\npolicies   %s\n",
		v.Sallyport, v.Commit, v.Go, v.OPA, v.Platform, v.Policies)
	return err
}
