package docker

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
)

// Labels of our containers.
const (
	labelState     = "dev.sallyport.state"     // hash of the state directory: the owner of the container
	labelRunner    = "dev.sallyport.runner"    // docker or docker-sudo
	labelAgent     = "dev.sallyport.agent"     // its agent
	labelSession   = "dev.sallyport.session"   // for which session
	labelWorkspace = "dev.sallyport.workspace" // and where
	labelSpec      = "dev.sallyport.spec"      // digest of its specification
	labelPID       = "dev.sallyport.pid"       // of the sallyport that made it
	labelStarted   = "dev.sallyport.started"   // when that started, as its machine counts
	labelMachine   = "dev.sallyport.machine"   // on which machine
	labelKeep      = "dev.sallyport.keep"      // "true": it stays
	labelMade      = "dev.sallyport.made"      // places that were made to be mounted on, as JSON
	labelPackages  = "dev.sallyport.packages"  // of a prepared image: the packages installed in it
	// labelWritable is one of images: directories, separated by blanks, that any user may write to.
	labelWritable = "dev.sallyport.writable"
)

// digest is a short hash of identifying values, for names and labels.
func digest(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d:%s,", len(p), p)
	}
	return hex.EncodeToString(h.Sum(nil))[:16]
}

// digestOf is the digest of a value by its JSON.
func digestOf(v any) (string, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return "", err
	}
	return digest(string(text)), nil
}

// containerName makes a name that the engine takes and people can tell apart.
func containerName(runner, state, workspace, agent, session string) string {
	parts := []string{"sallyport"}
	for _, p := range []string{agent, session} {
		if p = clean(p); p != "" {
			parts = append(parts, p)
		}
	}
	return strings.Join(append(parts, digest(runner, state, workspace, agent, session)), "-")
}

// clean keeps the characters of a text that are valid in the name of a container.
func clean(s string) string {
	kept := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '.':
			return r
		default:
			return '-'
		}
	}, s)
	return strings.Trim(kept[:min(len(kept), 40)], "-.")
}
