package backup

import (
	"context"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Neither a long upload nor a base backup keeps the log waiting, and the end of
// the service waits for neither.
func TestTheLogWaitsForNothing(t *testing.T) {
	store := newFolder(t)
	s := newSite(t, stuck{store})
	service := open(t, s.options)
	s.report(1)
	s.sql(`select pg_switch_wal()`)
	until := func(what string, done func() bool) {
		t.Helper()
		for deadline := time.Now().Add(20 * time.Second); !done(); time.Sleep(20 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatal(what)
			}
		}
	}
	until("nothing was archived", func() bool {
		waiting, _ := filepath.Glob(s.options.Archive + "/0*")
		return len(waiting) > 0
	})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); service.Run(ctx) }()
	until("the log is not stored", func() bool {
		names, err := store.List(t.Context(), "wal/")
		return err == nil && len(names) > 0
	})
	cancel()
	until("it does not end", func() bool {
		select {
		case <-ended:
			return true
		default:
			return false
		}
	})
}

// stuck is a store that never finishes taking a file.
type stuck struct{ Store }

func (s stuck) Put(ctx context.Context, name string, r io.Reader) error {
	if strings.HasPrefix(name, "files/") {
		<-ctx.Done()
		return context.Cause(ctx)
	}
	return s.Store.Put(ctx, name, r)
}
