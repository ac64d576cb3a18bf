package child

import (
	"crypto/rand"
	"os"
	"os/exec"
	"syscall"
)

// MarkVariable is a variable that all processes of a Group have.
const MarkVariable = "DAAWO_FUNCTION_GROUP"

// Group is the process of functions and all processes that it starts.
type Group struct {
	cmd  *exec.Cmd
	mark string
}

// NewGroup prepares a program to start in a process group of its own.
func NewGroup(cmd *exec.Cmd) *Group {
	g := &Group{cmd, MarkVariable + "=" + rand.Text()}
	if cmd.Env == nil {
		cmd.Env = os.Environ()
	}
	cmd.Env = append(cmd.Env, g.mark)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return g
}

// Kill ends all processes of the group. On Linux it also ends those that have left it, as a daemon
// does.
func (g *Group) Kill() {
	_ = syscall.Kill(-g.cmd.Process.Pid, syscall.SIGKILL) // they may have ended
	g.killOthers()
}
