package fleet

import (
	"fmt"

	"github.com/open-policy-agent/opa/v1/logging"
)

// opaLog hears what OPA's plugins say. Its level keeps them from telling headers and bodies.
type opaLog struct {
	to  Log
	url string
}

func (l opaLog) say(to func(string), format string, args []any) {
	to(l.url + ": " + fmt.Sprintf(format, args...))
}

// Debug hears nothing: requests and answers would be in it.
func (opaLog) Debug(string, ...any) {}

// Info hears of what works.
func (l opaLog) Info(format string, args ...any) { l.say(l.to.Debug, format, args) }

// Warn and Error hear of what does not. What concerns a bundle is told by Log.Refused, in full.
func (l opaLog) Warn(format string, args ...any)  { l.say(l.to.Debug, format, args) }
func (l opaLog) Error(format string, args ...any) { l.say(l.to.Debug, format, args) }

func (l opaLog) WithFields(map[string]any) logging.Logger { return l }
func (opaLog) GetLevel() logging.Level                    { return logging.Info }
func (opaLog) SetLevel(logging.Level)                     {}
