package changes

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/database/testdb"
)

// TestSubscribersGetWhatTheyMaySelect makes random policies, privileges, claims and filters, and
// changes rows without pauses. A subscriber must get no row that a SELECT as its user could not
// have returned, with the columns that the user may read, and the last version of each row that it
// may select. A trigger keeps all versions in a table with the same policies.
func TestSubscribersGetWhatTheyMaySelect(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	p := &property{T: t, rand: rand.New(rand.NewPCG(seed, 0))}
	p.d, p.s = open(t, nil)
	p.d.Exec(`
		create table p (id int primary key, a int, b text, owner uuid, team int);
		create table versions (id int, a int, b text, owner uuid, team int, seq int generated always as identity);
		alter table versions enable row level security;
		create function keep() returns trigger language plpgsql security definer as $$ begin
			insert into versions (id, a, b, owner, team) values (new.id, new.a, new.b, new.owner, new.team); return null;
		end $$;
		create trigger keep after insert or update on p for each row execute function keep();
		create table links (user_id uuid, team int);
		alter publication supabase_realtime add table p;
		create function public.level() returns int language sql stable as $$ select (auth.jwt() ->> 'level')::int $$;`)
	p.conn = p.d.Conn("supabase_admin")
	for round := range 8 {
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
	secured           bool
	identity          string
	base              float64 // versions up to this one are older than the changes
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

// round sets policies, privileges and users, changes rows and compares, twice.
func (p *property) round(n int) {
	p.policies()
	p.privileges()
	p.identity = pick(p.rand, "default", "full", "full")
	p.exec(`alter table p replica identity ` + p.identity)
	p.exec(`truncate links, versions; delete from p`)
	settle(p.T, p.d, p.s) // the deletions come before the users
	for range 4 {
		p.exec(fmt.Sprintf(`insert into links values ('%s', %d)`, pick(p.rand, propertyIDs...), p.rand.IntN(3)))
	}
	p.users = nil
	for range 8 {
		p.join()
	}
	p.churn()
	p.compare()
	p.reclaim()
	p.churn()
	p.compare()
	for _, u := range p.users {
		p.s.Unsubscribe(u.id)
	}
}

// churn runs transactions as fast as the server accepts them.
func (p *property) churn() {
	p.exec(`truncate versions; insert into versions (id, a, b, owner, team) select id, a, b, owner, team from p`)
	p.base = p.read(`select jsonb_build_object('seq', coalesce(max(seq), 0)) from versions`)[0]["seq"].(float64)
	var all strings.Builder
	for range 12 {
		all.WriteString("begin;")
		for range 1 + p.rand.IntN(4) {
			undo := p.rand.IntN(3)
			if undo < 2 {
				all.WriteString("savepoint s;")
			}
			id, a, b := p.rand.IntN(6), p.rand.IntN(5), pick(p.rand, "x", "xy", "z", "X")
			owner, team := pick(p.rand, "null", "'"+alice+"'", "'"+bob+"'"), pick(p.rand, "null", "0", "1", "2")
			fmt.Fprintf(&all, pick(p.rand, `delete from p where id = %[1]d;`, `update p set a = %[2]d where id = %[1]d;`,
				`insert into p values (%[1]d, %[2]d, '%[3]s', %[4]s, %[5]s) on conflict (id) do update set a = %[2]d;`,
				`update p set owner = %[4]s, b = '%[3]s' where id = %[1]d;`,
				`update p set owner = %[4]s, team = %[5]s, id = 7 where id = %[1]d and not exists (select from p where id = 7);`),
				id, a, b, owner, team)
			if undo == 0 {
				all.WriteString("rollback to s;")
			}
		}
		all.WriteString("commit;")
	}
	p.exec(all.String())
	settle(p.T, p.d, p.s)
}

func (p *property) policies() {
	p.exec(`do $$ declare n record; begin
		for n in select policyname, tablename from pg_policies where tablename in ('p', 'versions') loop
			execute format('drop policy %I on %I', n.policyname, n.tablename);
		end loop; end $$`)
	p.secured = p.rand.IntN(4) > 0
	for _, t := range []string{"p", "versions"} {
		p.exec(`alter table ` + t + map[bool]string{true: ` enable`, false: ` disable`}[p.secured] + ` row level security`)
	}
	templates := []string{
		"owner = auth.uid()", "owner = (select auth.uid())", "(select auth.uid()) is not null",
		"team in (select team from links where user_id = auth.uid())", "a > level()", "b like 'x%%'",
		"exists (select from links l where l.team = %[1]s.team and l.user_id = auth.uid())",
		"auth.jwt() ->> 'role' = 'anon' and a < 3", "false",
		"coalesce((auth.jwt() -> 'app_metadata' ->> 'team')::int = team, false)",
	}
	for i := range 1 + p.rand.IntN(3) {
		kind, command := pick(p.rand, "permissive", "permissive", "restrictive"), pick(p.rand, "select", "all")
		role, template := pick(p.rand, "authenticated", "anon", "public"), pick(p.rand, templates...)
		for _, t := range []string{"p", "versions"} {
			text := strings.ReplaceAll(strings.ReplaceAll(template, "%[1]s", t), "%%", "%")
			p.exec(fmt.Sprintf(`create policy p%d on %s as %s for %s to %s using (%s)`, i, t, kind, command, role, text))
		}
	}
}

func (p *property) privileges() {
	for _, role := range []string{"anon", "authenticated"} {
		p.exec(`revoke all on p, versions from ` + role)
		if p.rand.IntN(3) == 0 {
			p.exec(`grant select on p, versions to ` + role)
			continue
		}
		columns := []string{"id"}
		for _, c := range []string{"a", "b", "owner", "team"} {
			if p.rand.IntN(4) > 0 {
				columns = append(columns, c)
			}
		}
		p.exec(`grant select (` + strings.Join(columns, ", ") + `) on p to ` + role)
		p.exec(`grant select (seq, ` + strings.Join(columns, ", ") + `) on versions to ` + role)
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

// compare compares what each user got with what it may and might select.
func (p *property) compare() {
	last := map[float64]float64{} // the last version of each row
	for _, v := range p.read(`select to_jsonb(v) from (select id, max(seq) as seq from versions group by id) v`) {
		last[v["id"].(float64)] = v["seq"].(float64)
	}
	for _, u := range p.users {
		columns := p.columns(u)
		filter := filterSQL(p.T, u.filter)
		possible, shown := map[string]bool{}, map[float64]bool{}
		for _, v := range p.readAs(u, `select to_jsonb(v) from (select seq, `+columns+` from versions where `+filter+`) v`) {
			id := v["id"].(float64)
			shown[id] = true
			delete(v, "seq")
			possible[p.text(v)] = true
		}
		wanted := map[string]bool{}
		for _, v := range p.readAs(u, `select to_jsonb(v) from (select `+columns+` from p where `+filter+`) v`) {
			if id := v["id"].(float64); last[id] > p.base {
				wanted[p.text(v)] = true
			}
		}
		about := fmt.Sprintf("%s with claims %v and filter %q, identity %s", u.role, u.claims, u.filter, p.identity)
		p.judge(u, about, possible, wanted, shown)
	}
	if p.Failed() {
		p.Log(testdb.Value[string](p.d,
			`select coalesce(string_agg(concat_ws(' ', policyname, permissive, roles, cmd, qual), E'\n'), '')
				from pg_policies where tablename = 'p'`))
	}
}

// judge compares what a user got with the versions of rows that were possible and those that it
// must have. shown has the rows of which it could see a version.
func (p *property) judge(u *propertyUser, about string, possible, wanted map[string]bool, shown map[float64]bool) {
	got := map[string]bool{}
	for _, c := range u.box.take() {
		var data struct {
			Record, Old map[string]any
			Errors      []string
		}
		text := strings.Replace(string(c.Data), `"old_record"`, `"Old"`, 1)
		if err := json.Unmarshal([]byte(text), &data); err != nil || data.Errors != nil {
			p.Fatalf("%s: %v", c.Data, err)
		}
		if c.Type == kindDelete {
			if id := data.Old["id"].(float64); p.secured && u.role != "service_role" && !shown[id] {
				p.Errorf("%s: the row was hidden: %s", about, c.Data)
			}
			continue
		}
		p.delivered++
		if !possible[p.text(data.Record)] {
			p.Errorf("%s: no SELECT returned this: %s", about, c.Data)
		}
		if len(data.Old) > 1 && u.filter == "" && !possible[p.text(data.Old)] {
			p.Errorf("%s: the old row was hidden: %s", about, c.Data)
		}
		got[p.text(data.Record)] = true
	}
	for text := range wanted {
		if !got[text] {
			p.Errorf("%s: missing %s", about, text)
		}
	}
	p.hidden += len(possible) - len(wanted)
}

// exec runs statements on the connection of the test, which is faster than one connection each.
func (p *property) exec(sql string) {
	if _, err := p.conn.Exec(p.Context(), sql); err != nil {
		p.Fatal(err)
	}
}

func (p *property) text(row map[string]any) string {
	text, err := json.Marshal(row)
	if err != nil {
		p.Fatal(err)
	}
	return string(text)
}

// columns returns the columns that a user may read.
func (p *property) columns(u *propertyUser) string {
	found := p.read(`select jsonb_build_object('names', string_agg(attname, ', ' order by attname)) from pg_attribute
		where attrelid = 'p'::regclass and attnum > 0 and has_column_privilege('` + u.role + `', attrelid, attnum, 'select')`)
	return found[0]["names"].(string)
}

func (p *property) read(sql string) []map[string]any {
	rows, err := p.conn.Query(p.Context(), sql)
	if err != nil {
		p.Fatal(err)
	}
	found, err := pgx.CollectRows(rows, pgx.RowTo[map[string]any])
	if err != nil {
		p.Fatal(err)
	}
	return found
}

// readAs runs a statement as a user.
func (p *property) readAs(u *propertyUser, sql string) []map[string]any {
	claims, err := json.Marshal(u.claims)
	if err != nil {
		p.Fatal(err)
	}
	const set = `select set_config('request.jwt.claims', $1, false), set_config('role', $2, false)`
	if _, err := p.conn.Exec(p.Context(), set, string(claims), u.role); err != nil {
		p.Fatal(err)
	}
	defer p.conn.Exec(p.Context(), `reset role`)
	return p.read(sql)
}
