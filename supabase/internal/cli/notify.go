package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"daawo/supabase/internal/app"
)

var notifyCommand = Command{
	Name:  "notify",
	Args:  "test",
	Short: "Try the notification channels of the running server",
	Long: `
Sends a test message over every configured channel (mail to ADMIN_EMAIL, NOTIFY_WEBHOOK_URL) and prints the result of each.`,
	Run: runNotify,
}

func runNotify(ctx context.Context, inv *Invocation) error {
	verb := inv.action()
	inv.dataFlag()
	if err := inv.parse(0, 0); err != nil {
		return err
	}
	if verb != "test" {
		return usagef("usage: daawo notify test")
	}
	data, err := inv.running()
	if err != nil {
		return err
	}
	var results map[string]string
	if err := app.Command(ctx, data, "/notify/test", &results); err != nil {
		return err
	}
	failed := false
	for _, channel := range slices.Sorted(maps.Keys(results)) {
		what := "sent"
		if results[channel] != "" {
			what, failed = "FAILED: "+results[channel], true
		}
		fmt.Fprintf(inv.Stdout, "%-8s %s\n", channel, what)
	}
	if failed {
		return errors.New("not every channel works")
	}
	return nil
}
