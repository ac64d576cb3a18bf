package pool

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Unit is a statement that reads, alone with its caller's settings. Parameters and results are in
// text format; a nil parameter is null.
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

// Units runs units in one round trip. The errors and the settings of a unit do not reach the
// others, and what it writes may be undone. If Units itself returns an error, it returns the
// results of the units that ended before.
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
	statements []Statement // around, the settings that all units have; of each unit: its other settings, its statement
	chosen     []*plan     // one per statement, or nil
	pipe       *pgconn.Pipeline
	results    []UnitResult
}

// around are the statements of a transaction for many units.
var around = []Statement{{SQL: "begin"}, {SQL: "savepoint unit"}, {SQL: "rollback to unit"}, {SQL: "rollback"}}

// Order of the statements: around, then the shared settings, then the units.
const begin, savepoint, undo, end, shared, firstUnit = 0, 1, 2, 3, 4, 5

// maxRestarts is how often the units after one that failed begin another transaction.
const maxRestarts = 3

// run sends all units and reads their results.
func (r *unitRun) run(ctx context.Context) (err error) {
	if len(r.units) == 0 {
		return nil
	}
	r.divideSettings()
	var stale []string
	if !r.unprepared {
		r.chosen, stale = r.choose(), r.plans.stale
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
		r.plans.deallocateUnprepared(r.chosen)
	}()
	if err := r.prepareAround(stale); err != nil {
		return err
	}
	for range maxRestarts {
		if len(r.units)-len(r.results) < 2 || !r.allPrepared() {
			break
		}
		if err := r.together(ctx); err != nil {
			return err
		}
	}
	return r.apart(ctx)
}

// settings returns the statement that sets what a caller has.
func settings(c Caller) Statement {
	st, ok := c.Statement()
	if !ok {
		st.SQL = "select"
	}
	return st
}

// divideSettings sets statements: the role and the settings that all units have, and the rest.
func (r *unitRun) divideSettings() {
	common := Caller{Role: r.units[0].Caller.Role, Settings: r.units[0].Caller.Settings}
	for _, u := range r.units {
		if u.Caller.Role != common.Role {
			common.Role = ""
		}
		if !slices.Equal(u.Caller.Settings, common.Settings) {
			common.Settings = nil
		}
	}
	if common.Settings == nil {
		common.Role = "" // some settings are only for the login role, so the role comes after all of them
	}
	r.statements = append(slices.Clip(around), settings(common))
	for _, u := range r.units {
		rest := u.Caller
		if common.Role != "" {
			rest.Role = ""
		}
		if common.Settings != nil {
			rest.Settings = nil
		}
		r.statements = append(r.statements, settings(rest), Statement{SQL: u.SQL, Args: u.Args})
	}
}

// prepareAround deallocates stale plans and prepares the statements before the units.
func (r *unitRun) prepareAround(stale []string) error {
	if r.chosen == nil {
		return nil
	}
	for _, name := range stale {
		r.pipe.SendDeallocate(name)
	}
	r.pipe.SendPipelineSync()
	for at, p := range r.chosen[:firstUnit] {
		if p.isNew(at) {
			r.pipe.SendPrepare(p.name, r.statements[at].SQL, nil)
			r.pipe.SendPipelineSync()
		}
	}
	if err := r.pipe.Flush(); err != nil {
		return err
	}
	if _, _, err := r.segment(); err != nil {
		return err
	}
	r.plans.stale = r.plans.stale[len(stale):]
	for at, p := range r.chosen[:firstUnit] {
		if p.isNew(at) {
			if failed, err := r.readPlan(at); failed != nil || err != nil {
				return errors.Join(failed, err)
			}
		}
	}
	return nil
}

// allPrepared reports whether the units without a result need no new plan.
func (r *unitRun) allPrepared() bool {
	if r.chosen == nil {
		return false
	}
	for _, p := range r.chosen[firstUnit+2*len(r.results):] {
		if p.description == nil {
			return false
		}
	}
	return true
}

// together runs the units without a result up to the first that fails, in one transaction. After
// each, the transaction returns to its savepoint, which also undoes settings. A transaction for
// each unit takes twice as long.
func (r *unitRun) together(ctx context.Context) error {
	execute := func(at int) {
		r.pipe.SendQueryStatement(r.chosen[at].description, r.statements[at].Args, nil, nil)
	}
	execute(begin)
	execute(shared)
	execute(savepoint)
	for i := len(r.results); i < len(r.units); i++ {
		execute(firstUnit + 2*i)
		execute(firstUnit + 2*i + 1)
		execute(undo)
	}
	execute(end)
	r.pipe.SendPipelineSync()
	if err := r.pipe.Flush(); err != nil {
		return err
	}
	for range 3 { // begin, shared settings, savepoint
		n, err := r.next()
		if err != nil {
			return err
		}
		if n.Err != nil { // the units say so themselves
			return r.leave(ctx)
		}
	}
	for len(r.results) < len(r.units) {
		result, err := r.readTogether()
		if err != nil {
			return err
		}
		r.results = append(r.results, result)
		if err := ctx.Err(); err != nil {
			return err
		}
		if result.Err != nil {
			return r.leave(ctx)
		}
	}
	_, _, err := r.segment()
	return err
}

// readTogether reads the results of a unit in a transaction for many.
func (r *unitRun) readTogether() (UnitResult, error) {
	var result UnitResult
	for part := range 3 { // settings, statement, return to the savepoint
		n, err := r.next()
		if err != nil || n.Err != nil {
			return n.UnitResult, err
		}
		if part == 1 {
			result = n.UnitResult
		}
	}
	return result, nil
}

// leave ends a transaction in which a unit has failed. It begins another pipeline, because after an
// error pgconn reads the results of later statements with the descriptions of skipped ones.
func (r *unitRun) leave(ctx context.Context) error {
	if _, _, err := r.segment(); err != nil {
		return err
	}
	if err := r.pipe.Close(); err != nil {
		return err
	}
	r.pipe = r.conn.StartPipeline(ctx)
	r.pipe.SendQueryStatement(r.chosen[end].description, nil, nil, nil)
	if err := r.pipe.Sync(); err != nil {
		return err
	}
	_, _, err := r.segment()
	return err
}

// apart runs the units without a result, each in a transaction of its own.
func (r *unitRun) apart(ctx context.Context) error {
	first := len(r.results)
	for i := first; i < len(r.units); i++ {
		r.send(i)
	}
	if err := r.pipe.Flush(); err != nil {
		return err
	}
	for i := first; i < len(r.units); i++ {
		if err := r.read(i); err != nil {
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
func (r *unitRun) choose() []*plan {
	keyed := make([]Statement, len(r.statements))
	for i, st := range r.statements {
		keyed[i].SQL = st.SQL
		if at := i - firstUnit; at >= 0 && at%2 == 1 {
			u := r.units[at/2]
			keyed[i].SQL = fmt.Sprint(st.SQL, " -- ", u.Types, u.Caller.Role)
		}
	}
	return r.plans.choose("units", keyed)
}

// isNew reports whether a pipeline prepares the plan for the statement at an index.
func (p *plan) isNew(at int) bool { return p.description == nil && p.first == at }

// send queues a unit as a transaction of its own. A statement without a plan is prepared in another
// one, with the unit's settings, so that an error of the unit does not undo the plan.
func (r *unitRun) send(i int) {
	own, types := firstUnit+2*i, r.units[i].Types
	statement := own + 1
	if r.chosen == nil {
		for _, at := range []int{shared, own} {
			r.pipe.SendQueryParams(r.statements[at].SQL, r.statements[at].Args, nil, nil, nil)
		}
		r.pipe.SendQueryParams(r.statements[statement].SQL, r.statements[statement].Args, types, nil, nil)
		r.pipe.SendPipelineSync()
		return
	}
	execute := func(at int) { r.pipe.SendQueryPrepared(r.chosen[at].name, r.statements[at].Args, nil, nil) }
	if r.chosen[own].isNew(own) {
		r.pipe.SendPrepare(r.chosen[own].name, r.statements[own].SQL, nil)
		r.pipe.SendPipelineSync()
	}
	if r.chosen[statement].isNew(statement) {
		execute(shared)
		execute(own)
		r.pipe.SendPrepare(r.chosen[statement].name, r.statements[statement].SQL, types)
		r.pipe.SendPipelineSync()
	}
	execute(shared)
	execute(own)
	execute(statement)
	r.pipe.SendPipelineSync()
}

// read reads the results of a unit that send has queued.
func (r *unitRun) read(i int) error {
	var failed error
	own := firstUnit + 2*i
	for at := own; r.chosen != nil && at <= own+1; at++ {
		if !r.chosen[at].isNew(at) {
			continue
		}
		var err error
		if failed, err = r.readPlan(at); err != nil {
			return err
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

// readPlan reads the reply to the preparation of the statement at an index. failed says why it has
// no plan.
func (r *unitRun) readPlan(at int) (failed, err error) {
	result, description, err := r.segment()
	if p := r.chosen[at]; err == nil && result.Err == nil && description != nil {
		description.Name = p.name // pgconn does not set it in a pipeline
		p.description = description
		r.plans.lru.Add(p.key, p)
	}
	return result.Err, err
}

// segment reads the results up to the next Sync: the rows of the last statement, or the first
// error. err is set if the connection failed.
func (r *unitRun) segment() (result UnitResult, description *pgconn.StatementDescription, err error) {
	for {
		n, err := r.next()
		switch {
		case err != nil:
			return result, nil, err
		case n.synced:
			return result, description, nil
		case n.description != nil:
			description = n.description
		default:
			result = n.UnitResult
		}
	}
}

// received is one reply of the server.
type received struct {
	UnitResult
	description *pgconn.StatementDescription
	synced      bool
}

// next reads one reply. err is set if the connection failed.
func (r *unitRun) next() (n received, err error) {
	res, err := r.pipe.GetResults()
	if err != nil {
		n.Err, err = ofStatement(err)
		return n, err
	}
	switch res := res.(type) {
	case *pgconn.PipelineSync:
		n.synced = true
	case *pgconn.StatementDescription:
		n.description = res
	case *pgconn.ResultReader:
		n.Rows = readRows(res)
		if _, err := res.Close(); err != nil {
			n.Rows = nil
			n.Err, err = ofStatement(err)
			return n, err
		}
	case *pgconn.CloseComplete:
	default:
		return n, errors.New("the pipeline ended early")
	}
	return n, nil
}

// ofStatement returns a statement's error, or the connection's.
func ofStatement(failed error) (statement, connection error) {
	if pg, ok := errors.AsType[*pgconn.PgError](failed); ok && pg.Severity != "FATAL" {
		return failed, nil
	}
	return nil, failed
}

func readRows(res *pgconn.ResultReader) (rows [][]*string) {
	for res.NextRow() {
		row := make([]*string, len(res.Values()))
		for i, v := range res.Values() {
			if v != nil {
				row[i] = new(string(v))
			}
		}
		rows = append(rows, row)
	}
	return rows
}
