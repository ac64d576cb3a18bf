package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"daawo/supabase/internal/app"
	"daawo/supabase/internal/fnhost"
)

func functionLogs(ctx context.Context, inv *Invocation) error {
	inv.dataFlag()
	follow := inv.flags.Bool("follow", false, "also print new lines until Ctrl-C")
	if err := inv.parseMixed(0, 1); err != nil {
		return err
	}
	_, data, err := inv.installation()
	if err != nil {
		return err
	}
	for next := int64(0); ; {
		var lines []fnhost.Line
		if err := app.Command(ctx, data, "/functions/logs", &lines); err != nil {
			return err
		}
		for _, l := range lines {
			if l.N >= next && (len(inv.args) == 0 || ofFunction(l.Text, inv.args[0])) {
				fmt.Fprintln(inv.Stdout, l.Text)
			}
			next = max(next, l.N+1)
		}
		if !*follow {
			return nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(time.Second):
		}
	}
}

// ofFunction reports whether a log line belongs to the function.
func ofFunction(line, name string) bool { return strings.Contains(line+" ", " function="+name+" ") }
