package host

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"daawo/supabase/edge"
)

// BenchmarkOverhead compares a function in the host with the bare handler, call by call. The goal
// is an overhead of 10 µs.
func BenchmarkOverhead(b *testing.B) {
	answer := func(w http.ResponseWriter) error {
		w.Header().Set("Content-Type", "application/json")
		_, err := w.Write([]byte(`{"message":"hello"}`))
		return err
	}
	bare := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _ = answer(w) })
	host := hosting(b, map[string]edge.Func{"hello": {Handler: func(w http.ResponseWriter, _ *http.Request,
		_ *edge.Env) error {
		return answer(w)
	}}})
	r := httptest.NewRequest(http.MethodPost, "/hello", http.NoBody)
	r.Header.Set("Authorization", `Bearer x.{"role":"anon"}.y`)
	var inHost, alone time.Duration
	b.ReportAllocs()
	for b.Loop() {
		start := time.Now()
		bare.ServeHTTP(httptest.NewRecorder(), r)
		mid := time.Now()
		host.ServeHTTP(httptest.NewRecorder(), r)
		alone += mid.Sub(start)
		inHost += time.Since(mid)
	}
	n := float64(b.N)
	b.ReportMetric(float64(alone.Nanoseconds())/n/1000, "µs-bare")
	b.ReportMetric(float64(inHost.Nanoseconds())/n/1000, "µs-hosted")
	b.ReportMetric(float64((inHost-alone).Nanoseconds())/n/1000, "µs-overhead")
}

// BenchmarkTwelveUsers measures twelve virtual users that call a function over HTTP without pause
// for three minutes (five seconds with -short), like Supabase's k6 test "simple". Run it with
// -benchtime 1x.
func BenchmarkTwelveUsers(b *testing.B) {
	host := hosting(b, map[string]edge.Func{"hello": {Handler: hello}})
	server := httptest.NewServer(host)
	defer server.Close()
	client := server.Client()
	client.Transport.(*http.Transport).MaxIdleConnsPerHost = 12
	length := 3 * time.Minute
	if testing.Short() {
		length = 5 * time.Second
	}
	var mu sync.Mutex
	var took []time.Duration
	for b.Loop() {
		together(12, func() {
			var mine []time.Duration
			for end := time.Now().Add(length); time.Now().Before(end); {
				start := time.Now()
				if err := callHello(client, server.URL); err != nil {
					b.Error(err)
					return
				}
				mine = append(mine, time.Since(start))
			}
			mu.Lock()
			defer mu.Unlock()
			took = append(took, mine...)
		})
	}
	slices.Sort(took)
	b.ReportMetric(float64(len(took))/b.Elapsed().Seconds(), "calls/s")
	b.ReportMetric(float64(took[len(took)/2].Microseconds()), "µs-p50")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "µs-p99")
}

func callHello(client *http.Client, url string) error {
	req, err := http.NewRequest(http.MethodPost, url+"/hello", strings.NewReader(`{}`))
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", `Bearer x.{"role":"anon"}.y`)
	res, err := client.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if _, err := io.Copy(io.Discard, res.Body); err != nil {
		return err
	}
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("status of hello: %s", res.Status)
	}
	return nil
}

// together runs fn on n goroutines at once and returns the duration.
func together(n int, fn func()) time.Duration {
	start := time.Now()
	var wg sync.WaitGroup
	for range n {
		wg.Go(fn)
	}
	wg.Wait()
	return time.Since(start)
}
