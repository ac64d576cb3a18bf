package changes

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/database/testdb"
)

// TestSubscribersGetWhatTheyMaySelect makes random policies, privileges, claims, filters and
// changes. After each change, a subscriber must have exactly the row that a SELECT as its user
// returns, with the columns that the user may read.
func TestSubscribersGetWhatTheyMaySelect(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	p := &property{T: t, rand: rand.New(rand.NewPCG(seed, 0))}
	p.d, p.s = open(t, nil)
	p.d.Exec(`
		create table p (id int primary key, a int, b text, owner uuid, team int);
		create table links (user_id uuid, team int);
		alter publication supabase_realtime add table p;
		create function public.level() returns int language sql stable as $$ select (auth.jwt() ->> 'level')::int $$;`)
	p.conn = p.d.Conn("supabase_admin")
	for round := range 12 {
		p.round(round)
		if t.Failed() {
			return
		}
	}
	if p.delivered < 50 || p.hidden < 50 {
		t.Errorf("only %d changes delivered and %d hidden", p.delivered, p.hidden)
	}
}

type property struct {
	*testing.T
	rand              *rand.Rand
	d                 *testdb.DB
	s                 *Stream
	conn              *pgx.Conn
	users             []*propertyUser
	delivered, hidden int
}

type propertyUser struct {
	role   string
	claims map[string]any
	filter string
	box    *inbox
	id     int64
}

var propertyIDs = []string{alice, bob, "11111111-1111-4111-8111-111111111111"}

func pick[T any](r *rand.Rand, from ...T) T { return from[r.IntN(len(from))] }

// round sets policies, privileges and users, makes changes and compares.
func (p *property) round(n int) {
	p.policies()
	p.privileges()
	identity := pick(p.rand, "default", "full")
	p.d.Exec(`alter table p replica identity ` + identity)
	p.d.Exec(`truncate links`)
	for range 4 {
		p.d.Exec(`insert into links values ($1, $2)`, pick(p.rand, propertyIDs...), p.rand.IntN(3))
	}
	p.users = nil
	for range 8 {
		p.join()
	}
	base := n * 10
	for i := range 8 {
		p.d.Exec(`insert into p values ($1, $2, $3, $4, $5)`, base+i, p.rand.IntN(5), pick(p.rand, "x", "xy", "z", "X"),
			pick[any](p.rand, nil, alice, bob), pick[any](p.rand, nil, 0, 1, 2))
	}
	settle(p.T, p.d, p.s)
	ids := make([]int, 0, 10)
	for i := range 8 {
		ids = append(ids, base+i)
	}
	p.compare(kindInsert, ids)
	p.reclaim()
	p.d.Exec(`update p set a = a + 1, owner = case when a % 2 = 0 then $1::uuid else owner end where id >= $2 and id < $2 + 5`, pick(p.rand, propertyIDs...), base)
	settle(p.T, p.d, p.s)
	p.compare(kindUpdate, ids[:5])
	for _, u := range p.users {
		p.s.Unsubscribe(u.id)
	}
}

func (p *property) policies() {
	p.d.Exec(`do $$ declare n name; begin for n in select policyname from pg_policies where tablename = 'p' loop execute format('drop policy %I on p', n); end loop; end $$`)
	p.d.Exec(`alter table p ` + pick(p.rand, "enable", "enable", "enable", "disable") + ` row level security`)
	templates := []string{
		"owner = auth.uid()", "owner = (select auth.uid())",
		"team in (select team from links where user_id = auth.uid())", "a > level()", "b like 'x%'",
		"exists (select from links l where l.team = p.team and l.user_id = auth.uid())",
		"auth.jwt() ->> 'role' = 'anon' and a < 3", "false",
		"coalesce((auth.jwt() -> 'app_metadata' ->> 'team')::int = team, false)",
	}
	for i := range 1 + p.rand.IntN(3) {
		kind := pick(p.rand, "permissive", "permissive", "restrictive")
		p.d.Exec(fmt.Sprintf(`create policy p%d on p as %s for %s to %s using (%s)`, i, kind,
			pick(p.rand, "select", "all"), pick(p.rand, "authenticated", "anon", "public"), pick(p.rand, templates...)))
	}
}

func (p *property) privileges() {
	for _, role := range []string{"anon", "authenticated"} {
		p.d.Exec(`revoke all on p from ` + role)
		columns := []string{"id"}
		for _, c := range []string{"a", "b", "owner", "team"} {
			if p.rand.IntN(4) > 0 {
				columns = append(columns, c)
			}
		}
		p.d.Exec(`grant select (` + strings.Join(columns, ", ") + `) on p to ` + role)
	}
}

func (p *property) randomClaims(role string) map[string]any {
	return map[string]any{
		"role": role, "sub": pick(p.rand, propertyIDs...), "level": p.rand.IntN(5),
		"app_metadata": map[string]any{"team": p.rand.IntN(3)},
	}
}

// join adds a user with a random filter on a column that it may read.
func (p *property) join() {
	u := &propertyUser{role: pick(p.rand, "anon", "authenticated", "authenticated", "service_role")}
	u.claims = p.randomClaims(u.role)
	filters := []string{"", "a=gt.2", "b=like.x%", "b=eq.x", "team=in.(0,2)", "team=not.is.null", "a=lt.4,b=neq.z",
		"owner=eq." + bob, "b=ilike.X%", "id=gte.0"}
	for {
		u.filter = pick(p.rand, filters...)
		u.box = &inbox{}
		ctx, cancel := context.WithTimeout(p.Context(), wait)
		id, err := p.s.Subscribe(ctx, Subscriber{Role: u.role, Claims: u.claims, Deliver: u.box.deliver,
			Bindings: []Binding{{Schema: "public", Table: "p", Event: "*", Filter: u.filter}}})
		cancel()
		if err == nil {
			u.id = id
			break
		}
		if !strings.Contains(err.Error(), "invalid column for filter") {
			p.Fatal(err)
		}
	}
	p.users = append(p.users, u)
}

// reclaim gives some users other claims.
func (p *property) reclaim() {
	for _, u := range p.users {
		if p.rand.IntN(3) == 0 {
			u.claims = p.randomClaims(u.role)
			if err := p.s.SetClaims(p.Context(), u.id, u.role, u.claims); err != nil {
				p.Fatal(err)
			}
		}
	}
}

// compare compares what each user got for the rows with what it may select.
func (p *property) compare(kind string, ids []int) {
	for _, u := range p.users {
		got := map[int]map[string]any{}
		for _, c := range u.box.take() {
			var data struct {
				Record map[string]any
				Old    map[string]any `json:"old_record"`
				Errors []string
			}
			if err := json.Unmarshal(c.Data, &data); err != nil {
				p.Fatal(err)
			}
			if c.Type != kind || data.Errors != nil {
				p.Fatalf("unexpected change %s", c.Data)
			}
			for name := range data.Old {
				if _, ok := data.Record[name]; !ok {
					p.Errorf("the old record has the column %s, the record has not: %s", name, c.Data)
				}
			}
			got[int(data.Record["id"].(float64))] = data.Record
		}
		want := p.selectAs(u, ids)
		if diff := cmp.Diff(want, got); diff != "" {
			p.Errorf("%s of %s with claims %v and filter %q: %s\npolicies %s", kind, u.role, u.claims, u.filter, diff,
				testdb.Value[string](p.d,
					`select coalesce(string_agg(concat_ws(' ', policyname, permissive, roles, cmd, qual), E'\n'), '') from pg_policies where tablename = 'p'`))
		}
		p.delivered += len(want)
		p.hidden += len(ids) - len(want)
	}
}

// selectAs returns the rows that a user may select.
func (p *property) selectAs(u *propertyUser, ids []int) map[int]map[string]any {
	var columns []string
	if err := p.conn.QueryRow(p.Context(),
		`select array(select attname::text from pg_attribute where attrelid = 'p'::regclass and attnum > 0 and has_column_privilege($1, attrelid, attnum, 'select'))`, u.role).Scan(&columns); err != nil {
		p.Fatal(err)
	}
	claims, err := json.Marshal(u.claims)
	if err != nil {
		p.Fatal(err)
	}
	tx, err := p.conn.Begin(p.Context())
	if err != nil {
		p.Fatal(err)
	}
	defer tx.Rollback(context.Background())
	if _, err := tx.Exec(p.Context(), `select set_config('request.jwt.claims', $1, true), set_config('role', $2, true)`,
		string(claims), u.role); err != nil {
		p.Fatal(err)
	}
	rows, err := tx.Query(p.Context(), `select to_jsonb(r) from (select `+strings.Join(columns, ", ")+
		` from p where id = any ($1) and `+filterSQL(p.T, u.filter)+`) r`, ids)
	if err != nil {
		p.Fatal(err)
	}
	found, err := pgx.CollectRows(rows, pgx.RowTo[map[string]any])
	if err != nil {
		p.Fatal(err)
	}
	want := map[int]map[string]any{}
	for _, row := range found {
		want[int(row["id"].(float64))] = row
	}
	if !slices.Contains(columns, "id") {
		p.Fatal("the test needs the primary key")
	}
	return want
}
