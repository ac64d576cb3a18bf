package rest_test

import (
	"encoding/json"
	"testing"

	"daawo/supabase/internal/database/testdb"
	"daawo/supabase/internal/engine/rest"
)

func TestErrors(t *testing.T) {
	b := open(t, nil)
	raise := func(name, code, message, detail string, status int, want string) scenario {
		body, _ := json.Marshal(map[string]string{"code": code, "message": message, "detail": detail})
		return scenario{name: name, method: "POST", url: "/rpc/fail", body: string(body), status: status, want: want}
	}
	b.run(t, []scenario{
		raise("raise", "P0001", "no", "because", 400,
			`{"code":"P0001","message":"no","details":"because","hint":null}`),
		raise("status in the code", "PT404", "gone", "", 404, ""),
		raise("triggered action", "09000", "x", "", 500, ""),
		raise("class 53", "53000", "x", "", 503, ""),
		raise("invalid authorization", "28000", "x", "", 403, ""),
		raise("cardinality", "21000", "x", "", 500, ""),
		raise("internal", "XX000", "x", "", 500, ""),
		raise("configuration limit", "53400", "x", "", 500, ""),
		raise("undefined function", "42883", "x", "", 404, ""),
		raise("undefined table", "42P01", "x", "", 404, ""),
		raise("recursion", "42P17", "x", "", 500, ""),
		raise("anything else", "22000", "x", "", 400, ""),
		raise("complete reply", "PGRST", `{"code":"MINE","message":"m","details":"d","hint":"h"}`,
			`{"status":333,"headers":{"X-Mine":"1"}}`, 333,
			`{"code":"MINE","message":"m","details":"d","hint":"h"}`),
		raise("invalid message", "PGRST", `nonsense`, `{"status":333,"headers":{}}`, 500,
			`{"code":"PGRST121","message":"Could not parse JSON in the \"RAISE SQLSTATE 'PGRST'\" error",
			"details":"Invalid JSON value for MESSAGE: 'nonsense'","hint":"MESSAGE must be a JSON object with obligatory keys: 'code', 'message' and optional keys: 'details', 'hint'."}`),
		raise("missing detail", "PGRST", `{"code":"MINE","message":"m"}`, "", 500,
			`{"code":"PGRST121","message":"Could not parse JSON in the \"RAISE SQLSTATE 'PGRST'\" error",
			"details":"DETAIL is missing in the RAISE statement","hint":"DETAIL must be a JSON object with obligatory keys: 'status', 'headers' and optional key: 'status_text'."}`),
		{name: "method", method: "TRACE", url: "/shelves", status: 405,
			want: `{"code":"PGRST117","message":"Unsupported HTTP method: TRACE","details":null,"hint":null}`},
		{name: "media type", url: "/shelves", header: "Accept: image/png", status: 406,
			reply: "Proxy-Status: PostgREST; error=PGRST107",
			want:  `{"code":"PGRST107","message":"None of these media types are available: image/png","details":null,"hint":null}`},
	})
	minimal := openOn(t, b.db, func(c *rest.Config) { c.MinimalErrors = true })
	minimal.run(t, []scenario{{name: "minimal", url: "/author", status: 404,
		want: `{"code":"PGRST205","message":"Could not find the table 'api.author' in the schema cache"}`}})
}

// TestReadOnlyServer checks the replies while the database is read-only, as on a standby: reads
// succeed, writes get 503 with Retry-After, and a GET that would write gets 405.
func TestReadOnlyServer(t *testing.T) {
	database := testdb.New(t)
	database.Exec(library)
	database.ExecAs("supabase_admin", `alter database "`+database.Name+`" set default_transaction_read_only = on`)
	b := openOn(t, database, nil)
	refused := func(statement string) string {
		return `{"code":"25006","message":"cannot execute ` + statement +
			` in a read-only transaction","details":null,"hint":null}`
	}
	b.run(t, []scenario{
		{name: "read", url: "/shelves?select=id&limit=1", status: 200},
		{name: "insert", method: "POST", url: "/shelves", body: `{"id":9}`, status: 503, want: refused("SELECT"),
			reply: "Retry-After: 5"},
		{name: "insert and commit", method: "POST", url: "/shelves", header: "Prefer: tx=commit", body: `{"id":9}`,
			status: 503, want: refused("SELECT"), reply: "Retry-After: 5"},
		{name: "update", method: "PATCH", url: "/shelves?id=eq.1", body: `{"label":"x"}`, status: 503,
			want: refused("SELECT")},
		{name: "delete", method: "DELETE", url: "/shelves?id=eq.1", status: 503, want: refused("SELECT")},
		{name: "function", method: "POST", url: "/rpc/remove_books", body: `{"lowest":1}`, status: 503,
			want: refused("DELETE"), reply: "Retry-After: 5"},
		{name: "function by get", url: "/rpc/remove_books?lowest=1", status: 405, want: refused("DELETE"),
			reply: "Retry-After:"},
	})
}
