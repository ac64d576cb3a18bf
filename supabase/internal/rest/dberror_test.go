package rest_test

import (
	"testing"

	"daawo/supabase/internal/testdb"
)

// TestServerThatTakesNoWrites: while the disk is nearly full, or on a standby, reading goes on and writing is to be tried
// again later. That a method only reads is its own answer.
func TestServerThatTakesNoWrites(t *testing.T) {
	database := testdb.New(t)
	database.Exec(library)
	database.ExecAs("supabase_admin", `alter database "`+database.Name+`" set default_transaction_read_only = on`)
	b := openOn(t, database, nil)
	refused := func(statement string) string {
		return `{"code":"25006","message":"cannot execute ` + statement + ` in a read-only transaction","details":null,"hint":null}`
	}
	b.run(t, []scenario{
		{name: "read", url: "/shelves?select=id&limit=1", status: 200},
		{name: "insert", method: "POST", url: "/shelves", body: `{"id":9}`, status: 503, want: refused("SELECT"), reply: "Retry-After: 5"},
		{name: "insert and commit", method: "POST", url: "/shelves", header: "Prefer: tx=commit", body: `{"id":9}`, status: 503, want: refused("SELECT"), reply: "Retry-After: 5"},
		{name: "update", method: "PATCH", url: "/shelves?id=eq.1", body: `{"label":"x"}`, status: 503, want: refused("SELECT")},
		{name: "delete", method: "DELETE", url: "/shelves?id=eq.1", status: 503, want: refused("SELECT")},
		{name: "function", method: "POST", url: "/rpc/remove_books", body: `{"lowest":1}`, status: 503, want: refused("DELETE"), reply: "Retry-After: 5"},
		{name: "function by get", url: "/rpc/remove_books?lowest=1", status: 405, want: refused("DELETE"), reply: "Retry-After:"},
	})
}
