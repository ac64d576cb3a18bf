//go:build !linux

package main

import "context"

func diskDrill(context.Context, settings) (string, error) {
	return "not run: it needs Linux, to mount a small disk", nil
}
