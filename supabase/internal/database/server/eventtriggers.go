package server

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// EventTriggers is the library with which the role postgres can own event triggers. It keeps their
// functions away from roles with more rights. Supabase's archive has another one for that.
const EventTriggers = "daawo_event_triggers"

// hasEventTriggers reports whether the server loads the library. A build without a C compiler has
// none.
func (s *Server) hasEventTriggers() bool {
	_, err := os.Stat(filepath.Join(s.run, "lib", "postgresql", EventTriggers+".so"))
	return err == nil
}

// checkEventTriggers disables the event triggers of roles other than superusers if the library is
// missing: their functions would run in sessions of superusers.
func (s *Server) checkEventTriggers(ctx context.Context, conn *pgconn.PgConn) error {
	if s.hasEventTriggers() || s.opt.distribution() == official {
		return nil
	}
	res := conn.ExecParams(ctx, `
		select evtname, quote_ident(evtname) from pg_event_trigger join pg_roles on pg_roles.oid = evtowner
		where not rolsuper and evtenabled <> 'D' order by evtname`, nil, nil, nil, nil).Read()
	if res.Err != nil || len(res.Rows) == 0 {
		return res.Err
	}
	var names []string
	for _, row := range res.Rows {
		names = append(names, string(row[0]))
		if _, err := conn.Exec(ctx, fmt.Sprintf(`alter event trigger %s disable`, row[1])).ReadAll(); err != nil {
			return fmt.Errorf("disable event trigger %s: %w", row[0], err)
		}
	}
	if s.opt.Log != nil {
		s.opt.Log.Warn("event triggers disabled: this build lacks the library that keeps them from superusers",
			"names", strings.Join(names, ", "), "library", EventTriggers)
	}
	return nil
}
