package storage

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"daawo/supabase/internal/engine/storage/backend"
	"daawo/supabase/internal/engine/storage/backend/backendtest"
	"daawo/supabase/internal/engine/storage/objects"
)

// tus sends a TUS request.
func (s *stack) tus(token, method, path string, body any, headers ...string) reply {
	s.t.Helper()
	headers = append([]string{"Tus-Resumable", "1.0.0"}, headers...)
	if method == "PATCH" {
		headers = append(headers, "Content-Type", "application/offset+octet-stream")
	}
	return s.do(token, method, path, body, headers...)
}

func tusMetadata(pairs ...string) string {
	var out []string
	for i := 0; i+1 < len(pairs); i += 2 {
		out = append(out, pairs[i]+" "+base64.StdEncoding.EncodeToString([]byte(pairs[i+1])))
	}
	return strings.Join(out, ",")
}

func (s *stack) tusCreate(token, bucket, name string, size int, extra string, headers ...string) reply {
	s.t.Helper()
	m := tusMetadata("bucketName", bucket, "objectName", name, "contentType", "text/plain", "cacheControl", "60")
	if extra != "" {
		m += "," + extra
	}
	return s.tus(token, "POST", "/upload/resumable", nil,
		append([]string{"Upload-Length", strconv.Itoa(size), "Upload-Metadata", m}, headers...)...)
}

// tusPath returns the path of a created upload.
func (s *stack) tusPath(r reply) string {
	s.t.Helper()
	r.want(s.t, 201, "")
	u, err := url.Parse(r.Header.Get("Location"))
	if err != nil {
		s.t.Fatal(err)
	}
	return u.Path
}

func TestTUS(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	s.bucket("b", false)
	key := s.demo.ServiceRole

	options := s.do("", "OPTIONS", "/upload/resumable", nil)
	if options.StatusCode != 204 || options.Header.Get("Tus-Version") != "1.0.0" ||
		!strings.Contains(options.Header.Get("Tus-Extension"), "termination") {
		t.Errorf("OPTIONS: %d %v", options.StatusCode, options.Header)
	}

	created := s.tusCreate(key, "b", "a/b.txt", 10, tusMetadata("metadata", `{"k":"v"}`))
	path := s.tusPath(created)
	id, err := base64.RawURLEncoding.DecodeString(path[strings.LastIndexByte(path, '/')+1:])
	if err != nil || !strings.HasPrefix(string(id), "b/a/b.txt/") {
		t.Errorf("id is %q, %v", id, err)
	}
	if created.Header.Get("Location") == "" || created.Header.Get("Tus-Resumable") != "1.0.0" {
		t.Errorf("created: %v", created.Header)
	}
	head := s.tus(s.demo.ServiceRole, "HEAD", path, nil)
	if head.StatusCode != 200 || head.Header.Get("Upload-Offset") != "0" || head.Header.Get("Upload-Length") != "10" {
		t.Errorf("HEAD: %d %v", head.StatusCode, head.Header)
	}
	r := s.tus(key, "PATCH", path, "01234", "Upload-Offset", "0").want(t, 204, "")
	if r.Header.Get("Upload-Offset") != "5" || r.Header.Get("Tus-Complete") != "" {
		t.Errorf("first PATCH: %v", r.Header)
	}
	s.do(key, "GET", "/object/b/a/b.txt", nil).want(t, 400, "not_found")
	s.tus(key, "PATCH", path, "01234", "Upload-Offset", "0").want(t, 409, "Upload-Offset conflict")
	s.tus(key, "PATCH", path, "567890", "Upload-Offset", "5").want(t, 413, "size exceeded")
	r = s.tus(key, "PATCH", path, "56789", "Upload-Offset", "5").want(t, 204, "")
	if r.Header.Get("Upload-Offset") != "10" || r.Header.Get("Tus-Complete") != "1" {
		t.Errorf("last PATCH: %v", r.Header)
	}
	r = s.do(key, "GET", "/object/b/a/b.txt", nil).want(t, 200, "0123456789")
	if r.Header.Get("Content-Type") != "text/plain" || r.Header.Get("Cache-Control") != "max-age=60" {
		t.Errorf("downloaded: %v", r.Header)
	}
	s.do(key, "GET", "/object/info/b/a/b.txt", nil).want(t, 200, `"metadata":{"k":"v"}`)
	if head = s.tus(s.demo.ServiceRole, "HEAD", path, nil); head.Header.Get("Upload-Offset") != "10" {
		t.Errorf("HEAD after completion: %d %v", head.StatusCode, head.Header)
	}
	s.tus(key, "DELETE", path, nil, "X-Upsert", "true").want(t, 400, "already completed")

	pending := s.tusPath(s.tusCreate(key, "b", "pending", 4, ""))
	s.tus(key, "DELETE", pending, nil).want(t, 204, "")
	if head = s.tus(s.demo.ServiceRole, "HEAD", pending, nil); head.StatusCode != 404 {
		t.Errorf("HEAD after termination: %d", head.StatusCode)
	}

	m := tusMetadata("bucketName", "b", "objectName", "whole")
	r = s.tus(key, "POST", "/upload/resumable", "abc", "Upload-Length", "3", "Upload-Metadata", m, "Content-Type",
		"application/offset+octet-stream").want(t, 201, "")
	if r.Header.Get("Upload-Offset") != "3" {
		t.Errorf("creation with upload: %v", r.Header)
	}
	s.do(key, "GET", "/object/b/whole", nil).want(t, 200, "abc")

	later := s.tusPath(s.tus(key, "POST", "/upload/resumable", nil, "Upload-Defer-Length", "1", "Upload-Metadata",
		tusMetadata("bucketName", "b", "objectName", "later")))
	s.tus(key, "PATCH", later, "ab", "Upload-Offset", "0").want(t, 204, "")
	s.tus(key, "PATCH", later, "c", "Upload-Offset", "2", "Upload-Length", "3").want(t, 204, "")
	s.do(key, "GET", "/object/b/later", nil).want(t, 200, "abc")
}

func TestTUSRefuses(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	key := s.demo.ServiceRole
	s.do(key, "POST", "/bucket", map[string]any{"name": "small", "file_size_limit": 5,
		"allowed_mime_types": []string{"text/plain"}}).want(t, 200, "small")
	m := tusMetadata("bucketName", "small", "objectName", "x", "contentType", "text/plain")
	tests := []struct {
		name, token string
		headers     []string
		status      int
		text        string
	}{
		{"no version", key, []string{"Tus-Resumable", ""}, 412, "Tus-Resumable Required"},
		{"no token", "", []string{"Upload-Length", "1", "Upload-Metadata", m}, 400, `"code":"AccessDenied"`},
		{"anonymous", s.demo.Anon, []string{"Upload-Length", "1", "Upload-Metadata", m}, 403, "row-level security"},
		{"too large", key, []string{"Upload-Length", "6", "Upload-Metadata", m}, 413, "Maximum size exceeded"},
		{"no length", key, []string{"Upload-Metadata", m}, 400, "Upload-Length"},
		{"no metadata", key, []string{"Upload-Length", "1"}, 400, "Metadata header is required"},
		{"bad metadata", key, []string{"Upload-Length", "1", "Upload-Metadata", "bucketName !!"}, 400,
			"upload-metadata"},
		{"negative length", key, []string{"Upload-Length", "-1", "Upload-Metadata", m}, 400, "upload-length"},
		{"type", key, []string{"Upload-Length", "1", "Upload-Metadata",
			tusMetadata("bucketName", "small", "objectName", "x", "contentType", "image/png")}, 415, "image/png"},
		{"name", key, []string{"Upload-Length", "1", "Upload-Metadata",
			tusMetadata("bucketName", "small", "objectName", "../../x")}, 400, "Invalid key"},
		{"no bucket", key, []string{"Upload-Length", "1", "Upload-Metadata",
			tusMetadata("bucketName", "none", "objectName", "x")}, 404, "Bucket not found"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s.tus(tt.token, "POST", "/upload/resumable", nil, tt.headers...).want(t, tt.status, tt.text)
		})
	}
	s.tus(key, "PATCH", "/upload/resumable/"+base64.RawURLEncoding.EncodeToString([]byte("small/../../etc/passwd")),
		"x", "Upload-Offset", "0").want(t, 404, "not found")
}

func TestTUSSignedURL(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	s.bucket("b", false)
	r := s.do(s.demo.ServiceRole, "POST", "/object/upload/sign/b/signed.txt", nil).want(t, 200, "token")
	token := r.field("token")
	m := tusMetadata("bucketName", "b", "objectName", "signed.txt")
	s.tus("", "POST", "/upload/resumable/sign", nil, "Upload-Length", "2", "Upload-Metadata", m).want(t, 400,
		"Missing x-signature header")
	other := tusMetadata("bucketName", "b", "objectName", "other.txt")
	s.tus("", "POST", "/upload/resumable/sign", nil, "Upload-Length", "2", "Upload-Metadata", other, "X-Signature",
		token).want(t, 400, "Invalid signature")
	path := s.tusPath(s.tus("", "POST", "/upload/resumable/sign", nil, "Upload-Length", "2", "Upload-Metadata", m,
		"X-Signature", token))
	if !strings.Contains(path, "/upload/resumable/sign/") {
		t.Errorf("location is %s", path)
	}
	s.tus("", "PATCH", path, "ok", "Upload-Offset", "0", "X-Signature", token).want(t, 204, "")
	s.do(s.demo.ServiceRole, "GET", "/object/b/signed.txt", nil).want(t, 200, "ok")
}

func TestTUSExpires(t *testing.T) {
	t.Parallel()
	now := time.Now()
	s := newStack(t, func(o *Options) { o.Now = func() time.Time { return now } })
	s.bucket("b", false)
	path := s.tusPath(s.tusCreate(s.demo.ServiceRole, "b", "slow", 4, ""))
	now = now.Add(time.Hour + time.Second)
	if r := s.tus(s.demo.ServiceRole, "HEAD", path, nil); r.StatusCode != 410 {
		t.Errorf("HEAD after an hour: %d", r.StatusCode)
	}
}

func TestTUSLocationBehindProxy(t *testing.T) {
	t.Parallel()
	s := newStack(t, func(o *Options) { o.AllowForwardedPrefix, o.AllowForwardedHeaders = true, true })
	s.bucket("b", false)
	r := s.tusCreate(s.demo.ServiceRole, "b", "x", 1, "", "X-Forwarded-Host", "files.example.org", "X-Forwarded-Proto",
		"https", "X-Forwarded-Port", "8443", "X-Forwarded-Prefix", "/storage/v1")
	if l := r.Header.Get("Location"); !strings.HasPrefix(l,
		"https://files.example.org:8443/storage/v1/upload/resumable/") {
		t.Errorf("location is %s", l)
	}
}

// TestTUSDisconnects interrupts an upload 20 times and continues it on another replica each time.
func TestTUSDisconnects(t *testing.T) {
	t.Parallel()
	t.Run("disk", func(t *testing.T) {
		t.Parallel()
		s := newStack(t)
		testDisconnects(t, s, s.replica())
	})
	t.Run("s3", func(t *testing.T) {
		t.Parallel()
		clients := backendtest.S3Replicas(t, 2)
		s := newStack(t, func(o *Options) { o.Backend = clients[0] })
		testDisconnects(t, s, s.replica(func(o *Options) { o.Backend = clients[1] }))
	})
}

// testDisconnects uploads to s and to its replica in turn.
func testDisconnects(t *testing.T, s *stack, second *httptest.Server) {
	s.bucket("b", false)
	key := s.demo.ServiceRole
	data := make([]byte, 3<<20)
	rand.Read(data)
	path := s.tusPath(s.tusCreate(key, "b", "big", len(data), ""))
	interruptions := 0
	for offset := 0; offset < len(data); {
		server := []string{s.server.URL, second.URL}[interruptions%2]
		r, err := http.NewRequest("HEAD", server+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Tus-Resumable", "1.0.0")
		r.Header.Set("Authorization", "Bearer "+key)
		res, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		if offset, err = strconv.Atoi(res.Header.Get("Upload-Offset")); err != nil {
			t.Fatal(err)
		}
		if offset == len(data) {
			break
		}
		if interruptions == 20 {
			// Bytes of the last interrupted request may still arrive. The reply is 409 if they came
			// before this request, and 423 if they come during it.
			if r := s.tus(key, "PATCH", path, data[offset:], "Upload-Offset",
				strconv.Itoa(offset)); r.StatusCode != 409 && r.StatusCode != 423 {
				r.want(t, 204, "")
				break
			}
			continue
		}
		interruptions++
		interruptedPatch(t, server, path, key, data[offset:], offset, 100_000)
	}
	if interruptions < 20 {
		t.Errorf("only %d interruptions", interruptions)
	}
	r := s.do(key, "GET", "/object/b/big", nil)
	if sha256.Sum256(r.body) != sha256.Sum256(data) {
		t.Errorf("downloaded %d bytes that differ from the %d uploaded bytes", len(r.body), len(data))
	}
}

// interruptedPatch announces all of data, sends n bytes of it and closes the connection.
func interruptedPatch(t *testing.T, server, path, token string, data []byte, offset, n int) {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(server, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "PATCH %s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nTus-Resumable: 1.0.0\r\nUpload-Offset: %d\r\nContent-Type: application/offset+octet-stream\r\nContent-Length: %d\r\n\r\n",
		path, token, offset, len(data))
	if _, err := io.Copy(conn, bytes.NewReader(data[:min(n, len(data))])); err != nil {
		t.Fatal(err)
	}
}

// TestTUSCompletesAfterCrash simulates a crash after the last byte and before the row. A HEAD
// request that reports the full length must create the object, because the client then stops.
func TestTUSCompletesAfterCrash(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	s.bucket("b", false)
	const alice = "11111111-1111-4111-8111-111111111111"
	s.db.Exec(`create policy anyone on storage.objects for all to authenticated using (true) with check (true)`)
	path := s.tusPath(s.tusCreate(s.user(alice), "b", "late", 4, ""))
	for _, file := range filesIn(t, s.dir) {
		if !strings.HasSuffix(file, ".json") {
			if err := os.WriteFile(file, []byte("done"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	if r := s.tus(s.demo.ServiceRole, "HEAD", path, nil); r.Header.Get("Upload-Offset") != "4" {
		t.Errorf("HEAD: %d %v", r.StatusCode, r.Header)
	}
	s.do(s.user(alice), "GET", "/object/b/late", nil).want(t, 200, "done")
	s.do(s.demo.ServiceRole, "DELETE", "/object/b", map[string]any{"prefixes": []string{"late"}}).want(t, 200, alice)
	if r := s.tus(s.demo.ServiceRole, "HEAD", path, nil); r.StatusCode != 404 {
		t.Errorf("HEAD of a deleted object restores the object: %d", r.StatusCode)
	}
}

// TestTUSNewRequestEndsStalled checks that a new request ends an older request that still waits for
// bytes.
func TestTUSNewRequestEndsStalled(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	second := s.replica()
	s.bucket("b", false)
	key := s.demo.ServiceRole
	for name, server := range map[string]string{"same replica": s.server.URL, "other replica": second.URL} {
		t.Run(name, func(t *testing.T) {
			path := s.tusPath(s.tusCreate(key, "b", "stalled "+name, 10, ""))
			conn, err := net.Dial("tcp", strings.TrimPrefix(s.server.URL, "http://"))
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			fmt.Fprintf(conn, "PATCH %s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nTus-Resumable: 1.0.0\r\nUpload-Offset: 0\r\nContent-Type: application/offset+octet-stream\r\nContent-Length: 10\r\n\r\n01234", path, key)
			time.Sleep(200 * time.Millisecond) // the five bytes arrive
			start := time.Now()
			send := func(method, body string) *http.Response {
				req, err := http.NewRequest(method, server+path, strings.NewReader(body))
				if err != nil {
					t.Fatal(err)
				}
				req.Header = http.Header{"Authorization": {"Bearer " + key}, "Tus-Resumable": {"1.0.0"},
					"Upload-Offset": {"5"}, "Content-Type": {"application/offset+octet-stream"}}
				res, err := http.DefaultTransport.RoundTrip(req)
				if err != nil {
					t.Fatal(err)
				}
				res.Body.Close()
				return res
			}
			if head := send("HEAD", ""); head.Header.Get("Upload-Offset") != "5" {
				t.Errorf("HEAD: %d, offset %s", head.StatusCode, head.Header.Get("Upload-Offset"))
			}
			if res := send("PATCH", "56789"); res.StatusCode != 204 || time.Since(start) > 4*time.Second {
				t.Errorf("%d after %v", res.StatusCode, time.Since(start))
			}
		})
	}
}

// keyOf returns the backend key of the upload.
func keyOf(t testing.TB, path string) backend.Key {
	t.Helper()
	id, err := base64.RawURLEncoding.DecodeString(path[strings.LastIndexByte(path, '/')+1:])
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(string(id), "/")
	return backend.Key{Bucket: parts[0], Name: strings.Join(parts[1:len(parts)-1], "/"), Version: parts[len(parts)-1]}
}

// lockElsewhere holds the lock of an upload as another replica would. When another request asks for
// the lock, it calls fn and then releases the lock.
func (s *stack) lockElsewhere(path string, fn func(backend.Key)) (done chan error) {
	s.t.Helper()
	key := keyOf(s.t, path)
	conn, lock := s.db.Conn("supabase_storage_admin"), objects.LockKey(key.Bucket, key.Name, key.Version)
	for _, sql := range []string{`listen storage_tus_release`, fmt.Sprintf(`select pg_advisory_lock(%d)`, lock)} {
		if _, err := conn.Exec(s.t.Context(), sql); err != nil {
			s.t.Fatal(err)
		}
	}
	done = make(chan error, 1)
	go func() {
		_, err := conn.WaitForNotification(s.t.Context())
		if err == nil {
			fn(key)
			_, err = conn.Exec(s.t.Context(), `select pg_advisory_unlock($1)`, lock)
		}
		done <- err
	}()
	return done
}

// TestTUSCompletedDuringDelete completes an upload while a DELETE request waits for its lock. The
// object must stay.
func TestTUSCompletedDuringDelete(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	s.bucket("b", false)
	path := s.tusPath(s.tusCreate(s.demo.ServiceRole, "b", "a/file", 5, ""))
	done := s.lockElsewhere(path, func(key backend.Key) {
		if _, err := s.engine.store.Backend.Append(t.Context(), key, 0, strings.NewReader("hello"),
			func(int64) bool { return true }); err != nil {
			t.Error(err)
		}
		meta, err := s.engine.store.Backend.Finish(t.Context(), key)
		if err != nil {
			t.Error(err)
		}
		if _, err := s.engine.store.Complete(t.Context(), objects.Caller{}.Service(), key,
			objects.Upload{Upsert: true}, objects.MetadataOf(meta), nil); err != nil {
			t.Error(err)
		}
	})
	s.tus(s.demo.ServiceRole, "DELETE", path, nil).want(t, 400, "already completed")
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	s.do(s.demo.ServiceRole, "GET", "/object/b/a/file", nil).want(t, 200, "hello")
}
