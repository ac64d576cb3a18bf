package cli

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"daawo/supabase/internal/admin"
	"daawo/supabase/internal/app"
)

// verb is one action of a command that works at an administrator's desk, such as list of `daawo reports list`.
type verb struct {
	args int // how many arguments it takes
	// begin declares the verb's flags. What it returns runs when they are parsed: check without the desk, for what is wrong
	// with the command line itself (nil for nothing), and work at it.
	begin func(*invocation) (check func() error, work deskWork)
}

type deskWork func(context.Context, *admin.Desk) error

// atDesk makes a command of its verbs.
func atDesk(verbs map[string]verb) func(context.Context, *invocation) error {
	return func(ctx context.Context, inv *invocation) error {
		v, ok := verbs[inv.action()]
		inv.dataFlag()
		if !ok {
			if err := inv.parse(0, 1); err != nil {
				return err
			}
			return usagef("usage: daawo %s %s", inv.command.name, inv.command.args)
		}
		check, work := v.begin(inv)
		if err := inv.parseMixed(v.args, v.args); err != nil {
			return err
		}
		if check != nil {
			if err := check(); err != nil {
				return err
			}
		}
		desk, err := inv.desk(ctx)
		if err != nil {
			return err
		}
		defer desk.Close()
		return work(ctx, desk)
	}
}

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
// variables DATABASE_URL, SUPABASE_URL, SITE_URL and SERVICE_ROLE_KEY name, as inside of a container.
func (inv *invocation) desk(ctx context.Context) (*admin.Desk, error) {
	get := func(name string) string {
		value, _ := inv.Getenv(name)
		return strings.TrimRight(value, "/")
	}
	at := admin.Place{Database: get("DATABASE_URL"), API: get("SUPABASE_URL"), Public: get("SITE_URL"), Key: get("SERVICE_ROLE_KEY")}
	info, err := inv.status(ctx)
	switch {
	case err == nil:
		at = admin.Place{
			Database: cmp.Or(at.Database, info.Get("DB_URL")), API: info.Get("INSIDE_URL"), Public: info.Get("SITE_URL"), Key: info.Get("SERVICE_ROLE_KEY"),
		}
	case at.Database == "" || !errors.Is(err, app.ErrNotRunning):
		return nil, err
	}
	at.Public = cmp.Or(at.Public, at.API)
	return admin.Open(ctx, at)
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
