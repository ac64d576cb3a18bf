package cli

import (
	"context"

	"daawo/supabase/internal/app"
	"daawo/supabase/internal/app/keyring"
)

func showKeys(ctx context.Context, inv *Invocation) error {
	c, data, err := inv.installation()
	if err != nil {
		return err
	}
	set, err := keyring.Load(ctx, c, data)
	if err != nil {
		return err
	}
	if set.IsDemo() {
		inv.warn("these are the well-known local keys of the official CLI; they are accepted on loopback only")
	}
	return app.Info{Values: []app.Value{
		{Name: "PUBLISHABLE_KEY", Label: "Publishable key", Value: set.Publishable},
		{Name: "SECRET_KEY", Label: "Secret key", Value: set.Secret},
		{Name: "ANON_KEY", Label: "anon key", Value: set.Anon},
		{Name: "SERVICE_ROLE_KEY", Label: "service_role key", Value: set.ServiceRole},
	}}.Write(inv.Stdout, "pretty")
}
