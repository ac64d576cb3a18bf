package gotrue

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"daawo/supabase/internal/database/testdb"
)

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

// side is one of the servers.
type side struct {
	name    string
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
	return &side{name, awaitPort(t, port),
		&http.Client{Timeout: time.Minute, Transport: &http.Transport{MaxIdleConnsPerHost: 64}}}
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
