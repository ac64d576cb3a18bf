package storage

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// TestUnknownRoutes checks both forms of the reply to an unknown route, and the route of the cache
// without a CDN.
func TestUnknownRoutes(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	key := s.demo.ServiceRole
	for _, path := range []string{"/", "/nope?x=1", "/iceberg/v1/config", "/upload/resumable", "/upload/resumable/x",
		"/render/x", "/bucketx", "/s3x"} {
		s.do(key, "GET", path, nil).want(t, 404, `{"message":"Route GET:`+path+
			` not found","error":"Not Found","statusCode":404}`)
	}
	for _, path := range []string{"/bucket", "/object/x/y/z?a", "/cdn/a", "/vector/x", "/render/image/x"} {
		s.do(key, "PATCH", path, nil).want(t, 404,
			`{"statusCode":"404","error":"Not Found","message":"Route PATCH:`+path+
				` not found","code":"InvalidRequest"}`)
	}
	for _, path := range []string{"/cdn", "/cdn/", "/cdn/b", "/cdn/b/a/b.txt"} {
		s.do(key, "DELETE", path, nil).want(t, 400, `{"statusCode":"400","error":"MissingParameter",`+
			`"message":"Missing Required Parameter CDN_PURGE_ENDPOINT_URL is not set","code":"MissingParameter"}`)
		s.do(s.demo.Anon, "DELETE", path, nil).want(t, 403, "Access denied: Invalid role")
	}
}

// TestSizeLimitMessages compares the errors of invalid size limits with storage-api's.
func TestSizeLimitMessages(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	s.bucket("b", false)
	const integer, finite, positive, text = `must be integer`, `must pass \"finite\" keyword validation`,
		`must be >= 0`, `must be string`
	pattern := `must match pattern \"` + strings.ReplaceAll(sizePattern.String(), `\`, `\\`) + `\"`
	for value, want := range map[string][]string{
		`"x"`: {integer, finite, pattern}, `"5XB"`: {integer, finite, pattern}, `"1.5"`: {integer, finite, pattern},
		`["x"]`: {integer, finite, pattern}, `1e400`: {integer, finite, pattern}, `"Infinity"`: {finite, pattern},
		`{}`: {integer, finite, text}, `[]`: {integer, finite, text}, `[1,2]`: {integer, finite, text},
		`1.5`: {integer, pattern}, `[1]`: {integer, pattern}, `-1`: {positive, pattern}, `"-1"`: {positive, pattern},
		`""`: nil, `null`: nil, `"10"`: nil, `["1"]`: nil, `true`: nil, `"20MB"`: nil,
	} {
		r := s.do(s.demo.ServiceRole, "PUT", "/bucket/b", `{"file_size_limit":`+value+`}`, "Content-Type",
			"application/json")
		if want == nil {
			r.want(t, 200, "")
			continue
		}
		const at = "body/file_size_limit "
		r.want(t, 400, `"message":"`+at+strings.Join(append(want, "must match a schema in anyOf"), ", "+at)+`"`)
	}
}

// TestMalformedContentType checks that a Content-Type without a type or a subtype is refused before
// anything else.
func TestMalformedContentType(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	s.bucket("b", true)
	for kind, valid := range map[string]bool{"/": false, "text": false, "garbage;": false, "a b": false, "; x": false,
		"text/": false, "a/b/c": false, "text/plain;;": true, "text/plain ; charset": true, "application/json;": true,
		"x/y": true} {
		r := s.do(s.demo.ServiceRole, "POST", "/object/b/a", "x", "Content-Type", kind, "X-Upsert", "true")
		if valid {
			r.want(t, 200, "Key")
			continue
		}
		const refused = `{"statusCode":"415","error":"invalid_mime_type","message":"Invalid Content-Type header","code":"InvalidMimeType"}`
		r.want(t, 400, refused)
		s.do("", "DELETE", "/object/b/a", nil, "Content-Type", kind).want(t, 400, refused)
	}
	s.do("", "GET", "/object/public/b/a", nil, "Content-Type", "bad").want(t, 200, "x")
}

// TestDownloadNames checks the header of downloads whose names have reserved or invalid characters.
func TestDownloadNames(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	s.bucket("b", true)
	s.do(s.demo.ServiceRole, "POST", "/object/b/a", "x").want(t, 200, "")
	for query, want := range map[string]string{"download=a;b.svg": "a%3Bb.svg", "download=a%3Bb": "a%3Bb",
		"download=a%zz": "a%25zz", "download=%FF": "%25FF", "x=;y&download=z": "z", "download=a+b": "a%20b"} {
		want = "attachment; filename=" + want + "; filename*=UTF-8''" + want
		if got := s.do("", "GET", "/object/public/b/a?"+query, nil).want(t, 200,
			"x").Header.Get("Content-Disposition"); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
	s.do("", "GET", "/object/public/b/a?download=a&download=b", nil).want(t, 400, "querystring/download must be string")
}

// TestNotModifiedHeaders compares the headers of a 304 with storage-api's. net/http removes the
// Content-Type and the Content-Length, which storage-api sends too; X-Content-Type-Options is ours.
func TestNotModifiedHeaders(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	s.bucket("b", true)
	s.do(s.demo.ServiceRole, "POST", "/object/b/a", "x", "Content-Type", "text/plain").want(t, 200, "")
	for _, path := range []string{"/object/b/a", "/object/public/b/a"} {
		etag := s.do(s.demo.ServiceRole, "GET", path, nil).Header.Get("Etag")
		r := s.do(s.demo.ServiceRole, "GET", path, nil, "If-None-Match", etag, "Origin", "https://example.org").want(t,
			304, "")
		have := slices.Sorted(maps.Keys(r.Header))
		want := "Accept-Ranges Cache-Control Date Etag Last-Modified X-Content-Type-Options X-Robots-Tag"
		if got := strings.Join(have, " "); got != want || r.Header.Get("Etag") != etag {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}
