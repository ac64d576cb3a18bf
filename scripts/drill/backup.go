package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"daawo/scripts/stack"
)

// backupDrill writes, waits for a backup, writes on, destroys everything and goes back: to a moment, where the reports
// are those of that moment, and to the newest state, where nothing older than a minute is lost. Then it flips a bit.
func backupDrill(ctx context.Context, s settings) (string, error) {
	store, err := os.MkdirTemp("", "daawo-backups-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(store)
	st, err := stack.New(ctx, s.binary, "BACKUP_TO="+store)
	if err != nil {
		return "", err
	}
	defer st.Close()
	if err := awaitBackup(ctx, st); err != nil {
		return "", err
	}

	before, after := &history{}, &history{}
	report(ctx, st, before, fmt.Sprintf("before-%d", s.seed), s.rounds(100, 20))
	moment, err := databaseTime(ctx, st)
	if err != nil {
		return "", err
	}
	pause(ctx, time.Second)
	acknowledged := report(ctx, st, after, fmt.Sprintf("after-%d", s.seed), s.rounds(100, 20))

	// Writing goes on until the end; what is younger than a minute may be lost.
	last := &history{}
	writing, stopWriting := context.WithCancel(ctx)
	var writers sync.WaitGroup
	writers.Go(func() { write(writing, st, last, fmt.Sprintf("last-%d", s.seed)) })
	pause(ctx, time.Until(acknowledged.Add(time.Minute)))
	stopWriting()
	writers.Wait()
	_ = st.KillPostgres()
	st.KillServer()

	// The newest state first: a server that is restored to a moment begins a branch of its own in the same store, which is
	// the newest state from then on.
	if err := restore(ctx, st, "--from", store); err != nil {
		return "", err
	}
	newest := &history{entries: slices.Concat(before.entries, after.entries)}
	for _, e := range last.entries { // acknowledged or not: it may be lost
		newest.add(entry{key: e.key, outcome: unknown})
	}
	figures, err := newest.check(ctx, st)
	if err != nil {
		return figures, fmt.Errorf("restored to the newest state: %w", err)
	}
	st.KillServer()

	restoring := time.Now()
	if err := restore(ctx, st, "--from", store, "--to", moment.UTC().Format(time.RFC3339Nano)); err != nil {
		return "", err
	}
	took := time.Since(restoring)
	// What came after the moment must be gone.
	gone := &history{entries: slices.Clone(before.entries)}
	for _, e := range slices.Concat(after.entries, last.entries) {
		gone.add(entry{key: e.key, outcome: undone})
	}
	if figures, err := gone.check(ctx, st); err != nil {
		return figures, fmt.Errorf("restored to %s: %w", moment.Format(time.RFC3339), err)
	}
	st.KillServer()
	if err := flipABit(ctx, st, store); err != nil {
		return "", err
	}
	return fmt.Sprintf("restored to a moment in %s, older than a minute: %s, a flipped bit is found", took.Round(100*time.Millisecond), figures), nil
}

// awaitBackup waits for the first backup that was proved.
func awaitBackup(ctx context.Context, st *stack.Stack) error {
	for deadline := time.Now().Add(time.Minute); ; pause(ctx, 500*time.Millisecond) {
		_, err := st.Run(ctx, "backup", "list")
		if err == nil || time.Now().After(deadline) || ctx.Err() != nil {
			return err
		}
	}
}

// report sends n reports, one after the other, each until it is acknowledged, and says when the last one was.
func report(ctx context.Context, st *stack.Stack, h *history, prefix string, n int) time.Time {
	for i := 0; i < n && ctx.Err() == nil; i++ {
		key := fmt.Sprintf("%s-%d", prefix, i)
		for ctx.Err() == nil {
			if o, r, _ := submit(ctx, st, key); o != unknown {
				h.add(entry{key: key, outcome: o, reference: r.Reference})
				break
			}
			pause(ctx, 50*time.Millisecond)
		}
	}
	return time.Now()
}

func databaseTime(ctx context.Context, st *stack.Stack) (t time.Time, err error) {
	conn, err := st.DB(ctx)
	if err != nil {
		return t, err
	}
	defer conn.Close(ctx)
	return t, conn.QueryRow(ctx, `select clock_timestamp()`).Scan(&t)
}

// restore destroys the data folder, fills it from a backup and starts the server on it.
func restore(ctx context.Context, st *stack.Stack, args ...string) error {
	// A Postgres that dies after its server may write meanwhile, and what is being written in is not empty.
	for deadline := time.Now().Add(10 * time.Second); ; pause(ctx, 100*time.Millisecond) {
		if err := os.RemoveAll(st.Data()); err == nil {
			break
		} else if time.Now().After(deadline) {
			return err
		}
	}
	if _, err := st.Run(ctx, append([]string{"restore"}, args...)...); err != nil {
		return err
	}
	return st.Start(ctx)
}

// flipABit changes one bit of the biggest stored object and expects it to be found.
func flipABit(ctx context.Context, st *stack.Stack, store string) error {
	if out, err := st.Run(ctx, "backup", "verify"); err != nil {
		return fmt.Errorf("before the flip: %w: %s", err, out)
	}
	var name string
	var size int64
	err := filepath.WalkDir(store, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		if info, err := d.Info(); err == nil && info.Size() > size {
			name, size = path, info.Size()
		}
		return nil
	})
	if err != nil {
		return err
	}
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	b := make([]byte, 1)
	if _, err := f.ReadAt(b, size/2); err != nil {
		return err
	}
	b[0] ^= 1
	if _, err := f.WriteAt(b, size/2); err != nil {
		return err
	}
	out, err := st.Run(ctx, "backup", "verify")
	if err == nil || !strings.Contains(out, filepath.Base(name)) {
		return errors.New("a flipped bit in " + filepath.Base(name) + " was not found")
	}
	return nil
}
