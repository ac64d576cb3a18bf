//go:build !linux

package jail

import (
	"errors"
	"syscall"
)

type cgroup struct{}

func (*cgroup) remove() error { return nil }

func (*cgroup) outOfMemory() bool { return false }

var errSystem = errors.New("this system has none")

// Check returns the protections of this system.
func Check() Report { return Report{errSystem, errSystem, errSystem, errSystem} }

// Start starts the program with the rights of this process.
func (c *Cell) Start(Policy) error {
	if c.Cmd.SysProcAttr == nil {
		c.Cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	return startWritten(c.Cmd)
}
