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

// TestS3Form: what a signed upload form does for its holder, and that nothing can be added to what was signed.
func TestS3Form(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	s.bucket("box", false)
	c := s.s3Client("access", "secret-of-the-test", "")
	stranger := s.s3Client("access", "wrong", "")

	// post signs a form for a key that begins with "mine/", of 2 to 9 bytes; changed makes what is sent of what was signed.
	post := func(c *minio.Core, sign func(*minio.PostPolicy) error, file string, changed map[string]string) reply {
		t.Helper()
		p := minio.NewPostPolicy()
		for _, err := range []error{p.SetExpires(time.Now().Add(time.Minute)), p.SetBucket("box"), p.SetKeyStartsWith("mine/"),
			p.SetContentLengthRange(2, 9), p.SetUserMetadata("colour", "green")} {
			if err != nil {
				t.Fatal(err)
			}
		}
		if sign != nil {
			if err := sign(p); err != nil {
				t.Fatal(err)
			}
		}
		address, fields, err := c.Client.PresignedPostPolicy(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		maps.Copy(fields, changed)
		var b bytes.Buffer
		form := multipart.NewWriter(&b)
		for _, name := range slices.Sorted(maps.Keys(fields)) {
			if fields[name] == "" {
				continue
			}
			if err := form.WriteField(name, fields[name]); err != nil {
				t.Fatal(err)
			}
		}
		part, err := form.CreatePart(textproto.MIMEHeader{
			"Content-Disposition": {`form-data; name="file"; filename="page.txt"`}, "Content-Type": {"text/html"}})
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(part, file)
		form.Close()
		r, err := http.NewRequest("POST", address.String(), &b)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", form.FormDataContentType())
		return s.send(r)
	}

	key := s.demo.ServiceRole
	post(c, nil, "hello", map[string]string{"key": "mine/${filename}", "x-ignore-me": "1"}).want(t, 200, "")
	// The type is the policy's business, and no condition covers the header of the file's own part.
	got := s.do(key, "GET", "/object/box/mine/page.txt", nil).want(t, 200, "hello")
	if kind := got.Header.Get("Content-Type"); kind != "application/octet-stream" {
		t.Errorf("the file's own type became the object's: %q", kind)
	}
	s.do(key, "GET", "/object/info/box/mine/page.txt", nil).want(t, 200, `"metadata":{"colour":"green"}`)
	signedType := func(p *minio.PostPolicy) error { return p.SetContentType("text/plain") }
	post(c, signedType, "hello", map[string]string{"key": "mine/typed"}).want(t, 200, "")
	got = s.do(key, "GET", "/object/box/mine/typed", nil).want(t, 200, "hello")
	if kind := got.Header.Get("Content-Type"); kind != "text/plain" {
		t.Errorf("the signed type became %q", kind)
	}

	for what, tt := range map[string]struct {
		client  *minio.Core
		sign    func(*minio.PostPolicy) error
		file    string
		changed map[string]string
		status  int
		text    string
	}{
		"another key":             {changed: map[string]string{"key": "other/x"}, status: 403, text: "Policy Condition failed"},
		"other metadata":          {changed: map[string]string{"x-amz-meta-colour": "red"}, status: 403, text: "Policy Condition failed"},
		"without signed metadata": {changed: map[string]string{"x-amz-meta-colour": ""}, status: 403, text: "Policy Condition failed"},
		"more metadata":           {changed: map[string]string{"x-amz-meta-approved": "yes"}, status: 403, text: "Extra input fields: x-amz-meta-approved"},
		"an x-amz- field":         {changed: map[string]string{"X-Amz-Acl": "public-read"}, status: 403, text: "Extra input fields: x-amz-acl"},
		"a type":                  {changed: map[string]string{"Content-Type": "text/html"}, status: 403, text: "Extra input fields: content-type"},
		"another type":            {sign: signedType, changed: map[string]string{"Content-Type": "text/html"}, status: 403, text: "Policy Condition failed"},
		"another field":           {changed: map[string]string{"note": "x"}, status: 403, text: "Extra input fields: note"},
		"an expired policy": {sign: func(p *minio.PostPolicy) error { return p.SetExpires(time.Now().Add(-time.Minute)) },
			status: 403, text: "Policy expired"},
		"another's policy":    {client: stranger, status: 403, text: "SignatureDoesNotMatch"},
		"another credential":  {changed: map[string]string{"x-amz-credential": "other/20260101/local/s3/aws4_request"}, status: 400, text: "InvalidSignature"},
		"no signature":        {changed: map[string]string{"x-amz-signature": ""}, status: 400, text: "InvalidSignature"},
		"a policy of its own": {changed: map[string]string{"policy": "e30="}, status: 403, text: "SignatureDoesNotMatch"},
		"a file too small":    {file: "1", status: 400, text: "EntityTooSmall"},
		"a file too large":    {file: "0123456789", status: 413, text: "EntityTooLarge"},
		"another bucket":      {sign: func(p *minio.PostPolicy) error { return p.SetBucket("elsewhere") }, status: 403, text: "Policy Condition failed"},
	} {
		client, file := tt.client, tt.file
		if client == nil {
			client = c
		}
		if file == "" {
			file = "hello"
		}
		changed := map[string]string{"key": "mine/refused"}
		maps.Copy(changed, tt.changed)
		if r := post(client, tt.sign, file, changed); r.StatusCode != tt.status || !strings.Contains(string(r.body), tt.text) {
			t.Errorf("%s: %d %s", what, r.StatusCode, r.body)
		}
		s.do(key, "GET", "/object/box/mine/refused", nil).want(t, 400, "not_found")
	}
}
