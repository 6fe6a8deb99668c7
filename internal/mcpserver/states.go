package mcpserver

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/sallyport-dev/sallyport/engine"
)

// bound is the request that an answer is tied to: another command, directory, policy or session needs another
// answer, and so does a reason that the person has not seen.
type bound struct {
	Tool, Command, WorkDir, Arguments, Revision, Agent, Session string
	Rules                                                       []string
	Shown                                                       string // to the person, word for word
}

// boundTo reads it off a call and the decision about it.
func boundTo(c *call, r engine.ApprovalRequest, shown string) bound {
	var rules []string
	for _, why := range r.Decision.Reasons {
		rules = append(rules, why.Rule)
	}
	slices.Sort(rules)
	return bound{
		Rules: slices.Compact(rules), Shown: shown,
		Tool: c.tool.name, Command: r.Command, WorkDir: r.WorkDir, Arguments: c.digest(),
		Revision: r.Decision.Policy.Revision, Agent: r.Request.Subject.Agent, Session: r.Request.Subject.Session,
	}
}

// digest is independent of the order of the arguments.
func (c *call) digest() string {
	text, err := json.Marshal(c.args)
	if err != nil {
		// Arguments that were read from JSON can be written as such. Should that ever fail, no two are the same.
		text = []byte(rand.Text())
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// states makes the tokens that clients return with an answer, and accepts each of them once. A token has no
// content of its own: it is a MAC over the bound request.
type states struct {
	key []byte
	now func() time.Time

	mu   *sync.Mutex
	used map[string]time.Time // nonce to expiry
}

func newStates() states {
	key := make([]byte, sha256.Size)
	_, _ = rand.Read(key) // it never fails (crypto/rand)
	return states{key: key, now: time.Now, mu: &sync.Mutex{}, used: map[string]time.Time{}}
}

// token is the value that a client carries.
type token struct {
	Nonce   string `json:"n"`
	Expires int64  `json:"e"` // unix milliseconds
	MAC     []byte `json:"m"`
}

// issue makes a token.
func (s states) issue(b bound, expires time.Time) (string, error) {
	t := token{Nonce: rand.Text(), Expires: expires.UnixMilli()}
	var err error
	if t.MAC, err = s.mac(t, b); err != nil {
		return "", err
	}
	text, err := json.Marshal(t)
	if err != nil {
		return "", fmt.Errorf("write request state: %w", err)
	}
	return base64.RawURLEncoding.EncodeToString(text), nil
}

var (
	errForeignState = errors.New(
		"the answer does not belong to this request: call again without it, and the person is asked")
	errOldState  = errors.New("the answer came too late: call again, and the person is asked anew")
	errUsedState = errors.New("the answer was used already: it holds for one call")
)

// redeem takes a token: for this request, in time, and once.
func (s states) redeem(text string, b bound) error {
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return errForeignState
	}
	var t token
	if json.Unmarshal(raw, &t) != nil {
		return errForeignState
	}
	want, err := s.mac(t, b)
	if err != nil {
		return err
	}
	if !hmac.Equal(t.MAC, want) {
		return errForeignState
	}
	now := s.now()
	if expires := time.UnixMilli(t.Expires); now.After(expires) {
		return errOldState
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for nonce, expires := range s.used {
		if now.After(expires) {
			delete(s.used, nonce) // its token is of no use any more
		}
	}
	if _, ok := s.used[t.Nonce]; ok {
		return errUsedState
	}
	s.used[t.Nonce] = time.UnixMilli(t.Expires)
	return nil
}

// mac authenticates a token together with its bound request.
func (s states) mac(t token, b bound) ([]byte, error) {
	text, err := json.Marshal(struct {
		Nonce   string
		Expires int64
		Bound   bound
	}{t.Nonce, t.Expires, b})
	if err != nil {
		return nil, fmt.Errorf("bind request state: %w", err)
	}
	h := hmac.New(sha256.New, s.key)
	h.Write(text)
	return h.Sum(nil), nil
}
