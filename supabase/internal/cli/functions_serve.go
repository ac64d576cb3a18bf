package cli

import (
	"context"
	"errors"
	"fmt"

	"daawo/supabase/internal/app"
	"daawo/supabase/internal/app/datadir"
)

// serveFunctions is `functions serve`. Like the official CLI's, it runs beside a server: one
// on the data folder serves the functions already, so it prints their log. Without one it serves
// the functions alone.
func serveFunctions(ctx context.Context, inv *Invocation) error {
	inv.dataFlag()
	inv.startFlags()
	inv.ignore([]string{"no-verify-jwt", "inspect", "inspect-main"}, "env-file", "import-map", "inspect-mode")
	if err := inv.parseMixed(0, 1<<10); err != nil {
		return err
	}
	for _, name := range []string{"no-verify-jwt", "env-file"} {
		if inv.Given(name) {
			inv.warn("--%s has no effect: a function's code and .env say so", name)
		}
	}
	info, err := inv.status(ctx)
	switch {
	case err == nil:
		fmt.Fprintf(inv.Stderr, "%s serves the functions; these are their log lines (Ctrl-C ends)\n",
			info.Get("FUNCTIONS_URL"))
		l := logRequest{follow: true}
		return l.print(ctx, inv)
	case !errors.Is(err, datadir.ErrNotRunning):
		return err
	}
	return inv.serveParts(ctx, (*app.App).RunFunctions)
}
