package server

import (
	"context"

	"github.com/jackc/pgx/v5/pgconn"
)

// checkCollations returns an error if a database was made with another version of ICU: its indexes
// of text have another order, and searches would miss rows.
func (s *Server) checkCollations(ctx context.Context, conn *pgconn.PgConn) error {
	res := conn.ExecParams(ctx, `
		select datname, datcollversion, pg_database_collation_actual_version(oid)
		from pg_database
		where datcollversion <> pg_database_collation_actual_version(oid) limit 1`, nil, nil, nil, nil).Read()
	if res.Err != nil || len(res.Rows) == 0 {
		return res.Err
	}
	row := res.Rows[0]
	return userErrorf(ErrOtherVersion,
		"the database %s of %s was made by a Postgres with ICU collations %s, and this one has %s: indexes of text would "+
			"be wrong. Export it with the Postgres that made it, then `daawo migrate` and `daawo import` into a new folder",
		row[0], s.opt.Data, row[1], row[2])
}
