package acceptance

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/png"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"daawo/supabase/internal/app"
	"daawo/supabase/internal/app/keyring"
	"daawo/supabase/internal/base/keys"
	"daawo/supabase/internal/database/backup/logical"
	"daawo/supabase/internal/database/server"
)

// generatedKeys returns variables with generated keys.
func generatedKeys(t *testing.T) map[string]string {
	t.Helper()
	set, err := keys.Generate(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	values, err := keyring.Environment(set)
	if err != nil {
		t.Fatal(err)
	}
	variables := map[string]string{}
	for _, v := range values {
		variables[v.Name] = v.Value
	}
	return variables
}

// content returns the number of rows and a checksum of every table with data of users. It recounts
// the waiting photos first: the hourly recount may run at any time and leaves out sums of zero.
func content(t *testing.T, url string) map[string]string {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(t.Context()))
	if _, err := conn.Exec(t.Context(), `select private.recount_waiting_photos()`); err != nil {
		t.Fatal(err)
	}
	rows, err := conn.Query(t.Context(), `
		select format('%I.%I', schemaname, tablename) from pg_tables
		where schemaname in ('public', 'private', 'edge_functions', 'auth', 'storage')
		  and tablename not like '%migrations' and tablename <> 'file_marks'`)
	if err != nil {
		t.Fatal(err)
	}
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, table := range tables {
		var sum string
		err := conn.QueryRow(t.Context(), `
			select count(*) || ' rows ' || coalesce(encode(sha256(convert_to(string_agg(t::text, e'\n' order by t::text), 'UTF8')), 'hex'), '')
			from `+table+` t`).Scan(&sum)
		if err != nil {
			t.Fatal(err)
		}
		all[table] = sum
	}
	return all
}

// traces are what one visitor and one account have stored in an installation.
type traces struct {
	email, password, refreshToken string
	photo, reference              string
	picture                       string
}

// leaveTraces creates an account, signs it in, and sends a report with a photo.
func leaveTraces(t *testing.T, info app.Info) (p traces) {
	t.Helper()
	api, anon, service := info.Get("API_URL"), info.Get("ANON_KEY"), info.Get("SERVICE_ROLE_KEY")
	p.email, p.password = "user@example.org", "correct horse battery"
	account := fmt.Sprintf(`{"email":%q,"password":%q,"email_confirm":true}`, p.email, p.password)
	if status, body := call(t, "POST", api+"/auth/v1/admin/users", account, "apikey", service); status != 200 {
		t.Fatalf("account: %d %s", status, body)
	}
	status, body := call(t, "POST", api+"/auth/v1/token?grant_type=password", account, "apikey", anon)
	p.refreshToken = refreshTokenOf(t, status, body)

	p.photo = fmt.Sprintf("%d.png", time.Now().UnixMilli())
	if status, body := call(t, "POST", api+"/storage/v1/object/report-photos/"+p.photo, picture(t), "apikey", anon,
		"Content-Type", "image/png"); status != 200 {
		t.Fatalf("photo: %d %s", status, body)
	}
	report := fmt.Sprintf(`{"product_name":"Kareem","issue_description":"Gubasho ayaan dareemay","photo_url":%q,"location":"Banaadir"}`, p.photo)
	status, body = call(t, "POST", api+"/functions/v1/submit-report", report, "apikey", anon, "Content-Type",
		"application/json")
	var reply struct{ Reference string }
	if err := json.Unmarshal([]byte(body), &reply); err != nil || status != 200 {
		t.Fatalf("report: %d %s", status, body)
	}
	p.reference = reply.Reference
	waitFor(t, "the mail about the report", func() bool {
		_, body := call(t, "GET", info.Get("MAILPIT_URL")+"/api/v1/messages", "")
		return strings.Contains(body, p.reference) && idle(t, info.Get("DB_URL"))
	})
	p.picture = openPhoto(t, info, p.photo)
	return p
}

// picture returns a PNG.
func picture(t *testing.T) string {
	t.Helper()
	var out bytes.Buffer
	if err := png.Encode(&out, image.NewGray(image.Rect(0, 0, 8, 8))); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// idle reports whether all background work is done.
func idle(t *testing.T, url string) bool {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(t.Context()))
	var left int
	if err := conn.QueryRow(t.Context(),
		`select count(*) from river.river_job where finalized_at is null and state <> 'scheduled'`).Scan(&left); err != nil {
		t.Fatal(err)
	}
	return left == 0
}

func refreshTokenOf(t *testing.T, status int, body string) string {
	t.Helper()
	var session struct {
		RefreshToken string `json:"refresh_token"`
	}
	if err := json.Unmarshal([]byte(body), &session); err != nil || status != 200 || session.RefreshToken == "" {
		t.Fatalf("session: %d %s", status, body)
	}
	return session.RefreshToken
}

// openPhoto returns a report's photo. It uses a signed link, as administrators do.
func openPhoto(t *testing.T, info app.Info, name string) string {
	t.Helper()
	api, service := info.Get("API_URL"), info.Get("SERVICE_ROLE_KEY")
	status, body := call(t, "POST", api+"/storage/v1/object/sign/report-photos/"+name, `{"expiresIn":60}`, "apikey",
		service, "Content-Type", "application/json")
	var link struct{ SignedURL string }
	if err := json.Unmarshal([]byte(body), &link); err != nil || status != 200 {
		t.Fatalf("signed link: %d %s", status, body)
	}
	status, picture := call(t, "GET", api+"/storage/v1"+link.SignedURL, "")
	if status != 200 || !strings.HasPrefix(picture, "\x89PNG") {
		t.Fatalf("photo: %d %.40q", status, picture)
	}
	return picture
}

// checkAt checks that an installation has all traces that were left in another one: the session and
// the password work with the keys of this installation, the report exists and its photo is the
// same.
func (p traces) checkAt(t *testing.T, info app.Info) {
	t.Helper()
	api, anon, service := info.Get("API_URL"), info.Get("ANON_KEY"), info.Get("SERVICE_ROLE_KEY")
	status, body := call(t, "POST", api+"/auth/v1/token?grant_type=refresh_token",
		fmt.Sprintf(`{"refresh_token":%q}`, p.refreshToken), "apikey", anon)
	var session struct {
		AccessToken string `json:"access_token"`
	}
	if err := json.Unmarshal([]byte(body), &session); err != nil || status != 200 {
		t.Errorf("refresh: %d %s", status, body)
	}
	if status, body := call(t, "GET", api+"/auth/v1/user", "", "apikey", anon, "Authorization", "Bearer "+
		session.AccessToken); status != 200 || !strings.Contains(body, p.email) {
		t.Errorf("user of the refreshed session: %d %s", status, body)
	}
	status, body = call(t, "POST", api+"/auth/v1/token?grant_type=password",
		fmt.Sprintf(`{"email":%q,"password":%q}`, p.email, p.password), "apikey", anon)
	refreshTokenOf(t, status, body)
	if status, body := call(t, "GET", api+"/rest/v1/reports?select=reference,photo_url", "", "apikey",
		service); status != 200 ||
		body != fmt.Sprintf(`[{"reference":%q,"photo_url":%q}]`, p.reference, p.photo) {
		t.Errorf("reports: %d %s", status, body)
	}
	if openPhoto(t, info, p.photo) != p.picture {
		t.Error("the photo differs")
	}
	if status, body := call(t, "GET", api+"/storage/v1/object/public/resources/how-to-read-labels.so.pdf",
		""); status != 200 || !strings.HasPrefix(body, "%PDF") {
		t.Errorf("resource: %d", status)
	}
}

// transfer exports and imports installations and collects the reported steps.
type transfer struct {
	t     *testing.T
	steps []string
}

func (x *transfer) progress(step string, done, total int64) {
	if done < 0 || done > total || total == 0 {
		x.t.Errorf("progress of %s: %d of %d", step, done, total)
	}
	if !slices.Contains(x.steps, step) {
		x.steps = append(x.steps, step)
	}
}

func (x *transfer) export(a *app.App, files string) []byte {
	x.t.Helper()
	var out bytes.Buffer
	e, err := a.Export(x.t.Context(), files,
		func() (io.WriteCloser, error) { out.Reset(); return nopCloser{&out}, nil }, x.progress)
	if err != nil {
		x.t.Fatal(err)
	}
	if e.Files < 11 || e.Tables < 20 || e.Rows == 0 {
		x.t.Errorf("exported %+v", e)
	}
	return out.Bytes()
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }

// TestExportAndImport moves all data from a running installation to one with other keys, and from
// there to one on another Postgres server with a separate folder for the files, as in the compose
// form.
func TestExportAndImport(t *testing.T) {
	x := &transfer{t: t}
	first, second := dataFolder(t), dataFolder(t)
	from := start(t, newApp(t, first, nil))
	left := leaveTraces(t, from)
	secondKeys := generatedKeys(t)
	to := start(t, newApp(t, second, secondKeys))

	whole := x.export(newApp(t, first, nil), "")
	want := content(t, from.Get("DB_URL"))
	if _, err := newApp(t, second, secondKeys).Import(t.Context(), "", logical.ImportOptions{Progress: x.progress},
		bytes.NewReader(whole)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, content(t, to.Get("DB_URL"))); diff != "" {
		t.Errorf("the imported data differ: %s", diff)
	}
	if diff := cmp.Diff([]string{"tables", "files"}, x.steps); diff != "" {
		t.Error("progress:", diff)
	}
	onward := x.export(newApp(t, second, secondKeys), "")
	left.checkAt(t, to)

	pg := otherServer(t)
	environment := map[string]string{"DATABASE_URL": pg.TCPURL(server.Superuser)}
	third := dataFolder(t)
	compose := start(t, newApp(t, third, environment))
	beside := newApp(t, dataFolder(t), environment) // knows only the database and the folder of the files
	if _, err := beside.Import(t.Context(), filepath.Join(third, "storage"), logical.ImportOptions{},
		bytes.NewReader(onward)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, content(t, pg.TCPURL(server.Superuser))); diff != "" {
		t.Errorf("the data imported to the other server differ: %s", diff)
	}
	back := x.export(beside, filepath.Join(third, "storage"))
	left.checkAt(t, compose)
	refusedImports(t, to, newApp(t, second, secondKeys), back)
}

// refusedImports checks that an import is refused over existing data and into another schema, and
// changes nothing.
func refusedImports(t *testing.T, to app.Info, a *app.App, export []byte) {
	t.Helper()
	before := content(t, to.Get("DB_URL"))
	if _, err := a.Import(t.Context(), "", logical.ImportOptions{Protected: []string{"public.reports"}},
		bytes.NewReader(export)); !errors.Is(err, logical.ErrNotEmpty) {
		t.Errorf("import over reports: %v", err)
	}
	query(t, to.Get("DB_URL"), `insert into supabase_migrations.schema_migrations (version) values ('20990101000000')`)
	_, err := a.Import(t.Context(), "", logical.ImportOptions{Replace: true}, bytes.NewReader(export))
	if !errors.Is(err, logical.ErrOtherSchema) || !strings.Contains(err.Error(), "20990101000000") {
		t.Errorf("import into a newer schema: %v", err)
	}
	if diff := cmp.Diff(before, content(t, to.Get("DB_URL"))); diff != "" {
		t.Errorf("a refused import changes data: %s", diff)
	}
}
