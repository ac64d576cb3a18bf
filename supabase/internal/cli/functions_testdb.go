package cli

import (
	"context"

	"daawo/supabase/internal/functions/testserver"
)

// functionsTestDB serves databases to a test binary. edgetest.DB starts it.
func functionsTestDB(ctx context.Context, inv *Invocation) error {
	if err := inv.parse(0, 0); err != nil {
		return err
	}
	project, err := inv.project()
	if err != nil {
		return err
	}
	source, err := inv.Postgres()
	if err != nil {
		return err
	}
	return testserver.Serve(ctx,
		testserver.Options{Source: source, Project: project.files, In: inv.Stdin, Out: inv.Stdout})
}
