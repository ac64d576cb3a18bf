package child

import (
	"crypto/rand"
	"os"
	"syscall"

	"daawo/supabase/internal/functions/jail"
)

// MarkVariable is a variable that all processes of a Group have.
const MarkVariable = "DAAWO_FUNCTION_GROUP"

// Group is the process of functions and all processes that it starts.
type Group struct {
	cell *jail.Cell
	mark string
}

// NewGroup prepares a program to start in a process group of its own.
func NewGroup(cell *jail.Cell) *Group {
	g := &Group{cell, MarkVariable + "=" + rand.Text()}
	cmd := cell.Cmd
	if cmd.Env == nil {
		cmd.Env = os.Environ()
	}
	cmd.Env = append(cmd.Env, g.mark)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return g
}

// Kill ends all processes of the group. On Linux it also ends those that have left it, as a daemon
// does: none leaves the cgroup of its program, and without one they are searched by their variable.
func (g *Group) Kill() {
	_ = syscall.Kill(-g.cell.Cmd.Process.Pid, syscall.SIGKILL) // they may have ended
	if !g.cell.Kill() {
		g.killOthers()
	}
}
