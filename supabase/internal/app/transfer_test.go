package app

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

	"daawo/supabase/internal/backup"
	"daawo/supabase/internal/keys"
	"daawo/supabase/internal/postgres"
)

// keysOfItsOwn are the variables of an installation whose keys nobody else has.
func keysOfItsOwn(t *testing.T) map[string]string {
	t.Helper()
	set, err := keys.Generate(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return variablesOf(t, set)
}

// content is the count and the sum of every table that holds what people have made.
func content(t *testing.T, url string) map[string]string {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(t.Context()))
	rows, err := conn.Query(t.Context(), `
		select format('%I.%I', schemaname, tablename) from pg_tables
		where schemaname in ('public', 'private', 'auth', 'storage') and tablename not like '%migrations'`)
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

// inhabitant is what one visitor and one account have left in an installation.
type inhabitant struct {
	email, password, refreshToken string
	photo, reference              string
	picture                       string
}

// inhabit makes an account that is signed in, and a report with a photo, over HTTP as their owners would.
func inhabit(t *testing.T, info Info) (p inhabitant) {
	t.Helper()
	api, anon, service := info.Get("API_URL"), info.Get("ANON_KEY"), info.Get("SERVICE_ROLE_KEY")
	p.email, p.password = "somebody@example.org", "correct horse battery"
	account := fmt.Sprintf(`{"email":%q,"password":%q,"email_confirm":true}`, p.email, p.password)
	if status, body := call(t, "POST", api+"/auth/v1/admin/users", account, "apikey", service); status != 200 {
		t.Fatalf("account: %d %s", status, body)
	}
	status, body := call(t, "POST", api+"/auth/v1/token?grant_type=password", account, "apikey", anon)
	p.refreshToken = refreshTokenOf(t, status, body)

	p.photo = fmt.Sprintf("%d.png", time.Now().UnixMilli())
	if status, body := call(t, "POST", api+"/storage/v1/object/report-photos/"+p.photo, picture(t), "apikey", anon, "Content-Type", "image/png"); status != 200 {
		t.Fatalf("photo: %d %s", status, body)
	}
	report := fmt.Sprintf(`{"product_name":"Kareem","issue_description":"Gubasho ayaan dareemay","photo_url":%q,"location":"Banaadir"}`, p.photo)
	status, body = call(t, "POST", api+"/functions/v1/submit-report", report, "apikey", anon, "Content-Type", "application/json")
	var reply struct{ Reference string }
	if err := json.Unmarshal([]byte(body), &reply); err != nil || status != 200 {
		t.Fatalf("report: %d %s", status, body)
	}
	p.reference = reply.Reference
	// The photo is replaced once more, when its metadata has been taken out.
	waitFor(t, "the clean photo", func() bool {
		_, body := call(t, "GET", info.Get("MAILPIT_URL")+"/api/v1/messages", "")
		return strings.Contains(body, p.reference) && idle(t, info.Get("DB_URL"))
	})
	p.picture = openPhoto(t, info, p.photo)
	return p
}

// picture is a PNG.
func picture(t *testing.T) string {
	t.Helper()
	var out bytes.Buffer
	if err := png.Encode(&out, image.NewGray(image.Rect(0, 0, 8, 8))); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// idle says whether all background work is done.
func idle(t *testing.T, url string) bool {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(t.Context()))
	var left int
	if err := conn.QueryRow(t.Context(), `select count(*) from river.river_job where finalized_at is null and state <> 'scheduled'`).Scan(&left); err != nil {
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

// openPhoto opens a report's photo as an administrator does: by a signed link.
func openPhoto(t *testing.T, info Info, name string) string {
	t.Helper()
	api, service := info.Get("API_URL"), info.Get("SERVICE_ROLE_KEY")
	status, body := call(t, "POST", api+"/storage/v1/object/sign/report-photos/"+name, `{"expiresIn":60}`, "apikey", service, "Content-Type", "application/json")
	var link struct{ SignedURL string }
	if err := json.Unmarshal([]byte(body), &link); err != nil || status != 200 {
		t.Fatalf("signed link: %d %s", status, body)
	}
	status, picture := call(t, "GET", api+"/storage/v1"+link.SignedURL, "")
	if status != 200 || !strings.HasPrefix(picture, "\xff\xd8") { // cleaned: a JPEG
		t.Fatalf("photo: %d %.40q", status, picture)
	}
	return picture
}

// at checks over HTTP that an installation has what the inhabitant left in another one: the session refreshes with the
// keys of this installation, the password opens, the report is there and its photo is the same to the byte.
func (p inhabitant) at(t *testing.T, info Info) {
	t.Helper()
	api, anon, service := info.Get("API_URL"), info.Get("ANON_KEY"), info.Get("SERVICE_ROLE_KEY")
	status, body := call(t, "POST", api+"/auth/v1/token?grant_type=refresh_token", fmt.Sprintf(`{"refresh_token":%q}`, p.refreshToken), "apikey", anon)
	var session struct {
		AccessToken string `json:"access_token"`
	}
	if err := json.Unmarshal([]byte(body), &session); err != nil || status != 200 {
		t.Errorf("refresh: %d %s", status, body)
	}
	if status, body := call(t, "GET", api+"/auth/v1/user", "", "apikey", anon, "Authorization", "Bearer "+session.AccessToken); status != 200 || !strings.Contains(body, p.email) {
		t.Errorf("user of the refreshed session: %d %s", status, body)
	}
	status, body = call(t, "POST", api+"/auth/v1/token?grant_type=password", fmt.Sprintf(`{"email":%q,"password":%q}`, p.email, p.password), "apikey", anon)
	refreshTokenOf(t, status, body)
	if status, body := call(t, "GET", api+"/rest/v1/reports?select=reference,photo_url", "", "apikey", service); status != 200 ||
		body != fmt.Sprintf(`[{"reference":%q,"photo_url":%q}]`, p.reference, p.photo) {
		t.Errorf("reports: %d %s", status, body)
	}
	if openPhoto(t, info, p.photo) != p.picture {
		t.Error("the photo is another one")
	}
	if status, body := call(t, "GET", api+"/storage/v1/object/public/resources/how-to-read-labels.so.pdf", ""); status != 200 || !strings.HasPrefix(body, "%PDF") {
		t.Errorf("resource: %d", status)
	}
}

// TestExportAndImportBetweenStacks moves everything from one running stack to another one with other keys, and on to one
// on a Postgres that somebody else runs, with a folder of its own for the files, as in the compose form.
func TestExportAndImportBetweenStacks(t *testing.T) {
	first, second := dataFolder(t), dataFolder(t)
	from := start(t, newApp(t, first, nil))
	who := inhabit(t, from)
	secondKeys := keysOfItsOwn(t)
	to := start(t, newApp(t, second, secondKeys))

	var steps []string
	progress := func(step string, done, total int64) {
		if done < 0 || done > total || total == 0 {
			t.Errorf("progress of %s: %d of %d", step, done, total)
		}
		if !slices.Contains(steps, step) {
			steps = append(steps, step)
		}
	}
	export := func(a *App, files string) []byte {
		t.Helper()
		var out bytes.Buffer
		e, err := a.Export(t.Context(), files, func() (io.WriteCloser, error) { out.Reset(); return unclosed{&out}, nil }, progress)
		if err != nil {
			t.Fatal(err)
		}
		if e.Files < 11 || e.Tables < 20 || e.Rows == 0 {
			t.Errorf("exported %+v", e)
		}
		return out.Bytes()
	}
	whole := export(newApp(t, first, nil), "")
	want := content(t, from.Get("DB_URL"))
	if _, err := newApp(t, second, secondKeys).Import(t.Context(), "", backup.ImportOptions{Progress: progress}, bytes.NewReader(whole)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, content(t, to.Get("DB_URL"))); diff != "" {
		t.Errorf("what came in differs: %s", diff)
	}
	if diff := cmp.Diff([]string{"tables", "files"}, steps); diff != "" {
		t.Error("progress:", diff)
	}
	onward := export(newApp(t, second, secondKeys), "")
	who.at(t, to)

	server := serverOfSomebodyElse(t)
	environment := map[string]string{"DATABASE_URL": server.TCPURL(postgres.Superuser)}
	third := dataFolder(t)
	third3 := start(t, newApp(t, third, environment))
	beside := newApp(t, dataFolder(t), environment) // knows the database and the folder of the files alone
	if _, err := beside.Import(t.Context(), filepath.Join(third, "storage"), backup.ImportOptions{}, bytes.NewReader(onward)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, content(t, server.TCPURL(postgres.Superuser))); diff != "" {
		t.Errorf("what came into the other form differs: %s", diff)
	}
	back := export(beside, filepath.Join(third, "storage"))
	who.at(t, third3)

	// A release with another schema refuses, and a stack with content asks first; nothing changes.
	before := content(t, to.Get("DB_URL"))
	if _, err := newApp(t, second, secondKeys).Import(t.Context(), "", backup.ImportOptions{}, bytes.NewReader(back)); !errors.Is(err, backup.ErrNotEmpty) {
		t.Errorf("over reports, without leave: %v", err)
	}
	conn, err := pgx.Connect(t.Context(), to.Get("DB_URL"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(t.Context()))
	if _, err := conn.Exec(t.Context(), `insert into supabase_migrations.schema_migrations (version) values ('20990101000000')`); err != nil {
		t.Fatal(err)
	}
	_, err = newApp(t, second, secondKeys).Import(t.Context(), "", backup.ImportOptions{Replace: true}, bytes.NewReader(back))
	if !errors.Is(err, backup.ErrOtherSchema) || !strings.Contains(err.Error(), "20990101000000") {
		t.Errorf("into a newer schema: %v", err)
	}
	if diff := cmp.Diff(before, content(t, to.Get("DB_URL"))); diff != "" {
		t.Errorf("a refused import has changed something: %s", diff)
	}
}

// unclosed is a buffer as a file.
type unclosed struct{ io.Writer }

func (unclosed) Close() error { return nil }

// serverOfSomebodyElse is a Postgres that no stack has started.
func serverOfSomebodyElse(t *testing.T) *postgres.Server {
	t.Helper()
	source, err := postgres.FindPackage(".")
	if err != nil {
		t.Fatal(err)
	}
	server, err := postgres.Start(t.Context(), postgres.Options{Source: source, Data: filepath.Join(dataFolder(t), "pg"), Volatile: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Stop(context.WithoutCancel(t.Context())) })
	if err := server.SetPasswords(t.Context(), map[string]string{postgres.Superuser: "pass"}); err != nil {
		t.Fatal(err)
	}
	return server
}
