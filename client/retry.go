package client

import (
	"encoding/json"
	"fmt"
	"sync"

	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"

	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
)

// A call that meets UNAVAILABLE is made up to maxAttempts times, within about
// two seconds.
const maxAttempts = 4

// services are those that the client knows.
func services() []protoreflect.ServiceDescriptor {
	var all []protoreflect.ServiceDescriptor
	for _, file := range []protoreflect.FileDescriptor{
		taskpoolv1.File_taskpool_v1_task_service_proto,
		taskpoolv1.File_taskpool_v1_pool_service_proto,
		taskpoolv1.File_taskpool_v1_graph_service_proto,
		taskpoolv1.File_taskpool_v1_auth_service_proto,
	} {
		for i := range file.Services().Len() {
			all = append(all, file.Services().Get(i))
		}
	}
	return all
}

// repeatable tells whether making the call twice does no more than making it
// once: it only reads, or its request carries a request_id. Streams are the
// caller's to resume.
func repeatable(method protoreflect.MethodDescriptor) bool {
	if method.IsStreamingClient() || method.IsStreamingServer() {
		return false
	}
	options, ok := method.Options().(*descriptorpb.MethodOptions)
	if ok && options.GetIdempotencyLevel() == descriptorpb.MethodOptions_NO_SIDE_EFFECTS {
		return true
	}
	return method.Input().Fields().ByName("request_id") != nil
}

type (
	methodName struct {
		Service string `json:"service"`
		Method  string `json:"method"`
	}
	retryPolicy struct {
		MaxAttempts          int      `json:"maxAttempts"`
		InitialBackoff       string   `json:"initialBackoff"`
		MaxBackoff           string   `json:"maxBackoff"`
		BackoffMultiplier    float64  `json:"backoffMultiplier"`
		RetryableStatusCodes []string `json:"retryableStatusCodes"`
	}
	methodConfig struct {
		Name        []methodName `json:"name"`
		RetryPolicy retryPolicy  `json:"retryPolicy"`
	}
)

// serviceConfig is gRPC's service config with the calls that may be repeated.
var serviceConfig = sync.OnceValue(func() string {
	var names []methodName
	for _, service := range services() {
		for i := range service.Methods().Len() {
			if method := service.Methods().Get(i); repeatable(method) {
				names = append(names, methodName{string(service.FullName()), string(method.Name())})
			}
		}
	}
	config, err := json.Marshal(map[string][]methodConfig{"methodConfig": {{
		Name: names,
		RetryPolicy: retryPolicy{
			MaxAttempts: maxAttempts, InitialBackoff: "0.1s", MaxBackoff: "1s", BackoffMultiplier: 3,
			RetryableStatusCodes: []string{"UNAVAILABLE"},
		},
	}}})
	if err != nil {
		panic(fmt.Sprintf("client: service config: %v", err)) // a constant in effect
	}
	return string(config)
})
