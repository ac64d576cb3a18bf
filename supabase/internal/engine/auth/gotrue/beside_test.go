package gotrue

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"daawo/supabase/internal/database/testdb"
)

var memoryLength = flag.Duration("memory.length", time.Minute, "length of the load of TestMemoryBesideGoTrue")

// TestMemoryBesideGoTrue logs the memory of `daawo serve auth` (the program DAAWO) and of GoTrue
// (the program GOTRUE) at rest and under the same load: GET /user 200 times a second, refreshes 20
// times, sign-ins with a password 4 times.
func TestMemoryBesideGoTrue(t *testing.T) {
	ours, theirs := os.Getenv("DAAWO"), os.Getenv("GOTRUE")
	if ours == "" || theirs == "" {
		t.Skip("DAAWO and GOTRUE name no programs: see docs/evidence/auth.md")
	}
	sides := []*side{startSide(t, "serve auth", ours, "serve", "auth"), startSide(t, "GoTrue", theirs, "serve")}
	time.Sleep(8 * time.Second) // after the start
	for _, s := range sides {
		t.Logf("%-10s at rest: %s", s.name, s.memory(t))
	}
	var all sync.WaitGroup
	for _, s := range sides {
		all.Go(func() { s.load(t, *memoryLength) })
	}
	all.Wait()
	for _, s := range sides {
		t.Logf("%-10s loaded:  %s", s.name, s.memory(t))
	}
}

// TestReadsBesideGoTrue logs how many GET /user each server takes from 1 and 8 clients, in turns
// within one run: the median and the spread of the ratios.
func TestReadsBesideGoTrue(t *testing.T) {
	ours, theirs := os.Getenv("DAAWO"), os.Getenv("GOTRUE")
	if ours == "" || theirs == "" {
		t.Skip("DAAWO and GOTRUE name no programs: see docs/evidence/auth.md")
	}
	sides := []*side{startSide(t, "serve auth", ours, "serve", "auth"), startSide(t, "GoTrue", theirs, "serve")}
	for _, clients := range []int{1, 8} {
		var ratios []float64
		for range 7 {
			var rates [2]float64
			for i, s := range sides {
				rates[i] = s.reads(t, clients)
			}
			ratios = append(ratios, rates[0]/rates[1])
		}
		slices.Sort(ratios)
		t.Logf("%d clients: %.2f times, %.2f–%.2f", clients, ratios[len(ratios)/2], ratios[0], ratios[len(ratios)-1])
	}
}

// reads returns the number of GET /user in a turn of a second.
func (s *side) reads(t *testing.T, clients int) float64 {
	token := s.post(t, "/signup", `{"email":"reads`+rand.Text()+`@example.org","password":"password-1"}`, "").Access
	ctx, stop := context.WithTimeout(t.Context(), time.Second)
	defer stop()
	var done atomic.Int64
	var all sync.WaitGroup
	for range clients {
		all.Go(func() {
			for ctx.Err() == nil {
				s.post(t, "/user", "", token)
				done.Add(1)
			}
		})
	}
	all.Wait()
	return float64(done.Load())
}

// side is one of the servers, with the accounts of its clients.
type side struct {
	name    string
	pid     int
	address string
	client  *http.Client
}

func startSide(t *testing.T, name, program string, args ...string) *side {
	t.Helper()
	port := freePort(t)
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Dir = t.TempDir()
	cmd.Env = differentialVariables(testdb.New(t), port, append(environments()[0], "GOTRUE_DB_MAX_POOL_SIZE=10",
		"GOTRUE_DB_MAX_IDLE_POOL_SIZE=10", "GOTRUE_RATE_LIMIT_OTP=1000000", "GOTRUE_RATE_LIMIT_TOKEN_REFRESH=1000000"))
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait() // killed, so it reports that
	})
	return &side{name, cmd.Process.Pid, awaitPort(t, port),
		&http.Client{Timeout: time.Minute, Transport: &http.Transport{MaxIdleConnsPerHost: 64}}}
}

// memory returns the resident memory of the server, its peak, and the part that is its own.
func (s *side) memory(t *testing.T) string {
	t.Helper()
	var out []string
	for file, names := range map[string]string{"status": "VmRSS|VmHWM", "smaps_rollup": "Private_Dirty"} {
		text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(s.pid), file))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`(?m)^(`+names+`):\s+(\d+) kB`).FindAllStringSubmatch(string(text), -1) {
			kb, _ := strconv.Atoi(m[2]) // digits
			out = append(out, fmt.Sprintf("%s %d MB", m[1], kb>>10))
		}
	}
	return strings.Join(out, ", ")
}

// load sends each kind of request at its rate.
func (s *side) load(t *testing.T, length time.Duration) {
	const grant = `{"email":"a%d@example.org","password":"password-1"}`
	accounts := make([]exchanged, 8)
	for i := range accounts {
		accounts[i] = s.post(t, "/signup", fmt.Sprintf(grant, i), "")
	}
	ctx, stop := context.WithTimeout(t.Context(), length)
	defer stop()
	var all sync.WaitGroup
	for i := range accounts {
		token := accounts[i].Access
		all.Go(func() { every(ctx, 25, func() { s.post(t, "/user", "", token) }) })
		all.Go(func() {
			refresh := accounts[i].Refresh
			every(ctx, 2.5, func() {
				refresh = s.post(t, "/token?grant_type=refresh_token", `{"refresh_token":"`+refresh+`"}`, "").Refresh
			})
		})
		all.Go(func() {
			every(ctx, 0.5, func() { s.post(t, "/token?grant_type=password", fmt.Sprintf(grant, i), "") })
		})
	}
	all.Wait()
}

// every calls do at a rate per second until ctx ends.
func every(ctx context.Context, rate float64, do func()) {
	for tick := time.NewTicker(time.Duration(float64(time.Second) / rate)); ; do() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			tick.Stop()
			return
		}
	}
}

// exchanged are the tokens of a reply.
type exchanged struct {
	Access  string `json:"access_token"`
	Refresh string `json:"refresh_token"`
}

// post sends a request with a body, or GET without one.
func (s *side) post(t *testing.T, path, body, token string) (out exchanged) {
	method := http.MethodPost
	if body == "" {
		method = http.MethodGet
	}
	r, err := http.NewRequest(method, s.address+path, strings.NewReader(body))
	if err != nil {
		t.Error(err)
		return out
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+token)
	res, err := s.client.Do(r)
	if err != nil {
		t.Error(err)
		return out
	}
	defer res.Body.Close()
	if err := json.NewDecoder(res.Body).Decode(&out); err != nil || res.StatusCode != http.StatusOK {
		t.Errorf("%s %s %s: %d %v", s.name, method, path, res.StatusCode, err)
	}
	return out
}
