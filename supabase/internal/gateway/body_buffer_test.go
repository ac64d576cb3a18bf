package gateway

import (
	"bufio"
	"crypto/sha256"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestSlowBodiesTakeNoSlots: a service with one slot serves requests while many clients trickle
// their bodies.
func TestSlowBodiesTakeNoSlots(t *testing.T) {
	targets := []string{"/functions/v1/hello", "/rest/v1/notes", "/auth/v1/signup"}
	inPipes(t, func(o *Options) {
		o.Limits.InFlight = 1
		o.Functions, o.REST, o.Auth = readAll, readAll, readAll
	}, func(dial func() net.Conn) {
		for i := range 30 {
			conn := dial()
			sent := strings.Repeat("x", []int{1, bufferMemory + 1}[i%2])
			fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: x\r\napikey: anon\r\nContent-Length: 100000\r\n\r\n%s",
				targets[i%3], sent)
		}
		synctest.Wait() // the gateway waits for the rest of all bodies
		for _, target := range targets {
			conn := dial()
			fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: x\r\napikey: anon\r\nContent-Length: 4\r\nConnection: close\r\n\r\nfour", target)
			if reply, err := io.ReadAll(conn); err != nil || !strings.Contains(string(reply), " 200 ") ||
				!strings.HasSuffix(string(reply), "\r\n4") {
				t.Errorf("%s: %q %v", target, reply, err)
			}
		}
	})
}

// TestBufferedBodies: a body of any size, with or without a length, arrives unchanged and leaves no
// file.
func TestBufferedBodies(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	s := live(t, func(o *Options) {
		o.Functions = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			sum := sha256.New()
			n, err := io.Copy(sum, r.Body)
			fmt.Fprintf(w, "%d %x %v", n, sum.Sum(nil), err)
		})
	})
	for _, size := range []int{0, 1, bufferMemory - 1, bufferMemory, bufferMemory + 1, 1 << 20, bufferFile,
		bufferMemory + bufferFile, bufferMemory + bufferFile + 1, 20 << 20} {
		content := strings.Repeat("0123456789abcdef", size/16+1)[:size]
		for _, body := range []io.Reader{strings.NewReader(content), io.MultiReader(strings.NewReader(content))} {
			res, err := http.Post(s.URL+"/functions/v1/f", "text/plain", body)
			if err != nil {
				t.Fatal(err)
			}
			if got, want := text(t, res),
				fmt.Sprintf("%d %x <nil>", size, sha256.Sum256([]byte(content))); got != want {
				t.Errorf("%d bytes: %s, want %s", size, got, want)
			}
			res.Body.Close()
		}
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) > 0 {
		t.Error("files left:", left)
	}
}

// TestBodyBufferWithoutTempDir: long bodies get 503, short ones are served.
func TestBodyBufferWithoutTempDir(t *testing.T) {
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "absent"))
	if _, err := os.Stat(os.TempDir()); err == nil {
		t.Fatal("the temporary folder exists")
	}
	s := live(t, func(o *Options) { o.Functions = readAll })
	for size, want := range map[int]int{100: 200, 100_000: 503} {
		res, err := http.Post(s.URL+"/functions/v1/f", "text/plain", strings.NewReader(strings.Repeat("x", size)))
		if err != nil {
			t.Fatal(err)
		}
		if body := text(t, res); res.StatusCode != want || strings.Contains(body, "absent") ||
			(want == 503) != (res.Header.Get("Retry-After") != "") {
			t.Errorf("%d bytes: %d %s", size, res.StatusCode, body)
		}
		res.Body.Close()
	}
}

// TestBodyBufferQuota: no client can fill the buffer for all bodies.
func TestBodyBufferQuota(t *testing.T) {
	b := newBodyBuffer(slog.New(slog.DiscardHandler))
	fill := func(client string, most int64) (taken int64) {
		const part = 32 << 10
		for taken < most && b.reserve(client, part) {
			taken += part
		}
		return taken
	}
	reserved := map[string]int64{}
	for i := range 8 {
		client := fmt.Sprint("greedy ", i)
		if reserved[client] = fill(client, bufferTotal); i == 0 && reserved[client] < 50<<20 {
			t.Errorf("a single client gets %d bytes", reserved[client])
		}
	}
	if got := fill("new", 5<<20); got < 5<<20 {
		t.Errorf("a new client gets %d bytes", got)
	}
	reserved["new"] = 5 << 20
	for client, n := range reserved {
		b.release(client, n)
	}
	if b.used != 0 || len(b.byClient) != 0 {
		t.Errorf("%d bytes are left of %v", b.used, b.byClient)
	}
}

// TestBodyBufferQuotaByAddress: an address that sends many large bodies gets 503 at its quota, and
// others are served.
func TestBodyBufferQuotaByAddress(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	s := live(t, func(o *Options) {
		o.Functions = readAll
		o.Proxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}
	})
	post := func(client string, size int, ends bool) (string, net.Conn) {
		conn, err := net.Dial("tcp", s.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		declared := size
		if !ends {
			declared++
		}
		fmt.Fprintf(conn, "POST /functions/v1/f HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: %s\r\nContent-Length: %d\r\n\r\n", client, declared)
		if _, err := io.WriteString(conn, strings.Repeat("x", size)); err != nil || !ends {
			return "", conn
		}
		line, _ := bufio.NewReader(conn).ReadString('\n')
		return line, conn
	}
	for range 3 {
		post("192.0.2.1", 15<<20, false)
	}
	deadline := time.Now().Add(time.Minute)
	for line := ""; !strings.Contains(line, "503"); {
		if line, _ = post("192.0.2.1", 8<<20, true); time.Now().After(deadline) {
			t.Fatalf("above its quota it gets %q", line)
		}
	}
	if line, _ := post("192.0.2.2", 5<<20, true); !strings.Contains(line, "200") {
		t.Errorf("another client gets %q", line)
	}
}
