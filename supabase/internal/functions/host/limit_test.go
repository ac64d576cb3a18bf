package host

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"daawo/supabase/edge"
)

// TestTimeout checks that calls beyond their timeout get 504, that the host rejects more calls of a
// function whose calls do not end, and that other functions and started streams are not affected:
// in this program, and in a process of functions.
func TestTimeout(t *testing.T) {
	t.Run("here", func(t *testing.T) {
		testTimeout(t, func(functions map[string]edge.Func) http.Handler { return hosting(t, functions) })
	})
	t.Run("process", func(t *testing.T) {
		testTimeout(t, func(functions map[string]edge.Func) http.Handler { return asProcess(t, functions) })
	})
}

// asProcess serves functions as a process of functions does and returns the handler of its parent.
func asProcess(t *testing.T, functions map[string]edge.Func) http.Handler {
	t.Helper()
	h := hosting(t, functions, func(o *Options) { o.Parent = &Parent{} })
	server := httptest.NewServer(h.ChildHandler())
	t.Cleanup(server.Close)
	address, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	return httputil.NewSingleHostReverseProxy(address)
}

func testTimeout(t *testing.T, host func(map[string]edge.Func) http.Handler) {
	release := make(chan struct{})
	var ran atomic.Int64
	var wrote atomic.Value
	h := host(map[string]edge.Func{
		"loops": {NoVerifyJWT: true, Timeout: 30 * time.Millisecond,
			Handler: func(w http.ResponseWriter, _ *http.Request, _ *edge.Env) error {
				ran.Add(1)
				<-release // ignores its context, as an endless loop does
				w.Header().Set("X-Late", "1")
				if _, err := w.Write([]byte("late")); err != nil {
					wrote.Store(err)
				}
				return nil
			}},
		"streams": {NoVerifyJWT: true, Timeout: 30 * time.Millisecond,
			Handler: func(w http.ResponseWriter, _ *http.Request, _ *edge.Env) error {
				_, _ = w.Write([]byte("first "))
				time.Sleep(80 * time.Millisecond)
				_, err := w.Write([]byte("second"))
				return err
			}},
		"hello": {NoVerifyJWT: true, Handler: hello},
	})
	for range maxRunaways() {
		if w := serve(h, "POST", "/loops", nil); w.Code != http.StatusGatewayTimeout ||
			w.Header().Get("Sb-Error-Code") != "IDLE_TIMEOUT" {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	}
	// The next calls wait until the grace period is over and are rejected without running. Other
	// functions still work.
	for range 2 {
		if w := serve(h, "POST", "/loops", nil); w.Code != statusWorkerLimit ||
			w.Header().Get("Sb-Error-Code") != "WORKER_LIMIT" {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	}
	if n := ran.Load(); n != maxRunaways() {
		t.Errorf("%d calls run after their timeout, want %d", n, maxRunaways())
	}
	if w := serve(h, "POST", "/hello", nil); w.Code != http.StatusOK {
		t.Errorf("another function: %d", w.Code)
	}
	if w := serve(h, "POST", "/streams", nil); w.Body.String() != "first second" {
		t.Errorf("the stream was cut off: %q", w.Body)
	}
	close(release)
	waitFor(t, func() bool { return wrote.Load() != nil })
	if err := wrote.Load().(error); !errors.Is(err, http.ErrHandlerTimeout) {
		t.Errorf("write after the timeout: %v", err)
	}
	waitFor(t, func() bool { return serve(h, "POST", "/loops", nil).Code == http.StatusOK })
}

// TestTimeoutInProcess checks the reply at a timeout in a process of functions: it is whole while
// the handler runs, its connection is not used again, and a panic of Refused does not end the
// process.
func TestTimeoutInProcess(t *testing.T) {
	release := make(chan struct{})
	stuck := func(http.ResponseWriter, *http.Request, *edge.Env) error { <-release; return nil }
	var canceled atomic.Bool
	h := asProcess(t, map[string]edge.Func{
		"own": {NoVerifyJWT: true, Timeout: 10 * time.Millisecond, Handler: stuck,
			Refused: func(w http.ResponseWriter, _ *http.Request, status int) bool {
				w.Header().Set("X-Own", "1")
				w.WriteHeader(status)
				_, _ = w.Write([]byte("my own "))
				_, _ = w.Write([]byte("reply"))
				return true
			}},
		"panics": {NoVerifyJWT: true, Timeout: 10 * time.Millisecond, Handler: stuck,
			Refused: func(http.ResponseWriter, *http.Request, int) bool { panic("x") }},
		"waits": {NoVerifyJWT: true, Timeout: 10 * time.Millisecond,
			Handler: func(_ http.ResponseWriter, r *http.Request, _ *edge.Env) error {
				<-r.Context().Done()
				canceled.Store(true)
				return r.Context().Err()
			}},
		"hello": {NoVerifyJWT: true, Handler: hello},
	})
	if w := serve(h, "POST", "/own", nil); w.Code != http.StatusGatewayTimeout || w.Body.String() != "my own reply" ||
		w.Header().Get("X-Own") != "1" {
		t.Errorf("%d %q %v", w.Code, w.Body, w.Header())
	}
	if w := serve(h, "POST", "/panics", nil); w.Code != http.StatusInternalServerError || w.Body.Len() > 0 {
		t.Errorf("%d %q", w.Code, w.Body)
	}
	if w := serve(h, "POST", "/waits", nil); w.Code != http.StatusGatewayTimeout {
		t.Errorf("%d %q", w.Code, w.Body)
	}
	waitFor(t, canceled.Load)
	for range 3 {
		if w := serve(h, "POST", "/hello", nil); w.Code != http.StatusOK {
			t.Errorf("a later call: %d %s", w.Code, w.Body)
		}
	}
	close(release)
}

// TestCancelledCallsAreNotRunaways checks that timed-out calls which end with their context do not
// delay further calls.
func TestCancelledCallsAreNotRunaways(t *testing.T) {
	h := hosting(t, map[string]edge.Func{
		"slow": {NoVerifyJWT: true, Timeout: 10 * time.Millisecond,
			Handler: func(_ http.ResponseWriter, r *http.Request, _ *edge.Env) error {
				<-r.Context().Done()
				return r.Context().Err()
			}},
	})
	start := time.Now()
	for range 20 {
		if w := serve(h, "POST", "/slow", nil); w.Code != http.StatusGatewayTimeout {
			t.Errorf("%d %s", w.Code, w.Body)
		}
	}
	if took := time.Since(start); took > 15*grace { // 20 if calls counted until their grace ends
		t.Errorf("20 calls of 10 ms took %v", took)
	}
}

// TestEndlessLoop checks that endless loops which use the whole processor slow other functions down
// only a little.
func TestEndlessLoop(t *testing.T) {
	var stop atomic.Bool
	defer stop.Store(true)
	h := hosting(t, map[string]edge.Func{
		"loops": {NoVerifyJWT: true, Timeout: 20 * time.Millisecond,
			Handler: func(http.ResponseWriter, *http.Request, *edge.Env) error {
				for n := 0; !stop.Load(); n++ {
				}
				return nil
			}},
		"hello": {NoVerifyJWT: true, Handler: hello},
	})
	alone := percentile(h, 50)
	for range maxRunaways() {
		serve(h, "POST", "/loops", nil)
	}
	if w := serve(h, "POST", "/loops", nil); w.Code != statusWorkerLimit {
		t.Errorf("another call of the looping function: %d", w.Code)
	}
	beside := percentile(h, 50) // other programs can delay single calls
	t.Logf("median of another function: %v alone, %v beside %d endless loops", alone, beside, maxRunaways())
	if beside > 2*alone+20*time.Millisecond {
		t.Errorf("the median rose from %v to %v", alone, beside)
	}
}

// waitFor waits up to a minute until ok returns true.
func waitFor(t *testing.T, ok func() bool) {
	t.Helper()
	for range 6000 {
		if ok() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("the condition is still false after a minute")
}

// TestTenThousandCalls checks MaxConcurrent with 10,000 concurrent calls: each gets 200, or 503
// with Retry-After.
func TestTenThousandCalls(t *testing.T) {
	var running, most atomic.Int64
	h := hosting(t, map[string]edge.Func{
		"slow": {NoVerifyJWT: true, MaxConcurrent: 10, MaxWaiting: 20, MaxWait: 50 * time.Millisecond,
			Handler: func(http.ResponseWriter, *http.Request, *edge.Env) error {
				now := running.Add(1)
				defer running.Add(-1)
				for m := most.Load(); now > m && !most.CompareAndSwap(m, now); m = most.Load() {
				}
				time.Sleep(100 * time.Millisecond)
				return nil
			}},
		"hello": {NoVerifyJWT: true, Handler: hello},
	})
	alone := percentile(h, 99)
	codes := make([]atomic.Int64, 600)
	var wg sync.WaitGroup
	for range 10_000 {
		wg.Go(func() {
			w := serve(h, "POST", "/slow", nil)
			codes[w.Code].Add(1)
			if w.Code == 503 && w.Header().Get("Retry-After") == "" {
				t.Error("503 without Retry-After")
			}
		})
	}
	beside := percentile(h, 99)
	wg.Wait()
	if ok, busy := codes[200].Load(), codes[503].Load(); ok == 0 || busy == 0 || ok+busy != 10_000 {
		t.Errorf("200: %d, 503: %d", ok, busy)
	}
	if most.Load() > 10 {
		t.Errorf("%d ran at once, want at most 10", most.Load())
	}
	t.Logf("p99 of another function: %v alone, %v beside 10,000 calls", alone, beside)
}

// percentile calls the function hello 500 times and returns a percentile of the durations.
func percentile(h http.Handler, percent int) time.Duration {
	took := make([]time.Duration, 500)
	for i := range took {
		start := time.Now()
		serve(h, "POST", "/hello", nil)
		took[i] = time.Since(start)
	}
	slices.Sort(took)
	return took[len(took)*percent/100]
}
