package gateway

import (
	"bytes"
	"crypto/rand"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"
)

// copying is a connection that counts the bytes that the kernel copies from files.
type copying struct {
	*net.TCPConn
	copied *atomic.Int64
}

func (c copying) ReadFrom(src io.Reader) (int64, error) {
	n, err := c.TCPConn.ReadFrom(src)
	if part, ok := src.(*io.LimitedReader); ok {
		if _, ok := part.R.(*os.File); ok { // net uses sendfile for this type
			c.copied.Add(n)
		}
	}
	return n, err
}

type copyingListener struct {
	net.Listener
	copied *atomic.Int64
}

func (l copyingListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return copying{conn.(*net.TCPConn), l.copied}, nil
}

// TestSendfile: the kernel copies files and ranges of files to the connection, unchanged.
func TestSendfile(t *testing.T) {
	content := make([]byte, 300_000)
	_, _ = rand.Read(content)
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, content, 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var copied atomic.Int64
	limited := LimitListener(copyingListener{l, &copied}, ConnLimits{Total: 10})
	s := &http.Server{ConnState: limited.ConnState, Handler: testGateway(func(o *Options) {
		o.Storage = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { http.ServeFile(w, r, file) })
	})}
	go func() { _ = s.Serve(limited) }()
	t.Cleanup(func() { _ = s.Close() })
	for _, tt := range []struct {
		name, ranges string
		want         []byte
	}{
		{"whole", "", content}, {"range", "bytes=1000-200999", content[1000:201_000]},
		{"tail", "bytes=-70000", content[230_000:]},
	} {
		before := copied.Load()
		r, _ := http.NewRequest("GET", "http://"+l.Addr().String()+"/storage/v1/object/b/n", nil)
		if tt.ranges != "" {
			r.Header.Set("Range", tt.ranges)
		}
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if err != nil || !bytes.Equal(got, tt.want) {
			t.Errorf("%s: %d bytes, %v", tt.name, len(got), err)
		}
		// The first bytes are sent with the headers. The client may finish before the server has
		// counted.
		for deadline := time.Now().Add(time.Second); copied.Load()-before < int64(len(tt.want))-4096 &&
			time.Now().Before(deadline); {
			time.Sleep(time.Millisecond)
		}
		if n := copied.Load() - before; n < int64(len(tt.want))-4096 {
			t.Errorf("%s: the kernel copied %d of %d bytes", tt.name, n, len(tt.want))
		}
	}
}

// TestStalledFileReader: a client that does not read a file loses the connection.
func TestStalledFileReader(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	f, err := os.Create(file)
	if err == nil {
		err = f.Truncate(1 << 30)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	ended := make(chan error, 1)
	s := live(t, func(o *Options) {
		o.Limits.Stall = 50 * time.Millisecond
		o.Storage = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			_, err := io.Copy(w, io.LimitReader(f, 1<<30))
			ended <- err
		})
	})
	conn, err := net.Dial("tcp", s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, "GET /storage/v1/object/b/n HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-ended:
		if err == nil {
			t.Error("a gigabyte was sent to a client that does not read")
		}
	case <-time.After(10 * time.Second):
		t.Error("the handler still writes after 10 s")
	}
}
