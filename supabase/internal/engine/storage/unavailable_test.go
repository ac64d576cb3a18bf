package storage

import (
	"net"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"daawo/supabase/internal/database/pool"
)

// refusing returns the URL of a database that closes each connection, and a function that returns
// how many there were.
func refusing(t *testing.T) (url string, attempts func() int64) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	var n atomic.Int64
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			n.Add(1)
			conn.Close()
		}
	}()
	return "postgres://user@" + listener.Addr().String() + "/x?sslmode=disable", n.Load
}

// TestDatabaseUnavailable checks that every protocol replies with 503 and Retry-After if the
// database is unavailable, without a wait for a connection and without trying again and again, and
// that the bytes of a resumable upload stay.
func TestDatabaseUnavailable(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	key := s.demo.ServiceRole
	s.bucket("box", true)
	s.do(key, "POST", "/object/box/there", "before").want(t, 200, "Key")
	path := s.tusPath(s.tusCreate(key, "box", "tus", 5, ""))
	files := len(filesIn(t, s.dir))

	url, attempts := refusing(t)
	// A request that waited for a connection would not end.
	unreachable, err := pool.Open(t.Context(), pool.Config{URL: url, AcquireTimeout: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	defer unreachable.Close()
	o, down := s.options, *s
	o.Pool = unreachable
	if down.engine, err = New(o); err != nil {
		t.Fatal(err)
	}
	defer down.engine.Close(t.Context())
	down.server = httptest.NewServer(down.engine)
	defer down.server.Close()
	s3 := down.s3Sender()
	requests := map[string]func() reply{
		"download":      func() reply { return down.do("", "GET", "/object/public/box/there", nil) },
		"upload":        func() reply { return down.do(key, "POST", "/object/box/new", "fresh") },
		"list":          func() reply { return down.do(key, "POST", "/object/list/box", map[string]any{"prefix": ""}) },
		"make bucket":   func() reply { return down.do(key, "POST", "/bucket", map[string]any{"name": "other"}) },
		"change bucket": func() reply { return down.do(key, "PUT", "/bucket/box", map[string]any{"public": false}) },
		"S3 read":       func() reply { return s3("GET", "/box/there", "") },
		"S3 write":      func() reply { return s3("PUT", "/box/new", "fresh") },
		"S3 parts":      func() reply { return s3("POST", "/box/new?uploads=", "") },
		"TUS create":    func() reply { return down.tusCreate(key, "box", "other", 5, "") },
		"TUS head":      func() reply { return down.tus(key, "HEAD", path, nil) },
		"TUS patch":     func() reply { return down.tus(key, "PATCH", path, "fresh", "Upload-Offset", "0") },
	}
	for name, request := range requests {
		before := attempts()
		r := request()
		// The driver tries twice, and resumable uploads also try to connect for their locks.
		if n := attempts() - before; r.StatusCode != 503 || r.Header.Get("Retry-After") == "" || n < 1 || n > 4 {
			t.Errorf("%s: %d, Retry-After %q, after %d attempts: %s", name, r.StatusCode, r.Header.Get("Retry-After"),
				n, r.body)
		}
	}

	if n := len(filesIn(t, s.dir)); n != files {
		t.Errorf("%d files, want %d", n, files)
	}
	s.tus(key, "PATCH", path, "fresh", "Upload-Offset", "0").want(t, 204, "")
	s.do("", "GET", "/object/public/box/tus", nil).want(t, 200, "fresh")
}
