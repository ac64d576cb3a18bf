package app

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"daawo/supabase/edge"
	"daawo/supabase/internal/app/control"
	"daawo/supabase/internal/app/database"
)

// TestTypeScript runs the functions of testdata/typescript, each of which uses other parts of
// Supabase's runtime.
func TestTypeScript(t *testing.T) {
	t.Parallel()
	a, s := typeScriptApp(t, nil)
	s.info = start(t, a)
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(s.log)
		}
	})
	t.Run("calls", func(t *testing.T) {
		for name, test := range map[string]func(*testing.T, *typeScript){
			"replies": testReplies, "supabase-js": testSupabaseJS, "stream": testStream, "socket": testSocket,
			"variables": testVariables, "permissions": testPermissions, "authorization": testTypeScriptAuthorization,
			"request": testRequest, "background": testBackground, "broken": testBroken, "crash": testCrash,
			"reload": testReload, "grants": testGrants,
		} {
			t.Run(name, func(t *testing.T) { t.Parallel(); test(t, s) })
		}
	})
	t.Run("limits", func(t *testing.T) {
		for name, test := range map[string]func(*testing.T, *typeScript){"loop": testLoop, "leak": testLeak} {
			t.Run(name, func(t *testing.T) { t.Parallel(); test(t, s) })
		}
	})
	testTypeScriptList(t, s)
}

func testReplies(t *testing.T, s *typeScript) {
	for _, tt := range []struct{ method, path, body, want string }{
		{"POST", "hello", `{"name":"Amina"}`, `{"message":"Hello Amina!"}`},
		{"OPTIONS", "cors", "", "ok"},
		{"PUT", "cors/below", "", "PUT"},
		{"POST", "validate", `{"name":"x","age":3}`, `{"success":true}`},
		{"GET", "greets", "", "Hello jsr!"},
		{"GET", "esm", "", "42"},
		{"POST", "std-serve", "by std", "served by std"},
		{"GET", "listens/there", "", "listened to /listens/there"},
		{"GET", "static", "", `["text beside the function","text beside the function","text outside of the function"]`},
		{"GET", "mapped", "", "2"},
		{"GET", "elsewhere", "", "elsewhere"},
		{"GET", "node-server/there?a=b", "", "GET /node-server/there?a=b not written"},
		{"GET", "in-go", "", `"Go"`},
	} {
		status, body, header := s.invoke(t, tt.method, tt.path, tt.body)
		if status >= 300 || strings.TrimSpace(body) != tt.want {
			t.Errorf("%s %s: %d %s, want %s", tt.method, tt.path, status, body, tt.want)
		}
		if header.Get("Access-Control-Allow-Origin") != "*" {
			t.Errorf("%s %s: no Access-Control-Allow-Origin", tt.method, tt.path)
		}
	}
	for _, name := range []string{"validate", "in-go"} {
		checkLongBody(t, s.info, name)
	}
	if status, body, _ := s.invoke(t, "POST", "validate", `{"name":""}`); status != 400 || body != `{"success":false}` {
		t.Errorf("an invalid body: %d %s", status, body)
	}
	if status, body, header := s.invoke(t, "GET", "disabled", ""); status != 404 ||
		header.Get("Sb-Error-Code") != "NOT_FOUND" {
		t.Errorf("a disabled function: %d %s", status, body)
	}
	_, _, header := s.invoke(t, "POST", "hello", `{"name":"x"}`)
	if header.Get("X-Deno-Execution-Id") == "" || header.Get("X-Sb-Edge-Region") != "local" {
		t.Errorf("headers: %v", header)
	}
}

func testSupabaseJS(t *testing.T, s *typeScript) {
	first, owner := s.signUp(t, "first@example.org")
	second, _ := s.signUp(t, "second@example.org")
	if status, body, _ := s.invoke(t, "POST", "service", fmt.Sprintf(`{"text":"mine","owner":%q}`, owner)); status != 200 ||
		body != `{"data":{"text":"mine"},"error":null}` {
		t.Errorf("with the service key: %d %s", status, body)
	}
	for token, want := range map[string]string{
		first: `{"data":[{"text":"mine"}],"error":null}`, second: `{"data":[],"error":null}`,
	} {
		if status, body, _ := s.invoke(t, "GET", "caller", "", "Authorization", "Bearer "+token); status != 200 ||
			body != want {
			t.Errorf("with the caller's token: %d %s, want %s", status, body, want)
		}
	}
}

func testStream(t *testing.T, s *typeScript) {
	r, err := http.NewRequestWithContext(t.Context(), "GET", s.info.Get("API_URL")+"/functions/v1/streams", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+s.info.Get("ANON_KEY"))
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	part := make([]byte, 100)
	n, err := res.Body.Read(part)
	if err != nil || string(part[:n]) != "data: 1\n\n" {
		t.Errorf("the first part is %q, %v", part[:n], err)
	}
	if rest, err := io.ReadAll(res.Body); err != nil || string(rest) != "data: 2\n\ndata: 3\n\n" {
		t.Errorf("the other parts are %q, %v", rest, err)
	}
}

func testSocket(t *testing.T, s *typeScript) {
	conn, _, err := websocket.Dial(t.Context(), s.info.Get("API_URL")+"/functions/v1/socket", &websocket.DialOptions{
		HTTPHeader: http.Header{"Authorization": {"Bearer " + s.info.Get("ANON_KEY")}}})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.CloseNow()
	if err := conn.Write(t.Context(), websocket.MessageText, []byte("hello")); err != nil {
		t.Fatal(err)
	}
	if _, text, err := conn.Read(t.Context()); err != nil || string(text) != "echo hello" {
		t.Errorf("%q, %v", text, err)
	}
}

func testVariables(t *testing.T, s *typeScript) {
	_, body, _ := s.invoke(t, "GET", "secrets", "")
	var reply struct {
		Names  []string
		Values []any
	}
	if err := json.Unmarshal([]byte(body), &reply); err != nil {
		t.Fatal(body)
	}
	want := []string{"DENO_DEPLOYMENT_ID", "FROM_CONFIG", "FROM_FILE", "SB_EXECUTION_ID", "SB_REGION", "SITE_URL",
		"SUPABASE_ANON_KEY", "SUPABASE_DB_URL", "SUPABASE_JWKS", "SUPABASE_PUBLISHABLE_KEY", "SUPABASE_PUBLISHABLE_KEYS",
		"SUPABASE_SECRET_KEY", "SUPABASE_SECRET_KEYS", "SUPABASE_SERVICE_ROLE_KEY", "SUPABASE_URL", "TZ"}
	if !slices.Equal(reply.Names, want) || !slices.Equal(reply.Values, []any{"config", "file", database.FunctionsRole, true}) {
		t.Errorf("got  %v\nwant %v", reply, want)
	}
}

func testPermissions(t *testing.T, s *typeScript) {
	if _, body, _ := s.invoke(t, "GET", "permissions", ""); body != "[]" {
		t.Errorf("a function may do this: %s", body)
	}
	if _, err := os.Stat(filepath.Join(s.root, "functions", "permissions", "written.txt")); err == nil {
		t.Error("a function wrote a file")
	}
}

func testTypeScriptAuthorization(t *testing.T, s *typeScript) {
	for _, tt := range []struct {
		method, name, token string
		want                int
	}{
		{"GET", "mapped", "", 401}, {"GET", "mapped", "Bearer a.b.c", 401}, {"GET", "open", "", 200},
		{"OPTIONS", "mapped", "", 204},
	} {
		status, body, header := s.invoke(t, tt.method, tt.name, "", "Authorization", tt.token)
		if status != tt.want && (tt.method != "OPTIONS" || status >= 300) {
			t.Errorf("%s %s with %q: %d %s", tt.method, tt.name, tt.token, status, body)
		}
		if status == 401 && (header.Get("X-Relay-Error") != "true" || !strings.Contains(body, `"UNAUTHORIZED_`)) {
			t.Errorf("401: %v %s", header, body)
		}
	}
}

func testRequest(t *testing.T, s *typeScript) {
	_, body, _ := s.invoke(t, "GET", "mirror/a%20b?c=d", "")
	var seen struct {
		URL, Copy, Method, Prefix, Host, Address string
		Docker                                   int
		Main                                     bool
	}
	if err := json.Unmarshal([]byte(body), &seen); err != nil {
		t.Fatal(body)
	}
	host := strings.TrimPrefix(s.info.Get("API_URL"), "http://")
	if seen.URL != "http://"+host+"/mirror/a%20b?c=d" || seen.Copy != seen.URL || seen.Docker != 200 || !seen.Main ||
		seen.Address != "127.0.0.1" {
		t.Errorf("the function sees %+v", seen)
	}
}

func testBackground(t *testing.T, s *typeScript) {
	if _, body, _ := s.invoke(t, "POST", "background", ""); body != `{"done":0}` {
		t.Errorf("the reply waited for the background task: %s", body)
	}
	waitFor(t, "the background task", func() bool {
		_, body, _ := s.invoke(t, "GET", "background", "")
		return body == `{"done":1}`
	})
	// the end of a process waits for background tasks, too
	if _, body, _ := s.invoke(t, "POST", "background", ""); body != `{"done":1}` {
		t.Errorf("a second task: %s", body)
	}
	file := filepath.Join(s.root, "functions", "background", "index.ts")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, append(text, "\n// changed"...), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, body, _ := s.invoke(t, "GET", "background", ""); body != `{"done":0}` {
		t.Errorf("after a change: %s", body)
	}
	waitFor(t, "the event beforeunload", func() bool {
		return strings.Contains(s.log.String(), "unloaded: termination, done: ")
	})
}

func testBroken(t *testing.T, s *typeScript) {
	status, body, header := s.invoke(t, "GET", "broken", "")
	if status != 503 || !strings.Contains(body, `"BOOT_ERROR"`) || !strings.Contains(body, "missing.ts") ||
		!strings.Contains(header.Get("X-Functions-Problem"), "missing.ts") {
		t.Errorf("%d %s %v", status, body, header)
	}
	if err := os.WriteFile(filepath.Join(s.root, "functions", "broken", "missing.ts"),
		[]byte("export const missing = 'found';"), 0o644); err != nil {
		t.Fatal(err)
	}
	if status, body, _ := s.invoke(t, "GET", "broken", ""); status != 200 || body != "found" {
		t.Errorf("after the correction: %d %s", status, body)
	}
}

func testCrash(t *testing.T, s *typeScript) {
	if status, body, _ := s.invoke(t, "GET", "crash?throw", ""); status != 500 || body != "Internal Server Error" {
		t.Errorf("the handler throws: %d %s", status, body)
	}
	for range 2 { // the second call needs a new process
		status, body, header := s.invoke(t, "GET", "crash", "")
		if status != 500 || header.Get("Sb-Error-Code") != "WORKER_ERROR" ||
			!strings.Contains(body, "Function exited due to an error") {
			t.Errorf("the process ends: %d %s", status, body)
		}
	}
	if log := s.log.String(); !strings.Contains(log, "outside of the handler") ||
		!strings.Contains(log, "thrown by the handler") {
		t.Error("the errors are not in the log")
	}
}

func testReload(t *testing.T, s *typeScript) {
	dir := filepath.Join(s.root, "functions", "added")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"first", "second version"} {
		source := fmt.Sprintf("Deno.serve(() => new Response('%s'));", text)
		if err := os.WriteFile(filepath.Join(dir, "index.ts"), []byte(source), 0o644); err != nil {
			t.Fatal(err)
		}
		waitFor(t, text, func() bool {
			_, body, _ := s.invoke(t, "GET", "added", "")
			return body == text
		})
	}
}

func testLoop(t *testing.T, s *typeScript) {
	status, body, header := s.invoke(t, "POST", "loop", "")
	if status != 546 || header.Get("Sb-Error-Code") != "WORKER_LIMIT" ||
		!strings.Contains(body, "resource limit") {
		t.Errorf("an endless loop: %d %s", status, body)
	}
	if status, body, _ := s.invoke(t, "GET", "loop", ""); status != 200 || body != "no loop" {
		t.Errorf("after an endless loop: %d %s", status, body)
	}
}

func testLeak(t *testing.T, s *typeScript) {
	for _, path := range []string{"leak", "leak?buffers"} {
		if status, body, header := s.invoke(t, "POST", path, ""); status != 546 ||
			header.Get("Sb-Error-Code") != "WORKER_LIMIT" {
			t.Errorf("%s: %d %s", path, status, body)
		}
		if status, body, _ := s.invoke(t, "GET", path, ""); status != 200 || body != "no leak" {
			t.Errorf("after %s: %d %s", path, status, body)
		}
	}
}

func testTypeScriptList(t *testing.T, s *typeScript) {
	var info control.FunctionsInfo
	if err := control.Command(t.Context(), s.data, "/functions/list", &info); err != nil {
		t.Fatal(err)
	}
	languages, open := map[string]string{}, false
	for _, f := range info.Functions {
		languages[f.Name] = f.Language
		open = open || f.Name == "open" && !f.VerifyJWT
	}
	if languages["hello"] != "TypeScript" || languages["in-go"] != "" || languages["added"] != "TypeScript" || !open {
		t.Errorf("the list: %+v", info.Functions)
	}
	calls := 0
	for _, stats := range info.Stats {
		if stats.Function == "hello" {
			calls = stats.Calls
		}
	}
	if calls != 2 || info.Memory == 0 {
		t.Errorf("%d calls of hello, %d bytes", calls, info.Memory)
	}
	status, metrics := call(t, "GET", s.info.Get("API_URL")+"/metrics", "")
	if status != 200 || !strings.Contains(metrics, `daawo_function_duration_seconds_count{function="hello",status="200"} 2`) {
		t.Errorf("metrics: %d", status)
	}
}

// TestTypeScriptNotRun checks the reply without Deno, and that a name in both languages is an
// error.
func TestTypeScriptNotRun(t *testing.T) {
	t.Parallel()
	a, s := typeScriptApp(t, map[string]string{"DENO_PATH": ""})
	s.info = start(t, a)
	status, body, header := s.invoke(t, "GET", "hello", "")
	if status != 501 || header.Get("Sb-Error-Code") != "NOT_IMPLEMENTED" || !strings.Contains(body, "need Deno") {
		t.Errorf("%d %s", status, body)
	}
	b, _ := typeScriptApp(t, nil)
	b.Functions = map[string]edge.Func{"hello": functions["hello"]}
	if err := b.Start(context.Background()); err == nil ||
		!strings.Contains(err.Error(), `function "hello" exists in Go and in TypeScript`) {
		t.Errorf("a name in both languages: %v", err)
	}
}
