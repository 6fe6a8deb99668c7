package mcpserver

import (
	"context"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"github.com/sallyport-dev/sallyport/engine/facts"
)

// nameLength bounds a client's description of itself: it goes into every record.
const nameLength = 100

// subject is the author of a request, with the client's name for itself.
func (s *Server) subject(ctx context.Context) facts.Subject {
	subject := s.o.Subject
	info := clientInfo(ctx)
	subject.Client = facts.Client{
		Name: shortened(visible(info.Name), nameLength), Version: shortened(visible(info.Version), nameLength),
	}
	return subject
}

// clientInfo is the client's description of itself: with each request in the modern era, once in the
// handshake before it.
func clientInfo(ctx context.Context) mcp.Implementation {
	if p := server.RequestProtocolInfoFromContext(ctx); p != nil && p.Modern {
		if p.ClientInfo == nil {
			return mcp.Implementation{}
		}
		return *p.ClientInfo
	}
	if session, ok := server.ClientSessionFromContext(ctx).(server.SessionWithClientInfo); ok {
		return session.GetClientInfo()
	}
	return mcp.Implementation{}
}

// canElicit reports whether the client declared that it can show its person a form. It is never asked
// otherwise: some clients answer with an error, and some would show nothing and agree.
func canElicit(ctx context.Context) bool {
	can := func(c *mcp.ElicitationCapability) bool { return c != nil && (c.Form != nil || c.URL == nil) }
	if p := server.RequestProtocolInfoFromContext(ctx); p != nil && p.Modern {
		return p.ClientCapabilities != nil && can(p.ClientCapabilities.Elicitation)
	}
	session, ok := server.ClientSessionFromContext(ctx).(server.SessionWithClientInfo)
	return ok && can(session.GetClientCapabilities().Elicitation)
}
