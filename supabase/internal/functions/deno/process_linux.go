package deno

import "syscall"

// endWithParent ends a process with this program.
func endWithParent(a *syscall.SysProcAttr) { a.Pdeathsig = syscall.SIGKILL }
