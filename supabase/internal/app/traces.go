package app

import (
	"context"
	"time"

	"daawo/supabase/internal/base/tracing"
)

// openTraces begins to send traces, if an endpoint is set.
func openTraces(ctx context.Context, a *App) error {
	exporter, err := openSpanExporter(ctx, a.Config.TracesURL)
	if err != nil {
		return err
	}
	a.traces, err = tracing.Open(ctx, tracing.Options{Service: "daawo", Version: a.Version, Exporter: exporter})
	a.pools.traces = a.traces
	a.OnClose("traces", func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, 5*time.Second) // the receiver may be away
		defer cancel()
		if err := a.traces.Close(ctx); err != nil {
			a.Log.Warn("the last spans were not sent", "error", err)
		}
		return nil
	})
	return err
}
