package mcpserver

import (
	"encoding/json"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
)

// hasty is a client that answers a question and closes its side at once.
type hasty struct {
	session *session
	answer  string
}

func (h *hasty) Write(p []byte) (int, error) {
	var question struct{ ID string }
	if err := json.Unmarshal(p, &question); err != nil {
		return 0, err
	}
	h.session.answer("s"+question.ID, json.RawMessage(h.answer), nil)
	h.session.close()
	return len(p), nil
}

// TestAnAnswerBeforeTheEndCounts: an answer counts although the client closes its side behind it.
func TestAnAnswerBeforeTheEndCounts(t *testing.T) {
	t.Parallel()
	for i := range 50 {
		client := &hasty{answer: `{"action":"accept","content":{"approve":true}}`}
		client.session = newSession(&lineWriter{w: client, broken: func() { t.Error("broken") }})
		got, err := client.session.RequestElicitation(t.Context(), mcp.ElicitationRequest{})
		if err != nil || got.Action != mcp.ElicitationResponseActionAccept {
			t.Fatalf("%d: %+v, %v", i, got, err)
		}
	}
}
