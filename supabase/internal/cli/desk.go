package cli

import (
	"context"
	"errors"
	"strings"

	"daawo/supabase/internal/admin"
	"daawo/supabase/internal/app"
)

// action takes the verb of a command that has several, such as list of `daawo reports list`.
func (inv *invocation) action() string {
	if len(inv.args) == 0 || strings.HasPrefix(inv.args[0], "-") {
		return ""
	}
	verb := inv.args[0]
	inv.args = inv.args[1:]
	return verb
}

// parseMixed is parse for commands whose arguments may stand before their flags.
func (inv *invocation) parseMixed(least, most int) error {
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
		return usagef("usage: daawo %s %s", inv.command.name, inv.command.args)
	}
	return nil
}

// desk opens the installation that the command line means: the one that runs on its data folder, else the one that the
// variables DATABASE_URL, SUPABASE_URL and SERVICE_ROLE_KEY name, as inside of a container.
func (inv *invocation) desk(ctx context.Context) (*admin.Desk, error) {
	database, _ := inv.Getenv("DATABASE_URL")
	api, _ := inv.Getenv("SUPABASE_URL")
	key, _ := inv.Getenv("SERVICE_ROLE_KEY")
	info, err := inv.status(ctx)
	switch {
	case err == nil:
		api, key = info.Get("API_URL"), info.Get("SERVICE_ROLE_KEY")
		if database == "" {
			database = info.Get("DB_URL")
		}
	case database == "" || !errors.Is(err, app.ErrNotRunning):
		return nil, err
	}
	return admin.Open(ctx, database, strings.TrimRight(api, "/"), key)
}

// status asks the running server for its addresses and keys.
func (inv *invocation) status(ctx context.Context) (app.Info, error) {
	var info app.Info
	data, err := inv.running()
	if err != nil {
		return info, err
	}
	return info, app.Command(ctx, data, "/status", &info)
}
