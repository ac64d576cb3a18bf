//go:build !linux

package docker_test

import "syscall"

func (e emptyRoot) inside() *syscall.SysProcAttr { return &syscall.SysProcAttr{} }
