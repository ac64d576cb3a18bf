package storage

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Environment variables with the URL and the service key of a storage-api to compare with. The
// comparison is optional.
const (
	upstreamURL = "STORAGE_API_URL"
	upstreamKey = "STORAGE_API_SERVICE_KEY"
)

// benchClient keeps one connection for each client of a benchmark.
var benchClient = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 8}}

type target struct{ url, key string }

func (g target) do(b *testing.B, method, path string, body []byte) {
	r, err := http.NewRequest(method, g.url+path, bytes.NewReader(body))
	if err != nil {
		b.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+g.key)
	r.Header.Set("Content-Type", "application/octet-stream")
	res, err := benchClient.Do(r)
	if err != nil {
		b.Fatal(err)
	}
	defer res.Body.Close()
	if _, err := io.Copy(io.Discard, res.Body); err != nil || res.StatusCode >= 300 {
		b.Fatalf("%s %s: %s, %v", method, path, res.Status, err)
	}
}

func benchTargets(b *testing.B) (ours target, theirs *target, s *stack) {
	s = newStack(b)
	ours = target{s.server.URL, s.demo.ServiceRole}
	if url := os.Getenv(upstreamURL); url != "" {
		theirs = &target{url, os.Getenv(upstreamKey)}
	}
	for _, g := range []*target{&ours, theirs} {
		if g == nil {
			continue
		}
		r, err := http.NewRequest("POST", g.url+"/bucket", strings.NewReader(`{"name":"bench","public":true}`))
		if err != nil {
			b.Fatal(err)
		}
		r.Header = http.Header{"Authorization": {"Bearer " + g.key}, "Content-Type": {"application/json"}}
		if res, err := http.DefaultClient.Do(r); err == nil {
			res.Body.Close()
		}
	}
	return ours, theirs, s
}

// timed calls fn b.N times in total from concurrent clients. It returns the elapsed time per call.
func timed(b *testing.B, clients int, fn func()) time.Duration {
	var left atomic.Int64
	left.Store(int64(b.N))
	var all sync.WaitGroup
	start := time.Now()
	for range clients {
		all.Go(func() {
			for left.Add(-1) >= 0 {
				fn()
			}
		})
	}
	all.Wait()
	return time.Since(start) / time.Duration(b.N)
}

// eachLoad runs a benchmark with one client, to measure latency, and with eight clients, to measure
// throughput.
func eachLoad(b *testing.B, name string, fn func(b *testing.B, clients int)) {
	for _, clients := range []int{1, 8} {
		b.Run(fmt.Sprintf("%s/%d", name, clients), func(b *testing.B) { fn(b, clients) })
	}
}

// BenchmarkDownload compares public downloads with http.ServeContent of the same file, and with
// ServeContent plus the query that a permission check needs.
func BenchmarkDownload(b *testing.B) {
	for _, size := range []int{100_000, 1_000_000} {
		eachLoad(b, fmt.Sprintf("%dkB", size/1000), func(b *testing.B, clients int) {
			ours, theirs, s := benchTargets(b)
			data := make([]byte, size)
			rand.Read(data)
			ours.do(b, "POST", "/object/bench/file", data)
			file := filesIn(b, filepath.Join(s.dir, "stub", "stub", "bench", "file"))[0]
			plain := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter,
				r *http.Request) {
				http.ServeFile(w, r, file)
			}))
			defer plain.Close()
			base := target{plain.URL, ""}
			b.SetBytes(int64(size))
			b.ResetTimer()
			got := timed(b, clients, func() { ours.do(b, "GET", "/object/public/bench/file", nil) })
			b.StopTimer()
			bound := timed(b, clients, func() { base.do(b, "GET", "/", nil) })
			b.ReportMetric(float64(bound)/float64(got), "of-ServeContent")
			query := timed(b, clients, func() {
				var id string
				err := s.options.Pool.Pgx().QueryRow(b.Context(),
					`select id::text from storage.objects where bucket_id = $1 and name = $2`, "bench",
					"file").Scan(&id)
				if err != nil {
					b.Fatal(err)
				}
			})
			b.ReportMetric(float64(bound+query)/float64(got), "of-ServeContent-and-query")
			if theirs != nil {
				theirs.do(b, "PUT", "/object/bench/file", data)
				b.ReportMetric(float64(timed(b, clients,
					func() { theirs.do(b, "GET", "/object/public/bench/file", nil) }))/float64(got), "x-storage-api")
			}
		})
	}
}

// BenchmarkUpload compares durable uploads with writing and syncing a file.
func BenchmarkUpload(b *testing.B) {
	eachLoad(b, "100kB", func(b *testing.B, clients int) {
		ours, theirs, s := benchTargets(b)
		data := make([]byte, 100_000)
		rand.Read(data)
		b.SetBytes(int64(len(data)))
		b.ResetTimer()
		var n atomic.Int64
		started := strconv.FormatInt(time.Now().UnixNano(), 10)
		next := func() string { return started + "/" + strconv.FormatInt(n.Add(1), 10) }
		got := timed(b, clients, func() { ours.do(b, "POST", "/object/bench/"+next(), data) })
		b.StopTimer()
		bound := timed(b, clients, func() {
			f, err := os.Create(filepath.Join(s.dir, "bare"+filepath.Base(next())))
			if err != nil {
				b.Fatal(err)
			}
			defer f.Close()
			if _, err = f.Write(data); err == nil {
				err = f.Sync()
			}
			if err != nil {
				b.Fatal(err)
			}
		})
		b.ReportMetric(float64(bound)/float64(got), "of-bare-fsync")
		if theirs != nil {
			b.ReportMetric(float64(timed(b, clients,
				func() { theirs.do(b, "POST", "/object/bench/"+next(), data) }))/float64(got), "x-storage-api")
		}
	})
}

// peakRSS returns the largest resident memory of this process, in bytes, since the counter was
// reset.
func peakRSS(b *testing.B) int64 {
	data, err := os.ReadFile("/proc/self/status")
	if err != nil {
		b.Skip("needs /proc")
	}
	for _, line := range strings.Split(string(data), "\n") {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kb, _ := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(rest, "kB")), 10, 64)
			return kb << 10
		}
	}
	return 0
}

// BenchmarkUpload1GB reports how much the memory of server and client grows during an upload of one
// gigabyte.
func BenchmarkUpload1GB(b *testing.B) {
	s := newStack(b, func(o *Options) { o.FileSizeLimit = 2 << 30 })
	s.bucket("bench", false)
	for i := range b.N {
		if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0); err != nil {
			b.Skip("needs /proc/self/clear_refs")
		}
		before := peakRSS(b)
		r, err := http.NewRequest("POST", fmt.Sprintf("%s/object/bench/big%d", s.server.URL, i),
			io.LimitReader(zeros{}, 1<<30))
		if err != nil {
			b.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+s.demo.ServiceRole)
		res, err := http.DefaultClient.Do(r)
		if err != nil || res.StatusCode != 200 {
			b.Fatal(res, err)
		}
		res.Body.Close()
		b.ReportMetric(float64(peakRSS(b)-before)/(1<<20), "MB-more")
		s.do(s.demo.ServiceRole, "DELETE", fmt.Sprintf("/object/bench/big%d", i), nil)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }
