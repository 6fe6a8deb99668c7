package fleet

import (
	"fmt"

	"github.com/open-policy-agent/opa/v1/logging"
)

// opaLog receives the messages of OPA's plugins. Its level keeps headers and bodies out of them.
type opaLog struct {
	to  Log
	url string
}

func (l opaLog) say(to func(string), format string, args []any) {
	to(l.url + ": " + fmt.Sprintf(format, args...))
}

// Debug hears nothing: requests and answers would be in it.
func (opaLog) Debug(string, ...any) {}

// Info receives messages of success.
func (l opaLog) Info(format string, args ...any) { l.say(l.to.Debug, format, args) }

// Warn and Error receive messages of failure. Log.Refused reports the failures of bundles, in full.
func (l opaLog) Warn(format string, args ...any)  { l.say(l.to.Debug, format, args) }
func (l opaLog) Error(format string, args ...any) { l.say(l.to.Debug, format, args) }

func (l opaLog) WithFields(map[string]any) logging.Logger { return l }
func (opaLog) GetLevel() logging.Level                    { return logging.Info }
func (opaLog) SetLevel(logging.Level)                     {}
