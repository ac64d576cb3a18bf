package pool

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/url"
	"sync"
	"testing"
	"time"

	"daawo/supabase/internal/database/testdb"
)

// freezer is a proxy in front of Postgres that can stop to forward bytes. It still accepts
// connections, as the kernel does for a stopped process.
type freezer struct {
	mu     sync.Mutex
	moving *sync.Cond
	frozen bool
}

func newFreezer(t *testing.T, database string) (f *freezer, through string) {
	f = &freezer{}
	f.moving = sync.NewCond(&f.mu)
	u, err := url.Parse(database)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var serving sync.WaitGroup
	t.Cleanup(func() { f.set(false); l.Close(); serving.Wait() })
	target := u.Host
	u.Host = l.Addr().String()
	serving.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("tcp", target)
			if err != nil {
				client.Close()
				continue
			}
			serving.Go(func() { f.copy(server, client) })
			serving.Go(func() { f.copy(client, server) })
		}
	})
	return f, u.String()
}

func (f *freezer) set(frozen bool) {
	f.mu.Lock()
	f.frozen = frozen
	f.mu.Unlock()
	f.moving.Broadcast()
}

func (f *freezer) copy(to, from net.Conn) {
	defer to.Close()
	buffer := make([]byte, 4096)
	for {
		n, err := from.Read(buffer)
		f.mu.Lock()
		for f.frozen {
			f.moving.Wait()
		}
		f.mu.Unlock()
		if _, werr := to.Write(buffer[:n]); werr != nil || err != nil {
			return
		}
	}
}

// TestFrozenServer checks that callers get ErrUnavailable soon after the server has stopped to
// answer, that later callers get it at once, and that the pool works again when the server does.
func TestFrozenServer(t *testing.T) {
	proxy, through := newFreezer(t, testdb.New(t).TCPURL("postgres"))
	pool, err := Open(t.Context(), Config{URL: through, Log: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	ask := func() error {
		_, err := pool.Exec(t.Context(), Caller{}, `select 1`)
		return err
	}
	if err := ask(); err != nil {
		t.Fatal(err)
	}
	proxy.set(true)
	failed := make(chan error)
	go func() { failed <- ask() }()
	select {
	case err := <-failed:
		if !IsUnavailable(err) {
			t.Errorf("the waiting caller gets %v", err)
		}
	case <-time.After(time.Minute): // without the watch it waits for ever
		t.Error("the caller still waits")
	}
	if err := ask(); !IsUnavailable(err) || !pool.freeze.frozen.Load() {
		t.Errorf("a later caller gets %v", err)
	}
	proxy.set(false)
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		if err = ask(); err == nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("after the server answers again: %v", err)
		}
	}
}

// TestSlowStatementIsNotFrozen checks that a statement may take longer than the watch waits for a
// reply.
func TestSlowStatementIsNotFrozen(t *testing.T) {
	pool, err := Open(t.Context(), Config{URL: testdb.New(t).TCPURL("postgres")})
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if _, err := pool.Exec(ctx, Caller{}, `select pg_sleep(4)`); err != nil || pool.freeze.frozen.Load() {
		t.Errorf("%v", err)
	}
}
