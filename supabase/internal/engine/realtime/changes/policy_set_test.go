package changes

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"
	"unique"

	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/database/pool"
	"daawo/supabase/internal/database/testdb"
	"daawo/supabase/internal/engine/realtime/changes/pgoutput"
)

// policyTerms are conditions of policies, understood and not understood ones.
var policyTerms = []string{
	"owner = auth.uid()", "(select auth.uid()) = owner", "owner::text = (auth.jwt() ->> 'sub')",
	"auth.uid() is not null",
	"(select auth.role()) = 'authenticated'", "team = (auth.jwt() ->> 'team')::int",
	"team = coalesce((auth.jwt() -> 'app_metadata' ->> 'team')::bigint, 1)", "label = auth.email()",
	"label::text = any (array['a', 'b'])", "team in (1, 2)", "public", "public is not true", "not public",
	"team is distinct from (auth.jwt() ->> 'team')::int", "lower(label) = lower(auth.jwt() ->> 'email')",
	"level() > team", "team in (select team from links where user_id = auth.uid())", "now() > '2000-01-01'",
	"exists (select from links l where l.team = p.team and l.user_id = auth.uid())", "mood = 'ok'",
	"loose = auth.email()",
	"case when team > 1 then owner = auth.uid() end", "code = auth.uid()::text", "team > 0", "tags @> '{1}'",
	"true", "false",
	"auth.uid() in (owner, other)", "(auth.jwt() ->> 'team')::int = any (tags)", "null", "label like 'a%'",
	"exists (select 1 from links where links.team = p.team and links.user_id = (select auth.uid()) and links.team > 0)",
	"not exists (select from secret_links s where s.user_id = auth.uid() and p.team = s.team)",
	"owner not in (select s.user_id from secret_links s where s.user_id = auth.uid())",
	"exists (select from secret_links s where s.user_id = owner and s.user_id = auth.uid() or s.team = 1)",
	"exists (select count(*) from links l where l.team = p.team and l.user_id = auth.uid())",
	"team in (select l.team from links l, secret_links s where l.user_id = auth.uid())",
	"auth.jwt() ? 'admin'", "label = 'a''b' or owner = auth.uid()", "p is not null", "owner = other",
}

// policyTable has rows of all kinds for policyTerms.
const policyTable = `
	create type mood as enum ('ok', 'bad');
	create collation loose (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
	create function public.level() returns int language sql stable as $$ select (auth.jwt() ->> 'team')::int $$;
	create table p (id int primary key, owner uuid, other uuid, team int, label varchar(9), public boolean, mood mood,
		loose text collate loose, code char(36), tags int[]);
	create table links (user_id uuid, team int);
	create table secret_links (like links);
	alter table secret_links enable row level security;
	create policy own on secret_links for select to authenticated using (team = 1);
	grant select on p, links, secret_links to authenticated;
	grant select on links, secret_links to service_role;
	alter table p enable row level security;
	insert into links values ('` + alice + `', 1), ('` + bob + `', 2);
	insert into links values ('` + alice + `', null);
	insert into secret_links values ('` + alice + `', 1), ('` + alice + `', 2), ('` + bob + `', 0);
	insert into p select n, (array['` + alice + `', '` + bob + `', null]::uuid[])[1 + n % 3],
		(array['` + bob + `', null]::uuid[])[1 + n % 2], (array[null, 0, 1, 2])[1 + n % 4],
		(array['a', 'A', 'b', 'a''b', null])[1 + n % 5], (array[true, false, null])[1 + n / 3 % 3],
		(array['ok', 'bad']::mood[])[1 + n % 2], (array['a', 'A', null])[1 + n % 3],
		(array['` + alice + `', '` + bob + `'])[1 + n % 2], case n % 3 when 0 then '{1}'::int[] when 1 then '{2}' end
	from generate_series(1, 60) n;`

func policyUsers() (users []map[string]any) {
	for n, sub := range []any{alice, bob, nil, "no uuid", ""} {
		for team := range 3 {
			users = append(users, map[string]any{"role": "authenticated", "sub": sub, "email": []string{"a", "A", "b"}[team],
				"team": []any{1, nil, "x"}[(team+n)%3], "session": fmt.Sprint(n, team)})
		}
	}
	return users
}

// TestPolicySet makes random policies. The engine must not exclude a user who can see a row, and
// the users of a class must see the same rows.
func TestPolicySet(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	d, s := open(t, nil)
	d.Exec(policyTable)
	conn := d.Conn("supabase_admin")
	excluded, alike := 0, 0
	id := uint32(testdb.Value[int](d, `select 'p'::regclass::oid::int8`))
	rows := rowsOfP(t, conn)
	for round := range 2 * len(policyTerms) {
		text := policyTerms[round%len(policyTerms)]
		if round >= len(policyTerms) {
			text = randomPolicy(r, 3)
		}
		sql := `create policy a on p for select to authenticated using (` + text + `);`
		for i := range r.IntN(3) {
			sql += fmt.Sprintf(`create policy b%d on p as %s for all using (%s);`, i, pick(r, "permissive", "restrictive"),
				randomPolicy(r, 1))
		}
		if _, err := conn.Exec(t.Context(), dropPolicies+sql); err != nil {
			t.Fatal(err)
		}
		b := &batch{s: s, tables: map[uint32]*table{}}
		x, y := policyCheck{b}.comparePolicies(t, conn, id, rows)
		excluded, alike = excluded+x, alike+y
	}
	if excluded < 1000 || alike < 100 {
		t.Errorf("only %d rows excluded and %d users alike", excluded, alike)
	}
	t.Logf("%d rows excluded, %d users alike", excluded, alike)
}

const dropPolicies = `do $$ declare n name; begin
	for n in select policyname from pg_policies where tablename = 'p' loop
		execute format('drop policy %I on p', n);
	end loop;
end $$;`

func randomPolicy(r *rand.Rand, depth int) string {
	term := "(" + pick(r, policyTerms...) + ")"
	for range r.IntN(depth) {
		term = "(" + term + pick(r, " and ", " or ", " and not ") + "(" + pick(r, policyTerms...) + "))"
	}
	return term
}

// comparePolicies compares what the engine says about the policies of p with what Postgres does.
func (b policyCheck) comparePolicies(t *testing.T, conn *pgx.Conn, id uint32, rows map[int]pgoutput.Tuple) (excluded,
	alike int) {
	tables := &pgx.Batch{}
	tables.Queue(tablesSQL, []int64{int64(id)}, []string{"authenticated"}).Query(b.readTables)
	if err := conn.SendBatch(t.Context(), tables).Close(); err != nil {
		t.Fatal(err)
	}
	set, err := readPolicies(t.Context(), b.s.o.Pool, policyKey{id, "authenticated"}, b.tables[id])
	if err != nil {
		t.Fatal(err)
	}
	b.tables[id].policies["authenticated"] = set
	var pairs []pair
	for _, claims := range policyUsers() {
		text, _ := json.Marshal(claims)
		pairs = append(pairs, pair{table: id, user: unique.Make(policyUser{"authenticated", string(text)})})
	}
	if err := b.groupUsers(t.Context(), pairs); err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		b.matched = append(b.matched, &matchedChange{rowChange: &rowChange{kind: kindInsert,
			relation: relationOfP(b.tables[id])}, record: row})
	}
	versions, key := map[policyKey]string{}, policyKey{id, "authenticated"}
	asked := &pgx.Batch{}
	asked.Queue(policyVersionsSQL, []int64{int64(id)}, []string{key.role}).Query(readVersions(versions))
	if err := conn.SendBatch(t.Context(), asked).Close(); err != nil {
		t.Fatal(err)
	}
	set.version = versions[key]
	members, err := b.findMembers(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	results := map[*userClass]string{}
	all := b.visibleRows(t, pairs)
	for i, p := range pairs {
		class, visible := b.classes[p], all[i]
		now := fmt.Sprintf("%#v", visible)
		if seen, ok := results[class]; ok {
			alike++
			if now != seen {
				t.Errorf("%s: alike users see %s and %s", set.sql, seen, now)
			}
		}
		results[class] = now
		for n, row := range rows {
			c := &matchedChange{rowChange: &rowChange{kind: kindInsert, relation: relationOfP(b.tables[id])}, record: row}
			if !class.excludes(c, b.tables[id], members) {
				continue
			}
			excluded++
			if slices.Contains(visible, n) {
				t.Errorf("%s: %s cannot see %v, but does", set.sql, p.user.Value().claims, row)
			}
		}
	}
	return excluded, alike
}

func relationOfP(t *table) *pgoutput.Relation {
	relation := &pgoutput.Relation{ID: t.id}
	for _, c := range t.columns {
		relation.Columns = append(relation.Columns, pgoutput.Column{Name: c.name, Type: c.oid})
	}
	return relation
}

// rowsOfP returns the rows as the log has them.
func rowsOfP(t *testing.T, conn *pgx.Conn) map[int]pgoutput.Tuple {
	found, err := conn.Query(t.Context(), `select id, array[id::text, owner::text, other::text, team::text, label,
		public::text, mood::text, 		loose, code, tags::text] from p`)
	if err != nil {
		t.Fatal(err)
	}
	rows := map[int]pgoutput.Tuple{}
	var id int
	var values []*string
	if _, err := pgx.ForEachRow(found, []any{&id, &values}, func() error {
		for _, v := range values {
			value := pgoutput.Value{Kind: pgoutput.Null}
			if v != nil {
				value = pgoutput.Value{Kind: pgoutput.Text, Text: *v}
			}
			rows[id] = append(rows[id], value)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return rows
}

// visibleRows returns the rows that each user sees, nil if the policies raised an error.
func (b policyCheck) visibleRows(t *testing.T, pairs []pair) [][]int {
	units := make([]pool.Unit, len(pairs))
	for i, p := range pairs {
		user := p.user.Value()
		caller := pool.Caller{Role: user.role, Claims: user.claims}
		units[i] = pool.Unit{Caller: caller, SQL: `select id from p order by id`}
	}
	results, err := b.s.o.Pool.Units(t.Context(), units)
	if err != nil {
		t.Fatal(err)
	}
	visible := make([][]int, len(pairs))
	for i, result := range results {
		if result.Err != nil {
			continue
		}
		visible[i] = []int{}
		for _, row := range result.Rows {
			id, _ := strconv.Atoi(*row[0])
			visible[i] = append(visible[i], id)
		}
	}
	return visible
}

// TestPolicyParser names what the engine understands about policies.
func TestPolicyParser(t *testing.T) {
	for text, want := range map[string]string{
		"(owner = auth.uid())":                                   "understood [auth.uid()] [owner]",
		"(( SELECT auth.uid() AS uid) IS NOT NULL)":              "understood [(( SELECT auth.uid() AS uid) IS NOT NULL)] []",
		"((team = 1) AND (owner = auth.uid()))":                  "understood [auth.uid()] [team owner]",
		"((level() = 1) AND (owner = auth.uid()))":               "opaque [auth.uid()] [owner]",
		"(team IN ( SELECT links.team\n   FROM links))":          "opaque [] []",
		"(owner = auth.uid()":                                    "opaque [] []",
		"(owner = 'it''s)('::text)":                              "understood [] [owner]",
		"(owner OPERATOR(public.=) auth.uid())":                  "opaque [] []",
		"(owner === auth.uid())":                                 "opaque [] []",
		"(owner = other())":                                      "opaque [] [owner]",
		"(status = 'a'::public.status)":                          "opaque [] []",
		"(team = 'a'::public.status)":                            "understood [] [team]",
		"(team = CURRENT_USER)":                                  "opaque [] []",
		"(team = ANY (ARRAY[1, 2]))":                             "understood [] [team]",
		"(team = ( SELECT max(links.team) AS max\n FROM links))": "opaque [] [team]",
		"true": "understood [] []",
		"((auth.jwt() ->> 'a'::text))::public.mine": "opaque [] []",
	} {
		set := parsePolicy(text)
		got := "opaque"
		if set.understood {
			got = "understood"
		}
		if got = fmt.Sprint(got, " ", set.claims, " ", set.columns); got != want {
			t.Errorf("%s: %s, not %s", text, got, want)
		}
	}
}

// parsePolicy parses a policy of the table p. Another table is links.
func parsePolicy(text string) *policySet {
	p := &policyParser{text: text, table: "p", columns: []string{"owner", "team"},
		trusted:   map[string]bool{"auth.uid": true, "auth.jwt": true},
		foreign:   map[string]bool{"===": true},
		relations: []namedRelation{{"public", "links", map[string]uint32{"team": oidInt4, "user_id": oidUUID}}}}
	return newPolicySet([]*policyExpr{p.parse()}, nil)
}

// TestMembershipParser names the subqueries that the engine asks about for all users at once.
func TestMembershipParser(t *testing.T) {
	const list, exists = "(team IN ( SELECT l.%s\n FROM links l\n WHERE %s))", "(EXISTS ( SELECT 1\n FROM %s\n WHERE %s))"
	for text, want := range map[string]bool{
		fmt.Sprintf(list, "team", "(l.user_id = auth.uid())"):                                            true,
		fmt.Sprintf(list, "team", "(l.user_id = ( SELECT auth.uid() AS uid))"):                           true,
		fmt.Sprintf(list, "mood", "(l.user_id = auth.uid())"):                                            false,
		fmt.Sprintf(list, "team", "(l.user_id = auth.uid())\n LIMIT 1"):                                  false,
		fmt.Sprintf(list, "team", "(l.user_id > auth.uid())"):                                            false,
		fmt.Sprintf(exists, "links", "((links.team = p.team) AND (links.user_id = auth.uid()))"):         true,
		fmt.Sprintf(exists, "public.links", "((p.team = links.team) AND (links.user_id = auth.uid()))"):  true,
		fmt.Sprintf(exists, "links l", "((l.team = p.team) AND (l.user_id = auth.uid()) AND (l.x > 1))"): true,
		fmt.Sprintf(exists, "links", "((links.team = p.team) OR (links.user_id = auth.uid()))"):          false,
		fmt.Sprintf(exists, "links", "(links.user_id = auth.uid())"):                                     false,
		fmt.Sprintf(exists, "other", "((other.team = p.team) AND (other.user_id = auth.uid()))"):         false,
	} {
		if got := len(parsePolicy(text).members) == 1; got != want {
			t.Errorf("%s: %t", text, got)
		}
	}
}
