package deno

import (
	"context"
	"errors"
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

// TestStartKeepsNoLock checks that a function is called while another one is being started, and
// that a start that fails is an error of its calls alone.
func TestStartKeepsNoLock(t *testing.T) {
	t.Parallel()
	s, url := serving(t, Limits{}, map[string]string{"a": replies, "b": replies, "c": replies})
	find := s.pool.Deno
	if status, code, _ := get(t, url+"/a"); status != 200 {
		t.Fatal(status, code)
	}
	begun, finish := make(chan struct{}), make(chan struct{})
	s.pool.Deno = func(ctx context.Context) (string, error) {
		close(begun)
		<-finish
		return find(ctx)
	}
	slow := make(chan int, 2)
	ask := func() {
		status, _, _ := get(t, url+"/b")
		slow <- status
	}
	go ask()
	<-begun
	go ask() // waits for the same process
	called := make(chan int)
	go func() {
		status, _, _ := get(t, url+"/a")
		called <- status
	}()
	select {
	case status := <-called:
		if status != 200 {
			t.Errorf("a call during the start of another function: %d", status)
		}
	case <-time.After(20 * time.Second):
		t.Error("a call waits for the start of another function")
	}
	_ = s.Memory()
	close(finish)
	if first, second := <-slow, <-slow; first != 200 || second != 200 {
		t.Errorf("the started function: %d and %d", first, second)
	}
	s.pool.Deno = func(context.Context) (string, error) { return "", errors.New("no Deno") }
	if status, _, _ := get(t, url+"/c"); status < 500 {
		t.Errorf("without Deno: %d", status)
	}
	s.pool.Deno = find
	if status, code, _ := get(t, url+"/c"); status != 200 {
		t.Errorf("with Deno again: %d %s", status, code)
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
