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

// logRequest holds the flags of `functions logs`.
type logRequest struct {
	logFilter
	last   time.Duration // 0 for all lines
	follow bool
}

func (r *logRequest) declareFlags(inv *Invocation) {
	inv.dataFlag()
	inv.flags.BoolVar(&r.follow, "follow", false, "also print new lines until Ctrl-C")
	inv.flags.Func("since", "only lines of the last `duration`, such as 90s or 1h", func(text string) (err error) {
		if r.last, err = time.ParseDuration(text); err != nil || r.last <= 0 {
			return fmt.Errorf("%q is not a duration such as 90s or 1h", text)
		}
		return nil
	})
	inv.flags.TextVar(&r.level, "level", slog.LevelInfo, "only lines of this `level` and above: info, warn or error")
}

func functionLogs(ctx context.Context, inv *Invocation) error {
	var r logRequest
	r.declareFlags(inv)
	if err := inv.parseMixed(0, 1); err != nil {
		return err
	}
	if len(inv.args) == 1 {
		r.function = inv.args[0]
	}
	return r.print(ctx, inv)
}

// print prints the lines of functions of the running server.
func (r *logRequest) print(ctx context.Context, inv *Invocation) error {
	if r.last > 0 {
		r.since = time.Now().Add(-r.last)
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
			if l.N >= next && r.has(l) {
				fmt.Fprintln(inv.Stdout, l.Text)
			}
			next = max(next, l.N+1)
		}
		if !r.follow {
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
