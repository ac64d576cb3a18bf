package app

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"path/filepath"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/app/front"
	"daawo/supabase/internal/app/keyring"
	"daawo/supabase/internal/app/logs"
	"daawo/supabase/internal/database/pool"
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

// read shows in the logs what other parts keep: the lines of the functions and the audit log of
// auth.
func (l requestLogs) read(s *services) {
	if l.store == nil {
		return
	}
	l.store.From("function_logs", func(_ context.Context, start, end time.Time) (entries []logs.Entry, _ error) {
		for _, line := range s.journal.Lines() {
			if !line.Time.Before(start) && !line.Time.After(end) {
				entries = append(entries, logs.Entry{Time: line.Time, ID: fmt.Sprintf("fn-%d", line.N), Text: line.Text,
					Level: strings.ToLower(line.Level.String()), Function: line.Function})
			}
		}
		return entries, nil
	})
	l.store.From("auth_audit_logs", func(ctx context.Context, start, end time.Time) ([]logs.Entry, error) {
		conn, err := pool.Connect(ctx, s.db.URL("supabase_auth_admin"))
		if err != nil {
			return nil, err
		}
		defer conn.Close(context.WithoutCancel(ctx))
		return auditEntries(ctx, conn, start, end)
	})
}

// maxAudit is the most lines of the audit log that a statement reads: the newest ones.
const maxAudit = 10_000

// auditEntries returns lines of the audit log of auth.
func auditEntries(ctx context.Context, conn *pgx.Conn, start, end time.Time) ([]logs.Entry, error) {
	rows, err := conn.Query(ctx, `select id::text, created_at, payload::text, payload::jsonb from auth.audit_log_entries
		 where created_at between $1 and $2 order by created_at desc limit $3`, start, end, maxAudit)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, func(row pgx.CollectableRow) (e logs.Entry, err error) {
		if err := row.Scan(&e.ID, &e.Time, &e.Text, &e.Event); err != nil {
			return e, err
		}
		if e.Event == nil {
			e.Event = map[string]any{}
		}
		e.Event["audit_log_id"], e.Event["created_at"] = e.ID, e.Time.UTC()
		return e, nil
	})
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
