package realtime

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"net"
	"net/http"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// rawClient is a client with as little memory as possible: a connection and no goroutine.
type rawClient struct{ net.Conn }

func rawConnect(b *testing.B, s *server, token, topic string) rawClient {
	b.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.url, "http://"))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { conn.Close() })
	if _, err := fmt.Fprintf(conn,
		"GET /socket/websocket?vsn=2.0.0&apikey=%s HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\n"+
			"Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n",
		token); err != nil {
		b.Fatal(err)
	}
	reader := bufio.NewReader(conn)
	reply, err := http.ReadResponse(reader, nil)
	if err != nil || reply.StatusCode != http.StatusSwitchingProtocols {
		b.Fatalf("handshake: %v, %v", reply, err)
	}
	c := rawClient{conn}
	c.text(b, fmt.Sprintf(`["1","1",%q,"phx_join",{"config":{}}]`, topic))
	if frame, err := readFrame(reader); err != nil || !strings.Contains(string(frame), `"status":"ok"`) {
		b.Fatalf("join: %s, %v", frame, err)
	}
	return c
}

// text sends a masked text frame with the mask 0.
func (c rawClient) text(b *testing.B, text string) {
	b.Helper()
	frame := []byte{final | opText, 0x80 | 126, byte(len(text) >> 8), byte(len(text)), 0, 0, 0, 0}
	if _, err := c.Write(append(frame, text...)); err != nil {
		b.Error(err)
	}
}

// readFrame reads a short unmasked frame. The payload is valid until the next read.
func readFrame(r *bufio.Reader) ([]byte, error) {
	head, err := r.Peek(2)
	if err != nil {
		return nil, err
	}
	start, size := 2, int(head[1])
	if size == 126 {
		if head, err = r.Peek(4); err != nil {
			return nil, err
		}
		start, size = 4, int(binary.BigEndian.Uint16(head[2:]))
	}
	frame, err := r.Peek(start + size)
	if err != nil {
		return nil, err
	}
	_, err = r.Discard(start + size)
	return frame[start:], err
}

// BenchmarkIdleConnection measures the memory of a connection with one joined channel. It includes
// the client's end of the connection, which has no goroutine and no buffer.
func BenchmarkIdleConnection(b *testing.B) {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		b.Fatal(err)
	}
	const goal, spare = 10_000, 1000 // connections; other files of the process
	if limit.Cur < 2*goal+spare {
		more := syscall.Rlimit{Cur: 2*goal + spare, Max: max(limit.Max, 2*goal+spare)}
		if syscall.Setrlimit(syscall.RLIMIT_NOFILE, &more) == nil { // root may raise it
			limit = more
		}
	}
	count := min(goal, (int(limit.Cur)-spare)/2)
	s := serve(b, nil)
	token := sign(b, "anon", nil)
	for range 100 { // warms caches
		rawConnect(b, s, token, "realtime:warm")
	}
	before := inUse()
	for n := range count {
		rawConnect(b, s, token, "realtime:"+strconv.Itoa(n%100))
	}
	b.ReportMetric(float64(inUse()-before)/float64(count), "B/conn")
	b.ReportMetric(float64(count), "conns")
}

func inUse() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapInuse + m.StackInuse)
}

// BenchmarkBroadcast sends 50 messages per second to 1,000 receivers and measures from the sending
// to the receipt. The clients run in the same process.
func BenchmarkBroadcast(b *testing.B) {
	const receivers, perSecond = 1000, 50
	s := serve(b, nil)
	token := sign(b, "anon", nil)
	latencies := make([][]time.Duration, receivers) // each receiver appends to its own
	var arrived atomic.Int64
	start := time.Now()
	for n := range receivers {
		c := rawConnect(b, s, token, "realtime:bench")
		latencies[n] = make([]time.Duration, 0, b.N)
		go func() {
			reader := bufio.NewReaderSize(c, 512)
			for {
				frame, err := readFrame(reader)
				if err != nil {
					return
				}
				_, sent, ok := bytes.Cut(frame, []byte(`"at":`))
				if !ok {
					continue
				}
				at, err := strconv.ParseInt(string(bytes.TrimRight(sent, "}]")), 10, 64)
				if err != nil {
					continue
				}
				latencies[n] = append(latencies[n], time.Since(start)-time.Duration(at))
				arrived.Add(1)
			}
		}()
	}
	sender := rawConnect(b, s, token, "realtime:bench")
	ticker := time.NewTicker(time.Second / perSecond)
	defer ticker.Stop()
	sent := 0
	b.ResetTimer()
	for range b.N {
		<-ticker.C
		sender.text(b, fmt.Sprintf(`["1",null,"realtime:bench","broadcast",{"type":"broadcast","event":"e","payload":{"at":%d}}]`, time.Since(start)))
		sent++
	}
	for end := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		if arrived.Load() == int64(sent*receivers) {
			break
		}
		if time.Now().After(end) {
			b.Fatalf("%d of %d messages arrived", arrived.Load(), sent*receivers)
		}
	}
	b.StopTimer()
	all := slices.Concat(latencies...)
	slices.Sort(all)
	for _, p := range []int{50, 99} {
		b.ReportMetric(float64(all[len(all)*p/100].Microseconds())/1000, fmt.Sprintf("p%d-ms", p))
	}
}
