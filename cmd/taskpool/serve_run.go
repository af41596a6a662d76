package main

import (
	"context"
	"errors"
)

func (a *app) serve(context.Context, *serveFlags) error {
	return errors.New("this build has no server yet")
}
