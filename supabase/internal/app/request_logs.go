package app

import (
	"context"
	"log/slog"
	"net/http"
	"path/filepath"

	"daawo/supabase/internal/app/front"
	"daawo/supabase/internal/app/keyring"
	"daawo/supabase/internal/app/logs"
	"daawo/supabase/internal/gateway"
)

// requestLogs are the logs that an added Studio shows. Without one nothing is kept.
type requestLogs struct{ store *logs.Store }

// openLogs begins to keep requests and the messages of Postgres, if the stack serves an added
// Studio.
func openLogs(a *App) {
	if !front.ServesStudio(a.Installation) || a.Config.StudioUpstreamURL != "" {
		return
	}
	store := logs.Open(filepath.Join(a.Data, "logs"))
	a.logs = requestLogs{store}
	a.PostgresLog = slog.New(store.Postgres(a.Log.Handler()))
	a.OnClose("request log", func(context.Context) error { return store.Close() })
	a.Background("request log", store.Run)
}

// handler returns the endpoint of the logs, nil without a store.
func (l requestLogs) handler(k *keyring.Keyring) http.Handler {
	if l.store == nil {
		return nil
	}
	return l.store.Handler(func() string { return derivedKey(k.Current().JWTSecret, "LOGFLARE") })
}

// record returns what the gateway calls for each request, nil without a store.
func (l requestLogs) record() func(gateway.Request) {
	if l.store == nil {
		return nil
	}
	return func(r gateway.Request) {
		l.store.Add(logs.Entry{Time: r.Began, ID: r.ID, Service: r.Service, Method: r.Method, Path: r.Path,
			Status: r.Status, Took: r.Took})
	}
}
