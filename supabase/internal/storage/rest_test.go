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

// form is an upload as storage-js sends it from a browser.
func form(fields map[string]string, name, contentType, data string) (body []byte, kind string) {
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for _, field := range []string{"cacheControl", "metadata"} {
		if v, ok := fields[field]; ok {
			w.WriteField(field, v)
		}
	}
	part, _ := w.CreatePart(textproto.MIMEHeader{"Content-Disposition": {fmt.Sprintf(`form-data; name=""; filename=%q`, name)}, "Content-Type": {contentType}})
	part.Write([]byte(data))
	w.Close()
	return b.Bytes(), w.FormDataContentType()
}

// TestWireFacts is what clients depend on and nobody guesses; the numbers are those of the project's list of facts.
func TestWireFacts(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	key, anon := s.demo.ServiceRole, s.demo.Anon
	s.bucket("private", false)
	s.bucket("public", true)
	s.do(key, "POST", "/object/private/a.txt", "hello", "Content-Type", "text/plain", "Cache-Control", "max-age=60").want(t, 200, `{"Id":"`)
	s.do(key, "POST", "/object/public/a.txt", "hello", "Content-Type", "text/plain").want(t, 200, `"Key":"public/a.txt"`)

	t.Run("S1 errors are 400 with the code inside", func(t *testing.T) {
		s.do(key, "GET", "/object/private/none", nil).want(t, 400, `{"statusCode":"404","error":"not_found","message":"Object not found","code":"NoSuchKey"}`)
		s.do(key, "GET", "/object/private/a.txt", nil, "Range", "bytes=9-").want(t, 416, `{"statusCode":"416","error":"invalid_range","message":"invalid range provided","code":"InvalidRange"}`)
	})
	t.Run("S2 authorization", func(t *testing.T) {
		s.do("", "GET", "/bucket", nil).want(t, 400, `"headers must have required property 'authorization'"`)
		s.do("", "GET", "/bucket", nil, "Authorization", "").want(t, 400, `{"statusCode":"403","error":"Unauthorized","message":"Invalid Compact JWS","code":"AccessDenied"}`)
		// In the stack no header at all is told the same, as behind the CLI's gateway; public routes still need none.
		inStack := &stack{t: t, server: s.replica(func(o *Options) { o.MissingIsEmpty = true })}
		inStack.do("", "GET", "/bucket", nil).want(t, 400, `{"statusCode":"403","error":"Unauthorized","message":"Invalid Compact JWS","code":"AccessDenied"}`)
		inStack.do("", "GET", "/object/public/public/a.txt", nil).want(t, 200, "hello")
		s.do("", "GET", "/bucket", nil, "Authorization", key).want(t, 200, "[")
		token, err := s.demo.Signer().Sign(json.RawMessage(`{"role":"no_such_role","exp":4102444800}`))
		if err != nil {
			t.Fatal(err)
		}
		s.do(token, "GET", "/bucket", nil).want(t, 500, `"code":"DatabaseError"`)
	})
	t.Run("S3 HEAD of nothing", func(t *testing.T) {
		s.do(key, "HEAD", "/object/private/none", nil).want(t, 400, "")
	})
	t.Run("S4 denials", func(t *testing.T) {
		s.do(anon, "POST", "/object/private/x", "x").want(t, 400, `{"statusCode":"403","error":"Unauthorized","message":"new row violates row-level security policy","code":"AccessDenied"}`)
		s.do(anon, "GET", "/object/private/a.txt", nil).want(t, 400, `"not_found"`)
		s.do(anon, "POST", "/object/private/a.txt", "x", "X-Upsert", "true").want(t, 400, "new row violates")
	})
	t.Run("S5 buckets", func(t *testing.T) {
		s.do(key, "POST", "/bucket", map[string]any{"name": "small", "file_size_limit": "1KB"}).want(t, 200, `{"name":"small"}`)
		r := s.do(key, "GET", "/bucket/small", nil).want(t, 200, `"file_size_limit":1000`)
		if bytes.Contains(r.body, []byte(`"type"`)) || !bytes.Contains(r.body, []byte(`"owner":""`)) {
			t.Errorf("%s", r.body)
		}
		s.do(key, "GET", "/bucket?search=mal&limit=1", nil).want(t, 200, `"type":"STANDARD"`)
		s.do(key, "POST", "/object/small/x", strings.Repeat("x", 1001)).want(t, 400, `{"statusCode":"413","error":"Payload too large","message":"The object exceeded the maximum allowed size","code":"EntityTooLarge"}`)
		body, kind := form(nil, "x", "text/plain", strings.Repeat("x", 1001))
		s.do(key, "POST", "/object/small/x", body, "Content-Type", kind).want(t, 400, "EntityTooLarge")
	})
	t.Run("S6 update, copy, delete, empty", func(t *testing.T) {
		s.do(key, "PUT", "/object/private/made-by-put", "x").want(t, 200, "Key")
		r := s.do(key, "POST", "/object/copy", map[string]any{"bucketId": "private", "sourceKey": "a.txt", "destinationKey": "copy.txt"}).want(t, 200, `{"Id":"`)
		for _, part := range []string{`"Key":"private/copy.txt"`, `"bucket_id":"private"`, `"version":"`, `"metadata":{`} {
			if !bytes.Contains(r.body, []byte(part)) {
				t.Errorf("the copy has no %s: %s", part, r.body)
			}
		}
		s.do(key, "DELETE", "/object/private", map[string]any{"prefixes": []string{"none", "copy.txt"}}).want(t, 200, `[{"name":"copy.txt"`)
		s.bucket("full", false)
		s.do(key, "POST", "/object/full/x", "x").want(t, 200, "Key")
		s.do(key, "DELETE", "/bucket/full", nil).want(t, 400, `"ResourceNotEmpty"`)
		s.do(key, "POST", "/bucket/full/empty", nil).want(t, 200, "Empty bucket has been queued")
		s.do(anon, "POST", "/bucket/full/empty", nil).want(t, 403, "Invalid role")
		s.do(key, "DELETE", "/bucket/full", nil).want(t, 200, "Successfully deleted")
	})
	t.Run("S7 S8 public routes", func(t *testing.T) {
		r := s.do("", "GET", "/object/public/nowhere/x", nil)
		if code := r.field("code"); r.StatusCode != 400 || code != "NoSuchBucket" && code != "NoSuchKey" {
			t.Errorf("%d %s", r.StatusCode, r.body)
		}
		s.do("", "GET", "/object/public/private/a.txt", nil).want(t, 400, `{"statusCode":"404","error":"Bucket not found","message":"Bucket not found","code":"NoSuchBucket"}`)
		s.do("", "GET", "/object/public/public/a.txt", nil).want(t, 200, "hello")
	})
	t.Run("S9 cache control", func(t *testing.T) {
		body, kind := form(map[string]string{"cacheControl": "3600", "metadata": `{"a":1}`}, "blob", "image/png", "x")
		s.do(key, "POST", "/object/private/form", body, "Content-Type", kind).want(t, 200, "Key")
		for name, want := range map[string]string{"a.txt": "max-age=60", "form": "max-age=3600", "made-by-put": "no-cache"} {
			r := s.do(key, "GET", "/object/private/"+name, nil)
			if got := r.Header.Get("Cache-Control"); got != want || r.Header.Get("X-Robots-Tag") != "none" {
				t.Errorf("%s: %q, %q", name, got, r.Header.Get("X-Robots-Tag"))
			}
		}
		s.do(key, "GET", "/object/info/private/form", nil).want(t, 200, `"metadata":{"a":1}`)
	})
	t.Run("S10 signed URLs", func(t *testing.T) {
		r := s.do(key, "POST", "/object/sign/private/a.txt", map[string]any{"expiresIn": 60}).want(t, 200, `"/object/sign/private/a.txt?token=`)
		link := r.field("signedURL")
		if h := s.do("", "HEAD", link, nil).want(t, 200, ""); h.ContentLength != 5 || len(h.body) != 0 || h.Header.Get("Expires") == "" {
			t.Errorf("HEAD of a signed URL: %d, %v", h.ContentLength, h.Header)
		}
		token := link[strings.Index(link, "token=")+6:]
		parts := strings.Split(token, ".")
		head, _ := base64.RawURLEncoding.DecodeString(parts[0])
		payload, _ := base64.RawURLEncoding.DecodeString(parts[1])
		if string(head) != `{"alg":"HS256"}` || !bytes.HasPrefix(payload, []byte(`{"url":"private/a.txt","scope":"download","iat":`)) {
			t.Errorf("%s %s", head, payload)
		}
		r = s.do("", "GET", link, nil).want(t, 200, "hello")
		if r.Header.Get("Expires") == "" || r.Header.Get("Cache-Control") != "" {
			t.Errorf("signed: %v", r.Header)
		}
		s.do("", "GET", "/object/sign/private/form?token="+token, nil).want(t, 400, `"InvalidSignature"`)
		s.do("", "GET", "/object/sign/private/a.txt?token="+token[:len(token)-4]+"AAAA", nil).want(t, 400, `"InvalidJWT"`)
		s.do("", "PUT", "/object/upload/sign/private/a.txt?token="+token, "x").want(t, 400, "not scoped for upload")
		s.do(key, "POST", "/object/sign/private", map[string]any{"expiresIn": 60, "paths": []string{"a.txt", "none"}}).
			want(t, 200, `"error":"Either the object does not exist or you do not have access to it","path":"none","signedURL":null`)
		r = s.do(key, "POST", "/object/upload/sign/private/new.txt", nil).want(t, 200, `"/object/upload/sign/private/new.txt?token=`)
		s.do("", "GET", "/object/sign/private/new.txt?token="+r.field("token"), nil).want(t, 400, "not scoped for download")
		s.do("", "PUT", r.field("url"), "new", "Content-Type", "text/plain").want(t, 200, `{"Key":"private/new.txt"}`)
		s.do("", "PUT", r.field("url"), "again").want(t, 400, `"KeyAlreadyExists"`)
	})
	t.Run("S12 conditional requests", func(t *testing.T) {
		r := s.do(key, "GET", "/object/private/a.txt", nil)
		etag, modified := r.Header.Get("Etag"), r.Header.Get("Last-Modified")
		s.do(key, "GET", "/object/private/a.txt", nil, "If-None-Match", etag).want(t, 304, "")
		s.do(key, "GET", "/object/private/a.txt", nil, "If-None-Match", `"other"`).want(t, 200, "hello")
		at, err := http.ParseTime(modified)
		if err != nil {
			t.Fatal(err)
		}
		s.do(key, "GET", "/object/private/a.txt", nil, "If-Modified-Since", at.Add(time.Second).Format(http.TimeFormat)).want(t, 304, "")
		s.do(key, "GET", "/object/private/a.txt", nil, "Range", "bytes=0-1", "If-Range", at.UTC().Format(http.TimeFormat)).want(t, 206, "he")
		s.do(key, "GET", "/object/private/a.txt", nil, "Range", "bytes=0-1", "If-Range", `"of an older version"`).want(t, 200, "hello")
		s.do(key, "GET", "/object/private/a.txt", nil, "If-Modified-Since", at.Add(-time.Hour).Format(http.TimeFormat)).want(t, 200, "hello")
		r = s.do(key, "GET", "/object/private/a.txt", nil, "Range", "bytes=1-3").want(t, 206, "ell")
		if r.Header.Get("Content-Range") != "bytes 1-3/5" {
			t.Errorf("%v", r.Header)
		}
		r = s.do(key, "GET", "/object/private/a.txt?download=r%C3%A9port.txt", nil)
		if got := r.Header.Get("Content-Disposition"); got != "attachment; filename=r%C3%A9port.txt; filename*=UTF-8''r%C3%A9port.txt" {
			t.Errorf("%q", got)
		}
	})
	t.Run("S15 no deletes by SQL", func(t *testing.T) {
		conn := s.db.Conn("postgres")
		for _, table := range []string{"objects", "buckets"} {
			if _, err := conn.Exec(t.Context(), `delete from storage.`+table); err == nil || !strings.Contains(err.Error(), "42501") {
				t.Errorf("delete from %s: %v", table, err)
			}
		}
	})
	t.Run("schemas", func(t *testing.T) {
		s.do(key, "POST", "/object/list/private", map[string]any{}).want(t, 400, `{"statusCode":"400","error":"Error","message":"body must have required property 'prefix'","code":"InvalidRequest"}`)
		s.do(key, "POST", "/object/list/private", map[string]any{"prefix": "", "limit": 0}).want(t, 400, "body/limit must be >= 1")
		s.do(key, "POST", "/object/list/private", map[string]any{"prefix": "", "sortBy": map[string]any{"column": "owner"}}).want(t, 400, "body/sortBy/column must be equal to one of the allowed values")
		s.do(key, "POST", "/object/list/private", "{", "Content-Type", "application/json").want(t, 400, "is not valid JSON")
		s.do(key, "PUT", "/bucket/private", map[string]any{}).want(t, 400, "must NOT have fewer than 1 properties")
		s.do(key, "DELETE", "/object/private", map[string]any{"prefixes": []string{}}).want(t, 400, "must NOT have fewer than 1 items")
		s.do(key, "GET", "/nothing", nil).want(t, 404, "Route GET:/nothing not found")
	})
}

// TestRowLevelSecurity: every operation is the caller's, and a reply never has what the caller may not know.
func TestRowLevelSecurity(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	s.bucket("homes", false)
	s.db.Exec(`
		create policy read_own on storage.objects for select to authenticated using (owner_id = auth.jwt() ->> 'sub');
		create policy write_own on storage.objects for insert to authenticated
			with check (bucket_id = 'homes' and storage.foldername(name) = array[auth.jwt() ->> 'sub'] and storage.extension(name) = 'txt');
		create policy change_own on storage.objects for update to authenticated using (owner_id = auth.jwt() ->> 'sub');
		create policy delete_own on storage.objects for delete to authenticated
			using (owner_id = auth.jwt() ->> 'sub' and storage.allow_any_operation(array['object.delete', 'object.delete_many']))`)
	const alice, bob = "11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222"
	a, b := s.user(alice), s.user(bob)
	s.do(a, "POST", "/object/homes/"+alice+"/diary.txt", "dear diary", "Content-Type", "text/plain").want(t, 200, "Key")
	s.do(a, "POST", "/object/homes/"+alice+"/diary.exe", "x").want(t, 400, "row-level security")
	s.do(b, "POST", "/object/homes/"+alice+"/other.txt", "x").want(t, 400, "row-level security")

	path := "homes/" + alice + "/diary.txt"
	for name, r := range map[string]reply{
		"download":   s.do(b, "GET", "/object/authenticated/"+path, nil),
		"info":       s.do(b, "GET", "/object/info/"+path, nil),
		"head":       s.do(b, "HEAD", "/object/"+path, nil),
		"sign":       s.do(b, "POST", "/object/sign/"+path, map[string]any{"expiresIn": 60}),
		"sign many":  s.do(b, "POST", "/object/sign/homes", map[string]any{"expiresIn": 60, "paths": []string{alice + "/diary.txt"}}),
		"list":       s.do(b, "POST", "/object/list/homes", map[string]any{"prefix": alice}),
		"list v2":    s.do(b, "POST", "/object/list-v2/homes", map[string]any{"prefix": ""}),
		"render":     s.do(b, "GET", "/render/image/authenticated/"+path, nil),
		"copy":       s.do(b, "POST", "/object/copy", map[string]any{"bucketId": "homes", "sourceKey": alice + "/diary.txt", "destinationKey": bob + "/stolen.txt"}),
		"move":       s.do(b, "POST", "/object/move", map[string]any{"bucketId": "homes", "sourceKey": alice + "/diary.txt", "destinationKey": bob + "/stolen.txt"}),
		"overwrite":  s.do(b, "PUT", "/object/"+path, "x"),
		"delete":     s.do(b, "DELETE", "/object/"+path, nil),
		"delete all": s.do(b, "DELETE", "/object/homes", map[string]any{"prefixes": []string{alice + "/diary.txt"}}),
		"anonymous":  s.do("", "GET", "/object/"+path, nil),
		"bucket":     s.do(b, "GET", "/bucket/homes", nil),
		"buckets":    s.do(b, "GET", "/bucket", nil),
	} {
		if bytes.Contains(r.body, []byte("dear diary")) || bytes.Contains(r.body, []byte(`"name":"diary.txt"`)) || bytes.Contains(r.body, []byte("?token=")) ||
			bytes.Contains(r.body, []byte("file_size_limit")) {
			t.Errorf("%s: %d %s", name, r.StatusCode, r.body)
		}
	}
	s.do(a, "GET", "/object/"+path, nil).want(t, 200, "dear diary")
	s.do(a, "POST", "/object/list/homes", map[string]any{"prefix": alice}).want(t, 200, `"name":"diary.txt"`)
	s.do(a, "DELETE", "/object/"+path, nil).want(t, 200, "Successfully deleted")
}

// TestListing pages through folders and objects by both listings.
func TestListing(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	s.bucket("b", false)
	key := s.demo.ServiceRole
	for _, name := range []string{"a", "a/1", "a/2", "a-b", "B/x", "c/d/e"} {
		s.do(key, "POST", "/object/b/"+name, "x").want(t, 200, "Key")
	}
	var all []string
	cursor := ""
	for range 20 {
		body := map[string]any{"prefix": "", "limit": 1, "with_delimiter": true}
		if cursor != "" {
			body["cursor"] = cursor
		}
		var page struct {
			HasNext          bool
			NextCursor       string
			Folders, Objects []struct{ Name string }
		}
		if err := json.Unmarshal(s.do(key, "POST", "/object/list-v2/b", body).want(t, 200, "hasNext").body, &page); err != nil {
			t.Fatal(err)
		}
		for _, e := range append(page.Folders, page.Objects...) {
			all = append(all, e.Name)
		}
		if cursor = page.NextCursor; !page.HasNext {
			break
		}
	}
	if got := strings.Join(all, " "); got != "B/ a a-b a/ c/" {
		t.Errorf("paged: %q", got)
	}
	s.do(key, "POST", "/object/list/b", map[string]any{"prefix": "a", "sortBy": map[string]any{"column": "name", "order": "desc"}}).want(t, 200, `[{"name":"2"`)
	s.do(key, "POST", "/object/list/b", map[string]any{"prefix": "", "search": "C/", "limit": 1}).want(t, 200, `[{"name":"c/d","id":null`)
	s.do(key, "POST", "/object/list-v2/b", map[string]any{"cursor": "!!"}).want(t, 400, "continuation token")
}

// TestListingByTime: pages sorted by a time lose nothing that was made within one millisecond, the step of the cursor.
func TestListingByTime(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	s.bucket("b", false)
	s.db.Exec(`
		insert into storage.objects (bucket_id, name, created_at, updated_at)
		select 'b', name, at, at from (values ('b', timestamptz '2026-03-01 12:00:00.0001Z'), ('a', '2026-03-01 12:00:00.0002Z'),
		  ('d', '2026-03-01 12:00:00.0003Z'), ('c', '2026-03-01 12:00:00.0011Z')) v (name, at)`)
	for _, column := range []string{"created_at", "updated_at"} {
		for order, want := range map[string]string{"asc": "a b d c", "desc": "c d b a"} {
			var all []string
			body := map[string]any{"limit": 1, "sortBy": map[string]any{"column": column, "order": order}}
			for range 10 {
				var page struct {
					HasNext    bool
					NextCursor string
					Objects    []struct{ Name string }
				}
				if err := json.Unmarshal(s.do(s.demo.ServiceRole, "POST", "/object/list-v2/b", body).want(t, 200, "hasNext").body, &page); err != nil {
					t.Fatal(err)
				}
				for _, o := range page.Objects {
					all = append(all, o.Name)
				}
				if body["cursor"] = page.NextCursor; !page.HasNext {
					break
				}
			}
			if got := strings.Join(all, " "); got != want {
				t.Errorf("%s %s: %q, not %q", column, order, got, want)
			}
		}
	}
}
