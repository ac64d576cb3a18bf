package acceptance

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"daawo/supabase/internal/database/testdb"
)

// TestReplicasShareLimits checks that two hosts on one database share limits, keys and retries.
func TestReplicasShareLimits(t *testing.T) {
	s := newSite(t)
	s.env["REPORTS_PER_HOUR"] = "12"
	replicas := []*site{s, s.replica(t)}

	// One report with a key and one without, each sent to both hosts at once.
	for _, header := range []map[string]string{{"Idempotency-Key": "one"}, nil} {
		body := report(nil)
		replies := make([]string, 10)
		var wg sync.WaitGroup
		for i := range replies {
			wg.Go(func() { replies[i] = replicas[i%2].call("submit-report", body, header).Body.String() })
		}
		wg.Wait()
		for _, reply := range replies {
			if reply != replies[0] || !strings.Contains(reply, "DW-") {
				t.Fatalf("%s, and %s", replies[0], reply)
			}
		}
	}
	if n := testdb.Value[int](s.db, `select count(*) from reports`); n != 2 {
		t.Errorf("%d reports, want 2", n)
	}

	// The client has used two of its twelve reports, because repetitions do not count. Ten more
	// pass on both hosts together.
	var passed, refused atomic.Int64
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			switch code := replicas[i%2].call("submit-report", report(nil), nil).Code; code {
			case http.StatusOK:
				passed.Add(1)
			case http.StatusTooManyRequests:
				refused.Add(1)
			default:
				t.Errorf("%d", code)
			}
		})
	}
	wg.Wait()
	if passed.Load() != 10 || refused.Load() != 10 {
		t.Errorf("%d passed and %d were refused, want 10 and 10", passed.Load(), refused.Load())
	}
}

// TestLimitsByNetwork checks that limits count IPv4 addresses and IPv6 networks, and do not apply
// to this machine.
func TestLimitsByNetwork(t *testing.T) {
	s := newSite(t)
	s.env["REPORTS_PER_HOUR"] = "1"
	send := func(address string) int {
		body, _ := json.Marshal(report(nil))
		r := httptest.NewRequest(http.MethodPost, "/submit-report", strings.NewReader(string(body)))
		r.Header.Set("Content-Type", "application/json")
		r.RemoteAddr = address
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		return w.Code
	}
	for _, c := range []struct {
		address string
		code    int
	}{
		{"192.0.2.7:1", 200}, {"192.0.2.8:1", 200}, {"192.0.2.7:2", 429}, {"[::ffff:192.0.2.7]:1", 429},
		{"[2001:db8:1:2::1]:1", 200}, {"[2001:db8:1:2:ffff::9]:1", 429}, {"[2001:db8:1:3::1]:1", 200},
		{"[2001:db8:1:4::1]:1", 200}, {"[2001:db8:1:5::1]:1", 200}, {"[2001:db8:1:6::1]:1", 429}, // a home line, a /56
		{"[2001:db8:1:106::1]:1", 200}, // the next one
		{"", 200}, {"", 200},           // no address: this machine
	} {
		if code := send(c.address); code != c.code {
			t.Errorf("%s: %d, want %d", c.address, code, c.code)
		}
	}
}
