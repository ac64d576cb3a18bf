package pgrst

import (
	"context"
	"log/slog"
	"os"
	"strings"

	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/database/pool"
	"daawo/supabase/internal/engine/rest"
	"daawo/supabase/internal/engine/rest/sql"
)

// settable returns the names of the settings that the database may hold, with underscores. The
// database's value of any other setting is ignored.
func settable() []string {
	return strings.Fields(`client_error_verbosity db_aggregates_enabled db_anon_role db_pre_config
		db_extra_search_path db_hoisted_tx_settings db_max_rows db_plan_enabled db_pre_request
		db_prepared_statements db_root_spec db_schemas db_tx_end
		jwt_aud jwt_role_claim_key jwt_secret jwt_secret_is_base64 openapi_mode openapi_security_active
		openapi_server_proxy_uri server_cors_allowed_origins server_trace_header server_timing_enabled
		url_use_legacy_target_names`)
}

// roleSettingsSQL returns those settings of the login role whose names are in $1. Those for this
// database come last and take precedence.
const roleSettingsSQL = `
select split_part(s, '=', 1), substr(s, strpos(s, '=') + 1)
  from pg_db_role_setting r
  cross join unnest(r.setconfig) s
 where r.setrole = (select oid from pg_roles where rolname = current_user)
   and r.setdatabase in (0, (select oid from pg_database where datname = current_catalog))
   and split_part(s, '=', 1) = any($1::text[])
 order by r.setdatabase`

// Overlay applies the settings in the database (alter role authenticator set pgrst.… = …) to base.
// It skips and logs an invalid setting, so that a mistake in the database never keeps the server
// from starting or from reloading its keys.
func Overlay(ctx context.Context, pool *pool.Pool, base rest.Config, log *slog.Logger) (rest.Config, error) {
	values, err := inDatabase(ctx, pool, &settings{})
	if err != nil {
		return base, err
	}
	for name, value := range values {
		if _, err := overlay(map[string]string{name: value}, base); err != nil {
			log.ErrorContext(ctx, "rest: in-database setting is invalid; ignoring it", "setting", "pgrst."+name,
				"error", err)
			delete(values, name)
		}
	}
	c, err := overlay(values, base)
	if err != nil { // each setting is valid, but not all together
		log.ErrorContext(ctx, "rest: in-database settings are invalid; ignoring them", "error", err)
		return base, nil
	}
	return c, nil
}

// overlay applies settings by name to base.
func overlay(values map[string]string, base rest.Config) (rest.Config, error) {
	r := &reader{db: values, readFile: os.ReadFile}
	s := r.settings(base)
	r.keys(s)
	return s.Rest, r.err
}

// inDatabase returns the settings in the database: first the pre-config function's, then the login
// role's, which take precedence.
func inDatabase(ctx context.Context, db *pool.Pool, s *settings) (map[string]string, error) {
	found := map[string]string{}
	names := settable()
	keys := make([]string, len(names))
	for i, n := range names {
		keys[i] = "pgrst." + n
	}
	err := db.Tx(ctx, pool.Caller{}, pgx.TxOptions{AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error {
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
		return take(roleSettingsSQL, keys)
	})
	return found, err
}
