package cli

import "context"

// downMigrations builds a new database without the last migrations.
func downMigrations(ctx context.Context, inv *Invocation) error {
	f := newResetFlags(inv)
	if err := inv.parse(0, 0); err != nil {
		return err
	}
	if *f.version == "" && *f.last == 0 {
		*f.last = 1
	}
	return f.run(ctx, inv)
}
