// Gosdk drives an MCP server with the client of the official Go SDK, which shares no code with the server
// under test. It reads a Script as JSON from stdin and writes a Report as JSON to stdout.
//
// It is a module of its own, so that the SDK is no dependency of the program.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Script lists the calls of one session, in their order.
type Script struct {
	Revision string   `json:"revision"` // of the protocol; "" lets the SDK choose
	Answer   string   `json:"answer"`   // to every question: accept, decline or cancel; "" cannot be asked
	Calls    []Call   `json:"calls"`
	Read     []string `json:"read"` // resources, by URI; "*" reads all that are listed
	Mark     string   `json:"mark"` // a file that is made at the first notification of progress
}

// Call is one call of a tool.
type Call struct {
	Tool      string          `json:"tool"`
	Arguments json.RawMessage `json:"arguments"`
	CancelOn  string          `json:"cancel_on"` // the call is cancelled when this file exists
}

// Report holds the answers.
type Report struct {
	Revision     string            `json:"revision"`
	Server       string            `json:"server"`
	Instructions string            `json:"instructions"`
	Tools        []*mcp.Tool       `json:"tools"`
	Results      []Result          `json:"results"`
	Asked        []string          `json:"asked"`     // the messages of questions
	Resources    map[string]string `json:"resources"` // texts, by URI
	Progress     int               `json:"progress"`  // notifications of it
}

// Result is the result of a call: one of its fields is set.
type Result struct {
	Result *mcp.CallToolResult `json:"result,omitempty"`
	Error  string              `json:"error,omitempty"`
}

func main() {
	url := flag.String("url", "", "endpoint of a server over HTTP; without it the arguments are a server's command")
	token := flag.String("token", "", "bearer token for it")
	flag.Parse()
	if err := run(*url, *token, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "gosdk:", err)
		os.Exit(1)
	}
}

func run(url, token string, command []string) error {
	var s Script
	if err := json.NewDecoder(os.Stdin).Decode(&s); err != nil {
		return fmt.Errorf("read script: %w", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	r, err := s.play(ctx, transport(url, token, command))
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(r)
}

func transport(url, token string, command []string) mcp.Transport {
	if url == "" {
		c := exec.Command(command[0], command[1:]...)
		c.Stderr = os.Stderr
		return &mcp.CommandTransport{Command: c}
	}
	return &mcp.StreamableClientTransport{Endpoint: url, HTTPClient: &http.Client{Transport: bearer(token)}}
}

// bearer adds its text as token to each request.
type bearer string

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

// play opens a session and goes through the script.
func (s Script) play(ctx context.Context, t mcp.Transport) (*Report, error) {
	r := &Report{Resources: map[string]string{}}
	var mu sync.Mutex
	o := &mcp.ClientOptions{ProgressNotificationHandler: func(context.Context, *mcp.ProgressNotificationClientRequest) {
		mu.Lock()
		defer mu.Unlock()
		if r.Progress++; s.Mark != "" {
			_ = os.WriteFile(s.Mark, nil, 0o600)
		}
	}}
	if s.Answer != "" {
		o.ElicitationHandler = func(_ context.Context, q *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			mu.Lock()
			defer mu.Unlock()
			r.Asked = append(r.Asked, q.Params.Message)
			return s.answer(q.Params)
		}
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "gosdk", Version: "1"}, o)
	session, err := client.Connect(ctx, t, &mcp.ClientSessionOptions{ProtocolVersion: s.Revision})
	if err != nil {
		return nil, fmt.Errorf("connect: %w", err)
	}
	init := session.InitializeResult()
	r.Revision, r.Instructions = init.ProtocolVersion, init.Instructions
	if init.ServerInfo != nil {
		r.Server = init.ServerInfo.Name
	}
	for tool, err := range session.Tools(ctx, nil) {
		if err != nil {
			return nil, fmt.Errorf("list tools: %w", err)
		}
		r.Tools = append(r.Tools, tool)
	}
	for i, c := range s.Calls {
		r.Results = append(r.Results, c.make(ctx, session, i))
	}
	if err := s.read(ctx, session, r.Resources); err != nil {
		return nil, err
	}
	if err := session.Close(); err != nil {
		return nil, fmt.Errorf("close: %w", err)
	}
	mu.Lock()
	defer mu.Unlock()
	return r, nil
}

// answer fills in a form as a person would who says yes: every yes-or-no question with yes.
func (s Script) answer(q *mcp.ElicitParams) (*mcp.ElicitResult, error) {
	if s.Answer != "accept" {
		return &mcp.ElicitResult{Action: s.Answer}, nil
	}
	var form struct {
		Properties map[string]struct {
			Type string `json:"type"`
		} `json:"properties"`
	}
	text, err := json.Marshal(q.RequestedSchema)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, &form); err != nil {
		return nil, err
	}
	content := map[string]any{}
	for name, p := range form.Properties {
		if p.Type == "boolean" {
			content[name] = true
		}
	}
	return &mcp.ElicitResult{Action: "accept", Content: content}, nil
}

func (c Call) make(ctx context.Context, session *mcp.ClientSession, i int) Result {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if c.CancelOn != "" {
		go func() {
			for ctx.Err() == nil {
				if _, err := os.Stat(c.CancelOn); !errors.Is(err, fs.ErrNotExist) {
					cancel()
				}
				time.Sleep(5 * time.Millisecond)
			}
		}()
	}
	p := &mcp.CallToolParams{Meta: mcp.Meta{}, Name: c.Tool}
	if len(bytes.TrimSpace(c.Arguments)) > 0 {
		p.Arguments = c.Arguments
	}
	p.SetProgressToken(fmt.Sprintf("call-%d", i))
	out, err := session.CallTool(ctx, p)
	if err != nil {
		return Result{Error: err.Error()}
	}
	return Result{Result: out}
}

func (s Script) read(ctx context.Context, session *mcp.ClientSession, into map[string]string) error {
	for _, uri := range s.Read {
		if uri == "*" {
			for res, err := range session.Resources(ctx, nil) {
				if err != nil {
					return fmt.Errorf("list resources: %w", err)
				}
				if err := readOne(ctx, session, res.URI, into); err != nil {
					return err
				}
			}
			continue
		}
		if err := readOne(ctx, session, uri, into); err != nil {
			return err
		}
	}
	return nil
}

func readOne(ctx context.Context, session *mcp.ClientSession, uri string, into map[string]string) error {
	out, err := session.ReadResource(ctx, &mcp.ReadResourceParams{URI: uri})
	if err != nil {
		return fmt.Errorf("read %s: %w", uri, err)
	}
	for _, c := range out.Contents {
		into[uri] += c.Text
	}
	return nil
}
