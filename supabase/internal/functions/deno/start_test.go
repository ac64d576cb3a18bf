package deno

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestStartsTakeTurns checks that a start waits for others and gives its turn back.
func TestStartsTakeTurns(t *testing.T) {
	t.Parallel()
	s, url := serving(t, Limits{Wait: 50 * time.Millisecond}, map[string]string{"a": replies})
	turns := func(change int) int {
		s.pool.mu.Lock()
		defer s.pool.mu.Unlock()
		s.pool.turns += change
		return s.pool.turns
	}
	all := turns(0)
	turns(-all)
	if status, code, _ := get(t, url+"/a"); status != 503 || code != "OVERLOADED" {
		t.Errorf("while others start: %d %s", status, code)
	}
	turns(all)
	if status, code, _ := get(t, url+"/a"); status != 200 {
		t.Errorf("afterwards: %d %s", status, code)
	}
	for deadline := time.Now().Add(time.Minute); turns(0) < all; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the start keeps its turn")
		}
	}
}

// TestBootstrapPath checks that all processes get the same file, also after a crash while it was
// written. Deno's cache would grow with each other path.
func TestBootstrapPath(t *testing.T) {
	cache := filepath.Join(t.TempDir(), "data", "deno")
	first, err := writeBootstrap(cache)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(first, []byte("await"), 0o600); err != nil {
		t.Fatal(err)
	}
	again, err := writeBootstrap(cache)
	if err != nil || again != first {
		t.Errorf("%s %v", again, err)
	}
	if text, err := os.ReadFile(again); err != nil || string(text) != bootstrap {
		t.Errorf("%.100q %v", text, err)
	}
}
