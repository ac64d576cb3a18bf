package storage

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/minio/minio-go/v7/pkg/signer"
)

// TestCopyRules checks that copies and moves keep the size and type rules of the target's bucket.
func TestCopyRules(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	key := s.demo.ServiceRole
	s.bucket("any", false)
	s.do(key, "POST", "/bucket", map[string]any{"name": "small", "file_size_limit": 4,
		"allowed_mime_types": []string{"text/*"}}).want(t, 200, "")
	for name, content := range map[string]string{"fits": "1234", "long": "12345"} {
		s.do(key, "POST", "/object/any/"+name, content, "Content-Type", "text/plain").want(t, 200, "")
	}
	s.do(key, "POST", "/object/any/picture", "1", "Content-Type", "image/png").want(t, 200, "")
	s.do(key, "POST", "/object/any/nometa", "12345", "Content-Type", "text/plain").want(t, 200, "")
	s.db.ExecAs("supabase_admin", `update storage.objects set metadata = null where name = 'nometa'`)
	s3 := httptest.NewServer(s.engine.s3.Load())
	t.Cleanup(s3.Close)
	for _, tt := range []struct{ name, refused string }{{"long", "EntityTooLarge"}, {"nometa", "EntityTooLarge"},
		{"picture", "InvalidMimeType"}, {"fits", ""}} {
		status := 400
		if tt.refused == "" {
			status = 200
		}
		body := map[string]any{"bucketId": "any", "sourceKey": tt.name, "destinationBucket": "small",
			"destinationKey": tt.name}
		s.do(key, "POST", "/object/copy", body).want(t, status, tt.refused)
		r, err := http.NewRequestWithContext(t.Context(), "PUT", s3.URL+"/small/s3-"+tt.name, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("X-Amz-Content-Sha256", "UNSIGNED-PAYLOAD")
		r.Header.Set("X-Amz-Copy-Source", "any/"+tt.name)
		copied := s.send(signer.SignV4(*r, "access", "secret-of-the-test", "", "local"))
		if copied.StatusCode < 300 != (tt.refused == "") {
			t.Errorf("S3 copy of %s: %d %s", tt.name, copied.StatusCode, copied.body)
		}
		body["destinationKey"] = "moved-" + tt.name
		s.do(key, "POST", "/object/move", body).want(t, status, tt.refused)
		if tt.refused != "" {
			s.do(key, "GET", "/object/any/"+tt.name, nil).want(t, 200, "1")
		}
	}
	// A copy within the bucket must not change the type to one that the bucket does not allow. A
	// rename is always allowed.
	within := map[string]any{"bucketId": "small", "sourceKey": "fits", "destinationKey": "page", "copyMetadata": false,
		"metadata": map[string]any{"mimetype": "image/png"}}
	s.do(key, "POST", "/object/copy", within).want(t, 400, "InvalidMimeType")
	s.do(key, "PUT", "/bucket/small", map[string]any{"file_size_limit": 1}).want(t, 200, "")
	s.do(key, "POST", "/object/move",
		map[string]any{"bucketId": "small", "sourceKey": "fits", "destinationKey": "renamed"}).want(t, 200, "")
}
