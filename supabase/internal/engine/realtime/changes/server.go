package changes

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unique"

	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/database/pool"
	"daawo/supabase/internal/engine/realtime/changes/pgoutput"
)

const (
	checkTimeout = "5000" // how long, in milliseconds, a statement of a check may take
	lockTimeout  = "1000" // how long, in milliseconds, it waits for a lock
)

const (
	// visibleSQL reports whether the transactions of the changes are visible to new statements: the
	// log has a commit a moment before. It extends the 32 bits of an xid in the log to the 64 bits
	// of the nearest one.
	visibleSQL = `
		select coalesce(bool_and(pg_visible_in_snapshot((x + (m - x + 2147483648) / 4294967296 * 4294967296)::text::xid8, s)), true)
		from (select s, pg_snapshot_xmax(s)::text::int8 as m from (select pg_current_snapshot() as s offset 0) a) b, unnest($1::int8[]) x`

	tablesSQL = `
		select c.oid::int8, n.nspname, c.relname, c.relrowsecurity, p.role, a.attname, t.typname, format_type(a.atttypid, -1),
			coalesce(a.attnum = any (k.conkey), false),
			coalesce(has_column_privilege(r.oid, c.oid, a.attnum, 'select'), false), a.atttypid::int8, a.attgenerated <> '', coalesce(g.expression, '')
		from unnest($1::int8[], $2::text[]) as p (id, role)
		join pg_class c on c.oid = p.id::oid
		join pg_namespace n on n.oid = c.relnamespace
		join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
		join pg_type t on t.oid = a.atttypid
		left join pg_constraint k on k.conrelid = c.oid and k.contype = 'p'
		left join pg_roles r on r.rolname = p.role
		left join lateral ( -- a generated column whose expression has only what Postgres itself brings
			select pg_get_expr(d.adbin, d.adrelid) as expression
			from pg_attrdef d
			where d.adrelid = c.oid and d.adnum = a.attnum and a.attgenerated = 's' and not exists (
				select from pg_depend e
				where e.refclassid in ('pg_proc'::regclass, 'pg_operator'::regclass, 'pg_type'::regclass)
					and (e.classid = 'pg_attrdef'::regclass and e.objid = d.oid or e.classid = 'pg_class'::regclass and e.objid = c.oid and e.objsubid = a.attnum))
		) g on true
		order by p.id, p.role, a.attnum`

	typesSQL = `select t.oid::int8, format_type(t.oid, -1), t.typtype = 'e' from pg_type t where t.oid = any ($1::int8[]::oid[])`
)

// load reads what the catalogue says about the tables, once the transactions are visible.
func (b *batch) load(ctx context.Context) error {
	var ids, xids, oids []int64
	var roles []string
	seen := map[any]bool{}
	first := func(key any) bool {
		known := seen[key]
		seen[key] = true
		return !known
	}
	for _, c := range b.checks {
		if first(c.xid) {
			xids = append(xids, int64(c.xid))
		}
		for _, l := range c.listeners {
			if first([2]any{c.relation.ID, l.role}) {
				ids, roles = append(ids, int64(c.relation.ID)), append(roles, l.role)
			}
		}
		if !first(c.relation) {
			continue
		}
		for _, column := range c.relation.Columns {
			if first([2]any{"type", column.Type}) {
				oids = append(oids, int64(column.Type))
			}
		}
	}
	for wait := 200 * time.Microsecond; ; wait = min(2*wait, 20*time.Millisecond) {
		visible := false
		queries := &pgx.Batch{}
		queueLimits(queries)
		queries.Queue(visibleSQL, xids).QueryRow(func(row pgx.Row) error { return row.Scan(&visible) })
		queries.Queue(tablesSQL, ids, roles).Query(b.readTables)
		queries.Queue(typesSQL, oids).Query(b.readTypes)
		if err := b.s.o.Pool.Batch(ctx, pool.Caller{}, queries); err != nil || visible {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(wait):
		}
	}
}

func (b *batch) readTables(rows pgx.Rows) error {
	b.tables = map[uint32]*table{}
	var id int64
	var schema, name, role string
	var secured, readable bool
	var column tableColumn
	var oid int64
	to := []any{&id, &schema, &name, &secured, &role, &column.name, &column.shownType, &column.sqlType, &column.key,
		&readable, &oid, &column.computed, &column.generated}
	_, err := pgx.ForEachRow(rows, to, func() error {
		column.oid = uint32(oid)
		t := b.tables[uint32(id)]
		if t == nil {
			t = &table{schema: schema, name: name, secured: secured, readable: map[string][]bool{}}
			b.tables[uint32(id)] = t
		}
		if len(t.readable[role]) == len(t.columns) {
			t.columns = append(t.columns, column) // the first role
		}
		t.readable[role] = append(t.readable[role], readable)
		return nil
	})
	return err
}

func (b *batch) readTypes(rows pgx.Rows) error {
	var oid int64
	var info typeInfo
	_, err := pgx.ForEachRow(rows, []any{&oid, &info.name, &info.enum}, func() error {
		b.types[uint32(oid)] = info
		return nil
	})
	return err
}

// convert lets the server answer the questions and convert the values.
func (b *batch) convert(ctx context.Context) error {
	if len(b.asked) > 0 {
		if err := b.answer(ctx); err != nil {
			return err
		}
		b.settle() // evaluates again, with the answers
	}
	byType := map[uint32][]string{}
	for c := range b.json {
		byType[c.oid] = append(byType[c.oid], c.text)
	}
	for oid, texts := range byType {
		converted, err := b.toJSON(ctx, b.types[oid].name, texts)
		if err != nil {
			if !isQueryError(err) {
				return err
			}
			b.s.o.Log.Error("values were sent as text: the server could not convert them", "type", b.types[oid].name,
				"error", err)
		}
		for i, text := range texts {
			if err != nil {
				b.json[conversion{oid, text}] = string(appendString(nil, text))
			} else {
				b.json[conversion{oid, text}] = converted[i]
			}
		}
	}
	return nil
}

// isQueryError reports whether the server refused a statement, as opposed to not being available.
func isQueryError(err error) bool {
	_, ok := pool.AsPgError(err)
	return ok && !pool.IsUnavailable(err) && !isLocked(err)
}

// isLocked reports whether a statement waited too long for a lock, which a schema change can hold.
// The batch is tried again then.
func isLocked(err error) bool { return pool.IsCode(err, "55P03") }

func (b *batch) toJSON(ctx context.Context, typeName string, texts []string) (out []string, err error) {
	if typeName == "" {
		typeName = "text" // dropped
	}
	sql := `select coalesce(to_jsonb(v::` + typeName +
		`)::text, 'null') from unnest($1::text[]) with ordinality u (v, n) order by n`
	err = b.s.o.Pool.Query(ctx, asInLog, sql, []any{texts}, func(rows pgx.Rows) (err error) {
		out, err = pgx.CollectRows(rows, pgx.RowTo[string])
		return err
	})
	return out, err
}

// limited is a caller whose statements end after some time.
var limited = pool.Caller{Settings: []pool.Setting{{Name: "statement_timeout", Value: checkTimeout}}}

// asInLog is limited with the forms of values that the replication connection has.
var asInLog = pool.Caller{Settings: []pool.Setting{
	{Name: "statement_timeout", Value: checkTimeout}, {Name: "TimeZone", Value: "UTC"},
	{Name: "DateStyle", Value: "ISO, YMD"}, {Name: "IntervalStyle", Value: "postgres"},
	{Name: "extra_float_digits", Value: "1"}, {Name: "bytea_output", Value: "hex"},
}}

// answer lets the server evaluate conditions, one statement per operator and type. If it refuses a
// statement, each question is asked alone, and those that it refuses count as no.
func (b *batch) answer(ctx context.Context) error {
	type form struct {
		oid    uint32
		op     string
		negate bool
	}
	byForm := map[form][]question{}
	for q, v := range b.asked {
		if v == ask {
			f := form{q.oid, q.op, q.negate}
			byForm[f] = append(byForm[f], q)
		}
	}
	for _, questions := range byForm {
		err := b.evaluate(ctx, questions)
		if err == nil {
			continue
		}
		if !isQueryError(err) {
			return err
		}
		for _, q := range questions {
			if err := b.evaluate(ctx, []question{q}); err != nil {
				if !isQueryError(err) {
					return err
				}
				b.asked[q] = no
				b.s.o.Log.Warn("a filter cannot be evaluated; its subscribers do not get the change", "operator", q.op,
					"error", err)
			}
		}
	}
	return nil
}

// evaluate answers questions with one operator and one type.
func (b *batch) evaluate(ctx context.Context, questions []question) error {
	c := condition{filter: filter{op: questions[0].op, negate: questions[0].negate}}
	texts, values := make([]string, len(questions)), make([]string, len(questions))
	for i, q := range questions {
		texts[i], values[i] = q.text, q.value
		b.asked[q] = no
	}
	name := b.types[questions[0].oid].name
	if name == "" {
		return nil // the type was dropped
	}
	sql := `select n from unnest($1::text[], $2::text[]) with ordinality u (a, b, n) where ` + c.sql(name)
	return b.s.o.Pool.Query(ctx, limited, sql, []any{texts, values}, func(rows pgx.Rows) error {
		holding, err := pgx.CollectRows(rows, pgx.RowTo[int64])
		for _, n := range holding {
			b.asked[questions[n-1]] = yes
		}
		return err
	})
}

// look finds out which rows each user may see, for tables with row level security. All users are
// checked in one round trip, with one statement per user and table. If a policy fails, its users
// see nothing.
func (b *batch) look(ctx context.Context) error {
	b.visible = map[sight]bool{}
	wanted := map[unique.Handle[viewer]]map[uint32][]*check{}
	var order []unique.Handle[viewer]
	for _, c := range b.checks {
		t := b.tables[c.relation.ID]
		if t == nil || !t.secured || c.kind == kindDelete {
			continue
		}
		for i, l := range c.listeners {
			v := l.viewer
			s := sight{v, c}
			if _, known := b.visible[s]; known || c.verdicts[i] != yes || b.refusal(c, t, l.role) != "" {
				continue
			}
			b.visible[s] = false
			if wanted[v] == nil {
				wanted[v] = map[uint32][]*check{}
				order = append(order, v)
			}
			wanted[v][c.relation.ID] = append(wanted[v][c.relation.ID], c)
		}
	}
	slices.SortStableFunc(order,
		func(x, y unique.Handle[viewer]) int { return strings.Compare(x.Value().role, y.Value().role) })
	for users := range slices.Chunk(order, 500) {
		if err := b.lookAs(ctx, users, wanted); err != nil {
			return err
		}
	}
	return nil
}

// maxSlow is how many users of a batch may have a policy that takes too long. The others are not
// asked then.
const maxSlow = 3

// lookAs looks as each of the users. If a statement fails, it looks as each user alone.
func (b *batch) lookAs(ctx context.Context, users []unique.Handle[viewer],
	wanted map[unique.Handle[viewer]]map[uint32][]*check) error {
	if b.slow >= maxSlow {
		b.blind(users)
		return nil
	}
	queries := &pgx.Batch{}
	queueLimits(queries)
	role := ""
	for _, v := range users {
		queries.Queue(`select set_config('request.jwt.claims', $1, true)`, v.Value().claims)
		if next := v.Value().role; next != role { // Postgres plans the statements again
			queries.Queue(`select set_config('role', $1, true)`, next)
			role = next
		}
		for id, checks := range wanted[v] {
			b.queueLook(queries, v, b.tables[id], checks)
		}
	}
	err := b.s.o.Pool.Batch(ctx, pool.Caller{}, queries)
	if err == nil || !isQueryError(err) {
		return err
	}
	if len(users) == 1 {
		if pool.IsCode(err, "57014") {
			b.slow++
		}
		b.blind(users)
		b.s.o.Log.Warn("a policy failed; its users do not get the changes", "role", role, "error", err)
		return nil
	}
	for _, v := range users {
		if err := b.lookAs(ctx, []unique.Handle[viewer]{v}, wanted); err != nil {
			return err
		}
	}
	return nil
}

// blind lets users see nothing of the batch.
func (b *batch) blind(users []unique.Handle[viewer]) {
	for s := range b.visible {
		if slices.Contains(users, s.viewer) {
			b.visible[s] = false
		}
	}
}

// queueLimits queues the statement that limits the time of the next ones.
func queueLimits(queries *pgx.Batch) {
	queries.Queue(`select set_config('statement_timeout', $1, true), set_config('lock_timeout', $2, true)`,
		checkTimeout, lockTimeout)
}

// queueLook queues the statement that reads the rows of the changes by their primary keys as the
// present role.
func (b *batch) queueLook(queries *pgx.Batch, v unique.Handle[viewer], t *table, checks []*check) {
	var args []any
	var arrays, names, conditions []string
	keys := make([][]string, len(checks)) // by change
	for _, column := range t.columns {
		if !column.key {
			continue
		}
		n := len(names) + 1
		names = append(names, fmt.Sprintf("k%d", n))
		arrays = append(arrays, fmt.Sprintf("$%d::%s[]", n, column.sqlType))
		conditions = append(conditions, fmt.Sprintf("t.%s = k.k%d", identifier(column.name), n))
		for i, c := range checks {
			if value, _, ok := c.value(column.name); ok && value.Kind == pgoutput.Text {
				keys[i] = append(keys[i], value.Text)
			}
		}
	}
	var known []*check
	for i, c := range checks {
		if len(keys[i]) == len(names) { // otherwise the key was renamed since
			known = append(known, c)
		}
	}
	for n := range names {
		column := make([]string, 0, len(known))
		for i := range checks {
			if len(keys[i]) == len(names) {
				column = append(column, keys[i][n])
			}
		}
		args = append(args, arrayLiteral(column))
	}
	// The limit makes the server look up each key, whatever it knows about the size of the table.
	sql := fmt.Sprintf(`select k.n from unnest(%s) with ordinality k (%s, n), lateral (select from %s.%s t where %s limit 1) found`,
		strings.Join(arrays, ", "), strings.Join(names, ", "), identifier(t.schema), identifier(t.name),
		strings.Join(conditions, " and "))
	queries.Queue(sql, args...).Query(func(rows pgx.Rows) error {
		found, err := pgx.CollectRows(rows, pgx.RowTo[int64])
		for _, n := range found {
			if n < 1 || int(n) > len(known) {
				return errors.New("the server returned a row that was not asked for")
			}
			b.visible[sight{v, known[n-1]}] = true
		}
		return err
	})
}
