package server

import (
	"fmt"
	"unicode/utf8"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/protoadapt"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/taskpool-dev/taskpool/pool/task"
)

// errorDomain is the domain of every ErrorInfo.
const errorDomain = "taskpool"

// An error travels in HTTP/2 trailers, of which clients built on gRPC's C core
// take 8 KiB; the details go there in base64, the message in them once more. So
// what a caller sent, and lists, are cut.
const (
	maxTextBytes       = 900
	maxValueBytes      = 800
	maxListed          = 20
	maxViolationsBytes = 3500
)

// status is the answer as gRPC has it.
func (a answer) status() *status.Status {
	st := status.New(a.code, cut(a.text, maxTextBytes))
	if a.reason == "" {
		return st
	}
	details := []protoadapt.MessageV1{&errdetails.ErrorInfo{Reason: string(a.reason), Domain: errorDomain, Metadata: a.metadata}}
	if len(a.violations) > 0 {
		details = append(details, badRequest(a.violations))
	}
	if a.retryAfter > 0 {
		details = append(details, &errdetails.RetryInfo{RetryDelay: durationpb.New(a.retryAfter)})
	}
	detailed, err := st.WithDetails(details...)
	if err != nil { // text that is not UTF-8, which nothing here lets through
		return st
	}
	return detailed
}

// badRequest lists the violations, as many as fit.
func badRequest(all task.Violations) *errdetails.BadRequest {
	m := &errdetails.BadRequest{}
	size := 0
	for i, v := range all {
		field, description := cut(v.Field, maxValueBytes), cut(v.Description, maxTextBytes)
		if size += len(field) + len(description) + 8; i > 0 && size > maxViolationsBytes {
			m.FieldViolations = append(m.FieldViolations, &errdetails.BadRequest_FieldViolation{
				Description: fmt.Sprintf("there are %d more violations: mend these first", len(all)-i),
			})
			break
		}
		m.FieldViolations = append(m.FieldViolations, &errdetails.BadRequest_FieldViolation{Field: field, Description: description})
	}
	return m
}

// cut shortens a text to at most that many bytes, three more for the dots, and
// never within a character.
func cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:most] + "..."
}
