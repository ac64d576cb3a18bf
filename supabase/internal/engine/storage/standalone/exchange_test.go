package standalone

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/minio/minio-go/v7/pkg/signer"

	"daawo/supabase/internal/base/keys"
	"daawo/supabase/internal/database/pool"
	"daawo/supabase/internal/database/testdb"
	"daawo/supabase/internal/engine/storage/objects"
)

// exchange is one server over the database and the folder that both servers share.
type exchange struct {
	t    *testing.T
	base string // without a slash at the end
	key  string // service_role
}

// answer is a reply whose body was read.
type answer struct {
	status int
	header http.Header
	body   string
}

// field returns a string of a JSON body.
func (a answer) field(name string) string {
	var out map[string]any
	_ = json.Unmarshal([]byte(a.body), &out) // another body has no such field
	text, _ := out[name].(string)
	return text
}

// between returns the text of the body between two marks.
func (a answer) between(from, to string) string {
	_, rest, _ := strings.Cut(a.body, from)
	out, _, _ := strings.Cut(rest, to)
	return out
}

// request makes a request with the service_role key. path may be a whole URL.
func (x exchange) request(method, path, body string, headers ...string) *http.Request {
	x.t.Helper()
	if !strings.HasPrefix(path, "http") {
		path = x.base + path
	}
	r, err := http.NewRequestWithContext(x.t.Context(), method, path, strings.NewReader(body))
	if err != nil {
		x.t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+x.key)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	return r
}

func (x exchange) send(r *http.Request) answer {
	x.t.Helper()
	res, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(r)
	if err != nil {
		x.t.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil {
		x.t.Fatal(err)
	}
	return answer{res.StatusCode, res.Header, string(body)}
}

// must sends a request that succeeds.
func (x exchange) must(method, path, body string, headers ...string) answer {
	x.t.Helper()
	a := x.send(x.request(method, path, body, headers...))
	if a.status >= 300 {
		x.t.Fatalf("%s %s: %d %s", method, path, a.status, a.body)
	}
	return a
}

// want sends a request and compares its status and the beginning of its body.
func (x exchange) want(name string, status int, body, method, path, content string, headers ...string) answer {
	x.t.Helper()
	a := x.send(x.request(method, path, content, headers...))
	if a.status != status || !strings.HasPrefix(a.body, body) {
		x.t.Errorf("%s: %s %s: %d %s, want %d %s", name, method, path, a.status, a.body, status, body)
	}
	return a
}

// s3 sends a request of the S3 protocol that succeeds.
func (x exchange) s3(method, path, body string, headers ...string) answer {
	x.t.Helper()
	r := x.request(method, "/s3"+path, body, headers...)
	r.Header.Del("Authorization")
	r.Header.Set("X-Amz-Content-Sha256", "UNSIGNED-PAYLOAD")
	a := x.send(signer.SignV4(*r, "access", "secret-of-the-test", "", "local"))
	if a.status >= 300 {
		x.t.Fatalf("S3 %s %s: %d %s", method, path, a.status, a.body)
	}
	return a
}

// tus sends a request of the protocol of resumable uploads.
func (x exchange) tus(method, path, body string, headers ...string) answer {
	x.t.Helper()
	if method == http.MethodPatch {
		headers = append(headers, "Content-Type", "application/offset+octet-stream")
	}
	return x.must(method, path, body, append(headers, "Tus-Resumable", "1.0.0")...)
}

const partSize = 5 << 20 // the least size of a part that is not the last

// written are what one server wrote and the other has to serve.
type written struct {
	signed, upload string // paths
	resumable      string // path of a half upload
	multipart      string // query of a multipart upload with one part
	firstPart      string // its ETag
	etag           string // of the object a/note.txt
}

// fill writes two buckets with objects, and begins uploads.
func (x exchange) fill() (w written) {
	x.t.Helper()
	encoded := func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }
	const asJSON, asText = "application/json", "text/plain"
	x.must("POST", "/bucket",
		`{"name":"private","file_size_limit":20000000,"allowed_mime_types":["text/*","application/octet-stream"]}`,
		"Content-Type", asJSON)
	x.must("POST", "/bucket", `{"name":"open","public":true}`, "Content-Type", asJSON)
	x.must("POST", "/object/private/a/note.txt", "first", "Content-Type", asText)
	x.must("PUT", "/object/private/a/note.txt", "a note", "Content-Type", asText, "Cache-Control", "max-age=60",
		"X-Metadata", encoded(`{"author":"ada"}`))
	x.must("POST", "/object/private/a//note.txt", "another name", "Content-Type", asText)
	x.must("POST", "/object/private/b%20c/d.txt", "a space", "Content-Type", asText)
	x.must("POST", "/object/private/empty.txt", "", "Content-Type", asText)
	x.must("POST", "/object/open/page.html", "<p>", "Content-Type", "text/html")
	x.must("POST", "/object/copy", `{"bucketId":"private","sourceKey":"a/note.txt","destinationKey":"copied.txt"}`,
		"Content-Type", asJSON)
	x.must("POST", "/object/move", `{"bucketId":"private","sourceKey":"b c/d.txt","destinationKey":"moved.txt"}`,
		"Content-Type", asJSON)
	w.etag = x.must("HEAD", "/object/private/a/note.txt", "").header.Get("Etag")
	w.signed = x.must("POST", "/object/sign/private/a/note.txt", `{"expiresIn":600}`, "Content-Type",
		asJSON).field("signedURL")
	w.upload = x.must("POST", "/object/upload/sign/private/signed.txt", `{}`, "Content-Type", asJSON).field("url")

	metadata := func(name string) string {
		return "bucketName " + encoded("private") + ",objectName " + encoded(name) + ",contentType " +
			encoded("text/plain") + ",cacheControl " + encoded("30")
	}
	create := func(name string) string {
		location := x.tus("POST", "/upload/resumable", "", "Upload-Length", "6", "Upload-Metadata",
			metadata(name)).header.Get("Location")
		_, id, _ := strings.Cut(location, "/upload/resumable")
		return "/upload/resumable" + id
	}
	whole := create("whole.txt")
	x.tus("PATCH", whole, "abcdef", "Upload-Offset", "0")
	w.resumable = create("half.txt")
	x.tus("PATCH", w.resumable, "abc", "Upload-Offset", "0")

	x.s3("PUT", "/private/by-s3.txt", "written by S3", "Content-Type", asText)
	w.multipart = "uploadId=" + x.s3("POST", "/private/parts.bin?uploads", "", "Content-Type",
		"application/octet-stream").between("<UploadId>", "</UploadId>")
	w.firstPart = x.s3("PUT", "/private/parts.bin?partNumber=1&"+w.multipart,
		strings.Repeat("p", partSize)).header.Get("Etag")
	return w
}

// check checks that the server serves what the other wrote.
func (x exchange) check(w written) {
	x.t.Helper()
	x.checkObjects(w)
	x.checkUploads(w)
	x.want("deleting", 200, "", "DELETE", "/object/private/copied.txt", "")
	x.want("the deleted object", 400, "", "GET", "/object/private/copied.txt", "")
	x.want("emptying", 200, "", "POST", "/bucket/open/empty", "")
	x.want("deleting a bucket", 200, "", "DELETE", "/bucket/open", "")
}

func (x exchange) checkObjects(w written) {
	x.t.Helper()
	const asJSON = "application/json"
	for path, body := range map[string]string{"a/note.txt": "a note", "a//note.txt": "another name",
		"moved.txt": "a space", "copied.txt": "a note", "empty.txt": "", "whole.txt": "abcdef",
		"by-s3.txt": "written by S3"} {
		got := x.want("a download", 200, body, "GET", "/object/private/"+path, "")
		if kind := got.header.Get("Content-Type"); !strings.HasPrefix(kind, "text/plain") {
			x.t.Errorf("%s has the type %q", path, kind)
		}
		if path == "a/note.txt" &&
			(got.header.Get("Etag") != w.etag || got.header.Get("Cache-Control") != "max-age=60") {
			x.t.Errorf("%s: %v, want the ETag %s", path, got.header, w.etag)
		}
		if got := x.s3("GET", "/private/"+path, ""); got.body != body {
			x.t.Errorf("S3 %s: %q, want %q", path, got.body, body)
		}
	}
	x.want("a public download", 200, "<p>", "GET", "/object/public/open/page.html", "")
	x.want("a signed URL", 200, "a note", "GET", w.signed, "", "Authorization", "")
	x.want("a signed upload", 200, "", "PUT", w.upload, "by a signed URL", "Content-Type", "text/plain",
		"Authorization", "")
	x.want("the signed upload's object", 200, "by a signed URL", "GET", "/object/private/signed.txt", "")
	x.want("the earlier name of a moved object", 400, "", "GET", "/object/private/b%20c/d.txt", "")
	x.want("a type that the bucket refuses", 400, "", "POST", "/object/private/x.png", "x", "Content-Type", "image/png")
	if info := x.must("GET", "/object/info/private/a/note.txt", ""); !strings.Contains(info.body, `"author":"ada"`) {
		x.t.Errorf("custom metadata: %s", info.body)
	}
	list := x.must("POST", "/object/list/private", `{"prefix":"","sortBy":{"column":"name"}}`, "Content-Type",
		asJSON).body
	for _, name := range []string{`"a"`, `"by-s3.txt"`, `"copied.txt"`, `"empty.txt"`, `"moved.txt"`, `"whole.txt"`} {
		if !strings.Contains(list, `"name":`+name) {
			x.t.Errorf("the list lacks %s: %s", name, list)
		}
	}
	listed := x.s3("GET", "/private?list-type=2&prefix=a/", "").body
	for _, name := range []string{"a/note.txt", "a//note.txt"} {
		if !strings.Contains(listed, "<Key>"+name+"</Key>") {
			x.t.Errorf("the S3 list lacks %s: %s", name, listed)
		}
	}
	x.want("replacing", 200, "", "PUT", "/object/private/a/note.txt", "replaced", "Content-Type", "text/plain")
	x.want("the replaced object", 200, "replaced", "GET", "/object/private/a/note.txt", "")
}

// checkUploads continues the uploads that the other server began.
func (x exchange) checkUploads(w written) {
	x.t.Helper()
	if offset := x.tus("HEAD", w.resumable, "").header.Get("Upload-Offset"); offset != "3" {
		x.t.Errorf("the resumable upload is at %s, want 3", offset)
	}
	x.tus("PATCH", w.resumable, "def", "Upload-Offset", "3")
	half := x.want("the resumable upload", 200, "abcdef", "GET", "/object/private/half.txt", "")
	if kind, cache := half.header.Get("Content-Type"),
		half.header.Get("Cache-Control"); !strings.HasPrefix(kind, "text/plain") || cache != "max-age=30" {
		x.t.Errorf("the resumable upload has %q, %q", kind, cache)
	}

	if begun := x.s3("GET", "/private?uploads", ""); !strings.Contains(begun.body, "<Key>parts.bin</Key>") {
		x.t.Errorf("the multipart upload is not listed: %s", begun.body)
	}
	if parts := x.s3("GET", "/private/parts.bin?"+w.multipart, ""); !strings.Contains(parts.body,
		"<PartNumber>1</PartNumber>") {
		x.t.Errorf("the first part is not listed: %s", parts.body)
	}
	second := x.s3("PUT", "/private/parts.bin?partNumber=2&"+w.multipart, "the last part").header.Get("Etag")
	part := func(number int, etag string) string {
		return "<Part><PartNumber>" + strconv.Itoa(number) + "</PartNumber><ETag>" + etag + "</ETag></Part>"
	}
	x.s3("POST", "/private/parts.bin?"+w.multipart, "<CompleteMultipartUpload>"+part(1, w.firstPart)+part(2, second)+
		"</CompleteMultipartUpload>",
		"Content-Type", "application/xml")
	if got := x.must("GET", "/object/private/parts.bin", "").body; len(got) != partSize+len("the last part") ||
		!strings.HasSuffix(got, "pthe last part") {
		x.t.Errorf("the multipart upload has %d bytes", len(got))
	}
}

// exchangeVariables are the variables of both servers.
func exchangeVariables(t *testing.T, db *testdb.DB, folder string) map[string]string {
	t.Helper()
	demo := keys.Demo()
	return map[string]string{
		"SERVER_HOST": "127.0.0.1", "SERVER_PORT": strconv.Itoa(freePort(t)),
		"DATABASE_URL": db.TCPURL("supabase_storage_admin"), "AUTH_JWT_SECRET": demo.JWTSecret,
		"AUTH_JWT_ALGORITHM": "HS256", "ANON_KEY": demo.Anon, "SERVICE_KEY": demo.ServiceRole, "TENANT_ID": "stub",
		"STORAGE_BACKEND": "file", "STORAGE_FILE_BACKEND_PATH": folder, "STORAGE_S3_BUCKET": "stub",
		"STORAGE_S3_REGION": "local", "UPLOAD_FILE_SIZE_LIMIT": "52428800", "S3_PROTOCOL_ACCESS_KEY_ID": "access",
		"S3_PROTOCOL_ACCESS_KEY_SECRET": "secret-of-the-test", "AUTH_ENCRYPTION_KEY": "encryptionkey",
		"TUS_URL_PATH": "/upload/resumable", "PG_QUEUE_ENABLE": "false", "LOG_LEVEL": "warn",
		"DATABASE_SEARCH_PATH": "", "FILE_STORAGE_ETAG_ALGORITHM": "md5",
	}
}

// freePort returns a port without a listener.
func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// realServer starts the storage-api whose folder STORAGE_API_FOLDER names. stop ends it.
func realServer(t *testing.T, variables map[string]string) (stop func()) {
	t.Helper()
	cmd := exec.Command("node", "dist/start/server.js")
	cmd.Dir, cmd.Stderr = os.Getenv("STORAGE_API_FOLDER"), os.Stderr
	cmd.Env = []string{"PATH=" + os.Getenv("PATH")}
	for name, value := range variables {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	stop = sync.OnceFunc(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // killed, so it reports that
	})
	t.Cleanup(stop)
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		if c, err := net.Dial("tcp", "127.0.0.1:"+variables["SERVER_PORT"]); err == nil {
			c.Close()
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("storage-api does not listen")
		}
	}
	return stop
}

// ourServer starts the engine with the same variables.
func ourServer(t *testing.T, variables map[string]string) (stop func()) {
	t.Helper()
	c, err := FromEnv(environment(variables))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	listens, ended := make(chan net.Addr, 1), make(chan error, 1)
	go func() { ended <- Run(ctx, c, slog.New(slog.DiscardHandler), func(a net.Addr) { listens <- a }) }()
	select {
	case <-listens:
	case err := <-ended:
		cancel()
		t.Fatal(err)
	}
	stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(stop)
	return stop
}

// checkSwept checks that the server serves what both have written, and that nothing else is left.
func (x exchange) checkSwept() {
	x.t.Helper()
	for path, body := range map[string]string{"a/note.txt": "replaced", "a//note.txt": "another name",
		"moved.txt": "a space", "empty.txt": "", "whole.txt": "abcdef", "half.txt": "abcdef",
		"by-s3.txt": "written by S3", "signed.txt": "by a signed URL"} {
		x.want("a download after the sweep", 200, body, "GET", "/object/private/"+path, "")
	}
	if got := x.must("GET", "/object/private/parts.bin", "").body; len(got) != partSize+len("the last part") {
		x.t.Errorf("after the sweep the multipart upload has %d bytes", len(got))
	}
	x.want("an upload after the sweep", 200, "", "POST", "/object/private/new.txt", "x", "Content-Type", "text/plain")
}

// sweepAll sweeps files of any age twice: the first time only marks those of storage-api.
func sweepAll(t *testing.T, variables map[string]string) {
	t.Helper()
	c, err := FromEnv(environment(variables))
	if err != nil {
		t.Fatal(err)
	}
	db, err := pool.Open(t.Context(), pool.Config{URL: c.Database, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	files, closer, err := c.open()
	if err != nil {
		t.Fatal(err)
	}
	defer closer.Close()
	store := objects.New(objects.Config{Pool: db, Backend: files, Now: time.Now, Log: slog.New(slog.DiscardHandler)})
	defer store.Close()
	for range 2 {
		if swept, err := store.Sweep(t.Context(), 0); err != nil || swept != (objects.Swept{}) {
			t.Errorf("the sweep removes %+v, %v", swept, err)
		}
	}
}

// TestExchange moves a database and its files between this engine and the real storage-api in both
// directions: one server fills them, the other serves them, and after a sweep the first one does.
// It runs where STORAGE_API_FOLDER names a built storage-api (docs/evidence/storage.md).
func TestExchange(t *testing.T) {
	if os.Getenv("STORAGE_API_FOLDER") == "" {
		t.Skip("STORAGE_API_FOLDER names no built storage-api: see docs/evidence/storage.md")
	}
	type server = func(*testing.T, map[string]string) func()
	for name, order := range map[string][2]server{"to storage-api": {ourServer, realServer},
		"from storage-api": {realServer, ourServer}} {
		t.Run(name, func(t *testing.T) {
			db := testdb.New(t)
			if name == "from storage-api" { // whose migrations make the tables
				db.ExecAs("supabase_admin", `drop schema storage cascade; grant create on database `+quoted(t, db)+
					` to supabase_storage_admin;
					create schema storage; grant all on schema storage to supabase_storage_admin;
					grant usage on schema storage to postgres, anon, authenticated, service_role`)
				db.ExecAs("supabase_storage_admin",
					`alter default privileges in schema storage grant all on tables to postgres, anon, authenticated, service_role`)
			}
			variables := exchangeVariables(t, db, t.TempDir())
			x := exchange{t, "http://127.0.0.1:" + variables["SERVER_PORT"], variables["SERVICE_KEY"]}
			stop := order[0](t, variables)
			w := x.fill()
			stop()
			stop = order[1](t, variables)
			x.check(w)
			stop()
			sweepAll(t, variables)
			order[0](t, variables)
			x.checkSwept()
		})
	}
}
