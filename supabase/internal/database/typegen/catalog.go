package typegen

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// catalog holds the objects of the requested schemas, in output order.
type catalog struct {
	Relations  []relation
	Functions  []function
	Enums      []enum
	Composites []composite
}

// pgType is a Postgres type with domains resolved.
type pgType struct {
	Schema string `json:"schema"`
	Name   string `json:"name"`
	Kind   string `json:"kind"`  // pg_type.typtype: b base, c composite, e enum, p pseudo, r range, m multirange
	Array  bool   `json:"array"` // an array of the type
	Table  bool   `json:"table"` // the row type of a table or a view
}

type column struct {
	Name      string `json:"name"`
	Type      pgType `json:"type"`
	Nullable  bool   `json:"nullable"`
	Optional  bool   `json:"optional"`  // may be omitted in an insert
	Generated bool   `json:"generated"` // cannot be written
}

type relation struct {
	Schema     string       `json:"schema"`
	Name       string       `json:"name"`
	View       bool         `json:"view"`
	Insertable bool         `json:"insertable"`
	Updatable  bool         `json:"updatable"`
	Columns    []column     `json:"columns"`
	ForeignKey []foreignKey `json:"foreign_keys"`
}

type foreignKey struct {
	Name     string   `json:"name"`
	Columns  []string `json:"columns"`
	OneToOne bool     `json:"one_to_one"`
	Table    string   `json:"table"`
	Foreign  []string `json:"foreign"`
}

type function struct {
	Schema  string   `json:"schema"`
	Name    string   `json:"name"`
	Args    []column `json:"args"`
	Returns pgType   `json:"returns"`
	SetOf   bool     `json:"set_of"`
	Out     []column `json:"out"` // OUT parameters and the columns of RETURNS TABLE
}

type enum struct {
	Schema string   `json:"schema"`
	Name   string   `json:"name"`
	Labels []string `json:"labels"`
}

type composite struct {
	Schema  string   `json:"schema"`
	Name    string   `json:"name"`
	Columns []column `json:"columns"`
}

// typeExpression is SQL that returns a pgType as JSON for the type oid %s. It resolves domains to
// their base type and arrays to their element type.
const typeExpression = `
(with recursive below(oid, array_of) as (
   select %[1]s::oid, false
   union all
   select case when t.typtype = 'd' then t.typbasetype else t.typelem end, below.array_of or t.typtype <> 'd'
     from below join pg_type t on t.oid = below.oid
    where t.typtype = 'd' or (t.typelem <> 0 and t.typcategory = 'A')
 )
 select json_build_object('schema', n.nspname, 'name', t.typname, 'kind', t.typtype, 'array', below.array_of,
                          'table', coalesce(c.relkind in ('r', 'p', 'v', 'm', 'f'), false))
   from below
   join pg_type t on t.oid = below.oid and t.typtype <> 'd' and not (t.typelem <> 0 and t.typcategory = 'A')
   join pg_namespace n on n.oid = t.typnamespace
   left join pg_class c on c.oid = t.typrelid)`

var relationsQuery = `
select coalesce(json_agg(json_build_object(
    'schema', n.nspname, 'name', c.relname, 'view', c.relkind in ('v', 'm'),
    'insertable', c.relkind in ('r', 'p') or pg_relation_is_updatable(c.oid, true) & 8 = 8,
    'updatable', c.relkind in ('r', 'p') or pg_relation_is_updatable(c.oid, true) & 4 = 4,
    'columns', (
      select coalesce(json_agg(json_build_object(
          'name', a.attname, 'type', ` + fmt.Sprintf(typeExpression, "a.atttypid") + `,
          'nullable', not (a.attnotnull or t.typtype = 'd' and t.typnotnull),
          'optional', a.atthasdef or a.attidentity = 'd' or not (a.attnotnull or t.typtype = 'd' and t.typnotnull),
          'generated', a.attgenerated <> '' or a.attidentity = 'a') order by a.attname collate "C"), '[]')
        from pg_attribute a join pg_type t on t.oid = a.atttypid
       where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped),
    'foreign_keys', (
      select coalesce(json_agg(json_build_object(
          'name', k.conname, 'table', f.relname,
          'columns', (select json_agg(a.attname order by p.i) from unnest(k.conkey) with ordinality p(num, i)
                        join pg_attribute a on a.attrelid = k.conrelid and a.attnum = p.num),
          'foreign', (select json_agg(a.attname order by p.i) from unnest(k.confkey) with ordinality p(num, i)
                        join pg_attribute a on a.attrelid = k.confrelid and a.attnum = p.num),
          'one_to_one', exists (select from pg_constraint u where u.conrelid = k.conrelid and u.contype in ('p', 'u')
                                  and u.conkey @> k.conkey and u.conkey <@ k.conkey)
        ) order by k.conname collate "C"), '[]')
        from pg_constraint k join pg_class f on f.oid = k.confrelid
       where k.conrelid = c.oid and k.contype = 'f' and f.relnamespace = any ($1::oid[]) and k.conparentid = 0)
  ) order by n.nspname collate "C", c.relname collate "C"), '[]')
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
 where c.relnamespace = any ($1::oid[]) and c.relkind in ('r', 'p', 'v', 'm', 'f') and not c.relispartition`

var functionsQuery = `
select coalesce(json_agg(json_build_object(
    'schema', n.nspname, 'name', p.proname, 'set_of', p.proretset,
    'returns', ` + fmt.Sprintf(typeExpression, "p.prorettype") + `,
    'args', (` + parameters("i, b, v") + `),
    'out', (` + parameters("t, o, b") + `)
  ) order by n.nspname collate "C", p.proname collate "C", pg_get_function_identity_arguments(p.oid) collate "C"), '[]')
  from pg_proc p join pg_namespace n on n.oid = p.pronamespace
 where p.pronamespace = any ($1::oid[]) and p.prokind = 'f'
   and p.prorettype not in ('trigger'::regtype, 'event_trigger'::regtype)
   and not exists (select from pg_depend d
       where d.classid = 'pg_proc'::regclass and d.objid = p.oid and d.deptype = 'e')`

// parameters returns SQL for the parameters of a function with the given modes, as columns.
func parameters(modes string) string {
	return `
      select coalesce(json_agg(json_build_object('name', coalesce(p.proargnames[q.i], ''),
          'type', ` + fmt.Sprintf(typeExpression, "q.type") + `,
          'optional', q.mode <> 'o' and q.input > p.pronargs - p.pronargdefaults) order by q.i), '[]')
        from (select u.type, u.i, coalesce(p.proargmodes[u.i], 'i') as mode,
                     count(*) filter (where coalesce(p.proargmodes[u.i], 'i') in ('i', 'b', 'v'))
                         over (order by u.i) as input
                from unnest(coalesce(p.proallargtypes, p.proargtypes::oid[])) with ordinality u(type, i)) q
       where q.mode = any (string_to_array('` + modes + `', ', '))`
}

const enumsQuery = `
select coalesce(json_agg(json_build_object('schema', n.nspname, 'name', t.typname,
    'labels', (select json_agg(e.enumlabel order by e.enumsortorder) from pg_enum e where e.enumtypid = t.oid)
  ) order by n.nspname collate "C", t.typname collate "C"), '[]')
  from pg_type t join pg_namespace n on n.oid = t.typnamespace
 where t.typnamespace = any ($1::oid[]) and t.typtype = 'e'`

var compositesQuery = `
select coalesce(json_agg(json_build_object('schema', n.nspname, 'name', c.relname,
    'columns', (select json_agg(json_build_object('name', a.attname, 'nullable', true,
                         'type', ` + fmt.Sprintf(typeExpression, "a.atttypid") + `) order by a.attname collate "C")
                  from pg_attribute a where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped)
  ) order by n.nspname collate "C", c.relname collate "C"), '[]')
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
 where c.relnamespace = any ($1::oid[]) and c.relkind = 'c'`

// Database is a connection or a connection pool.
type Database interface {
	BeginTx(ctx context.Context, o pgx.TxOptions) (pgx.Tx, error)
}

// read reads the catalog in one snapshot.
func read(ctx context.Context, db Database, schemas []string) (*catalog, error) {
	var c catalog
	err := pgx.BeginTxFunc(ctx, db, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly},
		func(tx pgx.Tx) error {
			var missing []string
			if err := tx.QueryRow(ctx,
				`select coalesce(array_agg(s), '{}') from unnest($1::text[]) s
					where to_regnamespace(quote_ident(s)) is null`, schemas).Scan(&missing); err != nil {
				return err
			}
			if len(missing) > 0 {
				return fmt.Errorf("the database has no schema %q", missing[0])
			}
			var namespaces []uint32
			if err := tx.QueryRow(ctx, `select array_agg(oid) from pg_namespace where nspname = any ($1)`,
				schemas).Scan(&namespaces); err != nil {
				return err
			}
			for _, q := range []struct {
				sql  string
				into any
			}{{relationsQuery, &c.Relations}, {functionsQuery, &c.Functions}, {enumsQuery, &c.Enums},
				{compositesQuery, &c.Composites}} {
				var text []byte
				if err := tx.QueryRow(ctx, q.sql, namespaces).Scan(&text); err != nil {
					return err
				}
				if err := json.Unmarshal(text, q.into); err != nil {
					return err
				}
			}
			return nil
		})
	return &c, err
}
