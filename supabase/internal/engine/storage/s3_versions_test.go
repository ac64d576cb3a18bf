package storage

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/minio/minio-go/v7"
)

// TestS3RemoveVersions removes all versions of a prefix as clients do that read "Suspended" as
// versions that are kept: they list the versions and delete each one by its id.
func TestS3RemoveVersions(t *testing.T) {
	t.Parallel()
	c := newS3Docs(t)
	for _, name := range []string{"a/one", "a/two +", "b"} {
		c.put(t, name, "x")
	}
	for o := range c.Client.ListObjects(t.Context(), "docs",
		minio.ListObjectsOptions{Prefix: "a/", Recursive: true, WithVersions: true, MaxKeys: 1}) {
		if o.Err != nil || !o.IsLatest || o.VersionID != "null" || o.Size != 1 || o.ETag == "" || o.LastModified.IsZero() {
			t.Fatalf("version: %+v", o)
		}
		if err := c.Client.RemoveObject(t.Context(), "docs", o.Key,
			minio.RemoveObjectOptions{VersionID: o.VersionID}); err != nil {
			t.Fatal(err)
		}
	}
	if got := c.list(t, minio.ListObjectsOptions{Recursive: true}); got != "b" {
		t.Errorf("left: %s", got)
	}
}

// TestS3UnknownVersion checks that a request for a version that does not exist never reads or
// deletes the object itself.
func TestS3UnknownVersion(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	s.bucket("box", false)
	s.do(s.demo.ServiceRole, "POST", "/object/box/file", "mine").want(t, 200, "Key")
	send := s.s3Sender()
	for _, method := range []string{"GET", "DELETE"} {
		send(method, "/box/file?versionId=old", "").want(t, 404, "<Code>NoSuchVersion</Code>")
	}
	send("HEAD", "/box/file?versionId=old", "").want(t, 404, "")
	send("POST", "/box?delete", "<Delete><Object><Key>file</Key><VersionId>old</VersionId></Object></Delete>").want(t, 200,
		"<Error><Key>file</Key><VersionId>old</VersionId><Code>NoSuchVersion</Code>")
	send("GET", "/box/file?versionId=null", "").want(t, 200, "mine")
	send("GET", "/box/file?versionId=", "").want(t, 200, "mine")
	send("POST", "/box?delete", "<Delete><Object><Key>file</Key><VersionId>null</VersionId></Object>"+
		"<Object><Key>none</Key></Object></Delete>").want(t, 200,
		"<Deleted><Key>file</Key><VersionId>null</VersionId></Deleted><Deleted><Key>none</Key></Deleted>")
	send("DELETE", "/box/file?versionId=null", "").want(t, 204, "")
	send("GET", "/box/file", "").want(t, 404, "NoSuchKey")
}

// TestS3VersionMarkers follows the markers of ListObjectVersions. Every entry must appear once.
func TestS3VersionMarkers(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	s.bucket("box", false)
	for _, name := range []string{"a", "a/1", "a/2", "b c", "d/1"} {
		s.do(s.demo.ServiceRole, "POST", "/object/box/"+url.PathEscape(name), "x").want(t, 200, "Key")
	}
	send := s.s3Sender()
	for delimiter, want := range map[string]string{"": "a a/1 a/2 b c d/1", "/": "a a/ b c d/"} {
		for _, size := range []string{"1", "2", "1000"} {
			var seen []string
			marker := ""
			for range 10 {
				r := send("GET", "/box?versions&max-keys="+size+"&delimiter="+delimiter+"&key-marker="+url.QueryEscape(marker),
					"").want(t, 200, "<ListVersionsResult")
				for _, tag := range []string{"<Key>", "<CommonPrefixes><Prefix>"} {
					for _, part := range strings.Split(string(r.body), tag)[1:] {
						name, _, _ := strings.Cut(part, "<")
						seen = append(seen, name)
					}
				}
				if marker = r.between("<NextKeyMarker>", "<"); marker == "" {
					break
				}
			}
			slices.Sort(seen)
			if got := strings.Join(seen, " "); got != want {
				t.Errorf("delimiter %q by %s: %s", delimiter, size, got)
			}
		}
	}
	send("GET", "/none?versions", "").want(t, 404, "NoSuchBucket")
}
