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

// RequireTransportSecurity makes gRPC refuse a connection that would give the
// token away.
func (b bearer) RequireTransportSecurity() bool { return !b.local }
