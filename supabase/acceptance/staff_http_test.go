package acceptance

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"daawo/functions/admin"
	"daawo/supabase/internal/app"
	"daawo/supabase/internal/database/pool"
	"daawo/supabase/stack"

	"github.com/coder/websocket"
	"github.com/jackc/pgx/v5"
)

// staffStack is a running program with the accounts and rows of staffFixture.
type staffStack struct {
	app.Info
	root *pgx.Conn // as postgres
}

func startStaffStack(t *testing.T) staffStack {
	t.Helper()
	info := start(t, newApp(t, dataFolder(t), map[string]string{"SUPABASE_REALTIME_ENABLED": "true"}))
	root, err := pool.Connect(t.Context(), info.Get("DB_URL"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = root.Close(context.Background()) })
	s := staffStack{info, root}
	s.exec(t, staffFixture)
	return s
}

func (s staffStack) exec(t *testing.T, sql string) {
	t.Helper()
	if _, err := s.root.Exec(t.Context(), sql); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

// token signs claims as auth does. The result for anon is the publishable key.
func (s staffStack) token(claims string) string {
	if claims == `{"role":"anon"}` {
		return s.Get("ANON_KEY")
	}
	claims = strings.TrimSuffix(claims, "}") + fmt.Sprintf(`,"aud":"authenticated","exp":%d}`,
		time.Now().Add(time.Hour).Unix())
	encode := base64.RawURLEncoding.EncodeToString
	signed := encode([]byte(`{"alg":"HS256","typ":"JWT"}`)) + "." + encode([]byte(claims))
	mac := hmac.New(sha256.New, []byte(s.Get("JWT_SECRET")))
	mac.Write([]byte(signed))
	return signed + "." + encode(mac.Sum(nil))
}

// staffRequests are the rows of the matrix over HTTP: functions, buckets, and samples of tables and
// functions of the database. N stands for the number of the caller.
var staffRequests = []struct{ method, path, body string }{
	{"POST", "/functions/v1/staff-invite", `{"email":"new-N@example.org","role":"editor"}`},
	{"POST", "/functions/v1/staff-invite", `{"email":"new-N@example.org","role":"king"}`},
	{"POST", "/functions/v1/staff-invite", `{"email":"Owner@example.org","role":"reviewer"}`},
	{"POST", "/functions/v1/staff-invite", `{"email":"Owner@example.org","role":"owner","link":true}`},
	{"POST", "/functions/v1/staff-invite", `{"email":"unknown@example.org","role":"owner","link":true}`},
	{"POST", "/functions/v1/system", `{"operation":"version"}`},
	{"POST", "/functions/v1/system", `{"operation":"function-logs"}`},
	{"POST", "/functions/v1/system", `{"operation":"drop"}`},
	{"POST", "/functions/v1/prune", `{}`},
	{"POST", "/functions/v1/weekly-digest", `{}`},
	{"GET", "/rest/v1/reports?select=id", ""},
	{"GET", "/rest/v1/reports", ""},
	{"GET", "/rest/v1/reports?select=search_text", ""},
	{"GET", "/rest/v1/reports?select=id&name=like.A*", ""},
	{"GET", "/rest/v1/reports?select=id&order=phone", ""},
	{"PATCH", "/rest/v1/reports?select=id&reference=eq.DW-0000-0001", `{"status":"new"}`},
	{"DELETE", "/rest/v1/reports?reference=eq.DW-0000-0000", ""},
	{"GET", "/rest/v1/report_notes?select=id,author", ""},
	{"GET", "/rest/v1/report_notes?select=body", ""},
	{"POST", "/rest/v1/report_notes?select=id", `{"report_id":"20000000-0000-4000-8000-000000000001","body":"called"}`},
	{"GET", "/rest/v1/resources?select=id,reports(id)", ""},
	{"GET", "/rest/v1/resources?is_active=is.false", ""},
	{"PATCH", "/rest/v1/resources?select=id&is_active=is.false", `{"category":"Use"}`},
	{"DELETE", "/rest/v1/resources?select=id&id=eq.00000000-0000-4000-8000-000000000000", ""},
	{"GET", "/rest/v1/staff_trail?select=id&limit=1", ""},
	{"DELETE", "/rest/v1/staff_trail?id=gt.0", ""},
	{"POST", "/rest/v1/rpc/my_staff_access", `{}`},
	{"POST", "/rest/v1/rpc/list_reports", `{}`},
	{"POST", "/rest/v1/rpc/list_reports", `{"filter":{"search":"amina"}}`},
	{"POST", "/rest/v1/rpc/count_reports", `{}`},
	{"POST", "/rest/v1/rpc/forward_report", `{"name":"DW-0000-0001"}`},
	{"POST", "/rest/v1/rpc/export_reports", `{}`},
	{"POST", "/rest/v1/rpc/delete_report", `{"name":"DW-0000-0000","reason":"asked for"}`},
	{"POST", "/rest/v1/rpc/move_resource", `{"resource":"30000000-0000-4000-8000-000000000001","up":true}`},
	{"POST", "/rest/v1/rpc/report_figures", `{}`},
	{"POST", "/rest/v1/rpc/download_figures", `{}`},
	{"POST", "/rest/v1/rpc/staff_members", `{}`},
	{"POST", "/rest/v1/rpc/set_staff_role", `{"member":"00000000-0000-4000-8000-000000000000","role":"owner"}`},
	{"POST", "/rest/v1/rpc/end_staff_sessions", `{"member":"00000000-0000-4000-8000-000000000000"}`},
	{"POST", "/rest/v1/rpc/remove_staff_factors", `{"member":"00000000-0000-4000-8000-000000000000"}`},
	{"POST", "/rest/v1/rpc/trail_invitation", `{"address":"new@example.org","role":"editor"}`},
	{"POST", "/rest/v1/rpc/trail_operation", `{"name":"backup"}`},
	{"POST", "/rest/v1/rpc/system_state", `{}`},
	{"POST", "/rest/v1/rpc/retry_job", `{"job":0}`},
	{"POST", "/rest/v1/rpc/write_trail", `{}`},
	{"POST", "/rest/v1/rpc/current_staff_role", `{}`},
	{"GET", "/storage/v1/bucket", ""},
	{"POST", "/storage/v1/bucket", `{"name":"mine","public":true}`},
	{"PUT", "/storage/v1/bucket/report-photos", `{"public":true}`},
	{"DELETE", "/storage/v1/bucket/report-photos", ""},
	{"POST", "/storage/v1/object/list/report-photos", `{"prefix":""}`},
	{"POST", "/storage/v1/object/sign/report-photos/1700000000000.jpg", `{"expiresIn":60}`},
	{"GET", "/storage/v1/object/authenticated/report-photos/1700000000000.jpg", ""},
	{"GET", "/storage/v1/object/public/report-photos/1700000000000.jpg", ""},
	{"DELETE", "/storage/v1/object/report-photos/1700000000000.jpg", ""},
	{"POST", "/storage/v1/object/move",
		`{"bucketId":"report-photos","sourceKey":"1700000000000.jpg","destinationKey":"1700000000009.jpg"}`},
	{"POST", "/storage/v1/object/copy",
		`{"bucketId":"report-photos","sourceKey":"1700000000000.jpg","destinationBucket":"resources","destinationKey":"N.jpg"}`},
	// From here on the readers of the report have opened it.
	{"POST", "/rest/v1/rpc/read_report", `{"name":"DW-0000-0001"}`},
	{"POST", "/storage/v1/object/list/report-photos", `{"prefix":""}`},
	{"POST", "/storage/v1/object/sign/report-photos/1700000000000.jpg", `{"expiresIn":60}`},
	{"POST", "/storage/v1/object/sign/report-photos", `{"expiresIn":60,"paths":["1700000000000.jpg"]}`},
	{"GET", "/storage/v1/object/public/report-photos/1700000000000.jpg", ""},
	{"DELETE", "/storage/v1/object/report-photos/1700000000000.jpg", ""},
	{"POST", "/storage/v1/object/move",
		`{"bucketId":"report-photos","sourceKey":"1700000000000.jpg","destinationBucket":"resources","destinationKey":"N.jpg"}`},
	{"POST", "/storage/v1/object/list/resources", `{"prefix":""}`},
	{"POST", "/storage/v1/object/resources/N.pdf", "%PDF-1.7"},
	{"PUT", "/storage/v1/object/resources/N.pdf", "%PDF-1.7"},
	{"DELETE", "/storage/v1/object/resources/N.pdf", ""},
	{"POST", "/storage/v1/object/resources/N.html", "<script>alert(1)</script>"},
	{"POST", "/storage/v1/object/resources/N.svg", "<svg/>"},
	{"POST", "/storage/v1/upload/resumable", "resources/N.pdf"},
	{"POST", "/storage/v1/upload/resumable", "report-photos/N.pdf"},
	{"GET", "/auth/v1/admin/users", ""},
	{"POST", "/auth/v1/invite", `{"email":"new-N@example.org"}`},
	{"POST", "/auth/v1/signup", `{"email":"new-N@example.org","password":"seven goats cross the river"}`},
	{"GET", "/auth/v1/user", ""},
	{"PUT", "/auth/v1/user", `{"app_metadata":{"staff_role":"owner"}}`},
	{"PUT", "/auth/v1/user", `{"password":"elevenchars"}`},
}

// TestStaffAccessOverHTTP compares the status and the number of rows that every kind of caller gets
// from the endpoints and buckets of the desk with a reviewed file, and checks what Realtime sends
// them.
func TestStaffAccessOverHTTP(t *testing.T) {
	s := startStaffStack(t)
	var b strings.Builder
	for _, c := range staffCallers {
		fmt.Fprintf(&b, "%-18s", c.name)
	}
	b.WriteByte('\n')
	for _, r := range staffRequests {
		fmt.Fprintf(&b, "%s %s %s\n", r.method, r.path, r.body)
		for i, c := range staffCallers {
			fill := strings.NewReplacer("/N.", fmt.Sprintf("/%d.", i), `"N.`, fmt.Sprintf(`"%d.`, i), "-N@",
				fmt.Sprintf("-%d@", i))
			headers := append(staffHeaders(r.path, fill.Replace(r.body)), "apikey", s.Get("PUBLISHABLE_KEY"),
				"Authorization", "Bearer "+s.token(c.claims))
			body := fill.Replace(r.body)
			if strings.HasSuffix(r.path, "/resumable") {
				body = "" // the body of the row names the object
			}
			status, reply := call(t, r.method, s.Get("API_URL")+fill.Replace(r.path), body, headers...)
			rows := rowsOf(reply)
			if strings.Contains(r.body, "function-logs") && rows != "" {
				rows = "lines" // scheduled functions write some too
			}
			fmt.Fprintf(&b, "%-18s", strings.TrimSpace(fmt.Sprint(status, " ", rows)))
		}
		b.WriteByte('\n')
	}
	compareGolden(t, "testdata/staff-endpoints.golden", b.String())
	t.Run("Realtime", s.checkRealtime)
	t.Run("command line", s.checkCommandLine)
}

// staffHeaders returns the headers that a request of the matrix needs besides key and token.
func staffHeaders(path, body string) []string {
	kinds := map[string]string{".pdf": "application/pdf", ".html": "text/html", ".svg": "image/svg+xml"}
	if kind, ok := kinds[filepath.Ext(path)]; ok {
		return []string{"Content-Type", kind}
	}
	if !strings.HasSuffix(path, "/resumable") {
		// so that the reply counts the rows
		return []string{"Content-Type", "application/json", "Prefer", "return=representation"}
	}
	encode := base64.StdEncoding.EncodeToString
	bucket, name, _ := strings.Cut(body, "/")
	return []string{"Tus-Resumable", "1.0.0", "Upload-Length", "8", "Upload-Metadata",
		"bucketName " + encode([]byte(bucket)) + ",objectName " + encode([]byte(name)) + ",contentType " +
			encode([]byte("application/pdf"))}
}

// rowsOf returns how many rows a reply of JSON has, such as "2 rows", or "" if it is no list.
func rowsOf(reply string) string {
	var rows []json.RawMessage
	if json.Unmarshal([]byte(reply), &rows) != nil {
		return ""
	}
	return fmt.Sprintf("%d rows", len(rows))
}

// join opens a socket as a caller, which joins a channel. The result returns the messages until the
// next one with the word end in it.
func (s staffStack) join(t *testing.T, token, topic string, private bool) func(end string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	conn, _, err := websocket.Dial(ctx, s.Get("API_URL")+"/realtime/v1/websocket?vsn=2.0.0&apikey="+
		s.Get("PUBLISHABLE_KEY"), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.CloseNow() })
	join := fmt.Sprintf(`["1","1","realtime:%s","phx_join",{"access_token":"%s","config":{"private":%t,`+
		`"broadcast":{"replication_ready":true}}}]`, topic, token, private)
	if err := conn.Write(ctx, websocket.MessageText, []byte(join)); err != nil {
		t.Fatal(err)
	}
	return func(end string) string {
		t.Helper()
		var all strings.Builder
		for {
			_, text, err := conn.Read(ctx)
			if err != nil {
				t.Fatalf("waiting for %s after %s: %v", end, all.String(), err)
			}
			all.Write(text)
			if strings.Contains(string(text), end) {
				return all.String()
			}
		}
	}
}

// checkRealtime checks that only reviewers and owners hear that reports change, that they hear no
// content, and that a removed member and an ended session hear nothing from then on, although their
// tokens are valid.
func (s staffStack) checkRealtime(t *testing.T) {
	hears := map[string]bool{"reviewer": true, "owner": true}
	readers := map[string]func(string) string{}
	for _, c := range staffCallers {
		if got := s.join(t, s.token(c.claims), "reports", false)("phx_reply"); !strings.Contains(got, "PrivateOnly") {
			t.Errorf("%s joins the public channel: %s", c.name, got)
		}
		read := s.join(t, s.token(c.claims), "reports", true)
		if got := read("phx_reply"); strings.Contains(got, `"status":"ok"`) != hears[c.name] {
			t.Errorf("%s joins the private channel: %s", c.name, got)
		}
		if hears[c.name] {
			read("Replication connection established")
			readers[c.name] = read
		}
	}
	for _, sql := range []string{
		`insert into reports (reference, product_name, issue_description, name, phone, where_bought, location, batch_number, reviewer_notes)
		values ('DW-0000-0009', 'cream', 'secret1', 'secret2', 'secret3', 'secret4', 'secret5', 'secret6', 'secret7')`,
		`update reports set status = 'reviewing', reviewer_notes = 'secret8' where reference = 'DW-0000-0009'`,
	} {
		s.exec(t, sql)
		for name, read := range readers {
			got := read(`"changed"`)
			for _, secret := range []string{"secret", "DW-0000-0009", "cream", "record"} {
				if strings.Contains(got, secret) {
					t.Errorf("%s hears %q: %s", name, secret, got)
				}
			}
		}
	}
	s.exec(t, `update auth.users set raw_app_meta_data = '{}' where email = 'reviewer@example.org';
		delete from auth.sessions where id = '10000000-0000-4000-8000-000000000004'`)
	for _, read := range readers {
		read("phx_close")
	}
}

// checkCommandLine checks that the operator's commands do what the desk does, and leave rows in the
// same trail.
func (s staffStack) checkCommandLine(t *testing.T) {
	var last int
	if err := s.root.QueryRow(t.Context(),
		`select coalesce(max(id), 0)::int from staff_trail`).Scan(&last); err != nil {
		t.Fatal(err)
	}
	c, err := admin.Open(t.Context(), stack.Installation{
		Database: s.Get("DB_URL"), API: s.Get("API_URL"), Public: s.Get("API_URL"), Key: s.Get("SERVICE_ROLE_KEY"),
		Admin: "https://desk.example.org",
	})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(context.WithoutCancel(t.Context()))
	ctx := t.Context()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	link, err := c.InviteLink(ctx, "cli@example.org", "reviewer")
	must(err)
	if !strings.HasPrefix(link, "https://desk.example.org/#/welcome?token_hash=") {
		t.Error(link)
	}
	s.exec(t, `update auth.users set email_confirmed_at = now() where email = 'cli@example.org'`)
	if mailed, err := c.Invite(ctx, "cli@example.org", "reviewer"); err != nil || mailed {
		t.Errorf("an existing account: mailed %v, %v", mailed, err)
	}
	if _, err := c.Invite(ctx, "cli@example.org", "editor"); err == nil || !strings.Contains(err.Error(), "staff role") {
		t.Errorf("an invitation of a member with another role: %v", err)
	}
	if mailed, err := c.Invite(ctx, "cli-new@example.org", "editor"); err != nil || !mailed {
		t.Errorf("a new account: mailed %v, %v", mailed, err)
	}
	m, err := c.Member(ctx, "CLI@example.org")
	must(err)
	if m.Role != "reviewer" {
		t.Errorf("%+v", m)
	}
	must(c.SetRole(ctx, m.ID, ""))
	if _, err := c.Member(ctx, "cli@example.org"); err == nil {
		t.Error("a removed member is listed")
	}
	if _, err := c.InviteLink(ctx, "cli@example.org", "king"); err == nil {
		t.Error("an unknown role is accepted")
	}
	report, err := c.Report(ctx, "DW-0000-0002")
	must(err)
	must(c.TrailRead(ctx, report))
	status := "closed"
	_, err = c.SetReport(ctx, report.Reference, &status, nil)
	must(err)
	_, err = c.WholeReports(ctx, admin.Filter{Limit: 2})
	must(err)
	_, err = c.DeleteReport(ctx, report.Reference, "asked for")
	must(err)
	must(c.PublishResource(ctx, "30000000-0000-4000-8000-000000000002", true))
	var got string
	must(s.root.QueryRow(ctx,
		`select string_agg(case when actor_name like 'command line%' and actor is null then '' else actor_name || ' ' end
		|| action || ' ' || subject || ' ' || coalesce(subject_name, '-') || ' ' || detail, e'\n' order by id) from staff_trail where id > $1`, last).Scan(&got))
	want := strings.Join([]string{
		`invite staff cli@example.org {"role": "reviewer"}`,
		`role staff cli@example.org {"to": "reviewer"}`,
		`invite staff cli@example.org {"role": "reviewer"}`,
		`invite staff cli-new@example.org {"role": "editor"}`,
		`role staff cli-new@example.org {"to": "editor"}`,
		`remove staff cli@example.org {"from": "reviewer"}`,
		`read report DW-0000-0002 {}`,
		`change report DW-0000-0002 {"status": ["new", "closed"]}`,
		`export report - {"reports": 2}`,
		`delete report DW-0000-0002 {"reason": "asked for", "status": "closed"}`,
		`change resource hidden {"is_active": true}`,
	}, "\n")
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
