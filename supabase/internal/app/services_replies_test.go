package app

import (
	"flag"
	"path/filepath"
	"testing"

	"daawo/supabase/internal/base/compare"
)

var record = flag.Bool("record", false, "replace the recorded replies of the real services behind the gateway")

// behindGateway are requests to auth and storage through the gateway. ${anon} and ${secret} are API
// keys.
func behindGateway() (steps []compare.Request) {
	add := func(key, method, path, body string, more ...string) *compare.Request {
		q := compare.Request{Method: method, Path: path, Body: body, Header: map[string]string{}, Keep: map[string]string{}}
		if key != "" {
			q.Header["apikey"] = "${" + key + "}"
		}
		if body != "" {
			q.Header["Content-Type"] = "application/json"
		}
		for i := 0; i < len(more); i += 2 {
			q.Header[more[i]] = more[i+1]
		}
		steps = append(steps, q)
		return &steps[len(steps)-1]
	}
	const user, mine = "Authorization", "Bearer ${token}"
	const person = `{"email":"ayan@example.org","password":"password-1"}`
	keep := func(q *compare.Request) {
		q.Keep["token"], q.Keep["refresh"], q.Keep["id"] = "access_token", "refresh_token", "user.id"
	}
	add("", "GET", "/auth/v1/settings", "")
	add("anon", "GET", "/auth/v1/settings", "")
	keep(add("anon", "POST", "/auth/v1/signup", person))
	add("anon", "POST", "/auth/v1/signup", person)
	add("anon", "POST", "/auth/v1/token?grant_type=password", `{"email":"ayan@example.org","password":"wrong"}`)
	keep(add("anon", "POST", "/auth/v1/token?grant_type=password", person))
	add("anon", "GET", "/auth/v1/user", "", user, mine)
	add("anon", "PUT", "/auth/v1/user", `{"data":{"name":"Ayan"}}`, user, mine)
	keep(add("anon", "POST", "/auth/v1/token?grant_type=refresh_token", `{"refresh_token":"${refresh}"}`))
	add("anon", "GET", "/auth/v1/admin/users", "")
	add("secret", "GET", "/auth/v1/admin/users/${id}", "")
	add("secret", "POST", "/auth/v1/admin/generate_link",
		`{"type":"magiclink","email":"ayan@example.org","redirect_to":"https://evil.example.net/"}`).Keep["hash"] = "hashed_token"
	add("", "GET", "/auth/v1/verify?type=magiclink&token=${hash}", "")
	add("", "GET", "/auth/v1/verify?type=magiclink&token=${hash}", "")
	add("", "GET", "/auth/v1/authorize?provider=github", "")
	add("", "GET", "/auth/v1/.well-known/openid-configuration", "")
	add("anon", "GET", "/auth/v1/none", "")

	const files, asText = "/storage/v1/object/", "text/plain"
	add("secret", "POST", "/storage/v1/bucket", `{"name":"closed"}`)
	add("secret", "POST", "/storage/v1/bucket", `{"name":"open","public":true,"allowed_mime_types":["text/plain"]}`)
	add("anon", "POST", "/storage/v1/bucket", `{"name":"third"}`)
	add("secret", "GET", "/storage/v1/bucket/open", "")
	add("secret", "POST", files+"closed/a.txt", "hello", "Content-Type", asText)
	add("secret", "POST", files+"closed/a.txt", "hello", "Content-Type", asText)
	add("secret", "POST", files+"open/a.txt", "hello", "Content-Type", asText, "Cache-Control", "max-age=60")
	add("secret", "POST", files+"open/a.png", "hello", "Content-Type", "image/png")
	add("anon", "POST", files+"open/b.txt", "hello", "Content-Type", asText, user, mine)
	add("", "GET", files+"public/open/a.txt", "")
	add("", "GET", files+"public/open/a.txt", "", "Range", "bytes=1-2")
	add("anon", "GET", files+"closed/a.txt", "", user, mine)
	add("secret", "GET", files+"closed/a.txt", "")
	add("secret", "HEAD", files+"closed/a.txt", "")
	add("secret", "GET", files+"info/closed/a.txt", "")
	add("secret", "POST", files+"list/closed", `{"prefix":""}`)
	add("secret", "POST", files+"sign/closed/a.txt", `{"expiresIn":60}`).Keep["signed"] = "signedURL"
	add("", "GET", "/storage/v1${signed}", "")
	add("secret", "POST", files+"upload/sign/closed/c.txt", `{}`).Keep["upload"] = "url"
	add("", "PUT", "/storage/v1${upload}", "by a signed URL", "Content-Type", asText)
	add("secret", "POST", files+"copy", `{"bucketId":"closed","sourceKey":"a.txt","destinationKey":"b.txt"}`)
	add("secret", "POST", files+"move", `{"bucketId":"closed","sourceKey":"b.txt","destinationKey":"d/b.txt"}`)
	// bucketName closed, objectName t.txt, contentType text/plain
	add("secret", "POST", "/storage/v1/upload/resumable", "", "Tus-Resumable", "1.0.0", "Upload-Length", "5", "Upload-Metadata",
		"bucketName Y2xvc2Vk,objectName dC50eHQ=,contentType dGV4dC9wbGFpbg==").Keep["tus"] = "header Location"
	add("secret", "PATCH", "${path of tus}", "hello", "Tus-Resumable", "1.0.0", "Upload-Offset", "0", "Content-Type",
		"application/offset+octet-stream")
	add("secret", "GET", files+"closed/t.txt", "")
	add("secret", "DELETE", files+"closed", `{"prefixes":["a.txt","none.txt"]}`)
	add("secret", "DELETE", "/storage/v1/bucket/closed", "")
	add("anon", "POST", "/auth/v1/logout", "", user, mine)
	add("anon", "GET", "/auth/v1/user", "", user, mine)
	return steps
}

// servicesDifferences are the differences from the real services that stay.
var servicesDifferences = compare.List{{Request: "GET /auth/v1/settings",
	Place: `body\.saml_private_key_next_configured`, Reason: "true in GoTrue without any SAML key"}}

// compareRecorded sends the requests through the gateway and compares the replies with the recorded
// ones. -record replaces those.
func compareRecorded(t *testing.T, info Info) {
	t.Helper()
	fixed := map[string]string{"anon": info.Get("PUBLISHABLE_KEY"), "secret": info.Get("SECRET_KEY")}
	s := &compare.Server{Address: info.Get("API_URL"), Client: compare.NewClient(), Headers: []string{"Content-Type",
		"Location", "X-Sb-Error-Code", "X-Supabase-Api-Version", "Cache-Control", "Etag", "Content-Range",
		"Upload-Offset", "Tus-Resumable", "Access-Control-Allow-Origin", "Access-Control-Expose-Headers", "Vary"},
		Value: func(kept map[string]string, name string) (string, bool) {
			if name == "path of tus" {
				return kept["tus"][len(info.Get("API_URL")):], true
			}
			value, ok := fixed[name]
			return value, ok
		}}
	var replies []compare.Reply
	for _, q := range behindGateway() {
		reply, err := s.Send(q)
		if err != nil {
			t.Fatalf("%s %s: %v", q.Method, q.Path, err)
		}
		replies = append(replies, reply)
	}
	file := filepath.Join("testdata", "services.json.gz")
	if *record {
		if err := compare.WriteRecord(file, replies); err != nil {
			t.Fatal(err)
		}
	}
	recorded, err := compare.ReadRecord(file)
	if err != nil {
		t.Fatal(err)
	}
	for i, q := range behindGateway() {
		if unknown, _ := servicesDifferences.Unknown(q, compare.Replies(replies[i], recorded[i])); len(unknown) > 0 {
			t.Errorf("%d %s %s %s: %v", i, q.Method, q.Path, q.Body, unknown)
		}
	}
}
