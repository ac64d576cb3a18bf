package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"

	"daawo/scripts/server"
)

// arrival prints the time from a visitor's report to its row in an open desk, in a real browser.
func arrival(ctx context.Context, st *server.Stack) error {
	cmd := exec.CommandContext(ctx, "node", "web/scripts/desk-arrival.mjs")
	cmd.Env = os.Environ()
	for _, name := range []string{"API_URL", "DESK_URL", "SERVICE_ROLE_KEY", "PUBLISHABLE_KEY"} {
		cmd.Env = append(cmd.Env, name+"="+st.Get(name))
	}
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("arrival: %w", err)
	}
	return nil
}
