package app

import (
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"
)

// testColumnNamedAPIKey checks filters by a column that has the name of the parameter for keys. A
// filter selects its rows only, and a filter without a key is rejected.
func testColumnNamedAPIKey(t *testing.T, _ *App, info Info) {
	api, key := info.Get("API_URL"), info.Get("SERVICE_ROLE_KEY")
	conn, err := pgx.Connect(t.Context(), info.Get("DB_URL"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	if _, err := conn.Exec(t.Context(), `
		create table public.integrations (apikey text);
		grant all on public.integrations to service_role;
		insert into public.integrations values ('abc'), ('def'), ('ghi');
		notify pgrst, 'reload schema'`); err != nil {
		t.Fatal(err)
	}
	const table = "/rest/v1/integrations"
	waitFor(t, "the new table", func() bool {
		status, _ := call(t, "GET", api+table, "", "apikey", key)
		return status == 200
	})
	for _, tt := range []struct {
		what, method, target, header string
		status                       int
		left                         string
	}{
		{"a filter and a key", "GET", table + "?apikey=eq.abc", key, 200, "abc def ghi"},
		{"a filter without a key", "DELETE", table + "?apikey=eq.abc", "", 401, "abc def ghi"},
		{"a filter and a wrong key", "DELETE", table + "?apikey=wrong&apikey=eq.abc", "", 401, "abc def ghi"},
		{"key in the header", "DELETE", table + "?apikey=eq.abc", key, 204, "def ghi"},
		{"key in the query", "DELETE", table + "?apikey=eq.def&apikey=" + key, "", 204, "ghi"},
	} {
		var headers []string
		if tt.header != "" {
			headers = []string{"apikey", tt.header}
		}
		status, body := call(t, tt.method, api+tt.target, "", headers...)
		var left string
		if err := conn.QueryRow(t.Context(),
			`select coalesce(string_agg(apikey, ' ' order by apikey), '') from public.integrations`).Scan(&left); err != nil {
			t.Fatal(err)
		}
		if got, want := fmt.Sprint(status, " ", left), fmt.Sprint(tt.status, " ", tt.left); got != want {
			t.Errorf("%s: %s, want %s; %s", tt.what, got, want, body)
		}
		if tt.method == "GET" && body != `[{"apikey":"abc"}]` {
			t.Errorf("%s: %s", tt.what, body)
		}
	}
}
