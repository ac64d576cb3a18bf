package pool

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// TestAdmissionOrder: callers are admitted in the order of their arrival, and no more at a time
// than allowed.
func TestAdmissionOrder(t *testing.T) {
	for _, active := range []int{1, 3} {
		synctest.Test(t, func(t *testing.T) {
			a := newAdmission(active, 8)
			var mu sync.Mutex
			var order []int
			running, most := 0, 0
			var all sync.WaitGroup
			for i := range 20 {
				all.Go(func() {
					slot, err := a.acquire(t.Context())
					if err != nil {
						t.Error(err)
					}
					mu.Lock()
					running++
					order, most = append(order, i), max(most, running)
					mu.Unlock()
					time.Sleep(time.Millisecond + time.Duration(i)*time.Microsecond)
					mu.Lock()
					running--
					mu.Unlock()
					a.release(slot)
				})
				synctest.Wait()
			}
			all.Wait()
			if !slices.IsSorted(order) {
				t.Errorf("admitted in the order %v", order)
			}
			if most != active {
				t.Errorf("%d at a time, want %d", most, active)
			}
		})
	}
}

// TestAdmissionOfLongCallers: callers that run for long do not stop others, until all connections
// are in use.
func TestAdmissionOfLongCallers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAdmission(2, 4)
		begun := time.Now()
		for range 4 {
			if _, err := a.acquire(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if took := time.Since(begun); took != patience {
			t.Errorf("the third and fourth caller waited %s", took)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := a.acquire(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a fifth caller with four connections: %v", err)
		}
		a.release(0)
		if slot, err := a.acquire(t.Context()); err != nil || slot != 0 {
			t.Error(slot, err)
		}
	})
}

// TestAdmissionLimits: a full queue refuses callers, and callers that give up leave no slot in use.
func TestAdmissionLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := newAdmission(1, 1)
		first, err := a.acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		failed := make(chan error)
		for range maxWaiting {
			go func() {
				slot, err := a.acquire(ctx)
				if err == nil {
					a.release(slot)
				}
				failed <- err
			}()
		}
		synctest.Wait()
		if _, err := a.acquire(t.Context()); !errors.Is(err, errQueueFull) {
			t.Errorf("full queue: %v", err)
		}
		go a.release(first) // at the same time as the others give up
		cancel()
		for range maxWaiting {
			<-failed
		}
		slot, err := a.acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		a.release(slot)
	})
}
