package physical

import (
	"context"
	"io"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
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
		for deadline := time.Now().Add(time.Minute); !done(); time.Sleep(20 * time.Millisecond) {
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

// TestRetriesOfBackups checks the pauses after failures: short while there is no good backup.
func TestRetriesOfBackups(t *testing.T) {
	for exists, want := range map[bool][]time.Duration{
		false: {10 * time.Second, 20 * time.Second, 40 * time.Second, 80 * time.Second, 160 * time.Second,
			5 * time.Minute},
		true: {time.Minute, 2 * time.Minute, 4 * time.Minute, 8 * time.Minute, 16 * time.Minute, 32 * time.Minute,
			time.Hour},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := &Service{pause: shipPause, opt: Options{Status: &Status{}, Log: slog.New(slog.DiscardHandler)},
				repo: repository{Store: folder("/nowhere")}}
			if exists {
				s.opt.Status.backup.Store(1)
			}
			var a attempts
			var at []time.Time
			for len(at) <= len(want) {
				s.attempt(t.Context(), &a, "failed", func(context.Context) error {
					at = append(at, time.Now())
					return io.ErrShortWrite
				})
				time.Sleep(time.Second)
			}
			for i, pause := range want {
				if got := at[i+1].Sub(at[i]).Round(2 * time.Second); got != pause.Round(2*time.Second) {
					t.Errorf("a good backup exists: %t; pause %d: %s, want %s", exists, i, got, pause)
				}
			}
		})
	}
}
