package server

import (
	"context"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	"github.com/taskpool-dev/taskpool/pool"
	"github.com/taskpool-dev/taskpool/pool/task"
)

// ActorKey is the metadata key by which a caller says which member it is.
const ActorKey = "taskpool-actor"

type actorKey struct{}

// actorOf is the member on whose behalf a call is made.
func actorOf(ctx context.Context) string {
	if actor, ok := ctx.Value(actorKey{}).(string); ok {
		return actor
	}
	return task.Anonymous
}

// identify reads who the caller says it is. Nobody is the pool itself.
func identify(ctx context.Context) (context.Context, error) {
	said := metadata.ValueFromIncomingContext(ctx, ActorKey)
	if len(said) == 0 {
		return ctx, nil
	}
	var v task.Violations
	switch {
	case len(said) > 1:
		v.Add(ActorKey, "is there %d times in the metadata: name one member", len(said))
	case !task.ValidMember(said[0]):
		v.Add(ActorKey, "is no member id: write agent:NAME, ext:NAME or human in the metadata; a name is 1 to 63 visible characters without white space and colons")
	case strings.HasPrefix(said[0], "system:"):
		v.Add(ActorKey, "can't be the pool itself: write agent:NAME, ext:NAME or human in the metadata")
	default:
		return context.WithValue(ctx, actorKey{}, said[0]), nil
	}
	return ctx, &pool.InvalidError{Reason: pool.ReasonInvalidField, Violations: v}
}

func identifyUnary(ctx context.Context, req any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
	if !ofAPI(info.FullMethod) {
		return next(ctx, req)
	}
	ctx, err := identify(ctx)
	if err != nil {
		return nil, err
	}
	return next(ctx, req)
}

func identifyStream(srv any, stream grpc.ServerStream, info *grpc.StreamServerInfo, next grpc.StreamHandler) error {
	if !ofAPI(info.FullMethod) {
		return next(srv, stream)
	}
	ctx, err := identify(stream.Context())
	if err != nil {
		return err
	}
	return next(srv, &streamWithContext{stream, ctx})
}

// streamWithContext is a stream in another context.
type streamWithContext struct {
	grpc.ServerStream
	ctx context.Context
}

// Context implements [grpc.ServerStream].
func (s *streamWithContext) Context() context.Context { return s.ctx }

// ofAPI says whether a method is of one of our services, rather than of health
// or reflection.
func ofAPI(fullMethod string) bool { return strings.HasPrefix(fullMethod, "/taskpool.v1.") }
