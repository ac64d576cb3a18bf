package changes

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"daawo/supabase/internal/database/testdb"
)

const (
	alice = "7f2f0dc9-8e3e-4d0e-9f3f-1a2b3c4d5e6f"
	bob   = "00000000-0000-4000-8000-000000000001"
)

func user(id string) map[string]any { return map[string]any{"role": "authenticated", "sub": id} }

func TestRowLevelSecurity(t *testing.T) {
	d, s := open(t, nil)
	d.Exec(notes + `
		create table members (note bigint, user_id uuid);
		alter table notes enable row level security;
		create policy own on notes for select to authenticated using (owner = auth.uid() or exists (
			select from members m where m.note = notes.id and m.user_id = auth.uid()));
		insert into members values (3, '` + bob + `');`)
	aliceBox, _ := subscribe(t, s, "authenticated", user(alice), Binding{Table: "notes"})
	bobBox, _ := subscribe(t, s, "authenticated", user(bob), Binding{Table: "notes"},
		Binding{Table: "notes", Event: "INSERT"})
	anon, _ := subscribe(t, s, "anon", map[string]any{"role": "anon"}, Binding{Table: "notes"})
	all, _ := subscribe(t, s, "service_role", service, Binding{Table: "notes"})
	d.Exec(fmt.Sprintf(`insert into notes (id, body, owner)
		values (1, 'a', '%s'), (2, 'b', '%s'), (3, 'c', '%[1]s'), (4, 'd', null)`, alice, bob))
	settle(t, d, s)
	expect(t, aliceBox,
		`INSERT [1] {"id":1,"body":"a","done":false,"owner":"`+alice+`"}`,
		`INSERT [1] {"id":3,"body":"c","done":false,"owner":"`+alice+`"}`)
	expect(t, bobBox,
		`INSERT [1 2] {"id":2,"body":"b","done":false,"owner":"`+bob+`"}`,
		`INSERT [1 2] {"id":3,"body":"c","done":false,"owner":"`+alice+`"}`)
	expect(t, anon)
	if n := len(all.take()); n != 4 {
		t.Errorf("service_role got %d changes", n)
	}
	// The rights of the moment of the check count: bob leaves, note 1 moves to bob.
	d.Exec(fmt.Sprintf(`delete from members; update notes set owner = '%s' where id in (1, 3)`, bob))
	d.Exec(`alter table notes replica identity full; delete from notes where id = 4`)
	settle(t, d, s)
	expect(t, aliceBox)
	if got := show(t, bobBox.take()); len(got) != 2 {
		t.Error(got)
	}
	expect(t, anon)
	// A row that is gone when it is checked.
	d.Exec(fmt.Sprintf(`insert into notes (id, owner) values (9, '%s'); delete from notes where id = 9`, alice))
	settle(t, d, s)
	if got := show(t, aliceBox.take()); len(got) > 1 && !strings.HasPrefix(got[0], `INSERT [1] {"id":9`) ||
		got[len(got)-1] != `DELETE [1] old {"id":9}` {
		t.Error(got)
	}
}

// TestMembership: members of a row's team get it, also if service_role may not read the members,
// and new members from then on.
func TestMembership(t *testing.T) {
	d, s := open(t, nil)
	d.Exec(`create table tasks (id int primary key, team int);
		create table members (team int, user_id uuid);
		grant select on members to authenticated;
		alter table tasks enable row level security;
		create policy members on tasks for select to authenticated using (exists (
			select from members m where m.team = tasks.team and m.user_id = auth.uid()));
		alter publication supabase_realtime add table tasks;
		insert into members values (1, '` + alice + `'), (2, '` + bob + `')`)
	aliceBox, _ := subscribe(t, s, "authenticated", user(alice), Binding{Table: "tasks"})
	bobBox, _ := subscribe(t, s, "authenticated", user(bob), Binding{Table: "tasks"})
	const row = `INSERT [1] {"id":%d,"team":%d}`
	for n, change := range []string{"", "revoke select on members from service_role",
		"grant select on members to service_role; insert into members values (1, '" + bob + "')"} {
		d.Exec(change)
		d.Exec(`insert into tasks values ($1, 1), ($1 + 1, 2), ($1 + 2, null)`, 10*n)
		settle(t, d, s)
		expect(t, aliceBox, fmt.Sprintf(row, 10*n, 1))
		want := []string{fmt.Sprintf(row, 10*n+1, 2)}
		if n == 2 {
			want = append([]string{fmt.Sprintf(row, 10*n, 1)}, want...)
		}
		expect(t, bobBox, want...)
	}
}

// TestRoleWithoutSelectGetsNothing checks that a role that may not select a table, or its key, does
// not learn when rows change.
func TestRoleWithoutSelectGetsNothing(t *testing.T) {
	d, s := open(t, nil)
	d.Exec(notes + `revoke select on notes from anon, authenticated;
		grant select (body) on notes to authenticated;
		create table plain (body text);
		alter table plain replica identity full;
		revoke select on plain from anon, authenticated;
		grant select (body) on plain to authenticated;
		alter publication supabase_realtime add table plain;`)
	stranger, _ := subscribe(t, s, "anon", map[string]any{"role": "anon"}, Binding{Table: "notes"})
	noKey, _ := subscribe(t, s, "authenticated", user(alice), Binding{Table: "notes"})
	plain, _ := subscribe(t, s, "authenticated", user(alice), Binding{Table: "plain"})
	d.Exec(`insert into notes (id, body) values (1, 'a'); update notes set done = true; delete from notes;
		insert into plain values ('x'); delete from plain`)
	settle(t, d, s)
	expect(t, stranger)
	expect(t, noKey)
	expect(t, plain, `INSERT [1] {} Error 400: Bad Request, no primary key`, `DELETE [1] old {"body":"x"}`)
}

func TestColumnPrivileges(t *testing.T) {
	d, s := open(t, func(o *Options) { o.Unauthorized = true })
	d.Exec(notes + `revoke select on notes from anon, authenticated;
		grant select (id, body) on notes to authenticated;
		grant select (body) on notes to anon;
		create table plain (body text);
		alter table plain replica identity full;
		alter publication supabase_realtime add table plain;`)
	some, _ := subscribe(t, s, "authenticated", user(alice), Binding{Table: "notes"})
	noKey, _ := subscribe(t, s, "anon", map[string]any{"role": "anon"}, Binding{Table: "notes"})
	selected, _ := subscribe(t, s, "service_role", service, Binding{Table: "notes", Select: []string{"done"}},
		Binding{Table: "notes"})
	keyOnly, _ := subscribe(t, s, "service_role", service, Binding{Table: "notes", Select: []string{}})
	plain, _ := subscribe(t, s, "service_role", service, Binding{Table: "plain", Filter: "body=eq.other"})
	d.Exec(`insert into notes (id, body) values (1, 'a'); update notes set done = true; insert into plain values ('x');
		update plain set body = 'y'; delete from plain`)
	settle(t, d, s)
	expect(t, some, `INSERT [1] {"id":1,"body":"a"}`, `UPDATE [1] {"id":1,"body":"a"} old {"id":1}`)
	expect(t, noKey, `INSERT [1] {} Error 401: Unauthorized`, `UPDATE [1] {} old {} Error 401: Unauthorized`)
	expect(t, selected,
		`INSERT [1] {"id":1,"done":false}`, `INSERT [2] {"id":1,"body":"a","done":false,"owner":null}`,
		`UPDATE [1] {"id":1,"done":true} old {"id":1}`,
		`UPDATE [2] {"id":1,"body":"a","done":true,"owner":null} old {"id":1}`)
	expect(t, keyOnly, `INSERT [1] {"id":1}`, `UPDATE [1] {"id":1} old {"id":1}`)
	expect(t, plain, `INSERT [1] {} Error 400: Bad Request, no primary key`,
		`UPDATE [1] {} old {} Error 400: Bad Request, no primary key`)
	// A revoked column is not sent, nor compared.
	filtered, _ := subscribe(t, s, "authenticated", user(alice), Binding{Table: "notes", Filter: "body=eq.a"})
	d.Exec(`revoke select (body) on notes from authenticated; update notes set done = false; delete from notes`)
	settle(t, d, s)
	expect(t, some, `UPDATE [1] {"id":1} old {"id":1}`, `DELETE [1] old {"id":1}`)
	expect(t, filtered)
}

func TestFailingPolicyHidesRows(t *testing.T) {
	d, s := open(t, nil)
	d.Exec(notes + `alter table notes enable row level security;
		create policy divides on notes for select to authenticated using (1 / (auth.jwt() ->> 'n')::int >= 0);`)
	claims := user(alice)
	claims["n"] = 0
	broken, _ := subscribe(t, s, "authenticated", claims, Binding{Table: "notes"})
	claims = user(alice)
	claims["n"] = 1
	good, _ := subscribe(t, s, "authenticated", claims, Binding{Table: "notes"})
	d.Exec(`insert into notes (id) values (1)`)
	settle(t, d, s)
	expect(t, broken)
	expect(t, good, `INSERT [1] {"id":1,"body":null,"done":false,"owner":null}`)
}

func TestSetClaims(t *testing.T) {
	d, s := open(t, nil)
	d.Exec(notes + `alter table notes enable row level security;
		create policy own on notes for select to authenticated using (owner = auth.uid());`)
	box, id := subscribe(t, s, "authenticated", user(alice), Binding{Table: "notes"})
	insert := func(n int) {
		d.Exec(`insert into notes (id, owner) values ($1, $2)`, n, alice)
		settle(t, d, s)
	}
	insert(1)
	if err := s.SetClaims(t.Context(), id, "authenticated", user(bob)); err != nil {
		t.Fatal(err)
	}
	insert(2)
	if err := s.SetClaims(t.Context(), id, "authenticated", user(alice)); err != nil {
		t.Fatal(err)
	}
	insert(3)
	row := `INSERT [1] {"id":%d,"body":null,"done":false,"owner":"` + alice + `"}`
	expect(t, box, fmt.Sprintf(row, 1), fmt.Sprintf(row, 3))
	// A role that does not exist removes the subscriber.
	if err := s.SetClaims(t.Context(), id, "no_such_role", user(alice)); err == nil {
		t.Error("a missing role was accepted")
	}
	insert(4)
	expect(t, box)
	if err := s.SetClaims(t.Context(), id, "authenticated", user(alice)); !errors.Is(err, errClosed) {
		t.Errorf("after the removal: %v", err)
	}
}

func TestSubscribeRefusals(t *testing.T) {
	d, s := open(t, nil)
	d.Exec(notes + `create table hidden (id int primary key); revoke select (body) on notes from anon; revoke all on notes from anon; grant select (id, done) on notes to anon;
		alter table notes add tags text[], add n int`)
	const (
		unable = "Unable to subscribe to changes with given parameters. "
		check  = unable + "Please check Realtime is enabled for the given connect parameters: "
		failed = unable + "An exception happened so please check your connect parameters: "
	)
	ctx, cancel := context.WithTimeout(t.Context(), wait)
	defer cancel()
	for _, c := range []struct {
		role string
		b    Binding
		want string
	}{
		{"anon", Binding{Table: "hidden"}, check +
			`[event: *, schema: public, table: hidden, filters: [], select: nil]`},
		{"anon", Binding{Table: "notes", Filter: "body=eq.a"}, failed +
			`[event: *, schema: public, table: notes, filters: [{"body", "eq", "a", false}], select: nil]. Exception: ERROR P0001 (raise_exception) invalid column for filter body`},
		{"service_role", Binding{Table: "notes", Filter: "id=not.eq.x"}, failed +
			`[event: *, schema: public, table: notes, filters: [{"id", "eq", "x", true}], select: nil]. Exception: ERROR 22P02 (invalid_text_representation) invalid input syntax for type bigint: "x"`},
		{"service_role", Binding{Table: "notes", Filter: "id=is.true"}, failed +
			`[event: *, schema: public, table: notes, filters: [{"id", "is", "true", false}], select: nil]. Exception: ERROR P0001 (raise_exception) is true filter requires a boolean column, got bigint`},
		{"service_role", Binding{Table: "notes", Filter: "body=is.maybe"}, failed +
			`[event: *, schema: public, table: notes, filters: [{"body", "is", "maybe", false}], select: nil]. Exception: ERROR P0001 (raise_exception) invalid value for is filter: must be null, true, false, or unknown`},
		{"service_role", Binding{Table: "notes", Filter: "n=like.1%"}, failed +
			`[event: *, schema: public, table: notes, filters: [{"n", "like", "1%", false}], select: nil]. Exception: ERROR P0001 (raise_exception) operator like requires a text-compatible column type, got integer`},
		{"service_role", Binding{Table: "notes", Filter: "body=match.("}, failed +
			`[event: *, schema: public, table: notes, filters: [{"body", "match", "(", false}], select: nil]. Exception: ERROR P0001 (raise_exception) invalid regular expression for match filter: invalid regular expression: parentheses () not balanced`},
		{"service_role", Binding{Table: "notes", Filter: "id=in.(" + strings.Repeat("1,", 100) + "1)"},
			"too many values for `in` filter. Maximum 100"},
		{"service_role", Binding{Table: "notes", Select: []string{"id", "nope"}}, failed +
			`[event: *, schema: public, table: notes, filters: [], select: ["id", "nope"]]. Exception: ERROR P0001 (raise_exception) invalid column for select nope`},
		{"no_such", Binding{Table: "notes"}, failed +
			`[event: *, schema: public, table: notes, filters: [], select: nil]. Exception: ERROR 42704 (undefined_object) role "no_such" does not exist`},
	} {
		c.b.Schema, c.b.Event = "public", "*"
		_, err := s.Subscribe(ctx, Subscriber{Role: c.role, Claims: map[string]any{"role": c.role},
			Bindings: []Binding{c.b}, Deliver: func(Change) {}})
		var refused *SubscribeError
		if !errors.As(err, &refused) {
			t.Errorf("%v: got %v", c.b, err)
			continue
		}
		if refused.Message != c.want && !strings.HasSuffix(refused.Message, c.want) {
			t.Errorf("%v:\n%s", c.b, cmp.Diff(c.want, refused.Message))
		}
	}
	if n := s.registry.count(); n != 0 {
		t.Errorf("%d subscribers are left", n)
	}
}

// TestLockedTable: a schema change in another transaction delays the check, it does not hide the
// row.
func TestLockedTable(t *testing.T) {
	d, s := open(t, nil)
	d.Exec(notes + `alter table notes enable row level security; create policy own on notes for select to authenticated using (owner = auth.uid())`)
	box, _ := subscribe(t, s, "authenticated", user(alice), Binding{Table: "notes"})
	writer, owner := d.Conn("postgres"), d.Conn("postgres")
	if _, err := writer.Exec(t.Context(), `set synchronous_commit = on`); err != nil {
		t.Fatal(err)
	}
	for _, sql := range []string{`begin`, `lock table notes in row exclusive mode`,
		fmt.Sprintf(`insert into notes (id, owner) values (1, '%s')`, alice)} {
		if _, err := writer.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	// It waits for the lock before the change is committed, and so gets it before the check does.
	locked := make(chan error, 1)
	go func() {
		_, err := owner.Exec(t.Context(),
			`begin; lock table notes in access exclusive mode; select pg_sleep(2); commit`)
		locked <- err
	}()
	eventually(t, "the schema change waits", func() bool {
		return testdb.Value[bool](d,
			`select exists (select from pg_locks where relation = 'notes'::regclass and not granted)`)
	})
	if _, err := writer.Exec(t.Context(), `commit`); err != nil {
		t.Fatal(err)
	}
	if err := <-locked; err != nil {
		t.Fatal(err)
	}
	eventually(t, "the row", func() bool { return len(box.take()) == 1 })
}
