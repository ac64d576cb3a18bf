package tus

import (
	"maps"
	"net/http/httptest"
	"testing"
)

// FuzzMetadata checks that accepted metadata is equal after formatting and parsing.
func FuzzMetadata(f *testing.F) {
	f.Add("bucketName YQ==,objectName Yg==")
	f.Add("lonely")
	f.Add("a b,a c")
	f.Fuzz(func(t *testing.T, header string) {
		m, err := parseMetadata(header)
		if err != nil || m == nil {
			return
		}
		again, err := parseMetadata(formatMetadata(m))
		if err != nil {
			t.Fatalf("%q: %v", formatMetadata(m), err)
		}
		if !maps.EqualFunc(m, again,
			func(a, b *string) bool { return a == nil && b == nil || a != nil && b != nil && *a == *b }) {
			t.Fatalf("%q became %q", header, formatMetadata(again))
		}
	})
}

// FuzzHeaders checks that no header causes a panic and that an accepted length is not negative.
func FuzzHeaders(f *testing.F) {
	f.Add("10", "0", "", "a YQ==")
	f.Add("", "", "1", "")
	f.Fuzz(func(t *testing.T, length, offset, deferred, metadata string) {
		r := httptest.NewRequest("POST", "/", nil)
		r.Header.Set("Tus-Resumable", version)
		r.Header.Set("Upload-Length", length)
		r.Header.Set("Upload-Offset", offset)
		r.Header.Set("Upload-Defer-Length", deferred)
		r.Header.Set("Upload-Metadata", metadata)
		if checkHeaders(r) != nil {
			return
		}
		if n, err := readLength(r); err == nil && n != nil && *n < 0 {
			t.Fatalf("length %d", *n)
		}
	})
}

// FuzzID checks that an accepted id is equal after encoding and decoding.
func FuzzID(f *testing.F) {
	f.Add("Yi9hL3Y")
	f.Fuzz(func(t *testing.T, id string) {
		key, err := decodeID(id)
		if err != nil {
			return
		}
		if again, err := decodeID(encodeID(key)); err != nil || again != key {
			t.Fatalf("%q: %v became %v, %v", id, key, again, err)
		}
	})
}
