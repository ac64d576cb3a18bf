package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"daawo/supabase/internal/app"
)

var stopCommand = command{
	name:  "stop",
	args:  "[FLAGS]",
	short: "End the running server after what it is serving",
	run:   runStop,
}

func runStop(ctx context.Context, inv *invocation) error {
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
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	for app.Locked(data) {
		select {
		case <-ctx.Done():
			return errors.New("the server has not ended after 30 s")
		case <-time.After(20 * time.Millisecond):
		}
	}
	fmt.Fprintln(inv.Stdout, "stopped")
	return nil
}
