package main

import "context"

func (b *bench) sizes(context.Context) error { return nil }
