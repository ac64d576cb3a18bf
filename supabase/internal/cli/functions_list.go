package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"
	"time"

	"daawo/supabase/internal/app/control"
	"daawo/supabase/internal/app/datadir"
	"daawo/supabase/internal/functions/deploy"
	"daawo/supabase/internal/functions/host"
)

// listFunctions lists the functions of the running server: of the program, of the source or
// of a deployed bundle. Without a server it lists the program's.
func listFunctions(ctx context.Context, inv *Invocation) error {
	inv.dataFlag()
	stats := inv.flags.Bool("stats", false, "print calls, errors and latencies since the start of the server instead")
	asJSON := inv.flags.Bool("json", false, "print JSON")
	inv.refuse("remote", "lists a project on supabase.com; use --data")
	if err := inv.parse(0, 0); err != nil {
		return err
	}
	if _, err := inv.project(); err != nil {
		return err
	}
	var info control.FunctionsInfo
	err := inv.ask(ctx, "/functions/list", &info)
	if errors.Is(err, datadir.ErrNotRunning) && !*stats {
		info, err = control.FunctionsInfo{Source: deploy.BuiltIn, Functions: host.Describe(inv.Functions)}, nil
	}
	if err != nil {
		return err
	}
	if *asJSON {
		return printJSON(inv, info)
	}
	if *stats {
		return printStats(inv, info)
	}
	t := tabwriter.NewWriter(inv.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "NAME\tLANGUAGE\tMETHODS\tVERIFY JWT\tTIMEOUT\tMAX BODY\tMAX CONCURRENT\tSCHEDULE (UTC)")
	for _, f := range info.Functions {
		if !f.Handler {
			fmt.Fprintf(t, "%s\tGo\t-\t-\t-\t-\t-\t%s\n", f.Name, f.Schedule)
			continue
		}
		methods := "any"
		if len(f.Methods) > 0 {
			methods = strings.Join(f.Methods, ",")
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%v\t%v\t%d\t%d\t%s\n", f.Name, cmp.Or(f.Language, "Go"), methods, f.VerifyJWT,
			f.Timeout, f.MaxBody,
			f.MaxConcurrent, f.Schedule)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(inv.Stderr, "source:", strings.TrimSpace(info.Source+" "+info.Version))
	if info.Building {
		fmt.Fprintln(inv.Stderr, "the functions are being built")
	}
	if info.Problem != "" {
		fmt.Fprintln(inv.Stderr, info.Problem)
	}
	return nil
}

func printStats(inv *Invocation, info control.FunctionsInfo) error {
	t := tabwriter.NewWriter(inv.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "NAME\tCALLS\tERRORS\tP50\tP95\tP99")
	round := func(d time.Duration) time.Duration { return d.Round(10 * time.Microsecond) }
	for _, s := range info.Stats {
		fmt.Fprintf(t, "%s\t%d\t%d\t%v\t%v\t%v\n", s.Function, s.Calls, s.Errors, round(s.P50), round(s.P95),
			round(s.P99))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if info.Memory > 0 {
		fmt.Fprintf(inv.Stderr, "memory of the processes: %d MB\n", info.Memory>>20)
	}
	return nil
}
