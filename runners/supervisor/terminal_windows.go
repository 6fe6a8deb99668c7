package supervisor

import (
	"errors"
	"os"

	"github.com/sallyport-dev/sallyport/engine"
)

var errNoTerminals = errors.New("terminals are not built for Windows")

func openTerminal(engine.WindowSize) (ours, theirs *os.File, err error) {
	return nil, nil, errNoTerminals
}

func resize(*os.File, engine.WindowSize) error { return errNoTerminals }

func readNow(*os.File, []byte) (int, error) { return 0, errNoTerminals }

func writeNow(*os.File, []byte) (int, error) { return 0, errNoTerminals }
