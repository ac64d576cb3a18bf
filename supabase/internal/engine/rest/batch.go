package rest

import (
	"daawo/supabase/internal/database/pool"
	"daawo/supabase/internal/engine/rest/schema"
	"daawo/supabase/internal/engine/rest/sql"
)

// batch is the list of the statements of one request. The indexes say which statements have
// results; -1 is none.
type batch struct {
	list  []pool.Statement
	scope string // see pool.Pool.Session

	explicit   bool // the list begins a transaction itself
	checkFirst bool // the list does not end it: checkRows comes before the commit

	main, total, overrides, estimate int
}

// add appends a statement and returns its index.
func (b *batch) add(st pool.Statement) int {
	b.list = append(b.list, st)
	return len(b.list) - 1
}

// makeBatch fills j.batch. The list and its values are stored in j.buffers.
func (j *job) makeBatch(readOnly bool) {
	set, scope := j.state.setStatement(j.buffers, j.http, j.request, j.id, j.plan, readOnly)
	isolation := j.state.isolation(j.id, j.plan)
	rollsBack := j.rollsBack()

	j.batch = batch{list: j.buffers.statements[:0], scope: scope, checkFirst: j.mustCheckBeforeCommit(readOnly),
		total: -1, overrides: -1, estimate: -1}
	b := &j.batch
	b.explicit = b.checkFirst || rollsBack || isolation != ""
	if b.explicit {
		begin := "begin"
		if isolation != "" {
			begin += " isolation level " + isolation
		}
		b.add(pool.Statement{SQL: begin})
	}
	b.add(set)
	if fn := j.state.config.PreRequest; fn != nil {
		b.add(callStatement(*fn))
	}
	if j.total != nil {
		b.total = b.add(filled(j.total, j.values, nil))
	}
	b.main = b.add(filled(&j.statement, j.values, j.formats))
	if j.form != oneValue {
		b.overrides = b.add(pool.Statement{SQL: sql.Overrides})
	}
	if j.estimate != nil {
		b.estimate = b.add(filled(j.estimate, j.values, nil))
	}
	if b.explicit && !b.checkFirst {
		b.list = append(b.list, ending(rollsBack)...)
	}
	j.buffers.statements = b.list
}

func callStatement(fn schema.Name) pool.Statement {
	return pool.Statement{SQL: "select " + sql.Qualified(fn) + "()"}
}

// ending returns the statements that end an explicit transaction. Deferred constraints are checked
// before a rollback, as a commit would check them.
func ending(rollsBack bool) []pool.Statement {
	if rollsBack {
		return []pool.Statement{{SQL: "set constraints all immediate"}, {SQL: "rollback"}}
	}
	return []pool.Statement{{SQL: "commit"}}
}
