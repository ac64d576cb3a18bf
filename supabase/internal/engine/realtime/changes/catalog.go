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

	// tablesSQL reads tables, once per role. Policies, privileges and the primary key of a
	// partition are those of its root, through which users read it. A table of a schema that the
	// role may not use has no readable columns.
	tablesSQL = `
		select c.oid::int8, rn.nspname, r.relname, r.relrowsecurity, p.role,
			a.attname, t.typname, coalesce(a.attname = any (k.names), false),
			has_schema_privilege(u.oid, rn.oid, 'usage') and has_column_privilege(u.oid, r.oid, a.attnum, 'select'),
			a.atttypid::int8, a.attcollation in (0, 100, 950), a.attgenerated <> '', coalesce(g.expression, ''),
			coalesce(g.reads, '{}'),
			coalesce(r.relrowsecurity and not (u.rolsuper or u.rolbypassrls
				or not r.relforcerowsecurity and pg_has_role(u.oid, r.relowner, 'usage')), r.relrowsecurity),
			coalesce(has_table_privilege(u.oid, r.oid, 'select'), false),
			(select y.typarray from pg_type y where y.oid = r.reltype)::int8
		from unnest($1::int8[], $2::text[]) as p (id, role)
		join pg_class c on c.oid = p.id::oid
		join pg_class r on r.oid = case when c.relispartition then pg_partition_root(c.oid) else c.oid end
		join pg_namespace rn on rn.oid = r.relnamespace
		join pg_attribute a on a.attrelid = r.oid and a.attnum > 0 and not a.attisdropped
		join pg_attribute l on l.attrelid = c.oid and l.attname = a.attname and not l.attisdropped
		join pg_type t on t.oid = a.atttypid
		left join lateral ( -- a partition can have a key that its root has not
			select array_agg(ka.attname) as names
			from pg_constraint k
			join pg_attribute ka on ka.attrelid = k.conrelid and ka.attnum = any (k.conkey)
			where k.conrelid = case when r.relrowsecurity then r.oid else c.oid end and k.contype = 'p'
		) k on true
		left join pg_roles u on u.rolname = p.role
		left join lateral ( -- a generated column whose expression has only what Postgres itself brings
			select pg_get_expr(d.adbin, d.adrelid) as expression, array(
				select distinct o.attname::text from pg_depend e
				join pg_attribute o on o.attrelid = e.refobjid and o.attnum = e.refobjsubid
				where e.refclassid = 'pg_class'::regclass and e.refobjid = c.oid and e.refobjsubid not in (0, l.attnum)
					and (e.classid = 'pg_attrdef'::regclass and e.objid = d.oid
						or e.classid = 'pg_class'::regclass and e.objid = c.oid and e.objsubid = l.attnum)) as reads
			from pg_attrdef d
			where d.adrelid = c.oid and d.adnum = l.attnum and l.attgenerated = 's' and not exists (
				select from pg_depend e
				where e.refclassid in ('pg_proc'::regclass, 'pg_operator'::regclass, 'pg_type'::regclass)
					and (e.classid = 'pg_attrdef'::regclass and e.objid = d.oid
						or e.classid = 'pg_class'::regclass and e.objid = c.oid and e.objsubid = l.attnum))
		) g on true
		order by p.id, p.role, a.attnum`

	// typesSQL reads types. A domain counts as the type below it. Only arrays of types whose values
	// unnest returns as they are, and separates by commas, are useful.
	typesSQL = `
		with recursive below (id, type) as (
			select t.oid, t.oid from (
				select unnest($1::int8[])::oid
				union
				select a.atttypid from unnest($2::int8[]) as c (id) -- generated columns are not in the log
				join pg_attribute a on a.attrelid = c.id::oid and a.attgenerated <> ''
			) as wanted (id) join pg_type t on t.oid = wanted.id
			union all
			select b.id, t.typbasetype from below b join pg_type t on t.oid = b.type where t.typtype = 'd'
		)
		select b.id::int8, format_type(t.oid, -1), t.typtype = 'e', t.oid::int8,
			case when t.typdelim = ',' and t.typtype <> 'c' then t.typarray else 0 end::int8
		from below b join pg_type t on t.oid = b.type where t.typtype <> 'd'`
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
	var versions map[policyKey]string
	err := onceVisible(ctx, b.s.o.Pool, xids, func(queries *pgx.Batch) {
		versions = map[policyKey]string{}
		queries.Queue(tablesSQL, ids, roles).Query(b.readTables)
		queries.Queue(typesSQL, oids, ids).Query(b.readTypes)
		queries.Queue(policyVersionsSQL, ids, roles).Query(readVersions(versions))
	})
	if err != nil {
		return err
	}
	return b.loadPolicies(ctx, versions)
}

// AwaitVisible waits until new statements see the transaction xid of a Broadcast.
func (s *Stream) AwaitVisible(ctx context.Context, xid uint32) error {
	return onceVisible(ctx, s.o.Pool, []int64{int64(xid)}, func(*pgx.Batch) {})
}

// onceVisible runs the queries that add adds until they see the transactions.
func onceVisible(ctx context.Context, db *pool.Pool, xids []int64, add func(*pgx.Batch)) error {
	for wait := 200 * time.Microsecond; ; wait = min(2*wait, 20*time.Millisecond) {
		visible := false
		queries := &pgx.Batch{}
		queries.Queue(visibilitySQL, xids).QueryRow(func(row pgx.Row) error { return row.Scan(&visible) })
		add(queries)
		if err := db.Batch(ctx, pool.Caller{Settings: catalogSettings}, queries); err != nil || visible {
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
	var secured, filtered, whole bool
	var readable *bool
	var column tableColumn
	var oid, rowArray int64
	to := []any{&id, &schema, &name, &secured, &role, &column.name, &column.shownType, &column.key, &readable, &oid,
		&column.plainCollation, &column.computed, &column.generated, &column.reads, &filtered, &whole, &rowArray}
	_, err := pgx.ForEachRow(rows, to, func() error {
		column.oid = uint32(oid)
		t := b.tables[uint32(id)]
		if t == nil {
			t = &table{id: uint32(id), schema: schema, name: name, secured: secured, readable: map[string][]bool{},
				filtered: map[string]bool{}, whole: map[string]bool{}, policies: map[string]*policySet{},
				rows: uint32(rowArray)}
			b.tables[uint32(id)] = t
		}
		if len(t.readable[role]) == len(t.columns) {
			t.columns = append(t.columns, column) // the first role
		}
		t.readable[role] = append(t.readable[role], readable != nil && *readable)
		t.filtered[role], t.whole[role] = filtered, whole
		return nil
	})
	return err
}

// readTypes reads types, and the types below domains.
func (b *batch) readTypes(rows pgx.Rows) error {
	var oid, base, array int64
	var info typeInfo
	_, err := pgx.ForEachRow(rows, []any{&oid, &info.name, &info.enum, &base, &array}, func() error {
		info.base, info.array = uint32(base), uint32(array)
		b.types[uint32(oid)], b.types[info.base] = info, info
		return nil
	})
	return err
}
