package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"

	"daawo/supabase/internal/app/control"
	"daawo/supabase/internal/app/database"
	"daawo/supabase/internal/app/datadir"
	"daawo/supabase/internal/app/keyring"
	"daawo/supabase/internal/base/keys"
)

// rotation holds the flags of `keys rotate`.
type rotation struct {
	envFile  string
	password bool
	leaked   bool
}

func (o *rotation) declareFlags(flags *flag.FlagSet) {
	flags.BoolVar(&o.leaked, "leaked", false,
		"accept nothing that the old keys signed; this also ends sessions and signed links")
	flags.StringVar(&o.envFile, "env-file", "", "rotate the keys in this `file` of variables instead")
	flags.BoolVar(&o.password, "database-password", false,
		"also replace the password of the database; the next start uses it")
}

func (o *rotation) run(ctx context.Context, inv *Invocation) error {
	if o.envFile != "" {
		return rotateFile(ctx, o.envFile, o.password)
	}
	rotate := keys.Set.Rotate
	if o.leaked {
		rotate = keys.Set.Replace
	}
	return rotateKeys(ctx, inv, o.password, rotate)
}

// rotateKeys replaces the keys where the installation stores them and tells the running server.
func rotateKeys(ctx context.Context, inv *Invocation, password bool, rotate keyring.Rotation) error {
	c, data, err := inv.installation()
	if err != nil {
		return err
	}
	if password && c.DatabaseURL != "" {
		return usagef("--database-password: the database is set by DATABASE_URL; change the password there")
	}
	everywhere, err := keyring.Rotate(ctx, c, data, rotate)
	if err != nil {
		return err
	}
	if everywhere {
		fmt.Fprintln(inv.Stdout, "rotated; every running server uses the new keys")
		return nil
	}
	if password {
		if err := database.NewPassword(data); err != nil {
			return err
		}
	}
	var reply struct{}
	err = control.Command(ctx, data, "/keys/reload", &reply)
	switch {
	case errors.Is(err, datadir.ErrNotRunning):
		fmt.Fprintln(inv.Stdout, "rotated; the next start uses the new keys")
	case err != nil:
		return fmt.Errorf("the keys are rotated, but the running server accepts the old ones until it is restarted; restart it: %w", err)
	default:
		fmt.Fprintln(inv.Stdout, "rotated; the running server uses the new keys")
	}
	return nil
}
