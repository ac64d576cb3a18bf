package doctor

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// manyRows is the number of rows from which reading a whole table for one request is slow: some
// 10 ms on one core.
const manyRows = 100_000

// indexes warns of large tables in which a common request reads every row. No index begins with the
// column that a policy compares with the user, or with the first column of a foreign key, by which
// REST embeds the rows and Postgres finds them when the row that they refer to is deleted.
func (c *checker) indexes(ctx context.Context, conn *pgx.Conn) error {
	rows, err := conn.Query(ctx, `
		with large as (
			select t.oid, format('%I.%I', n.nspname, t.relname) as name,
				case t.relkind when 'r' then 'concurrently ' else '' end as how
			from pg_class t join pg_namespace n on n.oid = t.relnamespace
			where t.relkind in ('r', 'p') and not t.relispartition and n.nspname !~ '^pg_' and n.nspname <> 'information_schema'
				and (select sum(greatest(p.reltuples, 0)) from pg_class p
				     where p.oid = t.oid or p.oid in (select relid from pg_partition_tree(t.oid))) >= $1
		), wanted as (
			select l.polrelid as relation, a.attnum, 'policy' as kind, quote_ident(l.polname) as reason
			from pg_policy l
			join pg_depend d on d.classid = 'pg_policy'::regclass and d.objid = l.oid
				and d.refclassid = 'pg_class'::regclass and d.refobjid = l.polrelid and d.refobjsubid > 0
			join pg_attribute a on a.attrelid = l.polrelid and a.attnum = d.refobjsubid
			cross join pg_get_expr(l.polqual, l.polrelid) as expression
			where l.polcmd in ('r', '*') and expression ~ '\mauth\.(uid|jwt|email)\(\)'
				and (strpos(expression, quote_ident(a.attname) || ' = ') > 0
					or strpos(expression, ' = ' || quote_ident(a.attname)) > 0)
			union all
			select f.conrelid, f.conkey[1], 'foreign key', quote_ident(f.conname)
			from pg_constraint f where f.contype = 'f' and f.conparentid = 0
		)
		select distinct on (large.name, a.attname) large.name, quote_ident(a.attname), wanted.kind, wanted.reason, large.how
		from large
		join wanted on wanted.relation = large.oid
		join pg_attribute a on a.attrelid = large.oid and a.attnum = wanted.attnum
		where not exists (select from pg_index i where i.indrelid = large.oid and i.indisvalid and i.indkey[0] = a.attnum)
		order by large.name, a.attname, wanted.kind desc, wanted.reason`, manyRows)
	if err != nil {
		return err
	}
	var table, column, kind, reason, how string
	_, err = pgx.ForEachRow(rows, []any{&table, &column, &kind, &reason, &how}, func() error {
		if kind == "policy" {
			c.say("indexes", Warn, "policy", "no index of %s begins with %s, which its policy %s compares, so "+
				"requests read "+
				"the whole table: create index %son %[1]s (%[2]s)", table, column, reason, how)
		} else {
			c.say("indexes", Warn, "foreign-key", "no index of %s begins with %s, which the foreign key %s has, so "+
				"requests "+
				"read the whole table: create index %son %[1]s (%[2]s)", table, column, reason, how)
		}
		return nil
	})
	return err
}
