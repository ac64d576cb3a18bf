package cli

import (
	"context"
	"fmt"

	"daawo/supabase/internal/app"
)

var authCommand = Command{
	Name:  "auth",
	Short: "Try the sender of text messages",
	Long: `
Sends a message with the code 000000 as auth would: through the hook [auth.hook.send_sms], or the provider of
[auth.sms]. The hook may be a function of a running server.

  daawo auth send-test +252611234567`,
	Verbs: []Command{{Name: "send-test", Args: "PHONE [FLAGS]",
		Short: "Send a test message through the configured hook or provider", Run: sendTestMessage}},
}

func sendTestMessage(ctx context.Context, inv *Invocation) error {
	channel := inv.flags.String("channel", "sms", "`channel` of the provider")
	if err := inv.parseMixed(1, 1); err != nil {
		return err
	}
	c, err := inv.config()
	if err != nil {
		return err
	}
	by, id, err := app.SendTestMessage(ctx, c, inv.args[0], *channel)
	if err != nil {
		return err
	}
	fmt.Fprintf(inv.Stdout, "accepted by %s", by)
	if id != "" {
		fmt.Fprintf(inv.Stdout, ", message %s", id)
	}
	fmt.Fprintln(inv.Stdout)
	return nil
}
