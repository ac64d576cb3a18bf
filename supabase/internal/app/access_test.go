package app

import (
	"encoding/json"
	"flag"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestRESTAccess writes down what the REST API answers to every kind of caller about every table, view and function of
// the exposed schema: reading, writing, counting, embedding, calling, and sorting and filtering by each column. A table
// that comes later shows up here, whoever forgot to think of it.
func TestRESTAccess(t *testing.T) {
	info := start(t, newApp(t, dataFolder(t), nil))
	api, anon, service := info.Get("API_URL"), info.Get("ANON_KEY"), info.Get("SERVICE_ROLE_KEY")
	token := func(email string) string {
		account := fmt.Sprintf(`{"email":%q,"password":"correct horse","email_confirm":true}`, email)
		headers := []string{"apikey", service, "Authorization", "Bearer " + service, "Content-Type", "application/json"}
		if status, body := call(t, "POST", api+"/auth/v1/admin/users", account, headers...); status != 200 {
			t.Fatal(status, body)
		}
		_, body := call(t, "POST", api+"/auth/v1/token?grant_type=password", account, "apikey", anon, "Content-Type", "application/json")
		var session struct {
			Token string `json:"access_token"`
		}
		if err := json.Unmarshal([]byte(body), &session); err != nil || session.Token == "" {
			t.Fatal(err, body)
		}
		return session.Token
	}
	callers := []struct{ name, key, token string }{
		{"anon", anon, anon}, {"user A", anon, token("a@example.org")}, {"user B", anon, token("b@example.org")}, {"service", service, service},
	}
	conn, err := pgx.Connect(t.Context(), info.Get("DB_URL"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	if _, err := conn.Exec(t.Context(), `
		insert into public.reports (product_name, issue_description) values ('cream', 'rash');
		insert into public.resources (title, category, file_url, file_type, is_active) values ('hidden', 'Safety', '#', 'application/pdf', false)`); err != nil {
		t.Fatal(err)
	}
	names := func(sql string, args ...any) []string {
		rows, err := conn.Query(t.Context(), sql, args...)
		if err != nil {
			t.Fatal(err)
		}
		list, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	relations := names(`select relname::text from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r','p','v','m','f') order by 1`)
	columns := func(relation string) []string {
		return names(`select attname::text from pg_attribute where attrelid = format('public.%I', $1::text)::regclass and attnum > 0 and not attisdropped order by attnum`, relation)
	}

	var b strings.Builder
	for _, relation := range relations {
		fmt.Fprintf(&b, "%s\n", relation)
		own := columns(relation)
		for _, c := range callers {
			// try says how a request went: how many rows were shown, or the status.
			try := func(method, query, body string, headers ...string) string {
				headers = append(headers, "apikey", c.key, "Authorization", "Bearer "+c.token, "Content-Type", "application/json")
				status, text := call(t, method, api+"/rest/v1/"+query, body, headers...)
				var rows []json.RawMessage
				if status < 300 && json.Unmarshal([]byte(text), &rows) == nil {
					return fmt.Sprintf("%d rows", len(rows))
				}
				return fmt.Sprint(status)
			}
			words := []string{
				"select " + try("GET", relation, ""),
				"count " + try("GET", relation+"?select=count", "", "Prefer", "count=exact"),
				// Nothing is kept: no row has the time of the big bang, and no row can be made of nothing.
				"insert " + try("POST", relation, `{}`, "Prefer", "return=representation,tx=rollback"),
				"update " + try("PATCH", relation+"?"+own[0]+"=is.null", fmt.Sprintf(`{%q:null}`, own[0]), "Prefer", "return=representation"),
				"delete " + try("DELETE", relation+"?"+own[0]+"=is.null", "", "Prefer", "return=representation"),
			}
			for _, other := range relations {
				if got := try("GET", relation+"?select="+own[0]+","+other+"(*)", ""); got != "400" { // 400: no relationship
					words = append(words, "embed "+other+" "+got)
				}
			}
			fmt.Fprintf(&b, "    %-8s %s\n", c.name, strings.Join(words, ", "))
			byColumn := map[string][]string{}
			for _, column := range own {
				got := fmt.Sprintf("order %s, filter %s", try("GET", relation+"?select="+own[0]+"&order="+url.QueryEscape(column), ""),
					try("GET", relation+"?select="+own[0]+"&"+url.QueryEscape(column)+"=not.is.null", ""))
				byColumn[got] = append(byColumn[got], column)
			}
			for _, got := range sorted(byColumn) {
				fmt.Fprintf(&b, "             by %s: %s\n", strings.Join(byColumn[got], " "), got)
			}
		}
	}
	for _, function := range names(`select distinct proname::text from pg_proc where pronamespace = 'public'::regnamespace and prorettype <> 'trigger'::regtype order by 1`) {
		fmt.Fprintf(&b, "rpc %s\n", function)
		for _, c := range callers {
			status, _ := call(t, "POST", api+"/rest/v1/rpc/"+function, `{"resource_id":"00000000-0000-4000-8000-000000000000"}`,
				"apikey", c.key, "Authorization", "Bearer "+c.token, "Content-Type", "application/json")
			fmt.Fprintf(&b, "    %-8s %d\n", c.name, status)
		}
	}

	const golden = "testdata/rest-access.golden"
	if *update {
		if err := os.WriteFile(golden, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), b.String()); diff != "" {
		t.Errorf("%s differs; read the difference, and if it is meant: go test ./supabase/internal/app -run RESTAccess -update\n%s", golden, diff)
	}
	columnNamedAPIKey(t, conn, api, service)
}

func sorted(m map[string][]string) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
