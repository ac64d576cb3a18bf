package rest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"daawo/supabase/internal/db"
	"daawo/supabase/internal/rest/plan"
	"daawo/supabase/internal/rest/schema"
	"daawo/supabase/internal/rest/sql"
	"daawo/supabase/internal/wire"
)

// serve answers a request or says why not.
func (e *Engine) serve(ctx context.Context, s *state, w http.ResponseWriter, r *http.Request) error {
	t := stopwatch{on: s.config.ServerTiming, now: e.now}
	t.start()
	id, err := e.identify(s, r)
	if err != nil {
		return err
	}
	t.lap("jwt")
	if s.cache == nil {
		return errNoSchema()
	}
	p, err := s.recall(r, &t)
	if err != nil {
		return err
	}
	switch {
	case r.Method == http.MethodOptions:
		return s.info(w, p.request)
	case p.plan == nil:
		return e.describe(ctx, s, w, r, p.request, id)
	}
	j := job{prepared: p, engine: e, state: s, http: r, id: id, room: e.borrow()}
	defer e.giveBack(j.room)
	res, err := j.run(ctx)
	if err != nil {
		return err
	}
	defer res.body.close()
	t.lap("transaction")
	return j.respond(w, res, &t)
}

// handlerTarget is the relation or function that a media type handler may be for.
func handlerTarget(q *request, p *plan.Plan) schema.Name {
	if p.Call == nil {
		return q.Target
	}
	n := schema.Name{Schema: p.Call.Routine.Schema, Name: p.Call.Routine.Name.Name}
	if p.Call.Routine.Composite {
		n.Name = p.Call.Routine.Return.Name
	}
	return n
}

func checkPreferences(q *request, p *plan.Plan) error {
	if !q.Prefs.Strict() {
		return nil
	}
	if len(q.Prefs.Invalid) > 0 {
		e := wire.Errorf(400, "PGRST122", "Invalid preferences given with handling=strict")
		e.Details = "Invalid preferences: " + joinComma(q.Prefs.Invalid)
		return e
	}
	if p.Call != nil && q.Prefs.MaxAffected != nil && !p.Call.Routine.SetOf {
		return wire.Errorf(400, "PGRST128",
			"Function must return SETOF or TABLE when max-affected preference is used with handling=strict")
	}
	return nil
}

// job is a planned request on its way through the database.
type job struct {
	*prepared
	engine *Engine
	state  *state
	http   *http.Request
	id     identity
	room   *room
}

// result is the row that the statement answered.
type result struct {
	total    *int64
	page     int64
	body     spool
	headers  []byte
	status   []byte
	location []byte
	updated  int64
	planned  *int64
}

func (j *job) readOnly() bool {
	switch {
	case j.plan.Call != nil:
		return j.http.Method != http.MethodPost || j.plan.Call.Routine.Volatility != schema.Volatile
	default:
		return j.plan.Mutation == nil
	}
}

// rollsBack says whether the transaction is undone on purpose.
func (j *job) rollsBack() bool {
	tx := j.request.Prefs.Tx
	return tx == "rollback" || j.state.config.TxEnd.Rollback && tx != "commit"
}

// counts says whether the client wants the exact number of rows, or an estimate no worse.
func (j *job) counts() bool {
	return j.request.Prefs.Count == "exact" || j.request.Prefs.Count == "estimated"
}

// verdict says whether the rows that were affected are as the request demands.
func (j *job) verdict(res *result) error {
	q := j.request
	if j.reply.Explain != "" {
		return nil
	}
	if q.Action == plan.Upsert {
		if res.page != 1 {
			return wire.Errorf(400, "PGRST115", "Payload values do not match URL in primary key column(s)")
		}
		return nil
	}
	if j.media.Singular() && res.page != 1 {
		e := wire.Errorf(406, "PGRST116", "Cannot coerce the result to a single JSON object")
		e.Details = "The result contains " + strconv.FormatInt(res.page, 10) + " rows"
		return e
	}
	most := q.Prefs.MaxAffected
	if (q.Action == plan.Update || q.Action == plan.Delete || q.Action == plan.Call) && q.Prefs.Strict() && most != nil && res.page > *most {
		e := wire.Errorf(400, "PGRST124", "Query result exceeds max-affected preference constraint")
		e.Details = "The query affects " + strconv.FormatInt(res.page, 10) + " rows"
		return e
	}
	return nil
}

// decides says whether the verdict can undo the transaction, so that it has to be asked before the commit.
func (j *job) decides(readOnly bool) bool {
	q := j.request
	return !readOnly && (j.media.Singular() || q.Action == plan.Upsert || q.Prefs.Strict() && q.Prefs.MaxAffected != nil)
}

// run sends everything in one round trip, which is one transaction. Only a writing request that may have to be undone
// after looking at its result takes a second one for its commit or rollback.
func (j *job) run(ctx context.Context) (_ *result, err error) {
	readOnly := j.readOnly()
	set, scope := j.state.context(j.room, j.http, j.request, j.id, j.plan, readOnly)
	isolation := j.state.isolation(j.id, j.plan)
	decides, rollsBack := j.decides(readOnly), j.rollsBack()

	list := j.room.statements[:0]
	explicit := decides || rollsBack || isolation != ""
	if explicit {
		begin := "begin"
		if isolation != "" {
			begin += " isolation level " + isolation
		}
		list = append(list, db.Statement{SQL: begin})
	}
	list = append(list, set)
	if fn := j.state.config.PreRequest; fn != nil {
		list = append(list, callStatement(*fn))
	}
	total, planned, overrides := -1, -1, -1
	if j.total != nil {
		total = len(list)
		list = append(list, *j.total)
	}
	main := len(list)
	list = append(list, j.statement)
	if j.rows {
		overrides = len(list)
		list = append(list, db.Statement{SQL: sql.Overrides})
	}
	if j.estimate != nil {
		planned = len(list)
		list = append(list, *j.estimate)
	}
	if explicit && !decides {
		list = append(list, ending(rollsBack)...)
	}

	if j.state.config.LogQuery {
		j.engine.log.InfoContext(ctx, "rest: query", "role", j.id.role, "sql", j.statement.SQL)
	}
	j.room.statements = list
	res := &result{}
	res.body.begin(j.room)
	defer func() {
		if err != nil {
			res.body.close()
		}
	}()
	session := j.engine.pool.Session
	if !explicit && j.engine.stale.serves(j) {
		session = j.engine.stale.replica.Session
	}
	err = session(ctx, scope, func(c *db.Session) error {
		res.body.close()
		*res = result{}
		res.body.begin(j.room)
		err := c.Run(ctx, list, func(i int, rows *pgconn.ResultReader) error {
			switch {
			case i == main && j.reply.Explain != "":
				return res.readExplain(rows)
			case i == main && j.rows:
				return res.gather(rows)
			case i == main:
				return res.read(rows)
			case i == total:
				return res.readTotal(rows)
			case i == overrides:
				return res.readOverrides(rows)
			case i == planned:
				return res.readPlanned(rows)
			}
			return nil
		})
		if j.rows && j.total == nil && j.counts() {
			res.total = &res.page
		}
		if err != nil || !decides {
			return err
		}
		if err := j.verdict(res); err != nil {
			return err // the session rolls back
		}
		return c.Run(ctx, ending(rollsBack), func(int, *pgconn.ResultReader) error { return nil })
	})
	if err != nil {
		return nil, j.engine.databaseError(err, j.id.anon, readOnly)
	}
	if !decides {
		if err := j.verdict(res); err != nil {
			return nil, err
		}
	}
	return res, nil
}

func callStatement(fn schema.Name) db.Statement {
	return db.Statement{SQL: "select " + sql.Qualified(fn) + "()"}
}

func quoteIdent(name string) string { return sql.Ident(name) }

// ending ends an explicit transaction. Deferred constraints are checked before a rollback, as a commit would.
func ending(rollsBack bool) []db.Statement {
	if rollsBack {
		return []db.Statement{{SQL: "set constraints all immediate"}, {SQL: "rollback"}}
	}
	return []db.Statement{{SQL: "commit"}}
}

var errShape = errors.New("rest: the statement answered another row than expected")

func (res *result) read(rows *pgconn.ResultReader) error {
	if !rows.NextRow() {
		return nil // the error, if there is one, comes from closing
	}
	v := rows.Values()
	if len(v) <= sql.ColStatus {
		return errShape
	}
	if v[sql.ColTotal] != nil {
		n, err := strconv.ParseInt(string(v[sql.ColTotal]), 10, 64)
		if err != nil {
			return err
		}
		res.total = &n
	}
	var err error
	if res.page, err = strconv.ParseInt(string(v[sql.ColPage]), 10, 64); err != nil {
		return err
	}
	res.body.whole(v[sql.ColBody])
	res.headers = append(res.headers, v[sql.ColHeaders]...)
	res.status = append(res.status, v[sql.ColStatus]...)
	if len(v) > sql.ColUpdated {
		res.location = append(res.location, v[sql.ColLocation]...)
		if v[sql.ColUpdated] != nil {
			res.updated, err = strconv.ParseInt(string(v[sql.ColUpdated]), 10, 64)
		}
	}
	return err
}

func (res *result) readExplain(rows *pgconn.ResultReader) error {
	for rows.NextRow() {
		res.body.head = append(append(res.body.head, rows.Values()[0]...), '\n')
	}
	res.body.length = int64(len(res.body.head))
	return nil
}

// gather makes the rows one array, with Postgres' own white space between them.
func (res *result) gather(rows *pgconn.ResultReader) error {
	separator := []byte("[")
	for rows.NextRow() {
		value := rows.Values()[0]
		if value == nil {
			value = []byte("null")
		}
		if err := errors.Join(res.body.write(separator), res.body.write(value)); err != nil {
			return err
		}
		separator = []byte(", \n ")
		res.page++
	}
	if res.page == 0 {
		return res.body.write([]byte("[]"))
	}
	return errors.Join(res.body.write([]byte("]")), res.body.finish())
}

func (res *result) readTotal(rows *pgconn.ResultReader) error {
	if !rows.NextRow() {
		return nil // the error, if there is one, comes from closing
	}
	n, err := strconv.ParseInt(string(rows.Values()[0]), 10, 64)
	res.total = &n
	return err
}

func (res *result) readOverrides(rows *pgconn.ResultReader) error {
	if rows.NextRow() {
		v := rows.Values()
		res.headers, res.status = bytes.Clone(v[0]), bytes.Clone(v[1])
	}
	return nil
}

func (res *result) readPlanned(rows *pgconn.ResultReader) error {
	if !rows.NextRow() {
		return nil
	}
	var out []struct {
		Plan struct {
			Rows int64 `json:"Plan Rows"`
		}
	}
	if err := json.Unmarshal(rows.Values()[0], &out); err != nil {
		return err
	}
	if len(out) > 0 {
		res.planned = &out[0].Plan.Rows
	}
	return nil
}

// stopwatch times the phases of a request for the Server-Timing header.
type stopwatch struct {
	on   bool
	now  func() time.Time
	last time.Time
	text string
}

func (t *stopwatch) start() {
	if t.on {
		t.last = t.now()
	}
}

func (t *stopwatch) lap(name string) {
	if !t.on {
		return
	}
	now := t.now()
	if t.text != "" {
		t.text += ", "
	}
	t.text += name + ";dur=" + strconv.FormatFloat(float64(now.Sub(t.last).Microseconds())/1000, 'f', -1, 64)
	t.last = now
}
