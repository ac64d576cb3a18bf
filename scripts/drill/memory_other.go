//go:build !linux

package main

import (
	"context"
	"fmt"
)

func memoryDrill(context.Context, settings) (string, error) {
	return "", fmt.Errorf("%w: needs Linux to simulate a container", errNotRun)
}
