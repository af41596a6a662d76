package client

import "context"

// bearer sends a token with every call, in plain text only on this machine.
type bearer struct {
	token string
	local bool
}

// GetRequestMetadata gives the header.
func (b bearer) GetRequestMetadata(context.Context, ...string) (map[string]string, error) {
	return map[string]string{"authorization": "Bearer " + b.token}, nil
}

// RequireTransportSecurity has gRPC keep the token from plain text, also on
// connections that Dial could not know of.
func (b bearer) RequireTransportSecurity() bool { return !b.local }
