package standalone

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"daawo/supabase/internal/base/compare"
	"daawo/supabase/internal/base/keys"
	"daawo/supabase/internal/database/testdb"
)

var (
	differentialSeed = flag.Uint64("differential.seed", 1, "the seed of TestDifferential")
	differentialSize = flag.Int("differential.requests", 6000, "requests of TestDifferential to each server")
)

// walk makes a random sequence of requests to storage. The same seed makes the same sequence.
type walk struct{ *rand.Rand }

func (w walk) of(list ...string) string { return list[w.IntN(len(list))] }

func (w walk) often(n int) bool { return w.IntN(100) < n }

func (w walk) bucket() string {
	if w.often(6) {
		return w.of("none", "b%2Fc", "B", "a b")
	}
	return w.of("open", "closed", "small")
}

func (w walk) name() string {
	if w.often(14) {
		return w.of("a//b.txt", "a/../b", "%C3%A9.txt", "folder/.emptyFolderPlaceholder", "a%00b", "x?y", "a%20b.txt")
	}
	return w.of("a.txt", "b.txt", "folder/a.txt", "folder/b.txt", "folder/deep/c.txt", "d.json")
}

func (w walk) caller() string {
	if w.often(18) {
		return w.of("", "Bearer x", "Bearer ${anon}", "Bearer ${person}", "Bearer ${expired}", "${service}")
	}
	return "Bearer ${service}"
}

func (w walk) request(method, path string, body any) compare.Request {
	q := compare.Request{Method: method, Path: path, Header: map[string]string{}, Keep: map[string]string{}}
	if caller := w.caller(); caller != "" {
		q.Header["Authorization"] = caller
	}
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			panic(err) // a body of this file that is no JSON
		}
		q.Body, q.Header["Content-Type"] = string(text), "application/json"
	}
	return q
}

type object = map[string]any

func (w walk) next() compare.Request {
	switch n := w.IntN(100); {
	case n < 10:
		return w.buckets()
	case n < 35:
		return w.upload()
	case n < 60:
		return w.read()
	case n < 75:
		return w.change()
	case n < 88:
		return w.sign()
	case n < 96:
		return w.resumable()
	}
	return w.request(w.of("GET", "POST", "PUT", "DELETE", "PATCH"), w.of("/", "/x", "/bucket/", "/object", "/status",
		"/object/list/none", "/version", "/upload/resumable"), nil)
}

func (w walk) buckets() compare.Request {
	b := w.of("open", "closed", "small", "extra", "a b", "")
	settings := object{"public": w.often(50), "file_size_limit": []any{nil, 1000, "1KB", "x", -1}[w.IntN(5)],
		"allowed_mime_types": []any{nil, []string{"text/plain"}, []string{"image/*"}, "x"}[w.IntN(4)]}
	switch w.IntN(6) {
	case 0:
		settings["name"], settings["id"] = "extra", "extra"
		return w.request("POST", "/bucket", settings)
	case 1:
		return w.request("PUT", "/bucket/extra", settings)
	case 2:
		return w.request(w.of("GET", "HEAD"), "/bucket/"+strings.ReplaceAll(b, " ", "%20"), nil)
	case 3:
		return w.request("DELETE", "/bucket/extra", nil)
	case 4:
		return w.request("POST", "/bucket/extra/empty", object{})
	}
	return w.request("GET", "/bucket"+w.of("", "?limit=1", "?limit=x", "?search=op", "?sortColumn=name&sortOrder=desc"),
		nil)
}

func (w walk) upload() compare.Request {
	q := w.request(w.of("POST", "POST", "PUT"), "/object/"+w.bucket()+"/"+w.name(), nil)
	q.Header["Content-Type"] = w.of("text/plain", "application/json", "image/png", "text/html", "x")
	q.Body = w.of("hello", "hello there", "", strings.Repeat("x", 2000))
	if w.often(40) {
		q.Header["X-Upsert"] = w.of("true", "false", "x")
	}
	if w.often(30) {
		q.Header["Cache-Control"] = w.of("max-age=60", "3600", "no-store")
	}
	if w.often(20) {
		q.Header["X-Metadata"] = w.of("eyJhIjoxfQ==", "x", "W10=")
	}
	if w.often(30) {
		field := func(name, value string) string {
			return "--B\r\nContent-Disposition: form-data; name=\"" + name + "\"\r\n\r\n" + value + "\r\n"
		}
		file := "--B\r\nContent-Disposition: form-data; name=\"\"; filename=\"a.txt\"\r\nContent-Type: text/plain\r\n\r\nhello\r\n"
		cache, meta := field("cacheControl", "60"), field("metadata", `{"a":1}`)
		q.Header["Content-Type"] = "multipart/form-data; boundary=B"
		q.Body = w.of(cache+meta+file, file, cache+file, file+cache, "") + "--B--\r\n"
	}
	return q
}

func (w walk) read() compare.Request {
	path := w.bucket() + "/" + w.name()
	switch w.IntN(7) {
	case 0:
		return w.request(w.of("GET", "HEAD"), "/object/info/"+w.of("", "public/", "authenticated/")+path, nil)
	case 1:
		return w.request("POST", "/object/list/"+w.bucket(), object{"prefix": w.of("", "folder", "folder/", "fo"),
			"limit": []any{1, 10, nil, "x", 0}[w.IntN(5)], "offset": w.IntN(3), "search": w.of("", "a", "B"),
			"sortBy": object{"column": w.of("name", "created_at", "x"), "order": w.of("asc", "desc", "x")}})
	case 2:
		return w.request("POST", "/object/list-v2/"+w.bucket(), object{"prefix": w.of("", "folder/", "fo"),
			"limit": w.IntN(4), "with_delimiter": w.often(50)})
	}
	q := w.request(w.of("GET", "GET", "HEAD"), "/object/"+w.of("", "public/", "authenticated/")+path+w.of("", "", "",
		"?download", "?download=x.txt", "?download="), nil)
	if w.often(20) {
		q.Header["Range"] = w.of("bytes=0-1", "bytes=2-", "bytes=100-", "bytes=-2", "x")
	}
	if w.often(20) {
		q.Header["If-None-Match"] = w.of(`"5d41402abc4b2a76b9719d911017c592"`, "x", "*")
	}
	return q
}

func (w walk) change() compare.Request {
	pair := object{"bucketId": w.bucket(), "sourceKey": w.name(), "destinationKey": w.name()}
	switch w.IntN(5) {
	case 0:
		if w.often(30) {
			pair["destinationBucket"] = w.of("small", w.bucket())
		}
		return w.request("POST", "/object/move", pair)
	case 1:
		pair["copyMetadata"] = w.often(70)
		if w.often(30) {
			pair["destinationBucket"] = w.of("small", w.bucket())
		}
		return w.request("POST", "/object/copy", pair)
	case 2:
		return w.request("DELETE", "/object/"+w.bucket(), object{"prefixes": [][]string{{w.name(), w.name()}, {}, {"x"}}[w.IntN(3)]})
	}
	return w.request("DELETE", "/object/"+w.bucket()+"/"+w.name(), nil)
}

func (w walk) sign() compare.Request {
	path := w.bucket() + "/" + w.name()
	switch w.IntN(6) {
	case 0:
		return w.request("POST", "/object/sign/"+w.bucket(), object{"expiresIn": []any{60, 0, "x"}[w.IntN(3)],
			"paths": []string{w.name(), w.name()}})
	case 1:
		q := w.request("POST", "/object/upload/sign/"+path, object{})
		q.Keep["upload"] = "url"
		return q
	case 2:
		q := w.request("PUT", "${upload}", nil)
		q.Body, q.Header["Content-Type"] = "hello", "text/plain"
		if w.often(20) {
			q.Path = "/object/upload/sign/" + path + "?token=" + w.of("x", "${later}", "")
		}
		return q
	case 3:
		return w.request("GET", "/object/sign/open/a.txt?token="+w.of("${later}", "x", "", "${anon}"), nil)
	case 4:
		return w.request("GET", "${signed}"+w.of("", "&download=x"), nil)
	}
	q := w.request("POST", "/object/sign/"+path, object{"expiresIn": []any{60, 60, 60, 0, -1, "x", nil}[w.IntN(7)]})
	q.Keep["signed"] = "signedURL"
	return q
}

func (w walk) resumable() compare.Request {
	q := w.request("POST", "/upload/resumable", nil)
	q.Header["Tus-Resumable"] = w.of("1.0.0", "1.0.0", "1.0.0", "0.1")
	switch w.IntN(4) {
	case 0, 1:
		q.Header["Upload-Length"] = w.of("5", "5", "0", "x")
		// bucketName open, objectName t.txt, contentType text/plain
		q.Header["Upload-Metadata"] = w.of("bucketName b3Blbg==,objectName dC50eHQ=,contentType dGV4dC9wbGFpbg==",
			"bucketName b3Blbg==", "objectName dC50eHQ=", "x")
		q.Keep["tus"] = "header Location"
		return q
	case 2:
		q.Method, q.Path = "HEAD", "/upload/resumable/${id of tus}"
		if w.often(30) {
			delete(q.Header, "Authorization")
		}
		return q
	}
	q.Method, q.Path, q.Body = "PATCH", "/upload/resumable/${id of tus}", w.of("hello", "he", "hello there")
	q.Header["Content-Type"] = w.of("application/offset+octet-stream", "application/offset+octet-stream", "text/plain")
	q.Header["Upload-Offset"] = w.of("0", "0", "2", "x")
	return q
}

// newServer returns a server for one sequence.
func newServer(t *testing.T, address string) *compare.Server {
	t.Helper()
	demo := keys.Demo()
	sign := func(claims string) string {
		token, err := keys.Secret("", demo.JWTSecret).Sign([]byte(claims))
		if err != nil {
			t.Fatal(err)
		}
		return token
	}
	now := time.Now().Unix()
	fixed := map[string]string{
		"anon": demo.Anon, "service": demo.ServiceRole, "expired": sign(`{"role":"service_role","exp":1}`),
		"person": sign(fmt.Sprintf(`{"role":"authenticated","sub":"1f0e8a5c-0000-4000-8000-000000000001","exp":%d}`,
			now+3600)),
		"later":  sign(fmt.Sprintf(`{"url":"open/a.txt","iat":%d,"nbf":%d,"exp":%d}`, now, now+1000, now+3600)),
		"upload": "/object/upload/sign/none", "signed": "/object/sign/none",
	}
	return &compare.Server{Address: address, Client: compare.NewClient(), Headers: []string{"Content-Type",
		"Cache-Control", "Etag", "Last-Modified", "Content-Range", "Content-Disposition", "Location",
		"Upload-Offset", "Upload-Length", "Tus-Resumable", "X-Robots-Tag", "Accept-Ranges", "Expires"},
		Value: func(kept map[string]string, name string) (string, bool) {
			if name == "id of tus" {
				return kept["tus"][strings.LastIndexByte(kept["tus"], '/')+1:], true
			}
			value, ok := fixed[name]
			return value, ok
		}}
}

// sequence returns three buckets and n random requests.
func sequence(seed uint64, n int) (steps []compare.Request) {
	steps = make([]compare.Request, 0, n)
	for _, bucket := range []string{`"name":"open","public":true`, `"name":"closed"`,
		`"name":"small","file_size_limit":1000`} {
		steps = append(steps, asService("POST", "/bucket", "{"+bucket+"}"))
	}
	w := walk{rand.New(rand.NewPCG(seed, 42))}
	for range n {
		steps = append(steps, w.next())
	}
	return steps
}

func asService(method, path, body string) compare.Request {
	return compare.Request{Method: method, Path: path, Body: body,
		Header: map[string]string{"Authorization": "Bearer ${service}", "Content-Type": "application/json"}}
}

// sequenceLength is the number of requests after which the buckets are deleted.
const sequenceLength = 400

// clean deletes the buckets of a server.
func clean(t *testing.T, s *compare.Server) {
	t.Helper()
	for _, bucket := range []string{"open", "closed", "small", "extra"} {
		for _, q := range []compare.Request{asService("POST", "/bucket/"+bucket+"/empty", "{}"),
			asService("DELETE", "/bucket/"+bucket, "{}")} {
			if _, err := s.Send(q); err != nil {
				t.Fatal(err)
			}
		}
	}
	s.Forget()
}

// startTheirs starts the storage-api of STORAGE, or returns the address that STORAGE is.
func startTheirs(t *testing.T) string {
	t.Helper()
	theirs := os.Getenv("STORAGE")
	if strings.HasPrefix(theirs, "http") {
		return theirs
	}
	t.Setenv("STORAGE_API_FOLDER", theirs)
	variables := exchangeVariables(t, testdb.New(t), t.TempDir())
	realServer(t, variables)
	return "http://127.0.0.1:" + variables["SERVER_PORT"]
}

func startOurs(t *testing.T) string {
	t.Helper()
	variables := exchangeVariables(t, testdb.New(t), t.TempDir())
	ourServer(t, variables)
	return "http://127.0.0.1:" + variables["SERVER_PORT"]
}

// TestDifferential sends a random sequence of requests to this engine and to the real storage-api,
// which the variable STORAGE names (its folder or its address), and reports each difference that is
// not in the list.
func TestDifferential(t *testing.T) {
	if os.Getenv("STORAGE") == "" {
		t.Skip("STORAGE names neither a storage-api folder nor an address: see docs/evidence/storage.md")
	}
	ours, theirs := newServer(t, startOurs(t)), newServer(t, startTheirs(t))
	sent := 0
	for seed := *differentialSeed; sent < *differentialSize; seed++ {
		clean(t, ours)
		clean(t, theirs)
		for i, q := range sequence(seed, sequenceLength) {
			sent++
			y, err := theirs.Send(q)
			if err != nil {
				t.Fatalf("%s %s: %v", q.Method, q.Path, err)
			}
			x, ends := check(t, i, q, ours, y)
			if reads := q.Method == "GET" || q.Method == "HEAD"; ends && !reads {
				break
			}
			if len(compare.Replies(x, y)) > 0 {
				ours.Rename()
				theirs.Rename()
			}
		}
	}
	t.Logf("%d requests to each server", sent)
	t.Logf("known differences, ours | theirs:\n%s", strings.Join(knownDifferences.Seen(), "\n"))
	if unseen := knownDifferences.Unseen(); len(unseen) > 0 {
		t.Errorf("listed differences that did not occur:\n%s", strings.Join(unseen, "\n"))
	}
}

// check sends a request to this engine and compares the reply. ends: the servers' data differ from
// now on.
func check(t *testing.T, i int, q compare.Request, ours *compare.Server, want compare.Reply) (compare.Reply, bool) {
	t.Helper()
	got, err := ours.Send(q)
	if err != nil {
		t.Fatalf("%s %s: %v", q.Method, q.Path, err)
	}
	unknown, ends := knownDifferences.Unknown(q, compare.Replies(got, want))
	if len(unknown) > 0 {
		t.Errorf("%d %s %s %.80q %v: %d, theirs %d\n    %v", i, q.Method, q.Path, q.Body, q.Header, got.Status,
			want.Status, unknown)
	}
	return got, ends
}

var record = flag.Bool("record", false, "replace the recorded replies by a real storage-api's")

// TestRecordedReplies sends one sequence to this engine and compares the replies with those that
// the real storage-api gave. -record replaces them.
func TestRecordedReplies(t *testing.T) {
	file, steps := filepath.Join("testdata", "recorded.json.gz"), sequence(1, 400)
	if *record {
		theirs := newServer(t, startTheirs(t))
		var replies []compare.Reply
		for _, q := range steps {
			reply, err := theirs.Send(q)
			if err != nil {
				t.Fatal(err)
			}
			replies = append(replies, reply)
			theirs.Rename()
		}
		if err := compare.WriteRecord(file, replies); err != nil {
			t.Fatal(err)
		}
	}
	replies, err := compare.ReadRecord(file)
	if err != nil {
		t.Fatal(err)
	}
	ours := newServer(t, startOurs(t))
	for i, want := range replies {
		_, _ = check(t, i, steps[i], ours, want)
		ours.Rename()
	}
}

// knownDifferences are the differences from the real storage-api that stay.
var knownDifferences = compare.List{
	{Request: "GET /version", Place: "body", Reason: "the version of the build"},
	{Request: "[A-Z]+ /object/(info/)?public/", Place: `body\.(code|error|message|statusCode)`,
		Text: "NoSuchKey|not.found", Ours: "NoSuchBucket|Bucket not found",
		Reason: "storage-api reads bucket and object at once and reports the first that is missing"},
	{Request: "[A-Z]+ /object/.*%00", Place: "status", Text: "500 DatabaseError",
		Reason: "names with NUL reach the database"},
	{Request: "[A-Z]+ /", Place: `body\.message`, Text: "^(body|querystring|headers)[/ ]", Whole: true,
		Reason: "the body is checked before the token"},
	{Request: "[A-Z]+ /upload/resumable", Place: "body", Text: "^Invalid (tus-resumable|content-type) ",
		Reason: "all invalid headers are named, not the first one"},
	{Request: "POST /upload/resumable", Place: "header Upload-Offset", Reason: "an empty upload has no offset"},
	{Request: "POST /object/(copy|move)", Place: `body\..*`, Text: "NoSuchKey|not_found|Object not found|404",
		Reason: "the source is checked before the target's name"},
	{Request: "GET /object/", Place: "header Content-(Type|Disposition)", Ours: "^$",
		Reason: "a 304 has headers of the content"},
	{Request: "GET /object/", Place: "status", Text: "20[06]|416", Ours: "304",
		Reason: "If-None-Match: * matches nothing with Range"},
	{Request: "POST /object/(copy|move)", Place: "status", Text: "200", Ours: "EntityTooLarge|InvalidMimeType",
		Ends: true, Reason: "the rules of the target bucket are not checked"},
	{Request: "POST /object/list-v2/", Place: `body\.nextCursor`, Reason: "the cursor is opaque"},
	{Request: `[A-Z]+ (/object/|\$\{upload\})`, Place: `body\.message`, Text: "dot path segment",
		Reason: "the message shows the server's own path"},
}
