package wire

import (
	"bufio"
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/sallyport-dev/sallyport/engine/facts"
)

// toldBy begins the line by which a runner plugin tells the facts of the place that it made. A space and one
// JSON document follow the version. The supervisor's line comes after it.
const toldBy = "sallyport-place/"

// Told are the facts of a place, from the plugin that made it.
type Told struct {
	Name      string `json:"name"` // of the place among those of the plugin; "" for none
	Isolation string `json:"isolation"`
	Network   string `json:"network"`
	facts.Surroundings
}

// readTold reads the line of a plugin, in bounds. Text in it is for policies and people.
func readTold(r *bufio.Reader) (Told, error) {
	var line bytes.Buffer
	for c, err := r.ReadByte(); c != '\n'; c, err = r.ReadByte() {
		if err != nil {
			return Told{}, violation("facts of the place, after %.200q", line.String())
		}
		line.WriteByte(c)
		if line.Len() > maxWords {
			return Told{}, violation("facts of the place without end")
		}
	}
	text, ok := strings.CutPrefix(line.String(), toldBy+strconv.Itoa(Version)+" ")
	if !ok {
		return Told{}, violation("no facts of the place: the plugin says %.200q", line.String())
	}
	var t Told
	d := json.NewDecoder(strings.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&t); err != nil {
		return Told{}, violation("facts of the place: %v", err)
	}
	if t.Isolation == "" || t.Network == "" || t.CPU < 0 || t.Memory < 0 || t.Storage < 0 {
		return Told{}, violation("facts of the place: %.200q", text)
	}
	t.Seen = true
	return t, nil
}
