package pool

import (
	"cmp"
	"context"
	"slices"
	"strconv"

	"github.com/hashicorp/golang-lru/v2/simplelru"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Statement is SQL with parameters in text format; a nil parameter is null. Postgres infers their
// types.
type Statement struct {
	SQL     string
	Args    [][]byte
	Formats []int16 // result formats by column, 0 text and 1 binary; nil is all text
}

// Session is a connection for callers that control their round trips themselves.
type Session struct {
	conn       *pgconn.PgConn
	plans      *planCache
	scope      string
	unprepared bool
	tracer     pgx.QueryTracer // nil for no spans
}

// Session lends a connection to fn. It rolls back a transaction that fn leaves open.
//
// scope separates prepared statements. Postgres replans a statement each time the role (with row
// level security) or the search path differs from the last time. A caller therefore puts both in
// scope, and each scope has its own prepared statements on every connection.
func (p *Pool) Session(ctx context.Context, scope string, fn func(*Session) error) error {
	return p.with(ctx, func(c *pgxpool.Conn) error {
		conn := c.Conn().PgConn()
		s := &Session{conn: conn, plans: plansOf(conn), scope: scope, unprepared: p.unprepared, tracer: p.tracer}
		err := fn(s)
		if !conn.IsClosed() && conn.TxStatus() != 'I' {
			if _, rerr := conn.Exec(context.WithoutCancel(ctx), "rollback").ReadAll(); rerr != nil && err == nil {
				err = rerr
			}
		}
		return err
	})
}

// Run sends the statements in one round trip. Without begin and commit they are one transaction
// (PostgreSQL documentation, "Pipeline Mode"): the first error rolls back all of them. read gets
// each statement's rows in turn. It must not keep their bytes, which belong to the connection.
func (s *Session) Run(ctx context.Context, statements []Statement,
	read func(i int, rows *pgconn.ResultReader) error) (err error) {
	if s.tracer != nil && len(statements) > 0 {
		longest := slices.MaxFunc(statements, func(a, b Statement) int { return cmp.Compare(len(a.SQL), len(b.SQL)) })
		traced := s.tracer.TraceQueryStart(ctx, nil, pgx.TraceQueryStartData{SQL: longest.SQL})
		defer func() { s.tracer.TraceQueryEnd(traced, nil, pgx.TraceQueryEndData{Err: err}) }()
	}
	pipe := s.conn.StartPipeline(ctx)
	var plans []*plan
	deallocating := 0
	if !s.unprepared {
		plans = s.plans.choose(s.scope, statements)
		// Deallocate first: after an error the server ignores the rest of the pipeline.
		deallocating = len(s.plans.stale)
		for _, name := range s.plans.stale {
			pipe.SendDeallocate(name)
		}
	}
	for i, st := range statements {
		if s.unprepared {
			pipe.SendQueryParams(st.SQL, st.Args, nil, nil, st.Formats)
			continue
		}
		pl := plans[i]
		if pl.description != nil {
			pipe.SendQueryStatement(pl.description, st.Args, nil, st.Formats)
			continue
		}
		if pl.first == i {
			pipe.SendPrepare(pl.name, st.SQL, nil)
		}
		pipe.SendQueryPrepared(pl.name, st.Args, nil, st.Formats)
	}
	err = pipe.Sync()
	if err == nil {
		err = s.results(pipe, statements, plans, deallocating, read)
	}
	// Close reads the reply to Sync, where the implicit transaction commits, so it returns the
	// commit's error.
	if cerr := pipe.Close(); err == nil {
		err = cerr
	}
	s.plans.deallocateUnprepared(plans)
	return err
}

func (s *Session) results(pipe *pgconn.Pipeline, statements []Statement, plans []*plan, deallocating int,
	read func(i int, rows *pgconn.ResultReader) error) error {
	for range deallocating {
		if _, err := pipe.GetResults(); err != nil {
			return err
		}
	}
	if deallocating > 0 {
		s.plans.stale = s.plans.stale[:0]
	}
	for i := range statements {
		if plans != nil && plans[i].description == nil {
			res, err := pipe.GetResults()
			if err != nil {
				return err
			}
			if d, ok := res.(*pgconn.StatementDescription); ok {
				d.Name = plans[i].name // pgconn does not set it in a pipeline
				plans[i].description = d
				s.plans.lru.Add(plans[i].key, plans[i])
			}
		}
		res, err := pipe.GetResults()
		if err != nil {
			return err
		}
		rows, ok := res.(*pgconn.ResultReader)
		if !ok {
			continue
		}
		if err := read(i, rows); err != nil {
			return err
		}
		if _, err := rows.Close(); err != nil {
			return err
		}
	}
	_, err := pipe.GetResults() // of Sync, which reports a failed commit
	return err
}

// maxPlans is the maximum of prepared statements of one connection. Each takes 10 to 100 kB in
// Postgres.
const maxPlans = 256

// planCache is the prepared statements of one connection.
type planCache struct {
	lru   *simplelru.LRU[planKey, *plan]
	stale []string // names to deallocate in the next pipeline; Postgres may not know them
	names uint64   // names given so far
}

type planKey struct{ scope, sql string }

// plan is a prepared statement.
type plan struct {
	key         planKey
	name        string
	description *pgconn.StatementDescription // nil until Postgres has prepared the statement
	first       int                          // index in its first pipeline of the first statement that uses it
}

// plansOf returns the planCache of a connection.
func plansOf(conn *pgconn.PgConn) *planCache {
	const key = "daawo.plans"
	data := conn.CustomData()
	if c, ok := data[key].(*planCache); ok {
		return c
	}
	c := &planCache{}
	var err error
	c.lru, err = simplelru.NewLRU(maxPlans, func(_ planKey, p *plan) { c.stale = append(c.stale, p.name) })
	if err != nil { // only for a size below 1
		panic(err)
	}
	data[key] = c
	return c
}

// choose returns the plan of each statement, new or from the cache. Equal statements share a plan.
// It evicts plans to make space for the new ones, so that the same pipeline deallocates them.
func (c *planCache) choose(scope string, statements []Statement) []*plan {
	plans := make([]*plan, len(statements))
	cached, added := 0, 0
	for i := range statements {
		key := planKey{scope, statements[i].SQL}
		if p, ok := c.lru.Get(key); ok {
			plans[i] = p
			cached++
			continue
		}
		for _, p := range plans[:i] {
			if p.description == nil && p.key == key {
				plans[i] = p
				break
			}
		}
		if plans[i] == nil {
			plans[i] = &plan{key: key, name: c.nextName(), first: i}
			added++
		}
	}
	// The chosen plans are the most recently used ones and must stay.
	for range min(c.lru.Len()+added-maxPlans, c.lru.Len()-cached) {
		c.lru.RemoveOldest()
	}
	return plans
}

// deallocateUnprepared marks the plans without a description as stale. Postgres may have prepared
// them before an error. Deallocating an unknown statement is not an error.
func (c *planCache) deallocateUnprepared(plans []*plan) {
	for i, p := range plans {
		if p.description == nil && p.first == i {
			c.stale = append(c.stale, p.name)
		}
	}
}

func (c *planCache) nextName() string {
	c.names++
	return "daawo_" + strconv.FormatUint(c.names, 36)
}
