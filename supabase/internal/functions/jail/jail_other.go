//go:build !linux

package jail

import (
	"errors"
	"os/exec"
	"syscall"
)

type cgroup struct{}

func (*cgroup) kill() bool { return false }

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
	return startWritten(func() error {
		cmd := *c.Cmd // a command cannot be started twice, even if its first start failed
		*c.Cmd = exec.Cmd{
			Path: cmd.Path, Args: cmd.Args, Env: cmd.Env, Dir: cmd.Dir, SysProcAttr: cmd.SysProcAttr,
			Stdin: cmd.Stdin, Stdout: cmd.Stdout, Stderr: cmd.Stderr, ExtraFiles: cmd.ExtraFiles,
		}
		return c.Cmd.Start()
	})
}
