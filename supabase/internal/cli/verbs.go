package cli

import (
	"context"
	"strings"

	"daawo/supabase/internal/app"
)

// action takes the verb of a command that has several, such as new of `daawo functions new`.
func (inv *Invocation) action() string {
	if len(inv.args) == 0 || strings.HasPrefix(inv.args[0], "-") {
		return ""
	}
	verb := inv.args[0]
	inv.args = inv.args[1:]
	return verb
}

// parseMixed is parse for commands whose arguments may precede their flags.
func (inv *Invocation) parseMixed(least, most int) error {
	var words []string
	for len(inv.args) > 0 && !strings.HasPrefix(inv.args[0], "-") {
		words = append(words, inv.args[0])
		inv.args = inv.args[1:]
	}
	if err := inv.parse(0, most); err != nil {
		return err
	}
	inv.args = append(words, inv.args...)
	if n := len(inv.args); n < least || n > most {
		return usagef("usage: daawo %s %s", inv.command.Name, inv.command.Args)
	}
	return nil
}

// status returns the addresses and keys of the running server.
func (inv *Invocation) status(ctx context.Context) (app.Info, error) {
	var info app.Info
	data, err := inv.running()
	if err != nil {
		return info, err
	}
	return info, app.Command(ctx, data, "/status", &info)
}
