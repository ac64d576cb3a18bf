package tus

import (
	"encoding/base64"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// checkHeaders returns an error if a header of the protocol is invalid.
func checkHeaders(r *http.Request) error {
	bad := func(name string) error { return &protocolError{400, "Invalid " + name + "\n"} }
	for _, name := range []string{"upload-offset", "upload-length"} {
		if v := r.Header.Get(name); v != "" {
			if n, err := strconv.ParseInt(v, 10, 64); err != nil || n < 0 || v[0] == '+' {
				return bad(name)
			}
		}
	}
	if v := r.Header.Get("Upload-Defer-Length"); v != "" && v != "1" {
		return bad("upload-defer-length")
	}
	if v := r.Header.Get("Tus-Resumable"); v != version {
		return bad("tus-resumable")
	}
	if _, err := parseMetadata(r.Header.Get("Upload-Metadata")); err != nil {
		return bad("upload-metadata")
	}
	if v := r.Header.Get("Upload-Concat"); v != "" && v != "partial" && !strings.HasPrefix(v, "final;") {
		return bad("upload-concat")
	}
	if r.Method == http.MethodPatch {
		if v := r.Header.Get("Content-Type"); v != "" && v != "application/offset+octet-stream" {
			return bad("content-type")
		}
	}
	return nil
}

// readLength reads Upload-Length; nil means that the client sends the length later.
func readLength(r *http.Request) (*int64, error) {
	text, deferred := r.Header.Get("Upload-Length"), r.Header.Get("Upload-Defer-Length") != ""
	if (text == "") != deferred {
		return nil, errLength
	}
	if deferred {
		return nil, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return nil, errLength
	}
	return &n, nil
}

// parseMetadata parses Upload-Metadata: "key base64, key base64". A key without a value maps to
// nil.
func parseMetadata(header string) (map[string]*string, error) {
	if header == "" {
		return nil, nil
	}
	out := map[string]*string{}
	for _, pair := range strings.Split(header, ",") {
		key, value, hasValue := strings.Cut(strings.TrimSpace(pair), " ")
		if _, duplicate := out[key]; key == "" || duplicate ||
			strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' }) {
			return nil, errMetadata
		}
		out[key] = nil
		if hasValue {
			raw, err := base64.StdEncoding.DecodeString(value)
			if err != nil {
				return nil, errMetadata
			}
			text := string(raw)
			out[key] = &text
		}
	}
	return out, nil
}

func formatMetadata(m map[string]*string) string {
	pairs := make([]string, 0, len(m))
	for _, key := range slices.Sorted(maps.Keys(m)) {
		if m[key] == nil {
			pairs = append(pairs, key)
		} else {
			pairs = append(pairs, key+" "+base64.StdEncoding.EncodeToString([]byte(*m[key])))
		}
	}
	return strings.Join(pairs, ",")
}
