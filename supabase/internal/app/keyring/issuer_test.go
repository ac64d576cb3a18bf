package keyring

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"daawo/supabase/internal/base/keys"
)

// provider replies to requests without a network. It counts them.
type provider struct {
	mu      sync.Mutex
	used    []string // the key sets that Watch used
	set     string   // the JWK set
	uri     string   // of the JWK set
	down    bool
	fetches int
}

func (p *provider) RoundTrip(r *http.Request) (*http.Response, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.down {
		return nil, errors.New("connection refused")
	}
	body := p.set
	if strings.HasSuffix(r.URL.Path, "/.well-known/openid-configuration") {
		p.fetches++
		body = fmt.Sprintf(`{"issuer":"https://issuer.example/","jwks_uri":%q}`, p.uri)
	}
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
}

// change changes the replies.
func (p *provider) change(set string, down bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.set, p.down = set, down
}

func newKey(t *testing.T) string {
	t.Helper()
	key, err := keys.GenerateES256()
	if err != nil {
		t.Fatal(err)
	}
	return string(keys.JWKS([]keys.Key{key}))
}

// watch starts Watch.
func watch(t *testing.T, p *provider, unknown chan struct{}) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	t.Cleanup(func() { cancel(); <-done })
	go func() {
		defer close(done)
		watchIssuer(ctx, issuerOptions{
			URL: "https://issuer.example", Unknown: unknown, Client: &http.Client{Transport: p},
			Log: slog.New(slog.DiscardHandler), Use: func(k []keys.Key) {
				p.mu.Lock()
				defer p.mu.Unlock()
				p.used = append(p.used, string(keys.JWKS(k)))
			},
		})
	}()
	synctest.Wait()
}

// after waits and returns the last key set and the number of fetches.
func after(wait time.Duration, p *provider) (last string, fetches int) {
	time.Sleep(wait)
	synctest.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.used); n > 0 {
		last = p.used[n-1]
	}
	return last, p.fetches
}

// TestWatch checks when keys are fetched: at the start, regularly, and soon after a token named an
// unknown key.
func TestWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		first, second, third := newKey(t), newKey(t), newKey(t)
		p := &provider{set: first, uri: "https://issuer.example/jwks"}
		unknown := make(chan struct{}, 1)
		watch(t, p, unknown)
		if last, n := after(0, p); last != first || n != 1 {
			t.Fatal(last, n)
		}
		p.change(second, false)
		if last, n := after(every+time.Second, p); last != second || n != 2 {
			t.Error("after the interval:", last, n)
		}
		p.change(third, false)
		for range 5 { // many unknown keys cause one fetch
			select {
			case unknown <- struct{}{}:
			default:
			}
			if last, n := after(time.Second, p); last != second || n != 2 {
				t.Error("too early:", last, n)
			}
		}
		if last, n := after(prompted, p); last != third || n != 3 {
			t.Error("after an unknown key:", last, n)
		}
		if len(p.used) != 3 {
			t.Errorf("Use was called %d times", len(p.used))
		}
	})
}

// TestWatchFailure checks that keys outlive an outage of a day and no more, and that a start
// without the issuer recovers.
func TestWatchFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		key := newKey(t)
		p := &provider{set: key, uri: "https://issuer.example/jwks", down: true}
		watch(t, p, nil)
		if last, _ := after(10*time.Second, p); last != "" {
			t.Error("keys without the issuer:", last)
		}
		p.change(key, false)
		if last, _ := after(10*time.Second, p); last != key {
			t.Error("no keys after the recovery:", last)
		}
		p.change(key, true)
		if last, _ := after(maxAge-time.Hour, p); last != key {
			t.Error("the keys were dropped early:", last)
		}
		if last, _ := after(2*time.Hour, p); last != `{"keys":[]}` {
			t.Error("the keys were kept:", last)
		}
		p.change(key, false)
		if last, _ := after(2*maxWait, p); last != key {
			t.Error("no keys after the second recovery:", last)
		}
	})
}

// TestFetchRefuses checks documents that are not used.
func TestFetchRefuses(t *testing.T) {
	for name, p := range map[string]*provider{
		"no TLS":     {set: newKey(t), uri: "http://issuer.example/jwks"},
		"loopback":   {set: newKey(t), uri: "http://127.0.0.1/jwks"},
		"no keys":    {set: `{"keys":[]}`, uri: "https://issuer.example/jwks"},
		"no address": {set: newKey(t)},
		"too large":  {set: newKey(t) + strings.Repeat(" ", maxBody), uri: "https://issuer.example/jwks"},
	} {
		if found, err := fetch(t.Context(),
			issuerOptions{URL: "https://issuer.example", Client: &http.Client{Transport: p}}); err == nil {
			t.Errorf("%s: %v", name, found)
		}
	}
}
