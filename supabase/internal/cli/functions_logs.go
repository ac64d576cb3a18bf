package cli

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"daawo/supabase/internal/app/control"
	"daawo/supabase/internal/functions/host"
)

// logFilter selects log lines.
type logFilter struct {
	function string // "" for all
	since    time.Time
	level    slog.Level
}

func (f logFilter) has(l host.Line) bool {
	return l.Level >= f.level && !l.Time.Before(f.since) && (f.function == "" || ofFunction(l.Text, f.function))
}

func functionLogs(ctx context.Context, inv *Invocation) error {
	inv.dataFlag()
	follow := inv.flags.Bool("follow", false, "also print new lines until Ctrl-C")
	var since time.Duration
	inv.flags.Func("since", "only lines of the last `duration`, such as 90s or 1h", func(text string) (err error) {
		if since, err = time.ParseDuration(text); err != nil || since <= 0 {
			return fmt.Errorf("%q is not a duration such as 90s or 1h", text)
		}
		return nil
	})
	var f logFilter
	inv.flags.TextVar(&f.level, "level", slog.LevelInfo, "only lines of this `level` and above: info, warn or error")
	if err := inv.parseMixed(0, 1); err != nil {
		return err
	}
	if since > 0 {
		f.since = time.Now().Add(-since)
	}
	if len(inv.args) == 1 {
		f.function = inv.args[0]
	}
	_, data, err := inv.installation()
	if err != nil {
		return err
	}
	for next := int64(0); ; {
		var lines []host.Line
		if err := control.Command(ctx, data, "/functions/logs", &lines); err != nil {
			return err
		}
		for _, l := range lines {
			if l.N >= next && f.has(l) {
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
