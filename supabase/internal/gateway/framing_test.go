package gateway

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

// limitedService accepts bodies of at most 1000 bytes.
type limitedService struct{ http.Handler }

func (limitedService) MaxBody(string) int64 { return 1000 }

// TestFraming checks that a connection ends after a request with two lengths, and that a body that
// is too long is refused before the client sends it.
func TestFraming(t *testing.T) {
	s := live(t, func(o *Options) {
		o.Limits.Stall = 200 * time.Millisecond // until the connection ends after 413
		o.Functions = limitedService{http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.ContentLength > 1000 {
				w.WriteHeader(http.StatusRequestEntityTooLarge)
				return
			}
			_, _ = io.Copy(io.Discard, r.Body)
		})}
		o.CleanBuckets = []CleanBucket{{ID: "photos", MaxBytes: 1000}}
	})
	for name, c := range map[string]struct{ request, status, rest string }{
		"two lengths":            {"POST /functions/v1/f HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", " 200 ", "Connection: close"},
		"chunks":                 {"POST /functions/v1/f HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", " 200 ", "Connection: close"},
		"a function's long body": {"POST /functions/v1/f HTTP/1.1\r\nHost: x\r\nContent-Length: 5000\r\nExpect: 100-continue\r\n\r\n", " 413 ", ""},
		"a long file":            {"POST /storage/v1/object/photos/1.jpg HTTP/1.1\r\nHost: x\r\nApikey: anon\r\nContent-Length: 5000000\r\nExpect: 100-continue\r\n\r\n", " 413 ", ""},
	} {
		conn, err := net.Dial("tcp", s.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
		fmt.Fprint(conn, c.request)
		r := bufio.NewReader(conn)
		line, _ := r.ReadString('\n')
		rest, err := io.ReadAll(r) // until the server closes the connection
		if !strings.Contains(line, c.status) || !strings.Contains(string(rest), c.rest) || err != nil {
			t.Errorf("%s: %q, then %q, %v", name, line, rest, err)
		}
	}
}

// TestClientThatLeft checks the reply to a client that ended its side of the connection, which
// cancels its request: neither an empty success nor an error of the server.
func TestClientThatLeft(t *testing.T) {
	for name, service := range map[string]http.HandlerFunc{
		"error":   func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) },
		"nothing": func(http.ResponseWriter, *http.Request) {},
	} {
		t.Run(name, func(t *testing.T) {
			s := live(t, func(o *Options) {
				o.REST = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					<-r.Context().Done()
					service(w, r)
				})
			})
			conn, err := net.Dial("tcp", s.Listener.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			_ = conn.SetDeadline(time.Now().Add(20 * time.Second))
			fmt.Fprint(conn, "GET /rest/v1/t HTTP/1.1\r\nHost: x\r\nApikey: anon\r\n\r\n")
			_ = conn.(*net.TCPConn).CloseWrite()
			if line, err := bufio.NewReader(conn).ReadString('\n'); !strings.Contains(line, " 499 ") {
				t.Errorf("%q, %v", line, err)
			}
		})
	}
}
