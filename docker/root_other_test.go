//go:build !linux

package docker_test

import (
	"syscall"
	"testing"
)

func (e emptyRoot) inside() *syscall.SysProcAttr { return &syscall.SysProcAttr{} }

func setAttribute(*testing.T, string, string) bool { return false }

func attribute(*testing.T, string) string { return "" }
