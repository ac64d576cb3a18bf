package physical

import (
	"context"
	"io"
	"strings"
	"testing"
	"time"
)

// WAL shipping waits neither for a long upload nor for a base backup, and Run
// ends without waiting for them.
func TestWALShippingIsIndependent(t *testing.T) {
	store := newFolder(t)
	uploading := make(chan struct{}, 10)
	s := newSite(t, stuck{store, uploading})
	service := open(t, s.options)
	service.pause = 100 * time.Millisecond
	until := func(what string, done func() bool) {
		t.Helper()
		for deadline := time.Now().Add(20 * time.Second); !done(); time.Sleep(20 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatal(what)
			}
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); service.Run(ctx) }()
	<-uploading
	s.addNote(1)
	segment, err := value[string](t.Context(), s.options.URL, `select pg_walfile_name(pg_switch_wal())`)
	if err != nil {
		t.Fatal(err)
	}
	until("the WAL segment was not stored", func() bool {
		names, err := store.List(t.Context(), "wal/"+segment)
		return err == nil && len(names) > 0
	})
	cancel()
	until("Run did not end", func() bool {
		select {
		case <-ended:
			return true
		default:
			return false
		}
	})
}

// stuck is a store whose uploads of files never end.
type stuck struct {
	Store
	uploading chan<- struct{}
}

func (s stuck) Put(ctx context.Context, name string, r io.Reader) error {
	if strings.HasPrefix(name, "files/") {
		s.uploading <- struct{}{}
		<-ctx.Done()
		return context.Cause(ctx)
	}
	return s.Store.Put(ctx, name, r)
}
