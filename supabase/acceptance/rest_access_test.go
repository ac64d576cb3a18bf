package acceptance

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"daawo/supabase/internal/app"

	"github.com/jackc/pgx/v5"
)

// restAccess tries the REST API as one kind of caller.
type restAccess struct {
	t    *testing.T
	api  string
	conn *pgx.Conn

	name, key, token string // of the caller
}

// TestRESTAccess compares the replies of the REST API to each kind of caller with a reviewed file,
// for every table, view and function of the exposed schema: reads, writes, counts, embeds, calls,
// and ordering and filtering by each column. A new table fails the test until its access is
// reviewed.
func TestRESTAccess(t *testing.T) {
	info := start(t, newApp(t, dataFolder(t), nil))
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
	a := &restAccess{t: t, api: info.Get("API_URL"), conn: conn}
	anon, service := info.Get("ANON_KEY"), info.Get("SERVICE_ROLE_KEY")
	var callers []*restAccess
	for _, c := range []struct{ name, key, token string }{
		{"anon", anon, anon}, {"user A", anon, newUser(t, info, "a@example.org")},
		{"user B", anon, newUser(t, info, "b@example.org")}, {"service", service, service},
	} {
		callers = append(callers, &restAccess{t, a.api, conn, c.name, c.key, c.token})
	}

	var b strings.Builder
	relations := a.names(`select relname::text from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r','p','v','m','f') order by 1`)
	for _, relation := range relations {
		fmt.Fprintf(&b, "%s\n", relation)
		for _, c := range callers {
			c.describeRelation(&b, relation, relations)
		}
	}
	for _, function := range a.names(`select distinct proname::text from pg_proc where pronamespace = 'public'::regnamespace and prorettype <> 'trigger'::regtype order by 1`) {
		fmt.Fprintf(&b, "rpc %s\n", function)
		for _, c := range callers {
			status, _ := c.request("POST", "rpc/"+function, `{"resource_id":"00000000-0000-4000-8000-000000000000"}`)
			fmt.Fprintf(&b, "    %-8s %d\n", c.name, status)
		}
	}
	compareGolden(t, "testdata/rest-access.golden", b.String())
}

// newUser creates an account and returns an access token of it.
func newUser(t *testing.T, info app.Info, email string) (token string) {
	t.Helper()
	api, service := info.Get("API_URL"), info.Get("SERVICE_ROLE_KEY")
	account := fmt.Sprintf(`{"email":%q,"password":"correct horse","email_confirm":true}`, email)
	headers := []string{"apikey", service, "Authorization", "Bearer " + service, "Content-Type", "application/json"}
	if status, body := call(t, "POST", api+"/auth/v1/admin/users", account, headers...); status != 200 {
		t.Fatal(status, body)
	}
	_, body := call(t, "POST", api+"/auth/v1/token?grant_type=password", account, "apikey", info.Get("ANON_KEY"),
		"Content-Type", "application/json")
	var session struct {
		Token string `json:"access_token"`
	}
	if err := json.Unmarshal([]byte(body), &session); err != nil || session.Token == "" {
		t.Fatal(err, body)
	}
	return session.Token
}

// names returns the one column of a query.
func (a *restAccess) names(sql string, args ...any) []string {
	a.t.Helper()
	rows, err := a.conn.Query(a.t.Context(), sql, args...)
	if err != nil {
		a.t.Fatal(err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		a.t.Fatal(err)
	}
	return list
}

func (a *restAccess) request(method, target, body string, headers ...string) (int, string) {
	a.t.Helper()
	headers = append(headers, "apikey", a.key, "Authorization", "Bearer "+a.token, "Content-Type", "application/json")
	return call(a.t, method, a.api+"/rest/v1/"+target, body, headers...)
}

// try returns the result of a request: the number of rows in the reply, or its status.
func (a *restAccess) try(method, target, body string, headers ...string) string {
	a.t.Helper()
	status, text := a.request(method, target, body, headers...)
	var rows []json.RawMessage
	if status < 300 && json.Unmarshal([]byte(text), &rows) == nil {
		return fmt.Sprintf("%d rows", len(rows))
	}
	return fmt.Sprint(status)
}

// describeRelation writes what the caller can do with a relation.
func (a *restAccess) describeRelation(b *strings.Builder, relation string, relations []string) {
	a.t.Helper()
	columns := a.names(`select attname::text from pg_attribute where attrelid = format('public.%I', $1::text)::regclass and attnum > 0 and not attisdropped order by attnum`, relation)
	first := columns[0]
	words := []string{
		"select " + a.try("GET", relation, ""),
		"count " + a.try("GET", relation+"?select=count", "", "Prefer", "count=exact"),
		// The writes change nothing: the insert is rolled back, and no row has null in its first
		// column.
		"insert " + a.try("POST", relation, `{}`, "Prefer", "return=representation,tx=rollback"),
		"update " + a.try("PATCH", relation+"?"+first+"=is.null", fmt.Sprintf(`{%q:null}`, first), "Prefer",
			"return=representation"),
		"delete " + a.try("DELETE", relation+"?"+first+"=is.null", "", "Prefer", "return=representation"),
	}
	for _, other := range relations {
		if got := a.try("GET", relation+"?select="+first+","+other+"(*)", ""); got != "400" { // 400: no relationship
			words = append(words, "embed "+other+" "+got)
		}
	}
	fmt.Fprintf(b, "    %-8s %s\n", a.name, strings.Join(words, ", "))
	byResult := map[string][]string{}
	var results []string
	for _, column := range columns {
		got := fmt.Sprintf("order %s, filter %s",
			a.try("GET", relation+"?select="+first+"&order="+url.QueryEscape(column), ""),
			a.try("GET", relation+"?select="+first+"&"+url.QueryEscape(column)+"=not.is.null", ""))
		if byResult[got] == nil {
			results = append(results, got)
		}
		byResult[got] = append(byResult[got], column)
	}
	slices.Sort(results)
	for _, got := range results {
		fmt.Fprintf(b, "             by %s: %s\n", strings.Join(byResult[got], " "), got)
	}
}
