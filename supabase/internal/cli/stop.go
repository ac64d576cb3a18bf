package cli

import (
	"context"
	"fmt"
	"time"

	"daawo/supabase/internal/app"
)

var stopCommand = Command{
	Name:  "stop",
	Args:  "[FLAGS]",
	Short: "End the running server after what it is serving",
	Run:   runStop,
}

func runStop(ctx context.Context, inv *Invocation) error {
	inv.dataFlag()
	if err := inv.parse(0, 0); err != nil {
		return err
	}
	data, err := inv.running()
	if err != nil {
		return err
	}
	var reply struct{}
	if err := app.Command(ctx, data, "/stop", &reply); err != nil {
		return err
	}
	if err := awaitEnd(ctx, 30*time.Second, func() bool { return app.Locked(data) }); err != nil {
		return err
	}
	fmt.Fprintln(inv.Stdout, "stopped")
	return nil
}

// awaitEnd waits until the server that was told to end runs no more.
func awaitEnd(ctx context.Context, most time.Duration, running func() bool) error {
	late := time.After(most)
	for running() {
		select {
		case <-ctx.Done():
			return fmt.Errorf("the server was told to end, and may not have ended yet: %w", ctx.Err())
		case <-late:
			return fmt.Errorf("the server has not ended after %v", most)
		case <-time.After(20 * time.Millisecond):
		}
	}
	return nil
}
