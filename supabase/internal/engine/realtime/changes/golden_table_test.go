package changes

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// goldenSetup makes the types of users.
const goldenSetup = `
	create extension if not exists citext schema extensions;
	create extension if not exists hstore schema extensions;
	create extension if not exists ltree schema extensions;
	create type mood as enum ('bad', 'it''s "ok"', 'good');
	create type pair as (a int, b text);
	create domain positive as int check (value > 0);
	create domain label as varchar(20);
	grant usage on schema extensions to anon, authenticated, service_role`

// goldenType is a type of columns with the texts of some values.
type goldenType struct {
	name   string
	key    bool // may be part of a primary key
	values []string
}

// unfiltered are types whose filters upstream accepts, and then fails to evaluate, which stops the
// changes of all subscribers, or whose values it compares in another form than they have.
var unfiltered = []string{"json", "jsonb", "jsonpath", "xml", "bytea", "point", "box", "path", "circle", "pair",
	"extensions.hstore"}

const longText = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

var goldenTypes = []goldenType{
	{"smallint", true, []string{"-7", "0", "32767"}},
	{"integer", true, []string{"-1", "2", "2147483647"}},
	{"bigint", true, []string{"9007199254740993", "-5", "3"}},
	{"numeric", true, []string{"12.3400", "-0.00001", "1e30"}}, // NaN is null from upstream
	{"numeric(10,3)", true, []string{"1.5", "-1234567.891"}},
	{"real", false, []string{"1.5", "-0.1", "1e20", "1e-7"}},
	{"double precision", false, []string{"123456789.123456789", "1e100", "-2.5", "1e-9"}},
	{"money", false, []string{"$12.50", "-$0.01"}},
	{"boolean", false, []string{"true", "false"}},
	{"text", true, []string{"", "a", "ab", "A", `x,y "z" \ é`, "a\tb\nc", "'", longText}},
	{"varchar(20)", true, []string{"a", "abc", "%", "<&>"}},
	{`"char"`, false, []string{"a", "b"}},
	{"name", true, []string{"a", "Name"}},
	{"uuid", true, []string{alice, bob, "{00000000-0000-4000-8000-0000000000FF}"}},
	{"json", false, []string{`{"b": 1, "a": [1, 1.0]}`, `"é\u00e9"`, "null", "[]"}},
	{"jsonb", false, []string{`{"b": 1, "a": [1, 1.0]}`, `"é"`, "null", "12"}},
	{"jsonpath", false, []string{"$.a[*]", `$."b" ? (@ > 1)`}},
	{"bytea", false, []string{`\xdeadbeef`, `\x`, `\x00ff`}},
	{"date", true, []string{"2026-01-02", "0044-03-15 BC", "infinity", "12026-01-01"}},
	{"time", true, []string{"03:04:05", "23:59:59.999999"}},
	{"timetz", false, []string{"03:04:05+02", "23:59:59.5-07:30"}},
	{"timestamp", true, []string{"2026-01-02 03:04:05.678", "infinity", "0044-03-15 12:00 BC"}},
	{"timestamptz", true, []string{"2026-01-02 03:04:05.6+02", "-infinity", "1999-12-31 23:59:59Z"}},
	{"timestamp(0)", false, []string{"2026-01-02 03:04:05.678"}},
	{"interval", false, []string{"1 day 02:00", "-1 year 3 months", "00:00:01.5"}},
	{"inet", true, []string{"10.0.0.1/8", "::1"}},
	{"cidr", false, []string{"10.0.0.0/8"}},
	{"macaddr", false, []string{"08:00:2b:01:02:03"}},
	{"macaddr8", false, []string{"08:00:2b:01:02:03:04:05"}},
	{"bit varying(9)", false, []string{"1010", "1"}},
	{"bit(1)", false, []string{"1", "0"}},
	{"point", false, []string{"(1,2.5)"}},
	{"box", false, []string{"(3,4),(1,2)"}},
	{"path", false, []string{"[(1,2),(3,4)]"}},
	{"circle", false, []string{"<(1,2),3>"}},
	{"int4range", false, []string{"[1,3)", "empty", "(,5]"}},
	{"tstzrange", false, []string{`["2026-01-01 00:00+00","2026-02-01 00:00+00")`}},
	{"int4multirange", false, []string{"{[1,3),[5,7)}", "{}"}},
	{"tsvector", false, []string{"'cat':2 'the':1"}},
	{"tsquery", false, []string{"'cat' & !'dog'"}},
	{"xml", false, []string{"<a/>", "<b>x</b>"}},
	{"oid", true, []string{"26", "4294967295"}},
	{"regclass", false, []string{"pg_class"}},
	{"pg_lsn", false, []string{"16/B374D848"}},
	{"mood", true, []string{"bad", `it's "ok"`, "good"}},
	{"positive", true, []string{"1", "5"}},
	{"label", true, []string{"a", "Label"}},
	{"pair", false, []string{"(1,x)", `(,"a b")`}},
	{"integer[]", false, []string{"{1,NULL}", "{}", "{{1,2},{3,4}}"}},
	{"text[]", false, []string{`{a,"b c",NULL,"\""}`, "{}"}},
	{"uuid[]", false, []string{"{" + alice + "}"}},
	{"timestamptz[]", false, []string{`{"2026-01-02 03:04:05+02"}`}},
	{"jsonb[]", false, []string{`{"{\"a\": 1}"}`}},
	{"bytea[]", false, []string{`{"\\xdeadbeef"}`}},
	{"mood[]", false, []string{"{bad,good}"}},
	{"positive[]", false, []string{"{1,2}"}},
	{"extensions.citext", true, []string{"Alice", "alice", "bob"}},
	{"extensions.hstore", false, []string{`"a"=>"1", "b"=>NULL`}},
	{"extensions.ltree", false, []string{"a.b.c"}},
}

// goldenColumn is a column of a golden table.
type goldenColumn struct {
	name string
	goldenType
	generated string
}

// goldenTable is a random table.
type goldenTable struct {
	name     string
	columns  []goldenColumn
	keys     []string
	identity string
	sql      []string // policies and privileges
	writes   bool     // rows can be changed and deleted
	large    bool     // some values are too large for messages, or for a page
}

func newGoldenTable(r *rand.Rand, name string) *goldenTable {
	g := &goldenTable{name: name, large: r.IntN(4) == 0}
	integer := goldenTypes[1]
	g.columns = []goldenColumn{{name: "id", goldenType: integer}}
	for i := range 2 + r.IntN(7) {
		g.columns = append(g.columns, goldenColumn{name: fmt.Sprintf("c%d", i), goldenType: pick(r, goldenTypes...)})
	}
	g.columns = append(g.columns, goldenColumn{name: "owner", goldenType: goldenType{"uuid", true, []string{alice, bob}}},
		goldenColumn{name: `Odd "name", é`, goldenType: integer})
	if r.IntN(4) == 0 {
		g.columns = append(g.columns, goldenColumn{name: "twice", goldenType: integer, generated: "mod(id, 1000) * 2"})
	}
	r.Shuffle(len(g.columns), func(i, j int) { g.columns[i], g.columns[j] = g.columns[j], g.columns[i] })
	for _, c := range g.columns {
		if c.name == "id" && r.IntN(10) > 0 || c.key && c.generated == "" && r.IntN(12) == 0 {
			g.keys = append(g.keys, c.name)
		}
	}
	g.identity = pick(r, "default", "default", "full", "full", "nothing")
	g.writes = g.identity == "full" || g.identity == "default" && len(g.keys) > 0
	g.secure(r)
	return g
}

// secure sets row level security, policies and privileges.
func (g *goldenTable) secure(r *rand.Rand) {
	if r.IntN(3) > 0 {
		g.sql = append(g.sql, fmt.Sprintf("alter table %s enable row level security", g.name))
	}
	policies := []string{"true", "false", "owner = auth.uid()", "owner = (select auth.uid())",
		"(select auth.uid()) is not null", "id > 2", "id < 3 and auth.role() = 'authenticated'",
		"coalesce((auth.jwt() ->> 'level')::int > id, false)"}
	for i := range r.IntN(3) {
		g.sql = append(g.sql, fmt.Sprintf("create policy p%d on %s as %s for select to %s using (%s)", i, g.name,
			pick(r, "permissive", "permissive", "restrictive"), pick(r, "anon", "authenticated", "public"),
			pick(r, policies...)))
	}
	for _, role := range []string{"anon", "authenticated"} {
		switch r.IntN(6) {
		case 0:
			g.sql = append(g.sql, fmt.Sprintf("revoke select on %s from %s", g.name, role))
		case 1, 2:
			var names []string
			for _, c := range g.columns {
				if r.IntN(8) > 0 {
					names = append(names, identifier(c.name))
				}
			}
			g.sql = append(g.sql, fmt.Sprintf("revoke select on %s from %s", g.name, role))
			if len(names) > 0 {
				g.sql = append(g.sql, fmt.Sprintf("grant select (%s) on %s to %s", strings.Join(names, ", "), g.name, role))
			}
		}
	}
}

// create returns the statements that make the table.
func (g *goldenTable) create() string {
	var parts []string
	for _, c := range g.columns {
		part := identifier(c.name) + " " + c.goldenType.name
		if c.generated != "" {
			part += " generated always as (" + c.generated + ") stored"
		}
		parts = append(parts, part)
	}
	if len(g.keys) > 0 {
		keys := make([]string, len(g.keys))
		for i, k := range g.keys {
			keys[i] = identifier(k)
		}
		parts = append(parts, "primary key ("+strings.Join(keys, ", ")+")")
	}
	return fmt.Sprintf("create table %[1]s (%[2]s); grant select on %[1]s to anon, authenticated, service_role; %[3]s; "+
		"alter table %[1]s replica identity %[4]s; alter publication supabase_realtime add table %[1]s", g.name,
		strings.Join(parts, ", "), strings.Join(append(g.sql, "select"), "; "), g.identity)
}

// transaction returns statements that change some rows. One that removes a key is alone, because
// upstream does not send the versions of a row that is gone to roles without row level security.
func (g *goldenTable) transaction(r *rand.Rand) string {
	var all []string
	if r.IntN(4) == 0 && g.writes {
		return fmt.Sprintf(pick(r, "delete from %[1]s where id = %[2]d", "update %[1]s set id = id + 1 where id = %[2]d"),
			g.name, r.IntN(5))
	}
	for range 1 + r.IntN(3) {
		id := r.IntN(5)
		if !g.writes || r.IntN(2) == 0 {
			all = append(all, g.insert(r, id))
			continue
		}
		c := g.columns[r.IntN(len(g.columns))]
		value := g.value(r, c)
		switch {
		case slices.Contains(g.keys, c.name) || c.name == "id":
			continue
		case c.generated != "":
			value = "default"
		}
		all = append(all, fmt.Sprintf("update %s set %s = %s where id = %d", g.name, identifier(c.name), value, id))
	}
	return "begin; " + strings.Join(append(all, "commit"), "; ")
}

func (g *goldenTable) insert(r *rand.Rand, id int) string {
	var names, values []string
	for _, c := range g.columns {
		if c.generated != "" {
			continue
		}
		value := g.value(r, c)
		if c.name == "id" {
			value = fmt.Sprint(id)
		}
		names, values = append(names, identifier(c.name)), append(values, value)
	}
	return fmt.Sprintf("insert into %s (%s) values (%s) on conflict do nothing", g.name, strings.Join(names, ", "),
		strings.Join(values, ", "))
}

// value returns a value of a column as SQL.
func (g *goldenTable) value(r *rand.Rand, c goldenColumn) string {
	switch {
	case !slices.Contains(g.keys, c.name) && r.IntN(8) == 0:
		return "null"
	case g.large && c.goldenType.name == "text" && !slices.Contains(g.keys, c.name) && r.IntN(2) == 0:
		// With random bytes, because compressed ones would be short.
		return fmt.Sprintf("(select string_agg(md5((n + %d)::text), '') from generate_series(1, %d) n)", r.IntN(1000),
			pick(r, 100, 1000))
	}
	return quoteLiteral(pick(r, c.values...)) + "::" + c.goldenType.name
}

// subscriber returns a random subscriber.
func (g *goldenTable) subscriber(r *rand.Rand) *goldenSub {
	sub := &goldenSub{role: pick(r, "anon", "authenticated", "authenticated", "service_role"),
		event: pick(r, "*", "*", "*", kindInsert, kindUpdate, kindDelete)}
	sub.claims = map[string]any{"role": sub.role, "sub": pick(r, alice, bob), "level": r.IntN(5)}
	if r.IntN(2) == 0 {
		sub.filter = g.filter(r)
	}
	if r.IntN(2) == 0 { // an empty selection is none for older releases of upstream
		for _, c := range g.columns {
			if r.IntN(3) == 0 {
				sub.selected = append(sub.selected, c.name)
			}
		}
	}
	return sub
}

// filter returns a random filter, as clients write it.
func (g *goldenTable) filter(r *rand.Rand) string {
	c := g.columns[r.IntN(len(g.columns))]
	for strings.Contains(c.name, ",") || strings.HasSuffix(c.goldenType.name, "[]") || // clients cannot name it
		slices.Contains(unfiltered, c.goldenType.name) {
		c = g.columns[r.IntN(len(g.columns))]
	}
	op := pick(r, "eq", "neq", "lt", "lte", "gt", "gte", "in", "like", "ilike", "is", "match", "imatch", "isdistinct")
	value := quoteValue(pick(r, c.values...))
	switch op {
	case "in":
		value = "(" + value + "," + quoteValue(pick(r, c.values...)) + ")"
	case "is":
		value = pick(r, "null", "true", "false", "unknown", "maybe")
	case "like", "ilike":
		value = pick(r, "a%", "%B%", "_", "%")
	case "match", "imatch":
		value = pick(r, "^a", "b$", ".", "[")
	}
	if r.IntN(4) == 0 {
		op = "not." + op
	}
	text := c.name + "=" + op + "." + value
	if r.IntN(4) == 0 {
		text += "," + pick(r, "id=gt.1", "id=not.in.(2,3)", "owner=eq."+alice, "owner=is.null")
	}
	return text
}

// quoteValue quotes a value of a filter.
func quoteValue(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) + `"`
}
