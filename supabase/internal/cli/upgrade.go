package cli

import (
	"context"
	"fmt"

	"daawo/supabase/internal/app/control"
	"daawo/supabase/internal/app/lifecycle"
)

var upgradeCommand = Command{
	Name:  "upgrade",
	Args:  "[FLAGS]",
	Short: "Replace the running server by the installed program without losing a request",
	Long: `
Install the new program in the place of the old one first. This command starts it beside the running server, with the flags
and the environment of that one. It applies its migrations and takes over the ports; then the old one finishes its requests. If
the new program does not start, the old one continues to serve, and the command fails.

The first process stays: it keeps its process id and Postgres. A new Postgres, and a changed environment, need a restart.`,
	Run: runUpgrade,
}

func runUpgrade(ctx context.Context, inv *Invocation) error {
	inv.dataFlag()
	if err := inv.parse(0, 0); err != nil {
		return err
	}
	_, data, err := inv.installation()
	if err != nil {
		return err
	}
	var next lifecycle.Upgraded
	if err := control.Command(ctx, data, "/upgrade", &next); err != nil {
		return err
	}
	fmt.Fprintf(inv.Stdout, "version %s serves (process %d, started in %s)\n", next.Version, next.PID, next.Took)
	return nil
}
