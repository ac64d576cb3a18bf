package cli

import (
	"context"
	"fmt"
	"slices"
	"time"

	"daawo/supabase/internal/app/control"
	"daawo/supabase/internal/functions/host"
)

// functionSchedule runs scheduled work now, as a job with one attempt.
func functionSchedule(ctx context.Context, inv *Invocation) error {
	verb := inv.Verb()
	inv.dataFlag()
	wait := inv.flags.Duration("wait", 2*time.Minute, "how `long` to wait for the result")
	if err := inv.parseMixed(1, 1); err != nil {
		return err
	}
	if verb != "run" {
		return inv.usage()
	}
	name := inv.args[0]
	var info control.FunctionsInfo
	if err := inv.ask(ctx, "/functions/list", &info); err != nil {
		return err
	}
	if !slices.ContainsFunc(info.Functions,
		func(f host.FunctionInfo) bool { return f.Name == name && f.Schedule != "" }) {
		return fmt.Errorf("the server has no function %q with a schedule; see `daawo functions list`", name)
	}
	jobs, done, err := jobsOf(ctx, inv)
	if err != nil {
		return err
	}
	defer done()
	id, err := jobs.RunSchedule(ctx, name)
	if err != nil {
		return err
	}
	return awaitJob(ctx, inv, jobs, id, 0, *wait)
}
