package storage

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"strings"
	"testing"
	"time"
)

// form returns the body and the content type of an upload form as storage-js sends it from a
// browser.
func form(fields map[string]string, name, contentType, data string) (body []byte, kind string) {
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for _, field := range []string{"cacheControl", "metadata"} {
		if v, ok := fields[field]; ok {
			w.WriteField(field, v)
		}
	}
	part, _ := w.CreatePart(textproto.MIMEHeader{"Content-Disposition": {fmt.Sprintf(`form-data; name=""; filename=%q`,
		name)}, "Content-Type": {contentType}})
	part.Write([]byte(data))
	w.Close()
	return b.Bytes(), w.FormDataContentType()
}

// newRESTStack returns a stack with the object a.txt in a private and in a public bucket.
func newRESTStack(t *testing.T) *stack {
	t.Helper()
	s := newStack(t)
	key := s.demo.ServiceRole
	s.bucket("private", false)
	s.bucket("public", true)
	s.do(key, "POST", "/object/private/a.txt", "hello", "Content-Type", "text/plain", "Cache-Control",
		"max-age=60").want(t, 200, `{"Id":"`)
	s.do(key, "POST", "/object/public/a.txt", "hello", "Content-Type", "text/plain").want(t, 200,
		`"Key":"public/a.txt"`)
	return s
}

// TestRESTErrors checks that errors are 400 on the wire and carry their own status and code in the
// body.
func TestRESTErrors(t *testing.T) {
	t.Parallel()
	s := newRESTStack(t)
	key := s.demo.ServiceRole
	s.do(key, "GET", "/object/private/none", nil).want(t, 400,
		`{"statusCode":"404","error":"not_found","message":"Object not found","code":"NoSuchKey"}`)
	s.do(key, "GET", "/object/private/a.txt", nil, "Range", "bytes=9-").want(t, 416,
		`{"statusCode":"416","error":"invalid_range","message":"invalid range provided","code":"InvalidRange"}`)
}

func TestRESTAuthorization(t *testing.T) {
	t.Parallel()
	s := newRESTStack(t)
	key := s.demo.ServiceRole
	s.do("", "GET", "/bucket", nil).want(t, 400, `"headers must have required property 'authorization'"`)
	s.do("", "GET", "/bucket", nil, "Authorization", "").want(t, 400,
		`{"statusCode":"403","error":"Unauthorized","message":"Invalid Compact JWS","code":"AccessDenied"}`)
	// With MissingIsEmpty, a missing header gets the same reply as an empty one. Public routes
	// still need no header.
	inStack := &stack{t: t, server: s.replica(func(o *Options) { o.MissingIsEmpty = true })}
	inStack.do("", "GET", "/bucket", nil).want(t, 400,
		`{"statusCode":"403","error":"Unauthorized","message":"Invalid Compact JWS","code":"AccessDenied"}`)
	inStack.do("", "GET", "/object/public/public/a.txt", nil).want(t, 200, "hello")
	s.do("", "GET", "/bucket", nil, "Authorization", key).want(t, 200, "[")
	token, err := s.demo.Signer().Sign(json.RawMessage(`{"role":"no_such_role","exp":4102444800}`))
	if err != nil {
		t.Fatal(err)
	}
	s.do(token, "GET", "/bucket", nil).want(t, 500, `"code":"DatabaseError"`)
}

func TestRESTHeadOfMissingObject(t *testing.T) {
	t.Parallel()
	s := newRESTStack(t)
	key := s.demo.ServiceRole
	s.do(key, "HEAD", "/object/private/none", nil).want(t, 400, "")
}

func TestRESTDenied(t *testing.T) {
	t.Parallel()
	s := newRESTStack(t)
	anon := s.demo.Anon
	s.do(anon, "POST", "/object/private/x", "x").want(t, 400,
		`{"statusCode":"403","error":"Unauthorized","message":"new row violates row-level security policy","code":"AccessDenied"}`)
	s.do(anon, "GET", "/object/private/a.txt", nil).want(t, 400, `"not_found"`)
	s.do(anon, "POST", "/object/private/a.txt", "x", "X-Upsert", "true").want(t, 400, "new row violates")
}

func TestRESTBuckets(t *testing.T) {
	t.Parallel()
	s := newRESTStack(t)
	key := s.demo.ServiceRole
	s.do(key, "POST", "/bucket", map[string]any{"name": "small", "file_size_limit": "1KB"}).want(t, 200,
		`{"name":"small"}`)
	r := s.do(key, "GET", "/bucket/small", nil).want(t, 200, `"file_size_limit":1000`)
	if bytes.Contains(r.body, []byte(`"type"`)) || !bytes.Contains(r.body, []byte(`"owner":""`)) {
		t.Errorf("%s", r.body)
	}
	s.do(key, "GET", "/bucket?search=mal&limit=1", nil).want(t, 200, `"type":"STANDARD"`)
	s.do(key, "POST", "/object/small/x", strings.Repeat("x", 1001)).want(t, 400,
		`{"statusCode":"413","error":"Payload too large","message":"The object exceeded the maximum allowed size","code":"EntityTooLarge"}`)
	body, kind := form(nil, "x", "text/plain", strings.Repeat("x", 1001))
	s.do(key, "POST", "/object/small/x", body, "Content-Type", kind).want(t, 400, "EntityTooLarge")
}

func TestRESTObjects(t *testing.T) {
	t.Parallel()
	s := newRESTStack(t)
	key, anon := s.demo.ServiceRole, s.demo.Anon
	s.do(key, "PUT", "/object/private/made-by-put", "x").want(t, 200, "Key")
	r := s.do(key, "POST", "/object/copy", map[string]any{"bucketId": "private", "sourceKey": "a.txt",
		"destinationKey": "copy.txt"}).want(t, 200, `{"Id":"`)
	for _, part := range []string{`"Key":"private/copy.txt"`, `"bucket_id":"private"`, `"version":"`, `"metadata":{`} {
		if !bytes.Contains(r.body, []byte(part)) {
			t.Errorf("copy without %s: %s", part, r.body)
		}
	}
	s.do(key, "DELETE", "/object/private", map[string]any{"prefixes": []string{"none", "copy.txt"}}).want(t, 200,
		`[{"name":"copy.txt"`)
	s.bucket("full", false)
	s.do(key, "POST", "/object/full/x", "x").want(t, 200, "Key")
	s.do(key, "DELETE", "/bucket/full", nil).want(t, 400, `"ResourceNotEmpty"`)
	s.do(key, "POST", "/bucket/full/empty", nil).want(t, 200, "Empty bucket has been queued")
	s.do(anon, "POST", "/bucket/full/empty", nil).want(t, 403, "Invalid role")
	s.do(key, "DELETE", "/bucket/full", nil).want(t, 200, "Successfully deleted")
}

func TestRESTPublic(t *testing.T) {
	t.Parallel()
	s := newRESTStack(t)
	r := s.do("", "GET", "/object/public/nowhere/x", nil)
	if code := r.field("code"); r.StatusCode != 400 || code != "NoSuchBucket" && code != "NoSuchKey" {
		t.Errorf("%d %s", r.StatusCode, r.body)
	}
	s.do("", "GET", "/object/public/private/a.txt", nil).want(t, 400,
		`{"statusCode":"404","error":"Bucket not found","message":"Bucket not found","code":"NoSuchBucket"}`)
	s.do("", "GET", "/object/public/public/a.txt", nil).want(t, 200, "hello")
}

func TestRESTCacheControl(t *testing.T) {
	t.Parallel()
	s := newRESTStack(t)
	key := s.demo.ServiceRole
	body, kind := form(map[string]string{"cacheControl": "3600", "metadata": `{"a":1}`}, "blob", "image/png", "x")
	s.do(key, "POST", "/object/private/form", body, "Content-Type", kind).want(t, 200, "Key")
	s.do(key, "PUT", "/object/private/made-by-put", "x").want(t, 200, "Key")
	for name, want := range map[string]string{"a.txt": "max-age=60", "form": "max-age=3600",
		"made-by-put": "no-cache"} {
		r := s.do(key, "GET", "/object/private/"+name, nil)
		if got := r.Header.Get("Cache-Control"); got != want || r.Header.Get("X-Robots-Tag") != "none" {
			t.Errorf("%s: %q, %q", name, got, r.Header.Get("X-Robots-Tag"))
		}
	}
	s.do(key, "GET", "/object/info/private/form", nil).want(t, 200, `"metadata":{"a":1}`)
}

func TestRESTSignedURLs(t *testing.T) {
	t.Parallel()
	s := newRESTStack(t)
	key := s.demo.ServiceRole
	r := s.do(key, "POST", "/object/sign/private/a.txt", map[string]any{"expiresIn": 60}).want(t, 200,
		`"/object/sign/private/a.txt?token=`)
	link := r.field("signedURL")
	if h := s.do("", "HEAD", link, nil).want(t, 200, ""); h.ContentLength != 5 || len(h.body) != 0 ||
		h.Header.Get("Expires") == "" {
		t.Errorf("HEAD of a signed URL: %d, %v", h.ContentLength, h.Header)
	}
	token := link[strings.Index(link, "token=")+6:]
	parts := strings.Split(token, ".")
	head, _ := base64.RawURLEncoding.DecodeString(parts[0])
	payload, _ := base64.RawURLEncoding.DecodeString(parts[1])
	if string(head) != `{"alg":"HS256"}` ||
		!bytes.HasPrefix(payload, []byte(`{"url":"private/a.txt","scope":"download","iat":`)) {
		t.Errorf("%s %s", head, payload)
	}
	r = s.do("", "GET", link, nil).want(t, 200, "hello")
	if r.Header.Get("Expires") == "" || r.Header.Get("Cache-Control") != "" {
		t.Errorf("headers of signed URL: %v", r.Header)
	}
	s.do("", "GET", "/object/sign/private/form?token="+token, nil).want(t, 400, `"InvalidSignature"`)
	s.do("", "GET", "/object/sign/private/a.txt?token="+token[:len(token)-4]+"AAAA", nil).want(t, 400, `"InvalidJWT"`)
	s.do("", "PUT", "/object/upload/sign/private/a.txt?token="+token, "x").want(t, 400, "not scoped for upload")
	s.do(key, "POST", "/object/sign/private", map[string]any{"expiresIn": 60, "paths": []string{"a.txt", "none"}}).
		want(t, 200, `"error":"Either the object does not exist or you do not have access to it","path":"none","signedURL":null`)
	r = s.do(key, "POST", "/object/upload/sign/private/new.txt", nil).want(t, 200,
		`"/object/upload/sign/private/new.txt?token=`)
	s.do("", "GET", "/object/sign/private/new.txt?token="+r.field("token"), nil).want(t, 400, "not scoped for download")
	s.do("", "PUT", r.field("url"), "new", "Content-Type", "text/plain").want(t, 200, `{"Key":"private/new.txt"}`)
	s.do("", "PUT", r.field("url"), "again").want(t, 400, `"KeyAlreadyExists"`)
}

func TestRESTConditionalRequests(t *testing.T) {
	t.Parallel()
	s := newRESTStack(t)
	key := s.demo.ServiceRole
	r := s.do(key, "GET", "/object/private/a.txt", nil)
	etag, modified := r.Header.Get("Etag"), r.Header.Get("Last-Modified")
	s.do(key, "GET", "/object/private/a.txt", nil, "If-None-Match", etag).want(t, 304, "")
	s.do(key, "GET", "/object/private/a.txt", nil, "If-None-Match", `"other"`).want(t, 200, "hello")
	at, err := http.ParseTime(modified)
	if err != nil {
		t.Fatal(err)
	}
	s.do(key, "GET", "/object/private/a.txt", nil, "If-Modified-Since",
		at.Add(time.Second).Format(http.TimeFormat)).want(t, 304, "")
	s.do(key, "GET", "/object/private/a.txt", nil, "Range", "bytes=0-1", "If-Range",
		at.UTC().Format(http.TimeFormat)).want(t, 206, "he")
	s.do(key, "GET", "/object/private/a.txt", nil, "Range", "bytes=0-1", "If-Range", `"of an older version"`).want(t,
		200, "hello")
	s.do(key, "GET", "/object/private/a.txt", nil, "If-Modified-Since",
		at.Add(-time.Hour).Format(http.TimeFormat)).want(t, 200, "hello")
	r = s.do(key, "GET", "/object/private/a.txt", nil, "Range", "bytes=1-3").want(t, 206, "ell")
	if r.Header.Get("Content-Range") != "bytes 1-3/5" {
		t.Errorf("%v", r.Header)
	}
	r = s.do(key, "GET", "/object/private/a.txt?download=r%C3%A9port.txt", nil)
	if got := r.Header.Get("Content-Disposition"); got != "attachment; filename=r%C3%A9port.txt; filename*=UTF-8''r%C3%A9port.txt" {
		t.Errorf("%q", got)
	}
}

func TestRESTDeleteBySQLRefused(t *testing.T) {
	t.Parallel()
	s := newRESTStack(t)
	conn := s.db.Conn("postgres")
	for _, table := range []string{"objects", "buckets"} {
		if _, err := conn.Exec(t.Context(), `delete from storage.`+table); err == nil ||
			!strings.Contains(err.Error(), "42501") {
			t.Errorf("delete from %s: %v", table, err)
		}
	}
}

func TestRESTValidation(t *testing.T) {
	t.Parallel()
	s := newRESTStack(t)
	key := s.demo.ServiceRole
	s.do(key, "POST", "/object/list/private", map[string]any{}).want(t, 400,
		`{"statusCode":"400","error":"Error","message":"body must have required property 'prefix'","code":"InvalidRequest"}`)
	s.do(key, "POST", "/object/list/private", map[string]any{"prefix": "", "limit": 0}).want(t, 400,
		"body/limit must be >= 1")
	s.do(key, "POST", "/object/list/private", map[string]any{"prefix": "",
		"sortBy": map[string]any{"column": "owner"}}).want(t, 400,
		"body/sortBy/column must be equal to one of the allowed values")
	s.do(key, "POST", "/object/list/private", "{", "Content-Type", "application/json").want(t, 400, "is not valid JSON")
	s.do(key, "PUT", "/bucket/private", map[string]any{}).want(t, 400, "must NOT have fewer than 1 properties")
	s.do(key, "DELETE", "/object/private", map[string]any{"prefixes": []string{}}).want(t, 400,
		"must NOT have fewer than 1 items")
	s.do(key, "GET", "/nothing", nil).want(t, 404, "Route GET:/nothing not found")
}
