//go:build !linux

package main

import (
	"context"
	"fmt"
)

func diskDrill(context.Context, settings) (string, error) {
	return "", fmt.Errorf("%w: needs Linux to mount a small disk", errNotRun)
}

func powercutDrill(context.Context, settings) (string, error) {
	return "", fmt.Errorf("%w: needs Linux to mount a file system", errNotRun)
}
