// Package images holds the Dockerfiles of the images that agents' commands run in, so that an installed
// sallyport can build them. The package knows neither the engine that builds nor the images built.
package images

import (
	"embed"
	"fmt"
	"path"
)

const (
	// Runtime is the image of the runner docker, and RuntimeSudo that of docker-sudo: names without a tag.
	Runtime     = "sallyport/runtime"
	RuntimeSudo = "sallyport/runtime-sudo"
	// Base is what they are built on where it is made of Debian's packages on the spot.
	Base = "sallyport/base"
	// Suite is the release of Debian that they are made of.
	Suite = "trixie"
	// Label names, on an image of ours, what it is: runtime, runtime-sudo, base or prepared.
	Label = "dev.sallyport.image"
)

//go:embed runtime/Dockerfile runtime-sudo/Dockerfile examples/*/Dockerfile
var files embed.FS

// Dockerfile returns a Dockerfile by the name of its directory: runtime, runtime-sudo, examples/web.
func Dockerfile(name string) ([]byte, error) {
	b, err := files.ReadFile(path.Join(name, "Dockerfile"))
	if err != nil {
		return nil, fmt.Errorf("no Dockerfile named %s", name)
	}
	return b, nil
}
