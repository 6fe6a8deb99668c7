package mcpclients

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/sallyport-dev/sallyport/internal/await"
)

// httpClient is a plain client over HTTP, so that what needs no outside client runs everywhere.
type httpClient struct {
	url     string
	modern  bool   // since 2026-07-28 there are no sessions
	session string // of an older revision, once there is one
	http    http.Client
}

func newHTTPClient(url string, modern bool) *httpClient { return &httpClient{url: url, modern: modern} }

// callResult is the structured part of what execute_command answers.
type callResult struct {
	Success  bool
	ExitCode int `json:"exit_code"`
	Stdout   string
	Stderr   string
	Decision string `json:"decision_id"`
}

// call runs a command.
func (c *httpClient) call(ctx context.Context, id int, command string) (callResult, error) {
	if !c.modern && c.session == "" {
		if err := c.open(ctx); err != nil {
			return callResult{}, err
		}
	}
	params := object{"name": "execute_command", "arguments": object{"command": command}}
	var reply struct {
		ID     int
		Result struct {
			StructuredContent callResult `json:"structuredContent"`
		}
		Error any
	}
	_, text, err := c.post(ctx, "tools/call", "execute_command", object{"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})
	if err != nil {
		return callResult{}, err
	}
	if err := json.Unmarshal(text, &reply); err != nil {
		return callResult{}, fmt.Errorf("%w: %s", err, text)
	}
	if reply.ID != id || reply.Error != nil {
		return callResult{}, fmt.Errorf("call %d was answered with %s", id, text)
	}
	return reply.Result.StructuredContent, nil
}

// open shakes hands.
func (c *httpClient) open(ctx context.Context) error {
	hello := object{"protocolVersion": "2025-11-25", "capabilities": object{}, "clientInfo": object{"name": "plain", "version": "1"}}
	header, _, err := c.post(ctx, "initialize", "", object{"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello})
	if err != nil {
		return err
	}
	c.session = header.Get("Mcp-Session-Id")
	_, _, err = c.post(ctx, "notifications/initialized", "", object{"jsonrpc": "2.0", "method": "notifications/initialized"})
	return err
}

// post sends a message and returns what came back, taken out of an event stream if it came in one.
func (c *httpClient) post(ctx context.Context, method, name string, message object) (http.Header, []byte, error) {
	revision := "2025-11-25"
	if c.modern {
		revision = "2026-07-28"
		message["params"].(object)["_meta"] = object{
			"io.modelcontextprotocol/protocolVersion":    revision,
			"io.modelcontextprotocol/clientInfo":         object{"name": "plain", "version": "1"},
			"io.modelcontextprotocol/clientCapabilities": object{},
		}
	}
	text, err := json.Marshal(message)
	if err != nil {
		return nil, nil, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(text))
	if err != nil {
		return nil, nil, err
	}
	r.Header.Set("Authorization", "Bearer "+token)
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("Mcp-Protocol-Version", revision)
	if c.modern {
		r.Header.Set("Mcp-Method", method)
		r.Header.Set("Mcp-Name", name)
	} else if c.session != "" {
		r.Header.Set("Mcp-Session-Id", c.session)
	}
	resp, err := c.http.Do(r)
	if err != nil {
		return nil, nil, err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, nil, err
	}
	if resp.StatusCode >= 300 {
		return nil, nil, fmt.Errorf("%s: status %d: %s", method, resp.StatusCode, body)
	}
	for line := range strings.Lines(string(body)) {
		if data, ok := strings.CutPrefix(line, "data: "); ok {
			body = []byte(data) // the answer is the last event
		}
	}
	return resp.Header, body, nil
}

// leaveAt calls for a command and hangs up when a file is there.
func (c *httpClient) leaveAt(t *testing.T, file, command string) {
	t.Helper()
	ctx, hangUp := context.WithCancel(t.Context())
	defer hangUp()
	left := make(chan error, 1)
	go func() {
		_, err := c.call(ctx, 1, command)
		left <- err
	}()
	await.True(t, file+" is there", func() bool { _, err := os.Stat(file); return err == nil })
	hangUp()
	if err := <-left; err == nil {
		t.Error("the call was answered")
	}
}
