package changes

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/database/pool"
)

const (
	// visibilitySQL reports whether new statements see the transactions of the changes: the log has
	// a commit a moment before. It extends the 32 bits of an xid in the log to the nearest one of
	// 64 bits.
	visibilitySQL = `
		select coalesce(bool_and(
			pg_visible_in_snapshot((x + (m - x + 2147483648) / 4294967296 * 4294967296)::text::xid8, s)), true)
		from (select s, pg_snapshot_xmax(s)::text::int8 as m from (select pg_current_snapshot() as s offset 0) a) b,
			unnest($1::int8[]) x`

	tablesSQL = `
		select c.oid::int8, n.nspname, c.relname, c.relrowsecurity, p.role,
			a.attname, t.typname, format_type(a.atttypid, -1), coalesce(a.attnum = any (k.conkey), false),
			coalesce(has_column_privilege(r.oid, c.oid, a.attnum, 'select'), false),
			a.atttypid::int8, a.attgenerated <> '', coalesce(g.expression, '')
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
					and (e.classid = 'pg_attrdef'::regclass and e.objid = d.oid
						or e.classid = 'pg_class'::regclass and e.objid = c.oid and e.objsubid = a.attnum))
		) g on true
		order by p.id, p.role, a.attnum`

	typesSQL = `
		select t.oid::int8, format_type(t.oid, -1), t.typtype = 'e'
		from pg_type t where t.oid = any ($1::int8[]::oid[])`
)

// loadCatalog reads what the catalogue says about the tables, once the transactions are visible.
func (b *batch) loadCatalog(ctx context.Context) error {
	var ids, xids, oids []int64
	var roles []string
	seen := map[any]bool{}
	first := func(key any) bool {
		known := seen[key]
		seen[key] = true
		return !known
	}
	for _, c := range b.matched {
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
		queries.Queue(visibilitySQL, xids).QueryRow(func(row pgx.Row) error { return row.Scan(&visible) })
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
