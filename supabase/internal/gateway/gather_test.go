package gateway

import (
	"bufio"
	"crypto/sha256"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestSlowBodiesTakeNoPlaces: a service with one place serves others while many clients trickle their bodies.
func TestSlowBodiesTakeNoPlaces(t *testing.T) {
	s := live(t, func(o *Options) {
		o.Limits.InFlight, o.Limits.Stall = 1, 5*time.Second
		o.Functions, o.REST, o.Auth = readAll, readAll, readAll
	})
	for i := range 30 {
		conn, err := net.Dial("tcp", s.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		target := []string{"/functions/v1/submit-report", "/rest/v1/reports", "/auth/v1/signup"}[i%3]
		sent := strings.Repeat("x", []int{1, inMemory + 1}[i%2])
		fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: x\r\napikey: anon\r\nContent-Length: 100000\r\n\r\n%s", target, sent)
	}
	time.Sleep(100 * time.Millisecond)
	for _, target := range []string{"/functions/v1/submit-report", "/rest/v1/reports", "/auth/v1/signup"} {
		r, _ := http.NewRequest("POST", s.URL+target, strings.NewReader("four"))
		r.Header.Set("apikey", "anon")
		begun := time.Now()
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		if body := text(t, res); res.StatusCode != 200 || body != "4" || time.Since(begun) > 2*time.Second {
			t.Errorf("%s: %d %s after %v", target, res.StatusCode, body, time.Since(begun))
		}
		res.Body.Close()
	}
}

// TestGatheredBodiesAreWhole: whatever its size, with a length or without, a body arrives as it was sent, and no file is
// left of it.
func TestGatheredBodiesAreWhole(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	s := live(t, func(o *Options) {
		o.Functions = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			sum := sha256.New()
			n, err := io.Copy(sum, r.Body)
			fmt.Fprintf(w, "%d %x %v", n, sum.Sum(nil), err)
		})
	})
	for _, size := range []int{0, 1, inMemory - 1, inMemory, inMemory + 1, 1 << 20, inFile, inMemory + inFile, inMemory + inFile + 1, 20 << 20} {
		content := strings.Repeat("0123456789abcdef", size/16+1)[:size]
		for _, body := range []io.Reader{strings.NewReader(content), io.MultiReader(strings.NewReader(content))} {
			res, err := http.Post(s.URL+"/functions/v1/f", "text/plain", body)
			if err != nil {
				t.Fatal(err)
			}
			if got, want := text(t, res), fmt.Sprintf("%d %x <nil>", size, sha256.Sum256([]byte(content))); got != want {
				t.Errorf("%d bytes: %s, want %s", size, got, want)
			}
			res.Body.Close()
		}
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) > 0 {
		t.Error("files are left:", left)
	}
}

// TestNoRoomForBodies: without a place for temporary files long bodies are refused for now, and short ones served.
func TestNoRoomForBodies(t *testing.T) {
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "absent"))
	if _, err := os.Stat(os.TempDir()); err == nil {
		t.Fatal("there is a folder")
	}
	s := live(t, func(o *Options) { o.Functions = readAll })
	for size, want := range map[int]int{100: 200, 100_000: 503} {
		res, err := http.Post(s.URL+"/functions/v1/f", "text/plain", strings.NewReader(strings.Repeat("x", size)))
		if err != nil {
			t.Fatal(err)
		}
		if body := text(t, res); res.StatusCode != want || strings.Contains(body, "absent") || (want == 503) != (res.Header.Get("Retry-After") != "") {
			t.Errorf("%d bytes: %d %s", size, res.StatusCode, body)
		}
		res.Body.Close()
	}
}

// TestRoomForANewcomer: whoever fills what is meant for all bodies together gets a share of it only.
func TestRoomForANewcomer(t *testing.T) {
	ga := gatherer{of: map[string]int64{}}
	fill := func(client string, most int64) (taken int64) {
		const part = 32 << 10
		for taken < most && ga.take(client, part) {
			taken += part
		}
		return taken
	}
	has := map[string]int64{}
	for i := range 8 {
		client := fmt.Sprint("greedy ", i)
		if has[client] = fill(client, allFiles); i == 0 && has[client] < 50<<20 {
			t.Errorf("alone it gets %d bytes", has[client])
		}
	}
	if got := fill("newcomer", 5<<20); got < 5<<20 {
		t.Errorf("a newcomer gets %d bytes, less than a photo", got)
	}
	has["newcomer"] = 5 << 20
	for client, n := range has {
		ga.give(client, n)
	}
	if ga.used != 0 || len(ga.of) != 0 {
		t.Errorf("%d bytes are left of %v", ga.used, ga.of)
	}
}

// TestAShareOfTheRoom: one address that opens many large bodies and ends none is refused beyond its share, and others are
// served meanwhile.
func TestAShareOfTheRoom(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	s := live(t, func(o *Options) {
		o.Functions, o.Limits.Stall = readAll, 20*time.Second
		o.Proxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}
	})
	post := func(client string, size int, ends bool) (string, net.Conn) {
		conn, err := net.Dial("tcp", s.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		said := size
		if !ends {
			said++
		}
		fmt.Fprintf(conn, "POST /functions/v1/f HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: %s\r\nContent-Length: %d\r\n\r\n", client, said)
		if _, err := io.WriteString(conn, strings.Repeat("x", size)); err != nil || !ends {
			return "", conn
		}
		line, _ := bufio.NewReader(conn).ReadString('\n')
		return line, conn
	}
	for range 3 {
		post("192.0.2.1", 15<<20, false)
	}
	deadline := time.Now().Add(10 * time.Second)
	for line := ""; !strings.Contains(line, "503"); {
		if line, _ = post("192.0.2.1", 8<<20, true); time.Now().After(deadline) {
			t.Fatalf("beyond its share it gets %q", line)
		}
	}
	if line, _ := post("192.0.2.2", 5<<20, true); !strings.Contains(line, "200") {
		t.Errorf("another client gets %q", line)
	}
}

// TestABodyThatStops is cut after a stall, however fast it began.
func TestABodyThatStops(t *testing.T) {
	s := live(t, func(o *Options) { o.Storage, o.Limits.MinRate = readAll, 512 })
	conn, err := net.Dial("tcp", s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	begun := time.Now()
	_ = conn.SetDeadline(begun.Add(10 * time.Second))
	fmt.Fprintf(conn, "POST /storage/v1/object/b/n HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n%s", strings.Repeat("x", 100_000))
	if _, err := io.Copy(io.Discard, conn); err != nil || time.Since(begun) > 3*time.Second {
		t.Errorf("it is held for %v: %v", time.Since(begun), err)
	}
}
