package storage

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestFormFieldTooLong sends a form whose field is beyond the limit, and reads the reply only after
// it has sent all of it.
func TestFormFieldTooLong(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	s.bucket("b", false)
	field := func(name string, size int) string {
		return "--B\r\nContent-Disposition: form-data; name=\"" + name + "\"\r\n\r\n" + strings.Repeat("x", size) +
			"\r\n"
	}
	for name, form := range map[string]string{
		"long field":  field("metadata", 24<<20),
		"many fields": strings.Repeat(field("f", 1<<20), 24),
	} {
		conn, err := net.Dial("tcp", s.server.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		conn.SetDeadline(time.Now().Add(20 * time.Second))
		body := form + "--B\r\nContent-Disposition: form-data; name=\"\"; filename=\"a\"\r\n\r\nhi\r\n--B--\r\n"
		if _, err := fmt.Fprintf(conn, "POST /object/b/a HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\n"+
			"Content-Type: multipart/form-data; boundary=B\r\nContent-Length: %d\r\n\r\n%s", s.demo.ServiceRole,
			len(body), body); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		r, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if text, err := io.ReadAll(r.Body); err != nil || r.StatusCode != 400 {
			t.Errorf("%s: %d %s, %v", name, r.StatusCode, text, err)
		}
	}
}

// TestTUSConcurrentPatches sends the whole upload eight times at once: one request succeeds, the
// others get a conflict.
func TestTUSConcurrentPatches(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	s.bucket("b", false)
	content := strings.Repeat("x", 1<<20)
	for round := range 3 {
		path := s.tusPath(s.tusCreate(s.demo.ServiceRole, "b", fmt.Sprint(round), len(content), ""))
		var statuses [8]int
		var all sync.WaitGroup
		for i := range statuses {
			all.Go(func() {
				statuses[i] = s.tus(s.demo.ServiceRole, "PATCH", path, content, "Upload-Offset", "0").StatusCode
			})
		}
		all.Wait()
		count := map[int]int{}
		for _, status := range statuses {
			count[status]++
		}
		if count[204] != 1 || count[204]+count[409] != len(statuses) {
			t.Errorf("statuses %v", statuses)
		}
	}
}

// TestCrossingMoves moves two objects onto each other's names at once. Both names are taken, so
// each move is refused, and neither fails because the two wait for each other.
func TestCrossingMoves(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	s.bucket("b", false)
	for _, name := range []string{"one", "two"} {
		s.do(s.demo.ServiceRole, "POST", "/object/b/"+name, "x", "Content-Type", "text/plain").want(t, 200, "")
	}
	var all sync.WaitGroup
	move := func(from, to string) {
		for range 20 {
			s.do(s.demo.ServiceRole, "POST", "/object/move",
				map[string]any{"bucketId": "b", "sourceKey": from, "destinationKey": to}).want(t, 400, "Duplicate")
		}
	}
	all.Go(func() { move("one", "two") })
	all.Go(func() { move("two", "one") })
	all.Wait()
}
