package app

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/aes"
	"crypto/cipher"
	"crypto/md5"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"go.uber.org/goleak"

	"daawo/supabase/internal/app/studio"
	"daawo/supabase/internal/parts"
)

func TestMain(m *testing.M) {
	serveStudioStandIn()
	goleak.VerifyTestMain(m,
		// http.DefaultClient keeps idle connections.
		goleak.IgnoreTopFunction("net/http.(*persistConn).readLoop"),
		goleak.IgnoreTopFunction("net/http.(*persistConn).writeLoop"),
		goleak.IgnoreTopFunction("internal/poll.runtime_pollWait"))
}

// studioStandIn makes the test's program the stand-in for Studio, which prints its variables and
// the functions that it finds.
const studioStandIn = "APP_STUDIO_STAND_IN"

// serveStudioStandIn does so and does not return, if the variable is set.
func serveStudioStandIn() {
	if os.Getenv(studioStandIn) == "" {
		return
	}
	http.HandleFunc("/api/platform/profile", func(http.ResponseWriter, *http.Request) {})
	http.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		files, _ := filepath.Glob(filepath.Join(os.Getenv("EDGE_FUNCTIONS_MANAGEMENT_FOLDER"), "*", "index*"))
		fmt.Fprintln(w, strings.Join(append(os.Environ(), files...), "\n"))
	})
	panic(http.ListenAndServe(net.JoinHostPort(os.Getenv("HOSTNAME"), os.Getenv("PORT")), nil))
}

// addStudio returns a store with the stand-in.
func addStudio(t *testing.T) *parts.Store {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	// The user of Postgres runs Studio, and may be unable to enter the folder of the program.
	text, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	var archive bytes.Buffer
	z, _ := gzip.NewWriterLevel(&archive, gzip.NoCompression) // the level is valid
	w := tar.NewWriter(z)
	launcher := "#!/bin/sh\n" + studioStandIn + "=1 exec \"$(dirname \"$0\")/program\"\n"
	for name, content := range map[string]string{"bin/studio": launcher, "bin/program": string(text)} {
		h := &tar.Header{Name: name, Typeflag: tar.TypeReg, Mode: 0o755, Size: int64(len(content))}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(content)); err != nil {
			t.Fatal(err)
		}
	}
	dir := filepath.Dir(dataFolder(t))
	file := filepath.Join(dir, "studio.tar.gz")
	if err := errors.Join(w.Close(), z.Close(), os.WriteFile(file, archive.Bytes(), 0o600)); err != nil {
		t.Fatal(err)
	}
	store := &parts.Store{Dir: filepath.Join(dir, "parts"), Lock: filepath.Join(dir, "parts.lock")}
	if _, err := store.Add(t.Context(), studio.Part, parts.File(file)); err != nil {
		t.Fatal(err)
	}
	return store
}

// TestStudio checks an added Studio with the whole stack: its address, its variables, the project's
// functions, and the page at /, which names it.
func TestStudio(t *testing.T) {
	a := newApp(t, dataFolder(t), nil)
	a.Site, a.Added, a.Config.Studio.Enabled = nil, addStudio(t), true
	files := projectFolder(t)
	a.Project = os.DirFS(files)
	info := start(t, a)
	address := info.Get("STUDIO_URL")
	status, text := call(t, "GET", address, "")
	if status != http.StatusOK {
		t.Fatalf("Studio: %d %s", status, text)
	}
	for _, want := range []string{
		"STUDIO_PG_META_URL=" + info.Get("API_URL") + "/pg", "SUPABASE_SERVICE_KEY=" + info.Get("SERVICE_ROLE_KEY"),
		"POSTGRES_USER_READ_WRITE=postgres", "POSTGRES_PASSWORD=postgres", "/functions/hello/index.go",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("Studio has no %s in\n%s", want, text)
		}
	}
	if status, _ := call(t, "POST", address, "", "Origin", "https://evil.example"); status != http.StatusForbidden {
		t.Errorf("a request of another site: %d", status)
	}
	if status, text := call(t, "GET", info.Get("API_URL")+"/rest/v1/notes?text=eq.first", "", "apikey",
		info.Get("ANON_KEY")); status != http.StatusOK {
		t.Fatalf("notes: %d %s", status, text)
	}
	variable := func(name string) string { return variableIn(text, name) }
	status, rows := call(t, "GET", variable("LOGFLARE_URL")+"/api/endpoints/query/logs.all?sql="+url.QueryEscape(
		`select request.path, request.search, response.status_code from edge_logs cross join unnest(metadata) as m
		cross join unnest(m.request) as request cross join unnest(m.response) as response
		where starts_with(request.path, '/rest/')`), "", "X-Api-Key", variable("LOGFLARE_PRIVATE_ACCESS_TOKEN"))
	if want := `[{"path":"/rest/v1/notes","search":null,"status_code":200}]`; status != http.StatusOK ||
		!strings.Contains(rows, want) {
		t.Errorf("logs: %d %s, want %s", status, rows, want)
	}
	checkOtherLogs(t, info, variable)
	checkLaterFunction(t, files, address)
	database := strings.Replace(info.Get("DB_URL"), "//postgres:", "//"+variable("POSTGRES_USER_READ_ONLY")+":", 1)
	status, reply := call(t, "POST", variable("STUDIO_PG_META_URL")+"/query", `{"query": "select current_user::text"}`,
		"apikey", variable("SUPABASE_SERVICE_KEY"), "Content-Type", "application/json", "X-Connection-Encrypted",
		encrypted(t, database, variable("PG_META_CRYPTO_KEY")))
	if want := `[{"current_user":"supabase_read_only_user"}]`; status != http.StatusOK || !strings.Contains(reply, want) {
		t.Errorf("meta as Studio asks it: %d %s, want %s", status, reply, want)
	}
	conn, err := pgx.Connect(t.Context(), database)
	if err != nil {
		t.Fatal("the role of read_only=true cannot sign in: ", err)
	}
	defer conn.Close(t.Context())
	var notes int
	if err := conn.QueryRow(t.Context(), `select count(*) from public.notes`).Scan(&notes); err != nil || notes != 2 {
		t.Errorf("%d notes, %v", notes, err)
	}
	if _, err := conn.Exec(t.Context(), `delete from public.notes`); err == nil {
		t.Error("the role of read_only=true deleted rows")
	}
	status, page := call(t, "GET", info.Get("SITE_URL"), "", "Accept", "text/html")
	for _, want := range []string{address, info.Get("SECRET_KEY"), "/functions/v1/hello", "the newest is todos"} {
		if status != http.StatusOK || !strings.Contains(page, want) {
			t.Errorf("the page at /: %d, no %s in\n%s", status, want, page)
		}
	}
}

// variableIn returns the value of a variable that the stand-in has printed.
func variableIn(text, name string) string {
	_, rest, _ := strings.Cut(text, "\n"+name+"=")
	value, _, _ := strings.Cut(rest, "\n")
	return value
}

// projectFolder returns a folder with the files of the project.
func projectFolder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, project); err != nil {
		t.Fatal(err)
	}
	return dir
}

// checkOtherLogs checks the logs that the store of the requests does not hold. variable returns a
// variable of Studio.
func checkOtherLogs(t *testing.T, info Info, variable func(string) string) {
	t.Helper()
	logs := func(table string) string {
		_, rows := call(t, "GET", variable("LOGFLARE_URL")+"/api/endpoints/query/logs.all?sql="+url.QueryEscape(
			`select event_message, metadata from `+table), "", "X-Api-Key", variable("LOGFLARE_PRIVATE_ACCESS_TOKEN"))
		return rows
	}
	if status, text := call(t, "GET", info.Get("API_URL")+"/functions/v1/hello", "", "Authorization",
		"Bearer "+info.Get("ANON_KEY")); status != http.StatusOK {
		t.Fatalf("hello: %d %s", status, text)
	}
	if rows := logs("function_logs"); !strings.Contains(rows, `"function_id":"hello","level":"info"`) {
		t.Errorf("the log of the functions: %s", rows)
	}
	if status, text := call(t, "POST", info.Get("API_URL")+"/auth/v1/signup",
		`{"email": "audit@example.org", "password": "a long password"}`, "apikey", info.Get("ANON_KEY"), "Content-Type",
		"application/json"); status != http.StatusOK {
		t.Fatalf("sign-up: %d %s", status, text)
	}
	if rows := logs("auth_audit_logs"); !strings.Contains(rows, `"action":"user_signedup"`) {
		t.Errorf("the audit log: %s", rows)
	}
}

// checkLaterFunction checks that Studio shows a function that was added to the project's folder
// while the server runs.
func checkLaterFunction(t *testing.T, files, address string) {
	t.Helper()
	late := filepath.Join(files, "functions", "late", "index.ts")
	if err := errors.Join(os.MkdirAll(filepath.Dir(late), 0o700), os.WriteFile(late, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	if _, text := call(t, "GET", address+"/api/v1/projects/default/functions", ""); !strings.Contains(text,
		"/functions/late/index.ts") {
		t.Errorf("no later function in\n%s", text)
	}
}

// encrypted encrypts a text as CryptoJS does with a passphrase: AES-256-CBC in OpenSSL's salted
// form, whose key and vector are MD5 sums of the passphrase and the salt.
func encrypted(t *testing.T, text, passphrase string) string {
	t.Helper()
	salt := []byte("12345678")
	var derived, last []byte
	for len(derived) < 48 {
		sum := md5.Sum(append(append(last, passphrase...), salt...))
		last = sum[:]
		derived = append(derived, last...)
	}
	block, err := aes.NewCipher(derived[:32])
	if err != nil {
		t.Fatal(err)
	}
	pad := aes.BlockSize - len(text)%aes.BlockSize
	plain := append([]byte(text), bytes.Repeat([]byte{byte(pad)}, pad)...)
	cipher.NewCBCEncrypter(block, derived[32:48]).CryptBlocks(plain, plain)
	return base64.StdEncoding.EncodeToString(append(append([]byte("Salted__"), salt...), plain...))
}
