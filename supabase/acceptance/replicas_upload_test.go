package acceptance

import (
	"bytes"
	"encoding/base64"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"testing"
)

// uploadAlternates sends the parts of a file to both servers in turn. Each continues where the
// other stopped.
func (r *replicas) uploadAlternates(t *testing.T) {
	authorization := []string{"Authorization", "Bearer " + r.secret, "Tus-Resumable", "1.0.0"}
	if status, body := r.ask(0, "POST", "/storage/v1/bucket", `{"name":"films"}`, authorization...); status != 200 {
		t.Fatalf("%d %s", status, body)
	}
	content := make([]byte, 17<<20)
	random := rand.NewChaCha8([32]byte{1})
	_, _ = random.Read(content)
	encoded := func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }
	created := r.tus(t, 0, "POST", "/storage/v1/upload/resumable", nil, "Upload-Length", strconv.Itoa(len(content)),
		"Upload-Metadata", "bucketName "+encoded("films")+",objectName "+encoded("long.bin"))
	location := created.Get("Location")
	path := location[strings.Index(location, "/storage/v1/"):]
	offset := 0
	for part := 0; offset < len(content); part++ {
		i := part % 2
		if at := r.tus(t, 1-i, "HEAD", path, nil).Get("Upload-Offset"); at != strconv.Itoa(offset) {
			t.Fatalf("server %d knows %s bytes of %d", 2-i, at, offset)
		}
		end := min(offset+3<<20+part, len(content))
		r.tus(t, i, "PATCH", path, content[offset:end], "Upload-Offset", strconv.Itoa(offset), "Content-Type",
			"application/offset+octet-stream")
		offset = end
	}
	for i := range 2 {
		if _, got := r.ask(i, "GET", "/storage/v1/object/films/long.bin", "",
			authorization...); got != string(content) {
			t.Errorf("server %d returns %d other bytes", i+1, len(got))
		}
	}
}

func (r *replicas) tus(t *testing.T, i int, method, path string, body []byte, headers ...string) http.Header {
	t.Helper()
	q, err := http.NewRequestWithContext(t.Context(), method, r.at[i]+path, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	q.Header.Set("Tus-Resumable", "1.0.0")
	q.Header.Set("apikey", r.secret)
	q.Header.Set("Authorization", "Bearer "+r.secret)
	for n := 0; n < len(headers); n += 2 {
		q.Header.Set(headers[n], headers[n+1])
	}
	res, err := http.DefaultClient.Do(q)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if text, _ := io.ReadAll(res.Body); res.StatusCode >= 300 {
		t.Fatalf("%s at server %d: %d %s", method, i+1, res.StatusCode, text)
	}
	return res.Header
}
