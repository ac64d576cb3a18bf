package pool

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Unit is a statement that runs in a transaction of its own. Parameters and results are in text
// format; a nil parameter is null.
type Unit struct {
	Caller Caller
	SQL    string
	Args   [][]byte
	Types  []uint32 // OIDs of the parameters' types; nil lets Postgres infer them
}

// UnitResult is the result of a Unit: its rows, or its error.
type UnitResult struct {
	Rows [][]*string // nil is null
	Err  error
}

// Units runs units in one round trip. Each is a transaction of its own: its errors and its
// transaction-local settings do not reach the others. If Units itself returns an error, it returns
// the results of the units that ended before.
func (p *Pool) Units(ctx context.Context, units []Unit) (results []UnitResult, err error) {
	err = p.with(ctx, func(c *pgxpool.Conn) error {
		conn := c.Conn().PgConn()
		r := &unitRun{conn: conn, plans: plansOf(conn), units: units, unprepared: p.unprepared}
		err := r.run(ctx)
		results = r.results
		return err
	})
	return results, err
}

// unitRun is a call of Units on a connection.
type unitRun struct {
	conn       *pgconn.PgConn
	plans      *planCache
	units      []Unit
	unprepared bool
	pipe       *pgconn.Pipeline
	results    []UnitResult
}

// run sends all units and reads their results.
func (r *unitRun) run(ctx context.Context) (err error) {
	statements := make([]Statement, 0, 2*len(r.units)) // of each unit: its settings, its statement
	for _, u := range r.units {
		setup, ok := u.Caller.Statement()
		if !ok {
			setup.SQL = "select"
		}
		statements = append(statements, setup, Statement{SQL: u.SQL, Args: u.Args})
	}
	var plans []*plan
	var stale []string
	if !r.unprepared {
		plans, stale = r.choose(statements), r.plans.stale
	}
	r.pipe = r.conn.StartPipeline(ctx)
	defer func() {
		if ctx.Err() != nil { // the server does not run the rest of the units
			_ = r.conn.Conn().Close()
		}
		cerr := r.pipe.Close()
		var pg *pgconn.PgError
		if err == nil && !errors.As(cerr, &pg) { // errors of units are in results
			err = cerr
		}
		r.plans.deallocateUnprepared(plans)
	}()
	for _, name := range stale {
		r.pipe.SendDeallocate(name)
	}
	r.pipe.SendPipelineSync()
	for i := range r.units {
		r.send(i, statements[2*i:2*i+2], plans)
	}
	if err := r.pipe.Flush(); err != nil {
		return err
	}
	if _, _, err := r.segment(); err != nil {
		return err
	}
	r.plans.stale = r.plans.stale[len(stale):]
	for i := range r.units {
		if err := r.read(i, plans); err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

// choose returns the plans of the statements. Statements with the same text but other types of
// parameters, or for another role, have plans of their own.
func (r *unitRun) choose(statements []Statement) []*plan {
	keyed := make([]Statement, len(statements))
	for i, st := range statements {
		keyed[i].SQL = st.SQL
		if u := r.units[i/2]; i%2 == 1 {
			keyed[i].SQL = fmt.Sprint(st.SQL, " -- ", u.Types, u.Caller.Role)
		}
	}
	return r.plans.choose("units", keyed)
}

// isNew reports whether a pipeline prepares the plan for the statement at an index.
func (p *plan) isNew(at int) bool { return p.description == nil && p.first == at }

// send queues a unit. A statement without a plan is prepared in a transaction of its own, with the
// unit's settings, so that an error of the unit does not undo the plan.
func (r *unitRun) send(i int, statements []Statement, plans []*plan) {
	setup, st, types := statements[0], statements[1], r.units[i].Types
	if plans == nil {
		r.pipe.SendQueryParams(setup.SQL, setup.Args, nil, nil, nil)
		r.pipe.SendQueryParams(st.SQL, st.Args, types, nil, nil)
		r.pipe.SendPipelineSync()
		return
	}
	first, second := plans[2*i], plans[2*i+1]
	if first.isNew(2 * i) {
		r.pipe.SendPrepare(first.name, setup.SQL, nil)
		r.pipe.SendPipelineSync()
	}
	if second.isNew(2*i + 1) {
		r.execute(first, setup.Args)
		r.pipe.SendPrepare(second.name, st.SQL, types)
		r.pipe.SendPipelineSync()
	}
	r.execute(first, setup.Args)
	r.execute(second, st.Args)
	r.pipe.SendPipelineSync()
}

// execute queues the execution of a plan.
func (r *unitRun) execute(p *plan, args [][]byte) {
	if p.description != nil {
		r.pipe.SendQueryStatement(p.description, args, nil, nil)
	} else {
		r.pipe.SendQueryPrepared(p.name, args, nil, nil)
	}
}

// read reads the results of a unit.
func (r *unitRun) read(i int, plans []*plan) error {
	var failed error
	for at := 2 * i; plans != nil && at <= 2*i+1; at++ {
		pl := plans[at]
		if !pl.isNew(at) {
			continue
		}
		part, description, err := r.segment()
		if err != nil {
			return err
		}
		if failed = part.Err; failed == nil && description != nil {
			description.Name = pl.name // pgconn does not set it in a pipeline
			pl.description = description
			r.plans.lru.Add(pl.key, pl)
		}
	}
	result, _, err := r.segment()
	if err != nil {
		return err
	}
	if failed != nil { // says more than that the plan does not exist
		result = UnitResult{Err: failed}
	}
	r.results = append(r.results, result)
	return nil
}

// segment reads the results up to the next Sync: the rows of the last statement, or the first
// error. err is set if the connection failed.
func (r *unitRun) segment() (result UnitResult, description *pgconn.StatementDescription, err error) {
	for {
		res, err := r.pipe.GetResults()
		var pg *pgconn.PgError
		switch {
		case errors.As(err, &pg) && pg.Severity != "FATAL":
			result = UnitResult{Err: err}
			continue
		case err != nil:
			return result, nil, err
		}
		switch res := res.(type) {
		case nil:
			return result, nil, errors.New("the pipeline ended early")
		case *pgconn.PipelineSync:
			return result, description, nil
		case *pgconn.StatementDescription:
			description = res
		case *pgconn.ResultReader:
			result.Rows = nil
			for res.NextRow() {
				row := make([]*string, len(res.Values()))
				for i, v := range res.Values() {
					if v != nil {
						text := string(v)
						row[i] = &text
					}
				}
				result.Rows = append(result.Rows, row)
			}
			if _, err := res.Close(); errors.As(err, &pg) && pg.Severity != "FATAL" {
				result = UnitResult{Err: err}
			} else if err != nil {
				return result, nil, err
			}
		}
	}
}
