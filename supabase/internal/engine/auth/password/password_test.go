package password

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"crypto/sha1"

	"golang.org/x/crypto/bcrypt"
)

func TestMatches(t *testing.T) {
	h := NewHasher(bcrypt.MinCost, 1)
	own, err := h.Hash(t.Context(), "correct horse")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, hash, password string
		want                 bool
	}{
		{"own", own, "correct horse", true},
		{"own, wrong", own, "correct house", false},
		// Test vector of argon2's reference implementation.
		{"argon2id", "$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc",
			"password", true},
		{"argon2id, wrong", "$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc",
			"Password", false},
		// Test vector of Firebase's scrypt tool.
		{"firebase", "$fbscrypt$v=1,n=14,r=8,p=1,ss=Bw==,sk=jxspr8Ki0RYycVU8zykbdLGjFQ3McFUH0uiiTvC8pVMXAn210wjLNmdZJzxUECKbm0QsEmYUSDzZvpjeJ9WmXA==$42xEC+ixf3L2lw==$lSrfV15cpx95/sZS2W9c9Kp6i/LVgQNDNC/qzrCnh1SAyZvqmZqAjTdn3aoItz+VHjoZilo78198JAdRuid5lQ==", "user1password", true},
		{"firebase, wrong", "$fbscrypt$v=1,n=14,r=8,p=1,ss=Bw==,sk=jxspr8Ki0RYycVU8zykbdLGjFQ3McFUH0uiiTvC8pVMXAn210wjLNmdZJzxUECKbm0QsEmYUSDzZvpjeJ9WmXA==$42xEC+ixf3L2lw==$lSrfV15cpx95/sZS2W9c9Kp6i/LVgQNDNC/qzrCnh1SAyZvqmZqAjTdn3aoItz+VHjoZilo78198JAdRuid5lQ==", "user2password", false},
	} {
		got, err := h.Matches(t.Context(), c.hash, c.password)
		if err != nil || got != c.want {
			t.Errorf("%s: %v, %v", c.name, got, err)
		}
		if err := Check(c.hash); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	for _, bad := range []string{"", "plain",
		"$argon2id$v=19$m=9999999,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc", "$fbscrypt$v=1"} {
		if err := Check(bad); !errors.Is(err, errHash) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// TestConcurrencyLimit checks that a Hasher never runs more hashes at once than its limit, so that
// many logins do not take every processor. It stops waiting when the context ends.
func TestConcurrencyLimit(t *testing.T) {
	h := NewHasher(bcrypt.MinCost, 2)
	var now, most atomic.Int32
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			err := h.lowPriority(context.Background(), func() error {
				if n := now.Add(1); n > most.Load() {
					most.Store(n)
				}
				time.Sleep(2 * time.Millisecond)
				now.Add(-1)
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if most.Load() > 2 {
		t.Errorf("%d ran at once, want at most 2", most.Load())
	}
	h.slots <- struct{}{}
	h.slots <- struct{}{}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := h.Hash(ctx, "x"); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled while waiting: %v", err)
	}
}

// TestOverload checks that a Hasher with twice the work that it can do still ends most of what it
// can. A hash that begins too late for its request is wasted.
func TestOverload(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := NewHasher(bcrypt.MinCost, 1)
		const hash, runs = 4 * time.Second, 50
		var inTime atomic.Int32
		var wg sync.WaitGroup
		for range runs {
			wg.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
				defer cancel()
				err := h.lowPriority(ctx, func() error {
					time.Sleep(hash)
					return nil
				})
				if err == nil && ctx.Err() == nil {
					inTime.Add(1)
				}
			})
			time.Sleep(hash / 2)
		}
		wg.Wait()
		if got := inTime.Load(); got < runs/2*9/10 {
			t.Errorf("%d of %d requests were answered, and %d hashes fit into the time", got, runs, runs/2)
		}
	})
}

// TestRecoveryFromSlowHash checks that one hash that takes longer than a request may wait does not
// keep the next ones out.
func TestRecoveryFromSlowHash(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := NewHasher(bcrypt.MinCost, 1)
		for _, took := range []time.Duration{time.Minute, time.Second} {
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			if err := h.lowPriority(ctx, func() error { time.Sleep(took); return nil }); err != nil {
				t.Errorf("a hash of %s: %v", took, err)
			}
			cancel()
		}
	})
}

func TestJudge(t *testing.T) {
	list := filepath.Join(t.TempDir(), "leaked")
	var lines []string
	for i := range 200 {
		lines = append(lines, fmt.Sprintf("%X:%d", sha1.Sum(fmt.Appendf(nil, "leaked password %d", i)), i))
	}
	slices.Sort(lines)
	if err := os.WriteFile(list, []byte(strings.Join(lines, "\r\n")+"\r\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := Rules{MinLength: 6, Required: []string{"abcdefghijklmnopqrstuvwxyz", "0123456789"}, Leaked: []LeakCheck{LeakedFile(list)}}
	for password, want := range map[string]string{
		"a1b2c3":             "",
		"a1":                 "length",
		"abcdefgh":           "characters",
		"leaked password 0":  "pwned",
		"leaked password 77": "pwned",
		"x":                  "length characters",
	} {
		var w *Weakness
		got := ""
		if errors.As(r.Judge(t.Context(), password), &w) {
			got = strings.Join(w.Reasons, " ")
		}
		if got != want {
			t.Errorf("%q: %q, want %q", password, got, want)
		}
	}
	for i := range 200 {
		if found, err := isLeaked(list, fmt.Sprintf("leaked password %d", i)); err != nil || !found {
			t.Fatalf("password %d: %v, %v", i, found, err)
		}
	}
	for range 20 {
		if err := r.Judge(t.Context(), Random(r.Required, 33)); err != nil {
			t.Fatal(err)
		}
	}
	if code := Code(6); len(code) != 6 {
		t.Errorf("code %q", code)
	}
}
