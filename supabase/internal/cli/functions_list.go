package cli

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
)

func listFunctions(inv *Invocation) error {
	if err := inv.parse(0, 0); err != nil {
		return err
	}
	if _, err := inv.project(); err != nil {
		return err
	}
	t := tabwriter.NewWriter(inv.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "NAME\tMETHODS\tVERIFY JWT\tTIMEOUT\tMAX BODY\tMAX CONCURRENT\tSCHEDULE (UTC)")
	for _, name := range slices.Sorted(maps.Keys(inv.Functions)) {
		f := inv.Functions[name].WithDefaults()
		if f.Handler == nil {
			fmt.Fprintf(t, "%s\t-\t-\t-\t-\t-\t%s\n", name, f.Schedule)
			continue
		}
		methods := "any"
		if len(f.Methods) > 0 {
			methods = strings.Join(f.Methods, ",")
		}
		fmt.Fprintf(t, "%s\t%s\t%v\t%v\t%d\t%d\t%s\n", name, methods, !f.NoVerifyJWT, f.Timeout, f.MaxBody, f.MaxConcurrent, f.Schedule)
	}
	return t.Flush()
}
