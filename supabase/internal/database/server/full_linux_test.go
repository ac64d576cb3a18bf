package server

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// On a full disk writes fail with an error and reads work. Writes work again as
// soon as space is free. No acknowledged write is lost.
func TestFullDisk(t *testing.T) {
	o := options(t)
	small := filepath.Join(filepath.Dir(o.Data), "small")
	if err := os.Mkdir(small, 0o755); err != nil {
		t.Fatal(err)
	}
	mountSmall(t, small, 160<<20)
	o.Data = filepath.Join(small, "data")
	var downs atomic.Int32
	o.OnDown = func(error) { downs.Add(1) }
	s := start(t, o)
	// The low fill factor allows updates in place, which need space only in the WAL.
	query(t, s.URL(Superuser), `create table counters (n int, text text) with (fillfactor = 10)`)
	query(t, s.URL(Superuser), `insert into counters values (0, '')`)

	conn, err := pgx.Connect(t.Context(), s.URL(Superuser))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	acknowledged := 0
	write := func() error {
		_, err := conn.Exec(t.Context(), `update counters set n = n + 1, text = $1`, strings.Repeat("x", 1900))
		if err == nil {
			acknowledged++
		}
		return err
	}
	writeFails := func() bool {
		err := write()
		var pg *pgconn.PgError
		if err != nil && (!errors.As(err, &pg) || pg.Code != "25006" && pg.Code != "53100") {
			t.Fatalf("a write failed with %v", err)
		}
		return err != nil
	}

	filler := fill(t, filepath.Join(small, "filler"))
	filled := time.Now()
	for !writeFails() {
		if time.Since(filled) > 10*time.Second {
			t.Fatal("writes still succeed")
		}
	}
	for range 5 { // writes keep failing
		if !writeFails() {
			t.Error("a write succeeded on a full disk")
		}
		if got := query(t, s.URL(Superuser), `select n from counters`); got != strconv.Itoa(acknowledged) {
			t.Errorf("read %s, want %d", got, acknowledged)
		}
		time.Sleep(100 * time.Millisecond)
	}
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	freed := time.Now()
	for writeFails() {
		if time.Since(freed) > 10*time.Second {
			t.Fatal("writes did not recover")
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Logf("%d acknowledged, writes work again after %v", acknowledged, time.Since(freed))
	if got := query(t, s.URL(Superuser), `select n from counters`); got != strconv.Itoa(acknowledged) {
		t.Errorf("read %s, want %d", got, acknowledged)
	}
	if downs.Load() > 0 {
		t.Errorf("the database died %d times", downs.Load())
	}
}

// Without any free space Postgres dies. It restarts when space is free.
func TestRestartAfterFullDisk(t *testing.T) {
	o := options(t)
	small := filepath.Join(filepath.Dir(o.Data), "small")
	if err := os.Mkdir(small, 0o755); err != nil {
		t.Fatal(err)
	}
	mountSmall(t, small, 160<<20)
	o.Data = filepath.Join(small, "data")
	down, up := make(chan error, 100), make(chan struct{}, 100)
	o.OnDown = func(err error) { down <- err }
	o.OnUp = func() { up <- struct{}{} }
	s := start(t, o)
	query(t, s.URL(Superuser), `create table counters (n int, text text)`)
	query(t, s.URL(Superuser), `insert into counters values (1, '')`)
	filler := fill(t, filepath.Join(small, "filler"))
	// A running statement continues after the cluster became read-only. It writes only to the WAL:
	// a table that cannot grow would fail the statement without stopping Postgres.
	_, err := tryQuery(t.Context(), s.URL(Superuser), `
		do $$ begin for i in 1..10000 loop perform pg_logical_emit_message(false, 'fill', repeat('x', 100000), true), pg_switch_wal(); end loop; end $$`)
	if err == nil {
		t.Fatal("writing WAL succeeded on a full disk")
	}
	if err := receive(t, down); !errors.Is(err, ErrDiskFull) || !strings.Contains(err.Error(), "free some space") {
		t.Errorf("died of %v", err)
	}
	if err := os.Remove(filler); err != nil {
		t.Fatal(err)
	}
	receive(t, up)
	if got := query(t, s.URL(Superuser), `select n > 0 from counters`); got != "true" {
		t.Error("committed data is lost")
	}
}

// fill uses all free space.
func fill(t *testing.T, name string) string {
	t.Helper()
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for size := 1 << 20; size > 0; {
		if _, err := f.Write(make([]byte, size)); err != nil {
			size /= 2
		}
	}
	return name
}

func TestReservedSpace(t *testing.T) {
	for total, want := range map[uint64]uint64{0: 32 << 20, 4 << 30: (4 << 30) / 50, 1 << 40: 256 << 20} {
		if got := reservedSpace(total); got != want {
			t.Errorf("reservedSpace(%d) = %d, want %d", total, got, want)
		}
	}
}

func TestSpacePause(t *testing.T) {
	const reserved = 256 << 20
	for free, want := range map[int64]time.Duration{
		0: spacePauseMin, reserved: spacePauseMin, reserved + 256<<20: spacePauseMin, reserved + 4<<30: 2 * time.Second,
		1 << 40: spacePauseMax,
	} {
		if got := spacePause(free, reserved); got != want {
			t.Errorf("spacePause(%d) = %s, want %s", free, got, want)
		}
	}
}
