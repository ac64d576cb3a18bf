package pgrst

import (
	"context"
	"strings"

	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/db"
	"daawo/supabase/internal/rest"
	"daawo/supabase/internal/rest/sql"
)

// settable returns the names of the settings that the database may hold, with underscores.
func settable() []string {
	return strings.Fields(`client_error_verbosity db_aggregates_enabled db_anon_role db_pre_config db_extra_search_path
		db_hoisted_tx_settings db_max_rows db_plan_enabled db_pre_request db_prepared_statements db_root_spec db_schemas db_tx_end
		jwt_aud jwt_cache_max_entries jwt_role_claim_key jwt_secret jwt_secret_is_base64 log_level log_query openapi_mode
		openapi_security_active openapi_server_proxy_uri server_cors_allowed_origins server_trace_header server_timing_enabled
		url_use_legacy_target_names db_channel_enabled`)
}

// roleSettingsSQL returns the settings pgrst.* of the login role. Those for this database come last and take
// precedence.
const roleSettingsSQL = `
select split_part(s, '=', 1), substr(s, strpos(s, '=') + 1)
  from pg_db_role_setting r
  cross join unnest(r.setconfig) s
 where r.setrole = (select oid from pg_roles where rolname = current_user)
   and r.setdatabase in (0, (select oid from pg_database where datname = current_catalog))
   and split_part(s, '=', 1) like 'pgrst.%'
 order by r.setdatabase`

// Overlay applies the settings in the database (alter role authenticator set pgrst.… = …) to base.
func Overlay(ctx context.Context, pool *db.Pool, base rest.Config) (rest.Config, error) {
	values, err := inDatabase(ctx, pool, &Settings{})
	if err != nil {
		return base, err
	}
	r := &reader{db: values}
	s := r.settings(base)
	r.keys(s)
	if r.err != nil {
		return base, r.err
	}
	return s.Rest, nil
}

// inDatabase returns the settings in the database: those that the pre-config function sets, then those of the login
// role, which take precedence.
func inDatabase(ctx context.Context, pool *db.Pool, s *Settings) (map[string]string, error) {
	found := map[string]string{}
	names := settable()
	keys := make([]string, len(names))
	for i, n := range names {
		keys[i] = "pgrst." + n
	}
	err := pool.Tx(ctx, db.Caller{}, pgx.TxOptions{AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error {
		take := func(query string, args ...any) error {
			rows, err := tx.Query(ctx, query, args...)
			if err != nil {
				return err
			}
			var name string
			var value *string
			_, err = pgx.ForEachRow(rows, []any{&name, &value}, func() error {
				if value != nil {
					found[strings.TrimPrefix(name, "pgrst.")] = *value
				}
				return nil
			})
			return err
		}
		if s.PreConfig != nil {
			if _, err := tx.Exec(ctx, "select "+sql.Qualified(*s.PreConfig)+"()"); err != nil {
				return err
			}
			if err := take(`select name, current_setting(name, true) from unnest($1::text[]) name`, keys); err != nil {
				return err
			}
		}
		return take(roleSettingsSQL)
	})
	return found, err
}
