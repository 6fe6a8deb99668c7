package fleet

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/bundle"

	"github.com/sallyport-dev/sallyport/engine/rego"
)

// resource is a bundle and its state. Fleet.mu guards the fields that change.
type resource struct {
	name      string // for OPA, and in its reports
	place     string // its address
	discovery bool

	active  *delivery
	pending *delivery // it passed the door, and OPA has its receipt
	tried   bool      // the cached copy was passed on once
	reached bool      // the server was asked
	failed  bool      // and there is nothing else to try for the moment
	asked   time.Time
	trouble error
	told    string // of trouble: it is told once
}

// RoundTrip is the door: all that OPA's plugins ask and tell goes through it.
func (s *server) RoundTrip(req *http.Request) (*http.Response, error) {
	s.f.mu.Lock()
	r := s.resources[req.URL.String()]
	s.f.mu.Unlock()
	if r == nil || req.Method != http.MethodGet {
		return s.do(outward(req))
	}
	d, err := s.fetch(req, r)
	if req.Context().Err() != nil { // nobody waits any more, and that is no trouble
		return nil, req.Context().Err()
	}
	if err != nil {
		s.f.trouble(r, err, true)
		return nil, err
	}
	if d == nil {
		return answer(req, http.StatusNotModified, "", nil), nil
	}
	receipt, err := s.receipt(r, d)
	if err != nil {
		s.f.trouble(r, err, true)
		return nil, err
	}
	s.f.mu.Lock()
	r.pending = d
	same := r.active != nil && r.active.digest == d.digest
	s.f.mu.Unlock()
	if same {
		s.f.unchanged(r) // OPA has nothing to commit
	}
	return answer(req, http.StatusOK, d.etag, receipt), nil
}

// do sends a request to the server, with the token.
func (s *server) do(req *http.Request) (*http.Response, error) {
	if err := authorize(req, s.o.TokenFile); err != nil {
		return nil, err
	}
	return s.client.Do(req)
}

// outward is a request as it goes to the server.
func outward(req *http.Request) *http.Request {
	out := req.Clone(req.Context())
	out.RequestURI = ""
	return out
}

// fetch returns the bundle that OPA is to get a receipt for; nil if OPA's version is still current. As long
// as nothing is active, the cached copy replaces an unavailable one.
func (s *server) fetch(req *http.Request, r *resource) (*delivery, error) {
	f := s.f
	f.mu.Lock()
	active, tried := r.active != nil, r.tried
	f.mu.Unlock()
	var kept *delivery
	if !active && !tried {
		var err error
		if kept, err = f.kept(r.place); err != nil {
			f.o.Log.Warn(fmt.Sprintf("the bundle that is kept of %s is not used: %v", r.place, err))
		}
		f.mu.Lock()
		r.tried = kept != nil
		f.mu.Unlock()
		if kept != nil && kept.fresh(s.o.PollMax) && !f.o.Look {
			return kept, nil
		}
	}
	d, err := s.ask(req, r, kept)
	f.mu.Lock()
	r.reached = true
	f.mu.Unlock()
	if err == nil || kept == nil || req.Context().Err() != nil {
		return d, err
	}
	f.trouble(r, err, false)
	f.o.Log.Warn(fmt.Sprintf("%s: the bundle of %s is used, which was accepted before", r.place,
		kept.asked.UTC().Format(time.RFC3339)))
	return kept, nil
}

// ask asks the server.
func (s *server) ask(req *http.Request, r *resource, kept *delivery) (*delivery, error) {
	out := outward(req)
	if kept != nil && kept.etag != "" {
		out.Header.Set("If-None-Match", kept.etag)
	}
	resp, err := s.do(out)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	switch resp.StatusCode {
	case http.StatusOK:
		text, err := io.ReadAll(io.LimitReader(resp.Body, s.o.MaxSize+1))
		switch {
		case err != nil:
			return nil, fmt.Errorf("read answer: %w", err)
		case int64(len(text)) > s.o.MaxSize:
			return nil, fmt.Errorf(
				"the answer is larger than %d bytes: if it is meant, set max_size under policy_servers", s.o.MaxSize)
		}
		d, err := s.f.admit(r.place, text, resp.Header.Get("ETag"))
		if err != nil {
			return nil, refusal{err}
		}
		return d, nil
	case http.StatusNotModified:
		if kept == nil && out.Header.Get("If-None-Match") == "" {
			return nil, fmt.Errorf("the server answers 304 to a question without an ETag")
		}
		s.f.unchanged(r)
		if kept != nil {
			kept.asked = time.Now()
		}
		return kept, nil
	default:
		return nil, fmt.Errorf("the server answers %s", resp.Status)
	}
}

// unchanged notes that the server has confirmed its last bundle.
func (f *Fleet) unchanged(r *resource) {
	f.confirmed(r.place)
	f.mu.Lock()
	defer f.mu.Unlock()
	r.asked = time.Now()
	if r.active != nil {
		r.trouble, r.told = nil, ""
	}
}

// trouble notes why an answer was not taken. final says that there is nothing else to try for the moment.
func (f *Fleet) trouble(r *resource, err error, final bool) {
	f.mu.Lock()
	r.trouble = err
	r.failed = r.failed || final && r.reached
	fresh := r.told != err.Error()
	r.told = err.Error()
	f.changed()
	f.mu.Unlock()
	var refused refusal
	switch {
	case !fresh:
	case errors.As(err, &refused):
		f.o.Log.Refused(r.place, err)
	default:
		f.o.Log.Warn(fmt.Sprintf("%s: %v: the policies stay as they are", r.place, err))
	}
}

// refusal is why a bundle that came is not taken. Any other trouble is about the way to it.
type refusal struct{ error }

// Unwrap returns the reason.
func (r refusal) Unwrap() error { return r.error }

func answer(req *http.Request, status int, etag string, body []byte) *http.Response {
	resp := &http.Response{
		StatusCode: status, Status: fmt.Sprintf("%d %s", status, http.StatusText(status)), Proto: "HTTP/1.1",
		ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{}, Request: req, ContentLength: int64(len(body)),
		Body: io.NopCloser(bytes.NewReader(body)),
	}
	if etag != "" {
		resp.Header.Set("ETag", etag)
	}
	return resp
}

// digestKey is where a receipt names the bundle that it stands for.
const digestKey = "sha256"

// receipt is OPA's replacement for a bundle: its name and its digest. OPA gets a discovery bundle itself,
// because it must read it. Both are signed by the seal.
func (s *server) receipt(r *resource, d *delivery) ([]byte, error) {
	if r.discovery {
		if err := harmless(d.text); err != nil {
			return nil, refusal{err}
		}
		return rego.SignBundle(d.text, []byte(s.f.seal.private))
	}
	b := bundle.Bundle{Data: map[string]any{}, Manifest: bundle.Manifest{
		Revision: d.info.Revision, Roots: &[]string{"sallyport/" + r.name},
		Metadata: map[string]any{digestKey: d.digest},
	}}
	b.Manifest.SetRegoVersion(ast.RegoV1)
	if err := b.GenerateSignature(bundle.NewSigningConfig(s.f.seal.private, "ES256", ""), sealID,
		false); err != nil {
		return nil, fmt.Errorf("sign receipt: %w", err)
	}
	var out bytes.Buffer
	if err := bundle.NewWriter(&out).Write(b); err != nil {
		return nil, fmt.Errorf("write receipt: %w", err)
	}
	return out.Bytes(), nil
}

// harmless refuses a discovery bundle with modules that could do more than compute: OPA evaluates them with
// all builtins.
func harmless(text []byte) error {
	allowed, err := rego.Capabilities()
	if err != nil {
		return err
	}
	capabilities, err := ast.LoadCapabilitiesJSON(bytes.NewReader(allowed))
	if err != nil {
		return fmt.Errorf("read capabilities: %w", err)
	}
	b, err := bundle.NewReader(bytes.NewReader(text)).WithSkipBundleVerification(true).WithRegoVersion(
		ast.RegoV1).Read()
	if err != nil {
		return fmt.Errorf("read discovery bundle: %w", err)
	}
	compiler := ast.NewCompiler().WithCapabilities(capabilities)
	if compiler.Compile(b.ParsedModules(discoveryName)); compiler.Failed() {
		return fmt.Errorf("read discovery bundle: %w", compiler.Errors)
	}
	return nil
}
