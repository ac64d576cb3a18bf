package acceptance

import (
	"testing"

	"daawo/functions/product"
)

// TestStudioAccess checks that Studio's login lets owners in, and no other account.
func TestStudioAccess(t *testing.T) {
	tdb := newDatabase(t)
	tdb.ExecAs("supabase_admin", staffFixture)
	conn := tdb.Conn("postgres")
	for _, c := range staffCallers {
		want := c.name == "owner"
		var got bool
		err := conn.QueryRow(t.Context(), `select coalesce(`+product.Options().Administration.StudioAccess+`, false)
			from set_config('request.jwt.claims', $1, false)`, c.claims).Scan(&got)
		if err != nil || got != want {
			t.Errorf("%s: %v, %v", c.name, got, err)
		}
	}
}
