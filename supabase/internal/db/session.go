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
	fresh := make([]*plan, len(statements))
	for i, st := range statements {
		if s.unprepared {
			pipe.SendQueryParams(st.SQL, st.Args, nil, nil, st.Formats)
			continue
		}
		key := planKey{s.scope, st.SQL}
		if known := s.plans.get(key); known != nil {
			pipe.SendQueryStatement(known.description, st.Args, nil, st.Formats)
			continue
		}
		pl := &plan{key: key, name: s.plans.nextName()}
		fresh[i] = pl
		pipe.SendPrepare(pl.name, st.SQL, nil)
		pipe.SendQueryPrepared(pl.name, st.Args, nil, st.Formats)
	}
	evicted := s.plans.evict(fresh)
	for _, name := range evicted {
		pipe.SendDeallocate(name)
	}
	err := pipe.Sync()
	if err == nil {
		err = s.results(pipe, statements, fresh, len(evicted), read)
	}
	// Close reads up to the Sync, where an implicit transaction commits: its error is the commit's.
	if cerr := pipe.Close(); err == nil {
		err = cerr
	}
	return err
}

func (s *Session) results(pipe *pgconn.Pipeline, statements []Statement, fresh []*plan, evicted int,
	read func(i int, rows *pgconn.ResultReader) error) error {
	for i := range statements {
		if fresh[i] != nil {
			res, err := pipe.GetResults()
			if err != nil {
				return err
			}
			if d, ok := res.(*pgconn.StatementDescription); ok {
				d.Name = fresh[i].name // pgconn leaves it out in a pipeline
				fresh[i].description = d
				s.plans.add(fresh[i])
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
	for range evicted + 1 { // the closed statements, then the Sync itself, which reports a failed commit
		if _, err := pipe.GetResults(); err != nil {
			return err
		}
	}
	return nil
}

// planCache knows the prepared statements of one connection.
type planCache struct {
	plans map[planKey]*plan
	clock uint64
	names uint64
}

type planKey struct{ scope, sql string }

type plan struct {
	key         planKey
	name        string
	description *pgconn.StatementDescription
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

// evict makes room for the fresh plans: the least recently used ones go, an eighth at a time.
func (c *planCache) evict(fresh []*plan) []string {
	adding := 0
	for _, p := range fresh {
		if p != nil {
			adding++
		}
	}
	if adding == 0 || len(c.plans)+adding <= maxPlans {
		return nil
	}
	oldest := c.clock
	for _, p := range c.plans {
		oldest = min(oldest, p.used)
	}
	border := oldest + (c.clock-oldest)/8
	var names []string
	for k, p := range c.plans {
		if p.used <= border {
			names = append(names, p.name)
			delete(c.plans, k)
		}
	}
	return names
}
