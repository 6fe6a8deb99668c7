package docker

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/sallyport-dev/sallyport/engine/lazyregexp"
)

// Progress is one thing that is told while an image is made: a step that begins, or a line of output of the
// one that runs.
type Progress struct {
	Step string
	Line string
}

// Report is told of progress; nil is nobody.
type Report func(Progress)

func (r Report) step(format string, args ...any) {
	if r != nil {
		r(Progress{Step: fmt.Sprintf(format, args...)})
	}
}

func (r Report) line(text string) {
	if r != nil {
		r(Progress{Line: text})
	}
}

// message is one of the JSON objects that the engine answers with while it builds, pulls or imports.
type message struct {
	Stream      string `json:"stream"`
	Status      string `json:"status"`
	Progress    string `json:"progress"`
	ErrorDetail *struct {
		Message string `json:"message"`
	} `json:"errorDetail"`
	Error string          `json:"error"`
	Aux   json.RawMessage `json:"aux"`
}

// stepLine is how the engine says which step of a Dockerfile it begins.
var stepLine = lazyregexp.New(`^Step (\d+/\d+) : (.*)`)

// colour matches the escape sequences that the engine puts around standard error.
var colour = lazyregexp.New("\x1b\\[[0-9;]*m")

// longStep is how much of an instruction is told, in bytes.
const longStep = 100

// messages reads the engine's answer to its end, reports it, and returns the id of the result, if there is
// one.
func (r Report) messages(body io.Reader) (id string, err error) {
	for d := json.NewDecoder(body); ; {
		var m message
		if err := d.Decode(&m); errors.Is(err, io.EOF) {
			return id, nil
		} else if err != nil {
			return "", fmt.Errorf("read the engine's answer: %w", err)
		}
		switch {
		case m.ErrorDetail != nil && m.ErrorDetail.Message != "":
			return "", errors.New(strings.TrimSpace(m.ErrorDetail.Message))
		case m.Error != "":
			return "", errors.New(strings.TrimSpace(m.Error))
		case m.Aux != nil:
			var made struct{ ID string }
			if json.Unmarshal(m.Aux, &made) == nil && made.ID != "" {
				id = made.ID
			}
		case m.Status != "":
			r.line(strings.TrimSpace(m.Status + " " + m.Progress))
		}
		r.stream(m.Stream)
	}
}

// stream tells output of a build line by line.
func (r Report) stream(text string) {
	for line := range strings.SplitSeq(colour.ReplaceAllString(text, ""), "\n") {
		line = strings.TrimSpace(line)
		if found := stepLine.FindStringSubmatch(line); found != nil {
			instruction := strings.Join(strings.Fields(found[2]), " ")
			if len(instruction) > longStep {
				instruction = strings.ToValidUTF8(instruction[:longStep], "") + "…"
			}
			r.step("%s %s", found[1], instruction)
		} else if line != "" {
			r.line(line)
		}
	}
}
