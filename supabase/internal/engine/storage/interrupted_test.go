package storage

import (
	"fmt"
	"net"
	"strings"
	"testing"
	"time"
)

// TestInterruptedUploads closes the connection before the end of a body, for each kind of body. No
// new object and no bytes may remain, and an existing object must not change.
func TestInterruptedUploads(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	s.bucket("b", true)
	s.do(s.demo.ServiceRole, "POST", "/object/b/there", "before").want(t, 200, "Key")
	for name, rest := range map[string]string{
		"length":  "Content-Length: 100000\r\n\r\n" + strings.Repeat("x", 99_999),
		"chunked": "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
		"form": "Content-Type: multipart/form-data; boundary=x\r\nTransfer-Encoding: chunked\r\n\r\n40\r\n" +
			"--x\r\nContent-Disposition: form-data; name=\"\"; filename=\"f\"\r\n\r\n?\r\n",
		"short form": "Content-Type: multipart/form-data; boundary=x\r\nContent-Length: 66\r\n\r\n" +
			"--x\r\nContent-Disposition: form-data; name=\"\"; filename=\"f\"\r\n\r\n????",
	} {
		for _, object := range []string{"there", "new"} {
			conn, err := net.Dial("tcp", s.server.Listener.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(conn, "POST /object/b/%s HTTP/1.1\r\nHost: x\r\nX-Upsert: true\r\nAuthorization: Bearer %s\r\n%s", object, s.demo.ServiceRole, rest)
			if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
				t.Fatal(err)
			}
			conn.SetReadDeadline(time.Now().Add(10 * time.Second))
			reply := make([]byte, 1000)
			n, _ := conn.Read(reply)
			conn.Close()
			if strings.Contains(string(reply[:n]), " 200 ") {
				t.Errorf("%s of %s: %s", name, object, reply[:n])
			}
		}
	}
	s.do("", "GET", "/object/public/b/there", nil).want(t, 200, "before")
	s.do("", "GET", "/object/public/b/new", nil).want(t, 400, "not_found")
	if files := filesIn(t, s.dir); len(files) != 1 {
		t.Errorf("left: %v", files)
	}
}
