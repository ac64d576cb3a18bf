//go:build !linux

package server

import "testing"

func mountSmall(t *testing.T, dir string, size int) { t.Skip("needs Linux") }
