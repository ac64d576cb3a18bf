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

	"daawo/scripts/server"
)

// backupDrill sends reports before and after a backup, destroys everything and restores it: to a
// moment, with exactly the reports of that moment, and to the newest state, which may lack only the
// last minute. Then it flips a bit.
func backupDrill(ctx context.Context, s settings) (string, error) {
	store, err := os.MkdirTemp("", "daawo-backups-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(store)
	st, err := server.New(ctx, s.binary, "BACKUP_TO="+store)
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

	// Writing continues until the end. Reports of the last minute may be lost.
	last := &history{}
	writing, stopWriting := context.WithCancel(ctx)
	var writers sync.WaitGroup
	writers.Go(func() { write(writing, st, last, fmt.Sprintf("last-%d", s.seed)) })
	pause(ctx, time.Until(acknowledged.Add(time.Minute)))
	stopWriting()
	writers.Wait()
	_ = st.KillPostgres()
	st.KillServer()

	// Restore the newest state first: a restore to a moment starts a new timeline in the store,
	// which is the newest from then on.
	if err := restore(ctx, st, "--from", store); err != nil {
		return "", err
	}
	newest := &history{entries: slices.Concat(before.entries, after.entries)}
	for _, e := range last.entries { // may be lost even if acknowledged
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
	// Reports after the moment must not exist.
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
	return fmt.Sprintf("restored to a moment in %s, older than a minute: %s, a flipped bit is found",
		took.Round(100*time.Millisecond), figures), nil
}

// awaitBackup waits for the first good backup.
func awaitBackup(ctx context.Context, st *server.Stack) error {
	for deadline := time.Now().Add(time.Minute); ; pause(ctx, 500*time.Millisecond) {
		_, err := st.Run(ctx, "backup", "list")
		if err == nil || time.Now().After(deadline) || ctx.Err() != nil {
			return err
		}
	}
}

// report sends n reports in sequence, each until it is acknowledged, and returns the time of the
// last acknowledgement.
func report(ctx context.Context, st *server.Stack, h *history, prefix string, n int) time.Time {
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

func databaseTime(ctx context.Context, st *server.Stack) (t time.Time, err error) {
	conn, err := st.DB(ctx)
	if err != nil {
		return t, err
	}
	defer conn.Close(ctx)
	return t, conn.QueryRow(ctx, `select clock_timestamp()`).Scan(&t)
}

// restore deletes the data folder, restores it from a backup and starts the server.
func restore(ctx context.Context, st *server.Stack, args ...string) error {
	// Postgres may end after its server and still create files, so retry.
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

// flipABit flips one bit of the largest stored object and checks that `backup verify` finds it.
func flipABit(ctx context.Context, st *server.Stack, store string) error {
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
		return errors.New("a flipped bit in " + filepath.Base(name) + " was not detected")
	}
	return nil
}
