package rest

import (
	"context"
	"errors"
	"net/http"
	"strconv"

	"github.com/jackc/pgx/v5/pgconn"

	"daawo/supabase/internal/base/apierror"
	"daawo/supabase/internal/database/pool"
	"daawo/supabase/internal/engine/rest/plan"
)

// job is a planned request that runs in the database.
type job struct {
	*prepared
	values  []string // of the query, see grammar.Shape
	engine  *Engine
	state   *state
	http    *http.Request
	id      identity
	buffers *buffers
	batch   batch
	report  *Report // nil for none
}

// rollsBack reports whether the transaction ends with a rollback although nothing failed.
func (j *job) rollsBack() bool {
	tx := j.request.Prefs.Tx
	return tx == "rollback" || j.state.config.TxEnd.Rollback && tx != "commit"
}

// counts reports whether the client asked for the exact number of rows, or for an estimate that is
// at least as good.
func (j *job) counts() bool {
	return j.request.Prefs.Count == "exact" || j.request.Prefs.Count == "estimated"
}

// mustCheckBeforeCommit reports whether the number of rows can roll the request back.
func (j *job) mustCheckBeforeCommit(readOnly bool) bool {
	q := j.request
	return !readOnly && (j.media.Singular() || q.Action == plan.Upsert || q.Prefs.Strict() &&
		q.Prefs.MaxAffected != nil)
}

// checkRows returns an error if the number of rows is not the one that the request demands.
func (j *job) checkRows(res *result) error {
	q := j.request
	if j.reply.Explain != "" {
		return nil
	}
	if q.Action == plan.Upsert {
		if res.page != 1 {
			return apierror.Errorf(400, "PGRST115", "Payload values do not match URL in primary key column(s)")
		}
		return nil
	}
	if j.media.Singular() && res.page != 1 {
		e := apierror.Errorf(406, "PGRST116", "Cannot coerce the result to a single JSON object")
		e.Details = "The result contains " + strconv.FormatInt(res.page, 10) + " rows"
		return e
	}
	most := q.Prefs.MaxAffected
	if (q.Action == plan.Update || q.Action == plan.Delete || q.Action == plan.Call) && q.Prefs.Strict() &&
		most != nil && res.page > *most {
		e := apierror.Errorf(400, "PGRST124", "Query result exceeds max-affected preference constraint")
		e.Details = "The query affects " + strconv.FormatInt(res.page, 10) + " rows"
		return e
	}
	return nil
}

// run reads or writes what the request asks for. If the engine cannot convert the rows, Postgres
// reads them again and converts them. Only read-only requests take this path, so running them twice
// is safe.
func (j *job) run(ctx context.Context) (*result, error) {
	res, err := j.runOnce(ctx)
	if !errors.Is(err, errNotColumns) {
		return res, err
	}
	j.state.unconvertible.Add(j.statement.SQL, struct{}{})
	again := *j.prepared
	j.state.render(&again)
	j.prepared = &again
	return j.runOnce(ctx)
}

// runOnce sends all statements in one round trip, which is one transaction. Only a request whose
// number of rows can roll it back takes a second round trip, for the commit or rollback.
func (j *job) runOnce(ctx context.Context) (_ *result, err error) {
	readOnly := j.readOnly()
	j.makeBatch(readOnly)
	j.engine.logQuery(ctx, &j.state.config, j.id, j.batch.list, j.report)
	if j.report != nil && j.state.config.LegacyTargetNames {
		j.report.Legacy = j.plan.Legacy
	}
	if !readOnly || !j.state.config.CancelReads {
		ctx = context.WithoutCancel(ctx)
	}
	res := &result{}
	defer func() {
		if err != nil {
			res.body.close()
		}
	}()
	session := j.engine.pool.Session
	if !j.batch.explicit && j.engine.replicaReads.allow(j) {
		session = j.engine.replicaReads.replica.Session
	}
	j.engine.log.DebugContext(ctx, "Trying to borrow a connection from pool")
	err = session(ctx, j.batch.scope, func(c *pool.Session) error {
		j.engine.log.DebugContext(ctx, "Borrowed a connection from the pool")
		return j.transaction(ctx, c, res)
	})
	if errors.Is(err, errNotColumns) {
		return nil, err
	} else if err != nil {
		return nil, j.engine.databaseError(err, j.id.anon, readOnly)
	}
	if !j.batch.checkFirst {
		if err := j.checkRows(res); err != nil {
			return nil, err
		}
	}
	return res, nil
}

// logQuery adds the SQL of statements to the report, or logs it if there is no report.
func (e *Engine) logQuery(ctx context.Context, c *Config, id identity, list []pool.Statement, report *Report) {
	if !c.LogQuery {
		return
	}
	for _, st := range list {
		if report != nil {
			report.Queries = append(report.Queries, st.SQL)
		} else {
			e.log.InfoContext(ctx, "rest: query", "role", id.role, "sql", st.SQL)
		}
	}
}

// transaction runs the batch in a session and decodes its results into res. It may be called again
// after a failure. If it returns an error, the session rolls back.
func (j *job) transaction(ctx context.Context, c *pool.Session, res *result) error {
	res.body.close()
	*res = result{}
	err := c.Run(ctx, j.batch.list, func(i int, rows *pgconn.ResultReader) error { return j.decode(res, i, rows) })
	if j.form != oneValue && j.total == nil && j.counts() {
		res.total = &res.page
	}
	if err != nil || !j.batch.checkFirst {
		return err
	}
	if err := j.checkRows(res); err != nil {
		return err
	}
	return c.Run(ctx, ending(j.rollsBack()), func(int, *pgconn.ResultReader) error { return nil })
}
