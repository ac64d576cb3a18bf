package acceptance

import (
	"bufio"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"daawo/supabase/internal/app"
)

// forged returns a token with any header and payload, signed with HS256 and the secret.
func forged(header, payload, secret string) string {
	encode := base64.RawURLEncoding.EncodeToString
	signed := encode([]byte(header)) + "." + encode([]byte(payload))
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(signed))
	return signed + "." + encode(mac.Sum(nil))
}

// Data of a report that is stored before the attacks. No reply may contain it.
const plantedText, plantedPhone = "planted-report-text-7f3a", "+252615550199"

// leaks match what no reply may contain: SQL, paths of the machine, traces, addresses of the
// database, planted data.
var leaks = []*regexp.Regexp{
	regexp.MustCompile(`(?i)\b(select|insert into|update|delete from)\b .*\b(from|values|set|where)\b`),
	regexp.MustCompile(`goroutine \d+|\.go:\d+|panic:`),
	regexp.MustCompile(`(/home|/root|/tmp|/var|/usr|/work)/[a-z]`),
	regexp.MustCompile(`postgres(ql)?://|pgx|pgconn|SASL`),
	regexp.MustCompile(regexp.QuoteMeta(plantedText)),
	regexp.MustCompile(regexp.QuoteMeta(plantedPhone)),
}

// harmless checks that a reply leaks nothing and does not redirect to the attacker.
func harmless(t *testing.T, what string, info app.Info, status int, header http.Header, body string) {
	t.Helper()
	var all strings.Builder
	_ = header.Write(&all) // a strings.Builder takes everything
	all.WriteString(body)
	text := all.String()
	for _, leak := range leaks {
		if found := leak.FindString(text); found != "" {
			t.Errorf("%s: %d leaks %q:\n%s", what, status, found, text)
		}
	}
	for _, name := range []string{"JWT_SECRET", "SERVICE_ROLE_KEY", "SECRET_KEY"} {
		if strings.Contains(text, info.Get(name)) {
			t.Errorf("%s: %d leaks %s", what, status, name)
		}
	}
	// 22023 is the reply of storage-api to a valid token of an unknown role, which only the owner
	// of the secret can make.
	refused := status == http.StatusNotImplemented || status == http.StatusHTTPVersionNotSupported // by net/http
	if status >= 500 && !refused && !strings.Contains(body, "22023") {
		t.Errorf("%s: %d %s", what, status, body)
	}
	if location := header.Get("Location"); location != "" {
		u, err := url.Parse(location)
		if err != nil || strings.Contains(u.Host, "evil") || strings.HasPrefix(location, "//") ||
			strings.Contains(location, `\`) {
			t.Errorf("%s: redirects to %q", what, location)
		}
	}
	if header.Get("X-Injected") != "" {
		t.Errorf("%s: a header was injected", what)
	}
}

// TestAttacks checks the replies to a table of attacks on the public port.
func TestAttacks(t *testing.T) {
	data := dataFolder(t)
	info := start(t, newApp(t, data, nil))
	api, anon, secret := info.Get("API_URL"), info.Get("ANON_KEY"), info.Get("JWT_SECRET")
	report := fmt.Sprintf(`{"product_name":"Cream","issue_description":%q,"phone":%q}`, plantedText, plantedPhone)
	if status, body := call(t, "POST", api+"/functions/v1/submit-report", report, "apikey", anon, "Content-Type",
		"application/json"); status != 200 {
		t.Fatal(status, body)
	}
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	send := func(t *testing.T, method, target, body string, headers ...string) (int, string) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, api, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		if r.URL, err = url.Parse(api + target); err != nil {
			path, query, _ := strings.Cut(target, "?") // a path that url.Parse rejects is sent unchanged
			r.URL, _ = url.Parse(api)
			r.URL.Opaque, r.URL.RawQuery = path, query
		}
		for i := 0; i < len(headers); i += 2 {
			if headers[i] == "Host" {
				r.Host = headers[i+1]
			}
			r.Header.Set(headers[i], headers[i+1])
		}
		res, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		text, err := io.ReadAll(io.LimitReader(res.Body, 1<<20))
		if err != nil {
			t.Fatal(err)
		}
		harmless(t, method+" "+target, info, res.StatusCode, res.Header, string(text))
		return res.StatusCode, string(text)
	}

	t.Run("tokens", func(t *testing.T) { attackTokens(t, send, anon, secret) })
	t.Run("storage names", func(t *testing.T) { attackNames(t, send, anon, data) })
	t.Run("paths and redirects", func(t *testing.T) { attackPaths(t, send) })
	t.Run("rest", func(t *testing.T) { attackREST(t, send, anon) })
	t.Run("smuggling", func(t *testing.T) { attackFraming(t, info, anon) })
}

type sender func(t *testing.T, method, target, body string, headers ...string) (int, string)

func attackTokens(t *testing.T, send sender, anon, secret string) {
	const hs = `{"alg":"HS256","typ":"JWT"}`
	soon := time.Now().Add(time.Hour).Unix()
	role := func(r string) string { return fmt.Sprintf(`{"role":%q,"exp":%d}`, r, soon) }
	service := role("service_role")
	tokens := map[string]string{
		"alg none":        forged(`{"alg":"none"}`, service, ""),
		"empty signature": strings.Join(strings.SplitAfterN(forged(`{"alg":"none"}`, service, ""), ".", 3)[:2], ""),
		"alg in capitals": forged(`{"alg":"NONE"}`, service, ""),
		"empty secret":    forged(hs, service, ""),
		"another secret":  forged(hs, service, "secret"),
		"expired":         forged(hs, `{"role":"service_role","exp":1}`, secret),
		"not yet": forged(hs, fmt.Sprintf(`{"role":"service_role","nbf":%d,"exp":%d}`, soon, soon+9),
			secret),
		"database superuser":  forged(hs, role("supabase_admin"), secret),
		"database owner":      forged(hs, role("postgres"), secret),
		"login role":          forged(hs, role("authenticator"), secret),
		"role with SQL":       forged(hs, role(`anon"; drop table reports; --`), secret),
		"role is an array":    forged(hs, fmt.Sprintf(`{"role":["service_role"],"exp":%d}`, soon), secret),
		"key id as a path":    forged(`{"alg":"HS256","kid":"../../../../dev/null"}`, service, ""),
		"key by address":      forged(`{"alg":"RS256","jku":"http://evil.example.org/jwks"}`, service, "x"),
		"key inside":          forged(`{"alg":"HS256","jwk":{"kty":"oct","k":"eA"}}`, service, "x"),
		"critical extension":  forged(`{"alg":"HS256","crit":["b64"],"b64":false}`, service, "x"),
		"two dots":            "..",
		"not base64":          "a.b.c",
		"huge":                strings.Repeat("a", 20<<10) + ".b.c",
		"payload is an array": forged(hs, `["service_role"]`, secret),
		"deep JSON":           forged(hs, strings.Repeat(`{"a":`, 5000)+"1"+strings.Repeat("}", 5000), "x"),
		"anon, tampered":      anon[:len(anon)-2] + "AA",
	}
	for name, token := range tokens {
		t.Run(name, func(t *testing.T) {
			for _, target := range []string{
				"/rest/v1/reports?select=*", "/auth/v1/user", "/auth/v1/admin/users",
				"/storage/v1/object/report-photos/1.jpg",
			} {
				status, body := send(t, "GET", target, "", "apikey", anon, "Authorization", "Bearer "+token)
				// GoTrue's other admin role
				if status < 400 && !(name == "database superuser" && target == "/auth/v1/admin/users") {
					t.Errorf("%s is readable: %d %s", target, status, body)
				}
			}
			if status, body := send(t, "POST", "/storage/v1/object/list/report-photos", `{"prefix":""}`, "apikey", anon,
				"Authorization", "Bearer "+token, "Content-Type", "application/json"); status < 400 && body != "[]" {
				t.Errorf("photos are listed: %d %s", status, body)
			}
			for _, target := range []string{"/rest/v1/", "/pg/tables"} {
				if status, body := send(t, "GET", target, "", "apikey", token); status < 400 {
					t.Errorf("as an API key it opens %s: %d %s", target, status, body)
				}
			}
		})
	}
}

func attackNames(t *testing.T, send sender, anon, data string) {
	before := listFiles(t, filepath.Dir(data))
	for _, name := range []string{
		"../../../../etc/cron.d/x", "..%2f..%2f..%2fx", "%2e%2e/%2e%2e/x", "....//x", `..\..\x`,
		"1700000000000.png/../../x", "/etc/passwd", "a%00b.png", "%0d%0aX-Injected:1", "1700000000000.png%20",
		"-1700000000000.png", "1700000000000.png;x", "17000000000000.png", "CON", "\u202e1700000000000.png",
		strings.Repeat("a", 3000), "", "?", "#", "x/y.png",
	} {
		headers := []string{"apikey", anon, "Authorization", "Bearer " + anon, "Content-Type", "image/png"}
		for _, bucket := range []string{"report-photos", "resources", "..", "no-such-bucket"} {
			if status, body := send(t, "POST", "/storage/v1/object/"+bucket+"/"+name, onePixel,
				headers...); status < 400 {
				t.Errorf("%q is stored in %s: %d %s", name, bucket, status, body)
			}
		}
	}
	// An allowed name with a forbidden content type.
	for mime, content := range map[string]string{"image/svg+xml": "<svg onload=alert(1)>",
		"text/html": "<script>alert(1)</script>", "application/pdf": "%PDF"} {
		if status, body := send(t, "POST", "/storage/v1/object/report-photos/1700000000001.png", content, "apikey",
			anon, "Content-Type", mime); status < 400 {
			t.Errorf("%s is stored: %d %s", mime, status, body)
		}
	}
	if after := listFiles(t, filepath.Dir(data)); !slices.Equal(before, after) {
		t.Errorf("files were written: %v", after)
	}
}

// listFiles returns the names of the files below a folder, without Postgres' files.
func listFiles(t *testing.T, dir string) []string {
	var names []string
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() && !strings.Contains(path, "/postgres/") {
			names = append(names, path)
		}
		return nil // a file may be removed during the walk
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func attackPaths(t *testing.T, send sender) {
	for _, target := range []string{
		"//evil.example.org/", "//evil.example.org/learn", `/\evil.example.org`, "/learn//evil.example.org",
		"/so//evil.example.org/..", "/%2f%2fevil.example.org", "/https://evil.example.org",
		"/learn?next=//evil.example.org", "/so?//evil.example.org", "/about%0d%0aX-Injected:1", "/so/%0aX-Injected:1",
		"/..%2f..%2fetc/passwd", "/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/assets/../../keys.json",
		"/.git/config", "/.env", "/keys.json", "/.daawo/keys.json", "/index.html%00.js",
		"/auth/v1/verify?token=x&type=signup&redirect_to=https://evil.example.org",
		"/auth/v1/verify?token=x&type=signup&redirect_to=%0d%0aX-Injected:1",
		"/auth/v1/verify?token=x&type=recovery&redirect_to=//evil.example.org",
		"/auth/v1/verify?token=x&type=recovery&redirect_to=javascript:alert(1)",
		"/auth/v1/authorize?provider=google&redirect_to=https://evil.example.org",
		"/auth/v1/authorize?provider=%0d%0aX-Injected:1", "/auth/v1/callback?error=x&error_description=%3Cscript%3E",
		"/auth/v1/callback?state=x&code=y", "/auth/v1/logout?scope=global", "/metrics/../rest/v1/reports",
		"/functions/v1/../../rest/v1/reports", "/functions/v1/_internal/health",
		"/functions/v1/%2e%2e/_internal/health", "/functions/v1//submit-report", "/functions/v1/no-such",
		"/storage/v1/object/sign/report-photos/1.jpg?token=x", "/storage/v1/object/public/report-photos/1.jpg",
		"/storage/v1/s3/report-photos", "/storage/v1/render/image/public/resources/x.png?width=100000&height=100000",
	} {
		for _, host := range []string{"", "evil.example.org", "evil.example.org:80@localhost", "localhost\"><script>"} {
			headers := []string{"X-Forwarded-Host", "evil.example.org", "X-Forwarded-Proto", "https", "X-Original-URL",
				"/rest/v1/reports", "Referer", "https://evil.example.org/", "Forwarded", "host=evil.example.org"}
			if host == "evil.example.org" { // Go's client rejects the others; attackFraming sends them
				headers = append(headers, "Host", host)
			}
			_, body := send(t, "GET", target, "", headers...)
			if strings.Contains(body, "evil.example.org") && strings.Contains(body, "href") {
				t.Errorf("%s: the page links to the attacker", target)
			}
		}
	}
}

func attackREST(t *testing.T, send sender, anon string) {
	for _, query := range []string{
		"reports?select=*", "reports?select=issue_description&limit=1", "rpc/track_download", "reports?select=count()",
		"resources?select=*,reports(*)", "resources?order=(table%20reports)",
		"resources?id=eq.1);drop%20table%20reports;--", "resources?select=title,x:reports!inner(*)",
		"resources?title=like.%25'%20or%201=1--", "resources?or=(is_active.eq.false,id.neq.0)",
		"resources?select=download_count.sum(),title", "resources?select=title::int", "resources?limit=-1",
		"resources?offset=9999999999999999999", "resources?select=" + strings.Repeat("title,", 500) + "title",
		"resources?and=(" +
			strings.Repeat("and(", 3000) + "id.eq.1" + strings.Repeat(")", 3000) + ")",
		"pg_user", "auth.users", "users", "objects", "secrets", "river_job", "../auth/v1/admin/users",
		"rpc/pg_read_file?filename=/etc/passwd",
	} {
		for _, headers := range [][]string{{}, {"Accept-Profile", "auth"}, {"Accept-Profile", "private"},
			{"Accept-Profile", "river"}, {"Accept", "application/vnd.pgrst.plan+json"},
			{"Prefer", "tx=commit,count=exact,return=representation"}, {"Range", "0-99999999999"}} {
			_, body := send(t, "GET", "/rest/v1/"+query, "", append(headers, "apikey", anon)...)
			var rows []map[string]any
			if json.Unmarshal([]byte(body), &rows) == nil {
				for _, row := range rows {
					if active, ok := row["is_active"].(bool); ok && !active {
						t.Errorf("%s shows a hidden row: %v", query, row)
					}
				}
			}
		}
		for _, method := range []string{"POST", "PATCH", "DELETE", "PUT"} {
			if status, body := send(t, method, "/rest/v1/"+query,
				`{"status":"closed","is_active":false,"download_count":9}`, "apikey", anon, "Content-Type",
				"application/json", "Prefer", "return=representation,missing=default"); status < 400 && body != "[]" &&
				body != "" {
				t.Errorf("%s %s: %d %s", method, query, status, body)
			}
		}
	}
}

// attackFraming sends requests that no client library sends. The server must reject each or answer
// one request, never two.
func attackFraming(t *testing.T, info app.Info, anon string) {
	address := strings.TrimPrefix(info.Get("API_URL"), "http://")
	hidden := "GET /rest/v1/reports HTTP/1.1\r\nHost: x\r\napikey: " + info.Get("SERVICE_ROLE_KEY") + "\r\n\r\n"
	for name, raw := range map[string]string{
		"length and chunks": "POST /rest/v1/resources HTTP/1.1\r\nHost: x\r\napikey: " + anon +
			"\r\nContent-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nX",
		"two lengths":           "POST /rest/v1/resources HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nContent-Length: 44\r\n\r\n" + hidden,
		"negative length":       "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
		"space before colon":    "GET / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding : chunked\r\n\r\n",
		"chunked in disguise":   "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: xchunked\r\n\r\n",
		"folded header":         "GET / HTTP/1.1\r\nHost: x\r\nX-A: b\r\n c\r\n\r\n",
		"no host":               "GET / HTTP/1.1\r\n\r\n",
		"two hosts":             "GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n",
		"host with a script":    "GET /site.json HTTP/1.1\r\nHost: x\"><script>alert(1)</script>\r\n\r\n",
		"host with a user":      "GET /site.json HTTP/1.1\r\nHost: evil.example.org:80@x\r\n\r\n",
		"absolute form":         "GET http://evil.example.org/learn HTTP/1.1\r\nHost: x\r\n\r\n",
		"bare line feed":        "GET / HTTP/1.1\nHost: x\nX-Injected: 1\n\n",
		"carriage return alone": "GET / HTTP/1.1\r\nHost: x\r\nX-A: b\rX-Injected: 1\r\n\r\n",
		"header with NUL":       "GET / HTTP/1.1\r\nHost: x\r\nX-A: \x00\r\n\r\n",
		"HTTP/0.9":              "GET /\r\n\r\n",
		"HTTP/9.9":              "GET / HTTP/9.9\r\nHost: x\r\n\r\n",
		"CONNECT":               "CONNECT 127.0.0.1:5432 HTTP/1.1\r\nHost: 127.0.0.1:5432\r\n\r\n",
		"TRACE":                 "TRACE /rest/v1/ HTTP/1.1\r\nHost: x\r\napikey: " + anon + "\r\n\r\n",
		"method with SQL":       "SELECT /rest/v1/reports HTTP/1.1\r\nHost: x\r\napikey: " + anon + "\r\n\r\n",
		"asterisk":              "OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n",
		"asterisk for GET":      "GET * HTTP/1.1\r\nHost: x\r\n\r\n",
		"headers too long":      "GET / HTTP/1.1\r\nHost: x\r\nX-A: " + strings.Repeat("a", 64<<10) + "\r\n\r\n",
		"upgrade to HTTP/2":     "GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA\r\n\r\n",
		"hop-by-hop": "GET /rest/v1/reports HTTP/1.1\r\nHost: x\r\napikey: " + anon +
			"\r\nConnection: apikey, Authorization\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			conn, err := net.Dial("tcp", address)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			_ = conn.SetDeadline(time.Now().Add(2 * time.Second))
			if _, err := io.WriteString(conn, raw); err != nil {
				return // rejected before it was sent
			}
			_ = conn.(*net.TCPConn).CloseWrite()
			in := bufio.NewReader(conn)
			for n := 0; ; n++ {
				res, err := http.ReadResponse(in, nil)
				if err != nil {
					return // closed, or not HTTP: no further reply
				}
				body, _ := io.ReadAll(res.Body)
				res.Body.Close()
				harmless(t, name, info, max(res.StatusCode, 0), res.Header, string(body))
				if n > 0 && res.StatusCode < 400 {
					t.Errorf("a second, hidden request was answered with %d: %s", res.StatusCode, body)
				}
				if strings.Contains(string(body), "evil.example.org") ||
					strings.Contains(string(body), "<script>alert") {
					t.Errorf("the reply repeats the request: %s", body)
				}
			}
		})
	}
}
