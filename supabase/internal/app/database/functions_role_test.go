package database

import (
	"testing"

	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/database/testdb"
)

func TestMain(m *testing.M) { testdb.Main(m) }

// TestFunctionsRole checks that the role of functions may act as the configured roles and as no
// others, also after the configuration has changed.
func TestFunctionsRole(t *testing.T) {
	d := testdb.New(t)
	root := d.Conn("supabase_admin")
	d.ExecAs("supabase_admin", `create role drill_reader; grant drill_reader to postgres`)
	t.Cleanup(func() { // before the connections end
		d.ExecAs("supabase_admin", `drop role edge_functions; drop role drill_reader`)
	})
	for _, c := range []struct {
		roles, may, not []string
		first           string
	}{
		{[]string{"service_role"}, []string{"service_role", "anon", "authenticated"},
			[]string{"postgres", "supabase_admin", "drill_reader", "supabase_auth_admin"}, "service_role"},
		{[]string{"drill_reader"}, []string{"drill_reader", "anon"}, []string{"postgres", "service_role"}, "drill_reader"},
		{nil, []string{"anon"}, []string{"postgres", "service_role", "drill_reader"}, FunctionsRole},
		{[]string{"service_role"}, []string{"service_role"}, []string{"drill_reader"}, "service_role"},
	} {
		for range 2 { // the second time it writes nothing
			if err := makeFunctionsRole(t.Context(), root, c.roles); err != nil {
				t.Fatal(err)
			}
		}
		conn, err := pgx.Connect(t.Context(), d.URL(FunctionsRole))
		if err != nil {
			t.Fatal(err)
		}
		var first string
		if err := conn.QueryRow(t.Context(), `select current_user`).Scan(&first); err != nil || first != c.first {
			t.Errorf("%v: begins as %s, %v", c.roles, first, err)
		}
		for _, role := range c.may {
			if _, err := conn.Exec(t.Context(), `set role `+role); err != nil {
				t.Errorf("%v: %v", c.roles, err)
			}
		}
		for _, role := range c.not {
			if _, err := conn.Exec(t.Context(), `set role `+role); err == nil {
				t.Errorf("%v: may act as %s", c.roles, role)
			}
		}
		if err := conn.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if functionsPassword("a") == functionsPassword("b") || functionsPassword("a") == "a" {
		t.Error("the password does not follow that of the server")
	}
}
