package admin

import (
	"net/http"
	"strings"

	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/base/apierror"
	"daawo/supabase/internal/database/pool"
	"daawo/supabase/internal/engine/auth/endpoint"
	"daawo/supabase/internal/engine/auth/store"
)

// Audit serves GET /admin/audit: the audit log, newest first.
func (s *Service) Audit(w http.ResponseWriter, r *http.Request, _ *store.User) error {
	q := r.URL.Query()
	page, perPage, err := endpoint.Page(q)
	if err != nil {
		return err
	}
	columns, wanted, err := auditFilter(q.Get("query"))
	if err != nil {
		return err
	}
	ctx := r.Context()
	const filter = ` from auth.audit_log_entries a
		where $1::text = '' or exists (select from unnest($2::text[]) c where a.payload ->> c ilike '%' || $1 || '%')`
	var total uint64
	if err := s.DB.Pgx().QueryRow(ctx, `select count(*)`+filter, wanted, columns).Scan(&total); err != nil {
		return err
	}
	var list string
	err = s.DB.Query(ctx, pool.Caller{}, `
		select coalesce(json_agg(x), '[]')::text
		  from (select id, payload, to_char(created_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') created_at,
		               ip_address`+filter+`
		         order by a.created_at desc limit $3 offset $4) x`,
		[]any{wanted, columns, perPage, (page - 1) * perPage},
		func(rows pgx.Rows) error {
			if rows.Next() {
				return rows.Scan(&list)
			}
			return rows.Err()
		})
	if err != nil {
		return err
	}
	endpoint.SetPages(w.Header(), r.URL, page, perPage, total)
	return endpoint.SendJSON(w, http.StatusOK, endpoint.RawText(list))
}

// auditFilter parses author:…, action:… or type:….
func auditFilter(query string) (columns []string, wanted string, err error) {
	if query == "" {
		return []string{}, "", nil
	}
	scope, wanted, ok := strings.Cut(query, ":")
	columns = map[string][]string{"author": {"actor_username", "actor_name"}, "action": {"action"},
		"type": {"log_type"}}[scope]
	if columns == nil || !ok {
		return nil, "", apierror.Errorf(http.StatusBadRequest, "validation_failed", "Invalid query scope: %s", query)
	}
	return columns, wanted, nil
}
