package db

import (
	"context"
	"strconv"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Statement is SQL with parameters in text form; nil is null. Postgres infers their types.
type Statement struct {
	SQL     string
	Args    [][]byte
	Formats []int16 // result formats by column, 0 text and 1 binary; nil is all text
}

// Session is a connection on loan, for callers that lay out their round trips themselves.
type Session struct {
	conn       *pgconn.PgConn
	plans      *planCache
	scope      string
	unprepared bool
}

// Session lends a connection to fn. A transaction that fn leaves open is rolled back.
//
// scope separates prepared statements: a plan under row level security belongs to the role it was made for, and one
// with unqualified names to its search path, so that running it for another makes Postgres plan anew each time. A
// caller names both in scope, and each combination keeps plans of its own on every connection.
func (p *Pool) Session(ctx context.Context, scope string, fn func(*Session) error) error {
	return p.with(ctx, func(c *pgxpool.Conn) error {
		conn := c.Conn().PgConn()
		s := &Session{conn: conn, plans: plansOf(conn), scope: scope, unprepared: p.unprepared}
		err := fn(s)
		if !conn.IsClosed() && conn.TxStatus() != 'I' {
			if _, rerr := conn.Exec(context.WithoutCancel(ctx), "rollback").ReadAll(); rerr != nil && err == nil {
				err = rerr
			}
		}
		return err
	})
}

// Run sends the statements in one round trip. Without begin and commit among them they are one transaction (PostgreSQL
// documentation, "Pipeline Mode"): the first that fails undoes all. read sees each statement's rows in turn; the bytes it
// sees are the connection's and are gone afterwards.
func (s *Session) Run(ctx context.Context, statements []Statement, read func(i int, rows *pgconn.ResultReader) error) error {
	pipe := s.conn.StartPipeline(ctx)
	var plans []*plan
	closing := 0
	if !s.unprepared {
		plans = s.plans.choose(s.scope, statements)
		// What is to be closed goes first: behind a statement that fails, the server would pass it over.
		closing = len(s.plans.unwanted)
		for _, name := range s.plans.unwanted {
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
	err := pipe.Sync()
	if err == nil {
		err = s.results(pipe, statements, plans, closing, read)
	}
	// Close reads up to the Sync, where an implicit transaction commits: its error is the commit's.
	if cerr := pipe.Close(); err == nil {
		err = cerr
	}
	s.plans.dismiss(plans)
	return err
}

func (s *Session) results(pipe *pgconn.Pipeline, statements []Statement, plans []*plan, closing int,
	read func(i int, rows *pgconn.ResultReader) error) error {
	for range closing {
		if _, err := pipe.GetResults(); err != nil {
			return err
		}
	}
	if closing > 0 {
		s.plans.unwanted = s.plans.unwanted[:0]
	}
	for i := range statements {
		if plans != nil && plans[i].description == nil {
			res, err := pipe.GetResults()
			if err != nil {
				return err
			}
			if d, ok := res.(*pgconn.StatementDescription); ok {
				d.Name = plans[i].name // pgconn leaves it out in a pipeline
				plans[i].description = d
				s.plans.add(plans[i])
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
	_, err := pipe.GetResults() // the Sync itself, which reports a failed commit
	return err
}

// planCache knows the prepared statements of one connection.
type planCache struct {
	plans    map[planKey]*plan
	unwanted []string // names that Postgres may still know and that the next pipeline closes
	clock    uint64
	names    uint64
}

type planKey struct{ scope, sql string }

type plan struct {
	key         planKey
	name        string
	description *pgconn.StatementDescription // nil until it is known to be prepared
	first       int                          // which statement of its first pipeline it is for
	used        uint64
}

// maxPlans bounds the prepared statements of one connection; each costs Postgres some ten to a hundred kilobytes.
const maxPlans = 256

func plansOf(conn *pgconn.PgConn) *planCache {
	const key = "daawo.plans"
	data := conn.CustomData()
	if c, ok := data[key].(*planCache); ok {
		return c
	}
	c := &planCache{plans: map[planKey]*plan{}}
	data[key] = c
	return c
}

// choose finds or names the plan of each statement, and makes room for the new ones. Equal statements share one.
func (c *planCache) choose(scope string, statements []Statement) []*plan {
	plans := make([]*plan, len(statements))
	adding := 0
	for i := range statements {
		key := planKey{scope, statements[i].SQL}
		if plans[i] = c.get(key); plans[i] != nil {
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
			adding++
		}
	}
	if adding > 0 && len(c.plans)+adding > maxPlans {
		c.evict()
	}
	return plans
}

// dismiss has those of the plans closed that were not seen to be prepared: Postgres may have got to them all the same.
// To close one that it does not know is no error.
func (c *planCache) dismiss(plans []*plan) {
	for i, p := range plans {
		if p.description == nil && p.first == i {
			c.unwanted = append(c.unwanted, p.name)
		}
	}
}

func (c *planCache) get(k planKey) *plan {
	p := c.plans[k]
	if p != nil {
		c.clock++
		p.used = c.clock
	}
	return p
}

func (c *planCache) add(p *plan) {
	c.clock++
	p.used = c.clock
	c.plans[p.key] = p
}

func (c *planCache) nextName() string {
	c.names++
	return "daawo_" + strconv.FormatUint(c.names, 36)
}

// evict makes room for new plans: the least recently used ones go, an eighth at a time.
func (c *planCache) evict() {
	oldest := c.clock
	for _, p := range c.plans {
		oldest = min(oldest, p.used)
	}
	border := oldest + (c.clock-oldest)/8
	for k, p := range c.plans {
		if p.used <= border {
			c.unwanted = append(c.unwanted, p.name)
			delete(c.plans, k)
		}
	}
}
