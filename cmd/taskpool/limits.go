package main

import (
	"fmt"
	"strconv"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"

	taskpoolv1 "github.com/taskpool-dev/taskpool/gen/taskpool/v1"
)

// limit is one limit of a pool.
type limit struct {
	name  string
	value int64
}

// limitsOf are those that are set, in the API's order.
func limitsOf(limits *taskpoolv1.PoolLimits) []limit {
	var set []limit
	m := limits.ProtoReflect()
	for _, name := range limitNames() {
		field := m.Descriptor().Fields().ByName(protoreflect.Name(name))
		if m.Has(field) {
			set = append(set, limit{name, m.Get(field).Int()})
		}
	}
	return set
}

// limitNames are the names of all limits.
func limitNames() []string {
	fields := (&taskpoolv1.PoolLimits{}).ProtoReflect().Descriptor().Fields()
	names := make([]string, fields.Len())
	for i := range fields.Len() {
		names[i] = string(fields.Get(i).Name())
	}
	return names
}

// limitsFlag is NAME=NUMBER, repeated.
type limitsFlag struct{ limits *taskpoolv1.PoolLimits }

func (f *limitsFlag) String() string { return "" }
func (f *limitsFlag) Type() string   { return "NAME=NUMBER" }

func (f *limitsFlag) Set(text string) error {
	name, number, ok := strings.Cut(text, "=")
	if !ok {
		return fmt.Errorf("%q is not NAME=NUMBER", text)
	}
	m := (&taskpoolv1.PoolLimits{}).ProtoReflect()
	if f.limits != nil {
		m = f.limits.ProtoReflect()
	}
	field := m.Descriptor().Fields().ByName(protoreflect.Name(strings.ReplaceAll(name, "-", "_")))
	if field == nil {
		return fmt.Errorf("there is no limit %q; there are %s", name, strings.Join(limitNames(), ", "))
	}
	value, err := strconv.ParseInt(number, 10, 64)
	if err != nil || value < 1 {
		return fmt.Errorf("%s=%s: a limit is a number of at least 1", name, number)
	}
	m.Set(field, protoreflect.ValueOfInt64(value))
	f.limits = m.Interface().(*taskpoolv1.PoolLimits)
	return nil
}
