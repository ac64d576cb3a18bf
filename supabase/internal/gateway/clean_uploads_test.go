package gateway

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// album is a storage service that records what it gets. Names in taken get 409.
type album struct {
	mu    sync.Mutex
	taken map[string]bool
	paths []string
	body  string // of the last request
	kind  string
}

func (a *album) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.paths, a.body, a.kind = append(a.paths, r.URL.Path), string(body), r.Header.Get("Content-Type")
	name := strings.TrimPrefix(r.URL.Path, "/object/")
	if a.taken[name] {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, `{"statusCode":"409","error":"Duplicate","message":"The resource already exists"}`)
		return
	}
	fmt.Fprintf(w, `{"Id":"1","Key":"%s"}`, name)
}

// cleaned returns a gateway whose bucket "photos" is cleaned. A file is an image if it starts with
// "image"; its metadata is "(place)".
func cleaned(t *testing.T, a *album, remote bool) http.Handler {
	var storage http.Handler = a
	if remote {
		server := httptest.NewServer(a)
		t.Cleanup(server.Close)
		target, _ := url.Parse(server.URL)
		storage = Proxy(target, time.Second, slog.New(slog.DiscardHandler))
	}
	return testGateway(func(o *Options) {
		o.Storage = storage
		o.CleanBuckets = []CleanBucket{{ID: "photos", MaxBytes: 1 << 20, HideNames: true,
			Refusal: map[string]string{"": "no image", "so": "sawir ma aha"}}, {ID: "letters", RefuseCopies: true}}
		o.CleanImage = func(content []byte) ([]byte, string, error) {
			if !bytes.HasPrefix(content, []byte("image")) {
				return nil, "", errors.New("no image")
			}
			return bytes.ReplaceAll(content, []byte("(place)"), nil), "image/x", nil
		}
		o.Role = func(token string) string { return map[string]string{"service": serviceRole}[token] }
	})
}

// uploadForm returns a form as supabase-js sends it, with a field before and after the file.
func uploadForm(file string) (body, contentType string) {
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	_ = w.WriteField("cacheControl", "3600")
	part, _ := w.CreatePart(map[string][]string{"Content-Disposition": {`form-data; name=""; filename="IMG (place).jpg"`}, "Content-Type": {"image/jpeg"}})
	_, _ = io.WriteString(part, file)
	_ = w.WriteField("metadata", `{"claim":"c"}`)
	_ = w.Close()
	return b.String(), w.FormDataContentType()
}

func put(h http.Handler, method, target, body string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, target, strings.NewReader(body))
	r.Header.Set("apikey", "anon")
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w
}

// TestCleanUploads checks every way to upload to a cleaned bucket, with storage in this process and
// elsewhere.
func TestCleanUploads(t *testing.T) {
	form, formType := uploadForm("image (place) pixels")
	long := "image" + strings.Repeat("(place)", 50_000)
	for _, remote := range []bool{false, true} {
		for name, c := range map[string]struct {
			method, path, body, kind string
			want                     string // part of what storage gets; "" means nothing
		}{
			"raw": {"POST", "object/photos/1.jpg", "image (place) pixels", "image/jpeg",
				"image  pixels"},
			"update": {"PUT", "object/photos/1.jpg", "image (place) pixels", "image/jpeg",
				"image  pixels"},
			"signed": {"PUT", "object/upload/sign/photos/1.jpg?token=x", "image (place) pixels",
				"image/jpeg", "image  pixels"},
			"form":           {"POST", "object/photos/1.jpg", form, formType, "image  pixels"},
			"signed form":    {"PUT", "object/upload/sign/photos/1.jpg?token=x", form, formType, "image  pixels"},
			"through a file": {"POST", "object/photos/1.jpg", long, "image/jpeg", "image"},
			"encoded bucket": {"POST", "object/%70hotos/1.jpg", "image (place) pixels", "image/jpeg",
				"image  pixels"},
			"encoded route": {"POST", "%6fbject/photos/1.jpg", "image (place) pixels", "image/jpeg",
				"image  pixels"},
			"empty segments": {"POST", "object//photos/1.jpg", "image (place) pixels", "image/jpeg",
				"image  pixels"},
			"another bucket": {"POST", "object/notes/1.jpg", "a (place)", "image/jpeg", "a (place)"},
			"no image":       {"POST", "object/photos/1.jpg", "text (place)", "image/jpeg", ""},
			"nothing":        {"POST", "object/photos/1.jpg", "", "image/jpeg", ""},
			"a broken form":  {"POST", "object/photos/1.jpg", form[:120], formType, ""},
			"resumable": {"POST", "upload/resumable", "image (place)", "application/offset+octet-stream",
				""},
			"a part of it": {"PATCH", "upload/resumable/" +
				base64.RawURLEncoding.EncodeToString([]byte("photos/1.jpg/v")), "(place)",
				"application/offset+octet-stream", ""},
			"copied": {"POST", "object/copy",
				`{"bucketId":"notes","sourceKey":"a","destinationBucket":"photos","destinationKey":"1.jpg"}`,
				"application/json", ""},
			"copied, two buckets": {"POST", "object/copy",
				`{"bucketId":"notes","destinationBucket":"photos","destinationBucket":"notes"}`, "application/json",
				""},
			"moved, other case": {"POST", "object/move", `{"bucketId":"notes","DestinationBucket":"photos"}`,
				"application/json", ""},
			"moved in the bucket": {"POST", "object/move",
				`{"bucketId":"photos","sourceKey":"a","destinationKey":"b"}`, "application/json", `"sourceKey":"a"`},
			"S3":          {"PUT", "s3/photos/1.jpg", "image (place)", "image/jpeg", ""},
			"S3 form":     {"POST", "s3/photos", form, formType, ""},
			"S3 deletion": {"POST", "s3/photos?delete", "<Delete/>", "application/xml", "<Delete/>"},
			"list": {"POST", "object/list/photos", `{"prefix":""}`, "application/json",
				`{"prefix":""}`},
			"resumable, elsewhere": {"PATCH", "upload/resumable/" +
				base64.RawURLEncoding.EncodeToString([]byte("notes/1/v")), "(place)", "application/offset+octet-stream",
				"(place)"},
		} {
			a := &album{}
			w := put(cleaned(t, a, remote), c.method, "/storage/v1/"+c.path, c.body, "Content-Type", c.kind,
				"Tus-Resumable", "1.0.0", "Upload-Metadata", "bucketName "+
					base64.StdEncoding.EncodeToString([]byte(strings.Split(c.path, "/")[0]+"s"))+",bucketName cGhvdG9z")
			if strings.Contains(name, "elsewhere") {
				a = &album{}
				w = put(cleaned(t, a, remote), c.method, "/storage/v1/"+c.path, c.body, "Content-Type", c.kind)
			}
			if stored := len(a.paths) > 0; stored != (c.want != "") || stored != (w.Code < 400) {
				t.Errorf("%s (remote %v): storage got %v, status %d %s", name, remote, a.paths, w.Code, w.Body)
			}
			if !strings.Contains(a.body, c.want) || strings.Contains(a.body, "(place)") &&
				!strings.Contains(c.want, "(place)") {
				t.Errorf("%s (remote %v): storage got %q", name, remote, a.body)
			}
			if strings.Contains(name, "form") && c.want != "" {
				for _, field := range []string{"3600", `{"claim":"c"}`, "image/jpeg"} {
					if !strings.Contains(a.body, field) {
						t.Errorf("%s: the form lacks %s: %q", name, field, a.body)
					}
				}
			}
		}
	}
}

// TestCleanUploadsRefusal checks the message in the client's language, and the limit of a file.
func TestCleanUploadsRefusal(t *testing.T) {
	h := cleaned(t, &album{}, false)
	for language, want := range map[string]string{"": "no image", "so-SO, en;q=0.5": "sawir ma aha", "fr": "no image"} {
		w := put(h, "POST", "/storage/v1/object/photos/1.jpg", "text", "Accept-Language", language)
		var e struct{ StatusCode, Error, Message string }
		if err := json.Unmarshal(w.Body.Bytes(), &e); err != nil || w.Code != 400 || e.StatusCode != "415" ||
			e.Error != "invalid_image" || e.Message != want {
			t.Errorf("%q: %d %s", language, w.Code, w.Body)
		}
	}
	large := "image" + strings.Repeat("x", 1<<20)
	form, formType := uploadForm(large)
	for kind, body := range map[string]string{"image/jpeg": large, formType: form} {
		if w := put(h, "POST", "/storage/v1/object/photos/1.jpg", body, "Content-Type", kind); w.Code != 413 ||
			!strings.Contains(w.Body.String(), "exceeded the maximum allowed size") {
			t.Errorf("%s: %d %s", kind, w.Code, w.Body)
		}
	}
}

// TestCleanUploadsHideNames checks that a user gets the same reply for a free and for a taken name,
// and both files are kept.
func TestCleanUploadsHideNames(t *testing.T) {
	for _, key := range []string{"anon", "service"} {
		a := &album{taken: map[string]bool{"photos/1.jpg": true}}
		h := cleaned(t, a, false)
		taken := put(h, "POST", "/storage/v1/object/photos/1.jpg", "image (place)", "apikey", key)
		last := a.paths[len(a.paths)-1]
		stored := a.body
		free := put(h, "POST", "/storage/v1/object/photos/2.jpg", "image (place)", "apikey", key)
		if key == "service" {
			if taken.Code != 400 || !strings.Contains(taken.Body.String(), "409") {
				t.Errorf("service_role: %d %s", taken.Code, taken.Body)
			}
			continue
		}
		if taken.Code != free.Code || strings.ReplaceAll(taken.Body.String(), "1.jpg", "2.jpg") != free.Body.String() {
			t.Errorf("taken: %d %s, free: %d %s", taken.Code, taken.Body, free.Code, free.Body)
		}
		for name := range free.Header() {
			if len(taken.Header()[name]) != len(free.Header()[name]) {
				t.Errorf("header %s differs", name)
			}
		}
		if !strings.HasPrefix(last, "/object/photos/1-") || len(last) != len("/object/photos/1-abcdefghijkl.jpg") ||
			stored != "image " {
			t.Errorf("stored as %s: %q", last, stored)
		}
	}
}

// TestCleanUploadsRefuseCopies checks that no request copies or moves a file out of a bucket that
// refuses it, also with the service_role key, and that other buckets are not affected.
func TestCleanUploadsRefuseCopies(t *testing.T) {
	for _, c := range []struct {
		method, path, body, source string
		refused                    bool
	}{
		{"POST", "object/copy", `{"bucketId":"letters","destinationBucket":"notes"}`, "", true},
		{"POST", "object/copy", `{"bucketId":"letters"}`, "", true},
		{"POST", "object/copy", `{"bucketId":["letters"],"destinationBucket":"notes"}`, "", true},
		{"POST", "object/copy", `{"bucketId":[[["letters"]]],"destinationBucket":"notes"}`, "", true},
		{"POST", "object/copy", `{"bucketId":"notes","bucketId":"letters","destinationBucket":"notes"}`, "", true},
		{"POST", "object/move", `{"bucketId":"letters","destinationBucket":"photos"}`, "", true},
		{"PUT", "s3/notes/a", "", "letters/1.jpg", true},
		{"PUT", "s3/notes/a", "", "/letters/1.jpg", true},
		{"PUT", "s3/notes/a", "", "%2Fletters%2F1.jpg", true},
		{"PUT", "s3/notes/a", "", "letters/1.jpg?versionId=%", true},
		{"PUT", "s3/notes/a?partNumber=1&uploadId=u", "", "letters/1.jpg", true},
		{"POST", "object/copy", `{"bucketId":"notes","sourceKey":"letters","destinationKey":"b"}`, "", false},
		{"POST", "object/copy", `{"bucketId":"photos","destinationBucket":"notes"}`, "", false},
		{"PUT", "s3/notes/a", "", "notes/letters", false},
	} {
		for _, key := range []string{"anon", "service"} {
			a := &album{}
			w := put(cleaned(t, a, false), c.method, "/storage/v1/"+c.path, c.body, "apikey", key, "X-Amz-Copy-Source", c.source)
			if refused := len(a.paths) == 0; refused != c.refused || refused != (w.Code >= 400) {
				t.Errorf("%s %s %s %s with the key %s: %d, storage got %v", c.method, c.path, c.body, c.source, key, w.Code, a.paths)
			}
		}
	}
}

// TestCleanUploadsEncodedSlashes checks that an encoded slash, which a service may read as a slash,
// leads past neither the cleaning nor the hiding of names.
func TestCleanUploadsEncodedSlashes(t *testing.T) {
	bucket := base64.StdEncoding.EncodeToString([]byte("photos"))
	id := base64.RawURLEncoding.EncodeToString([]byte("photos/1.jpg/version"))
	for _, c := range []struct{ method, path string }{
		{"POST", "upload/resumable"},
		{"POST", "upload%2Fresumable"},
		{"POST", "upload%2fresumable%2Fsign"},
		{"PATCH", "upload/resumable/" + id},
		{"PATCH", "upload/resumable%2F" + id},
		{"PATCH", "upload%2Fresumable%2F" + id},
		{"PUT", "s3/photos/1.jpg"},
		{"PUT", "s3%2Fphotos/1.jpg"},
		{"PUT", "s3/photos%2F1.jpg"},
	} {
		a := &album{}
		metadata := ""
		if c.method == "POST" {
			metadata = "bucketName " + bucket
		}
		w := put(cleaned(t, a, false), c.method, "/storage/v1/"+c.path, "image (place)", "Upload-Metadata", metadata)
		if w.Code < 400 || len(a.paths) > 0 {
			t.Errorf("%s %s: %d, storage got %v", c.method, c.path, w.Code, a.paths)
		}
	}
}

// TestCleanUploadsS3Form checks that a form of the S3 protocol is refused, also where the query
// says that it deletes.
func TestCleanUploadsS3Form(t *testing.T) {
	form, formType := uploadForm("image (place)")
	for _, path := range []string{"s3/photos", "s3/photos?delete", "s3/photos/?delete="} {
		a := &album{}
		if w := put(cleaned(t, a, false), "POST", "/storage/v1/"+path, form, "Content-Type", formType); w.Code < 400 ||
			len(a.paths) > 0 {
			t.Errorf("%s: %d, storage got %v", path, w.Code, a.paths)
		}
	}
}

// TestSpooledBodiesAreEncrypted checks that a body on its way does not stand on the disk in the
// clear.
func TestSpooledBodiesAreEncrypted(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "spool"))
	if err != nil {
		t.Fatal(err)
	}
	f := newSpoolFile(file, newBodyBuffer(slog.New(slog.DiscardHandler)), "client")
	defer f.close()
	content := strings.Repeat("+252 61 2345678 ", 10_000)
	if _, err := io.Copy(f, strings.NewReader(content)); err != nil {
		t.Fatal(err)
	}
	onDisk, err := os.ReadFile(file.Name())
	if err != nil || len(onDisk) != len(content) || bytes.Contains(onDisk, []byte("2345678")) {
		t.Errorf("%d bytes on disk, %v", len(onDisk), err)
	}
	r, err := f.reader()
	if err != nil {
		t.Fatal(err)
	}
	if back, err := io.ReadAll(r); err != nil || string(back) != content {
		t.Errorf("%d bytes back, %v", len(back), err)
	}
}
