package storage

import (
	"bytes"
	"io"
	"maps"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/minio/minio-go/v7"
)

// s3Form sends upload forms to the bucket box.
type s3Form struct {
	*stack
	client *minio.Core // signs the policy
}

func newS3Form(t *testing.T) s3Form {
	t.Helper()
	s := newStack(t)
	s.bucket("box", false)
	return s3Form{s, s.s3Client("access", "secret-of-the-test", "")}
}

// policy returns the signed URL and the fields of a form for a key that begins with "mine/" and a
// file of 2 to 9 bytes. change, if set, changes the policy before it is signed.
func (f s3Form) policy(change func(*minio.PostPolicy) error) (address string, fields map[string]string) {
	f.t.Helper()
	p := minio.NewPostPolicy()
	for _, err := range []error{p.SetExpires(time.Now().Add(time.Minute)), p.SetBucket("box"),
		p.SetKeyStartsWith("mine/"), p.SetContentLengthRange(2, 9), p.SetUserMetadata("colour", "green")} {
		if err != nil {
			f.t.Fatal(err)
		}
	}
	if change != nil {
		if err := change(p); err != nil {
			f.t.Fatal(err)
		}
	}
	u, fields, err := f.client.Client.PresignedPostPolicy(f.t.Context(), p)
	if err != nil {
		f.t.Fatal(err)
	}
	return u.String(), fields
}

// post sends a form with the policy. changed replaces fields after the policy has been signed; ""
// removes a field.
func (f s3Form) post(change func(*minio.PostPolicy) error, file string, changed map[string]string) reply {
	f.t.Helper()
	address, fields := f.policy(change)
	maps.Copy(fields, changed)
	var b bytes.Buffer
	form := multipart.NewWriter(&b)
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if fields[name] == "" {
			continue
		}
		if err := form.WriteField(name, fields[name]); err != nil {
			f.t.Fatal(err)
		}
	}
	part, err := form.CreatePart(textproto.MIMEHeader{
		"Content-Disposition": {`form-data; name="file"; filename="page.txt"`}, "Content-Type": {"text/html"}})
	if err != nil {
		f.t.Fatal(err)
	}
	io.WriteString(part, file)
	form.Close()
	r, err := http.NewRequest("POST", address, &b)
	if err != nil {
		f.t.Fatal(err)
	}
	r.Header.Set("Content-Type", form.FormDataContentType())
	return f.send(r)
}

// signType adds a content type to a policy.
func signType(p *minio.PostPolicy) error { return p.SetContentType("text/plain") }

// TestS3Form uploads files with signed forms. The type comes from the signed fields, not from the
// file's part of the form.
func TestS3Form(t *testing.T) {
	t.Parallel()
	f := newS3Form(t)
	key := f.demo.ServiceRole
	f.post(nil, "hello", map[string]string{"key": "mine/${filename}", "x-ignore-me": "1"}).want(t, 200, "")
	got := f.do(key, "GET", "/object/box/mine/page.txt", nil).want(t, 200, "hello")
	if kind := got.Header.Get("Content-Type"); kind != "application/octet-stream" {
		t.Errorf("type without a signed type: %q", kind)
	}
	f.do(key, "GET", "/object/info/box/mine/page.txt", nil).want(t, 200, `"metadata":{"colour":"green"}`)
	f.post(signType, "hello", map[string]string{"key": "mine/typed"}).want(t, 200, "")
	got = f.do(key, "GET", "/object/box/mine/typed", nil).want(t, 200, "hello")
	if kind := got.Header.Get("Content-Type"); kind != "text/plain" {
		t.Errorf("signed type: %q", kind)
	}
}

// TestS3FormCreated checks the document that tells clients such as Uppy where the upload is.
func TestS3FormCreated(t *testing.T) {
	t.Parallel()
	f := newS3Form(t)
	created := func(p *minio.PostPolicy) error { return p.SetSuccessStatusAction("201") }
	got := f.post(created, "hello", map[string]string{"key": "mine/${filename}"}).want(t, 201,
		"<PostResponse><Location>box/mine/page.txt</Location><Bucket>box</Bucket><Key>mine/page.txt</Key><ETag>")
	if kind := got.Header.Get("Content-Type"); !strings.HasPrefix(kind, "application/xml") {
		t.Errorf("type: %s", kind)
	}
	got = f.post(func(p *minio.PostPolicy) error { return p.SetSuccessStatusAction("204") }, "hello",
		map[string]string{"key": "mine/x"}).want(t, 204, "")
	if len(got.body) > 0 {
		t.Errorf("body of 204: %s", got.body)
	}
}

// TestS3FormRefused changes signed forms. Every change that the policy does not cover must be
// refused.
func TestS3FormRefused(t *testing.T) {
	t.Parallel()
	f := newS3Form(t)
	wrongSecret := f.s3Client("access", "wrong", "")
	for name, tt := range map[string]struct {
		client  *minio.Core
		sign    func(*minio.PostPolicy) error
		file    string
		changed map[string]string
		status  int
		text    string
	}{
		"another key": {changed: map[string]string{"key": "other/x"}, status: 403,
			text: "Policy Condition failed"},
		"other metadata": {changed: map[string]string{"x-amz-meta-colour": "red"}, status: 403,
			text: "Policy Condition failed"},
		"without signed metadata": {changed: map[string]string{"x-amz-meta-colour": ""}, status: 403,
			text: "Policy Condition failed"},
		"more metadata": {changed: map[string]string{"x-amz-meta-approved": "yes"}, status: 403,
			text: "Extra input fields: x-amz-meta-approved"},
		"x-amz- field": {changed: map[string]string{"X-Amz-Acl": "public-read"}, status: 403,
			text: "Extra input fields: x-amz-acl"},
		"unsigned type": {changed: map[string]string{"Content-Type": "text/html"}, status: 403,
			text: "Extra input fields: content-type"},
		"another type": {sign: signType, changed: map[string]string{"Content-Type": "text/html"},
			status: 403, text: "Policy Condition failed"},
		"another field": {changed: map[string]string{"note": "x"}, status: 403,
			text: "Extra input fields: note"},
		"expired policy": {sign: func(p *minio.PostPolicy) error { return p.SetExpires(time.Now().Add(-time.Minute)) },
			status: 403, text: "Policy expired"},
		"another secret": {client: wrongSecret, status: 403, text: "SignatureDoesNotMatch"},
		"another credential": {changed: map[string]string{"x-amz-credential": "other/20260101/local/s3/aws4_request"},
			status: 400, text: "InvalidSignature"},
		"no signature": {changed: map[string]string{"x-amz-signature": ""}, status: 400,
			text: "InvalidSignature"},
		"another policy": {changed: map[string]string{"policy": "e30="}, status: 403,
			text: "SignatureDoesNotMatch"},
		"file too small": {file: "1", status: 400, text: "EntityTooSmall"},
		"file too large": {file: "0123456789", status: 413, text: "EntityTooLarge"},
		"another bucket": {sign: func(p *minio.PostPolicy) error { return p.SetBucket("elsewhere") }, status: 403,
			text: "Policy Condition failed"},
	} {
		form := f
		if tt.client != nil {
			form.client = tt.client
		}
		file := tt.file
		if file == "" {
			file = "hello"
		}
		changed := map[string]string{"key": "mine/refused"}
		maps.Copy(changed, tt.changed)
		if r := form.post(tt.sign, file, changed); r.StatusCode != tt.status ||
			!strings.Contains(string(r.body), tt.text) {
			t.Errorf("%s: %d %s", name, r.StatusCode, r.body)
		}
		f.do(f.demo.ServiceRole, "GET", "/object/box/mine/refused", nil).want(t, 400, "not_found")
	}
}
