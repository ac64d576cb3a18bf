package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
)

var notifyCommand = Command{
	Name:  "notify",
	Args:  "test",
	Short: "Test the notification channels of the running server",
	Long: `
Sends a test message over every configured channel (mail to ADMIN_EMAIL, NOTIFY_WEBHOOK_URL) and prints each result.`,
	Verbs: []Command{{Name: "test", Args: "[FLAGS]", Short: "Send a test message over every channel"}},
	Run:   runNotify,
}

func runNotify(ctx context.Context, inv *Invocation) error {
	verb := inv.Verb()
	inv.dataFlag()
	if err := inv.parse(0, 0); err != nil {
		return err
	}
	if verb != "test" {
		return inv.usage()
	}
	var results map[string]string
	if err := inv.ask(ctx, "/notify/test", &results); err != nil {
		return err
	}
	failed := false
	for _, channel := range slices.Sorted(maps.Keys(results)) {
		result := "sent"
		if results[channel] != "" {
			result, failed = "FAILED: "+results[channel], true
		}
		fmt.Fprintf(inv.Stdout, "%-8s %s\n", channel, result)
	}
	if failed {
		return errors.New("at least one channel failed")
	}
	return nil
}
