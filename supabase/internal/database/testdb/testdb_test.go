package testdb

import (
	"testing"
)

func TestMain(m *testing.M) { Main(m) }

func TestDatabasesAreSeparate(t *testing.T) {
	for _, name := range []string{"a", "b"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db := New(t)
			db.Exec(`create table public.notes (id int primary key); insert into notes values (1)`)
			if n := Value[int](db, `select count(*)::int from public.notes`); n != 1 {
				t.Errorf("got %d rows, want 1", n)
			}
		})
	}
}

func TestRolesCanLogIn(t *testing.T) {
	db := New(t)
	for _, role := range []string{"postgres", "supabase_admin", "authenticator", "supabase_auth_admin",
		"supabase_storage_admin"} {
		db.ExecAs(role, `select 1`)
	}
	db.ExecAs("authenticator", `set role anon; select auth.uid()`)
}

func BenchmarkNew(b *testing.B) {
	Server(b)
	for b.Loop() {
		New(b)
	}
}
