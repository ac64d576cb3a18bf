package changes

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"unique"

	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/database/pool"
)

// policiesOfSQL returns the policies l that decide which rows of the table r.oid the role u may
// select.
const policiesOfSQL = `
	from pg_policy l
	where l.polrelid = r.oid and l.polcmd in ('r', '*') and l.polqual is not null
		and (0 = any (l.polroles) or exists (select from unnest(l.polroles) m where pg_has_role(u.oid, m, 'usage')))`

// policyVersionsSQL reads, once per table and role, a text that changes when the policies, the
// columns and tables that they name, or the functions of the claims do.
const policyVersionsSQL = `
	select p.id, p.role, concat_ws('|',
		(select string_agg(concat_ws(':', l.oid, l.xmin), ',' order by l.oid) ` + policiesOfSQL + `),
		(select string_agg(concat_ws(':', a.attname, a.atttypid, a.attcollation), ',' order by a.attnum)
			from pg_attribute a where a.attrelid = r.oid and a.attnum > 0 and not a.attisdropped),
		(select string_agg(concat_ws(':', x.oid, x.relname, x.relnamespace, x.relkind, a.attnum, a.attname, a.atttypid),
				',' order by x.oid, a.attnum)
			from pg_class x join pg_attribute a on a.attrelid = x.oid and a.attnum > 0 and not a.attisdropped
			where x.oid in (select d.refobjid from pg_depend d
				where d.classid = 'pg_policy'::regclass and d.refclassid = 'pg_class'::regclass and d.refobjid <> r.oid
					and d.objid in (select l.oid ` + policiesOfSQL + `))),
		(select string_agg(concat_ws(':', f.oid, f.xmin), ',' order by f.oid)
			from pg_proc f where f.pronamespace = to_regnamespace('auth') and f.pronargs = 0))
	from unnest($1::int8[], $2::text[]) as p (id, role)
	join pg_class c on c.oid = p.id::oid
	join pg_class r on r.oid = case when c.relispartition then pg_partition_root(c.oid) else c.oid end
	left join pg_roles u on u.rolname = p.role`

// policiesSQL reads the policies of one table for one role, and the functions and operators that
// Postgres does not bring.
const policiesSQL = `
	select l.polpermissive, pg_get_expr(l.polqual, l.polrelid),
		array(select f.pronamespace::regnamespace || '.' || f.proname || ' ' || (f.pronargs = 0 and g.lanname = 'sql')
			from pg_depend d join pg_proc f on f.oid = d.refobjid join pg_language g on g.oid = f.prolang
			where d.classid = 'pg_policy'::regclass and d.objid = l.oid and d.refclassid = 'pg_proc'::regclass
			order by f.oid),
		array(select f.prosrc from pg_depend d join pg_proc f on f.oid = d.refobjid
			where d.classid = 'pg_policy'::regclass and d.objid = l.oid and d.refclassid = 'pg_proc'::regclass
			order by f.oid),
		array(select o.oprname::text from pg_depend d join pg_operator o on o.oid = d.refobjid
			where d.classid = 'pg_policy'::regclass and d.objid = l.oid and d.refclassid = 'pg_operator'::regclass),
		r.relname,
		(select coalesce(jsonb_agg(jsonb_build_object('schema', n.nspname, 'table', x.relname, 'types', (
				select coalesce(jsonb_object_agg(a.attname, a.atttypid::int8), '{}')
				from pg_attribute a
				where a.attrelid = x.oid and a.attnum > 0 and not a.attisdropped and x.relkind in ('r', 'p')
					and a.atttypid in (20, 21, 23, 25, 2950)))), '[]')
			from pg_class x join pg_namespace n on n.oid = x.relnamespace
			where x.oid in (select d.refobjid from pg_depend d
				where d.classid = 'pg_policy'::regclass and d.objid = l.oid and d.refclassid = 'pg_class'::regclass
					and d.refobjid <> r.oid))
	from pg_class c
	join pg_class r on r.oid = case when c.relispartition then pg_partition_root(c.oid) else c.oid end
	left join pg_roles u on u.rolname = $2
	cross join lateral (select l.* ` + policiesOfSQL + `) l
	where c.oid = $1::int8::oid
	order by l.oid`

// policyKey names the policies of a table for a role.
type policyKey struct {
	table uint32
	role  string
}

// policyCache keeps what is understood about policies. It is safe for concurrent use.
type policyCache struct {
	mu   sync.Mutex
	sets map[policyKey]*policySet
}

// maxPolicySets limits the cache.
const maxPolicySets = 10_000

func (c *policyCache) get(key policyKey, version string) *policySet {
	c.mu.Lock()
	defer c.mu.Unlock()
	if set := c.sets[key]; set != nil && set.version == version {
		return set
	}
	return nil
}

func (c *policyCache) put(key policyKey, set *policySet) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.sets == nil || len(c.sets) > maxPolicySets {
		c.sets = map[policyKey]*policySet{}
	}
	c.sets[key] = set
}

// claimCache keeps the values that the claims of users have. nil means that their evaluation
// failed. It is safe for concurrent use.
type claimCache struct {
	mu    sync.Mutex
	known map[unique.Handle[policyUser]][]claimValue
}

// maxClaimValues limits the users of a cache.
const maxClaimValues = 50_000

func (c *claimCache) get(user unique.Handle[policyUser]) (values []claimValue, known bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	values, known = c.known[user]
	return values, known
}

func (c *claimCache) put(user unique.Handle[policyUser], values []claimValue) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.known == nil || len(c.known) > maxClaimValues {
		c.known = map[unique.Handle[policyUser]][]claimValue{}
	}
	c.known[user] = values
}

// readVersions returns a function that adds the versions of policies to a map.
func readVersions(versions map[policyKey]string) func(pgx.Rows) error {
	return func(rows pgx.Rows) error {
		var id int64
		var role, version string
		_, err := pgx.ForEachRow(rows, []any{&id, &role, &version}, func() error {
			versions[policyKey{uint32(id), role}] = version
			return nil
		})
		return err
	}
}

// loadPolicies sets what is understood about the policies of the tables.
func (b *batch) loadPolicies(ctx context.Context, versions map[policyKey]string) error {
	for key, version := range versions {
		t := b.tables[key.table]
		if t == nil || !t.filtered[key.role] {
			continue
		}
		set := b.s.policies.get(key, version)
		if set == nil {
			var err error
			if set, err = readPolicies(ctx, b.s.o.Pool, key, t); err != nil {
				return err
			}
			set.version = version
			b.s.policies.put(key, set)
		}
		t.policies[key.role] = set
	}
	return nil
}

// readPolicies reads and parses policies. The caller checks afterwards that they have not changed.
func readPolicies(ctx context.Context, from *pool.Pool, key policyKey, t *table) (*policySet, error) {
	var allow, restrict []*policyExpr
	pure := true
	names := make([]string, len(t.columns))
	for i, c := range t.columns {
		names[i] = c.name
	}
	err := from.Query(ctx, pool.Caller{Settings: laneLimits}, policiesSQL, []any{int64(key.table), key.role},
		func(rows pgx.Rows) error {
			var permissive bool
			var text, relation string
			var functions, sources, operators []string
			var relations []byte
			to := []any{&permissive, &text, &functions, &sources, &operators, &relation, &relations}
			_, err := pgx.ForEachRow(rows, to, func() error {
				p := &policyParser{text: text, columns: names, trusted: map[string]bool{}, foreign: map[string]bool{},
					table: relation}
				if err := json.Unmarshal(relations, &p.relations); err != nil {
					return err
				}
				p.trust(functions, sources, operators)
				e := p.parse()
				pure = pure && !p.calls && p.tokens != nil && !namesTable(p.tokens, relation)
				if permissive {
					allow = append(allow, e)
				} else {
					restrict = append(restrict, e)
				}
				return nil
			})
			return err
		})
	if err != nil {
		return nil, err
	}
	set := newPolicySet(allow, restrict)
	set.pure = pure
	return set, nil
}

// trust sets which functions read the claims alone, and what Postgres does not bring.
func (p *policyParser) trust(functions, sources, operators []string) {
	for i, f := range functions {
		name, plain, _ := strings.Cut(f, " ")
		schema, short, _ := strings.Cut(name, ".")
		if schema == "auth" && plain == "true" && readsClaimsOnly(sources[i]) {
			p.trusted[name] = true
			continue
		}
		p.foreign[short], p.calls = true, true
	}
	for _, name := range operators {
		p.foreign[name], p.calls = true, true
	}
}

// claimWords are the names in a function that reads the claims of the request alone.
var claimWords = []string{"select", "coalesce", "nullif", "current_setting", "true", "jsonb", "json", "uuid", "text"}

// readsClaimsOnly reports whether the text of a function in SQL reads settings of the request
// alone, as the functions of the schema auth do.
func readsClaimsOnly(source string) bool {
	tokens, ok := tokenize(strings.TrimRight(strings.TrimSpace(source), ";"))
	if !ok {
		return false
	}
	for i, t := range tokens {
		switch {
		case t.kind == tokenName && !slices.Contains(claimWords, strings.ToLower(t.text)), t.kind == tokenQuoted,
			t.kind == tokenOperator && !slices.Contains([]string{"::", "->", "->>"}, t.text):
			return false
		case t.kind == tokenName && strings.EqualFold(t.text, "current_setting") &&
			(i+2 >= len(tokens) || !strings.HasPrefix(tokens[i+2].text, "request.jwt.claim")):
			return false
		}
	}
	return true
}

// namesTable reports whether a table is named in an expression other than before its column.
func namesTable(tokens []policyToken, relation string) bool {
	for i, t := range tokens {
		if (t.kind == tokenName || t.kind == tokenQuoted) && t.text == relation &&
			(i+1 >= len(tokens) || tokens[i+1].text != ".") {
			return true
		}
	}
	return false
}
