package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"daawo/scripts/stack"
)

// diskDrill fills a small disk under load: nothing is acknowledged that is not stored, pages and reads go on, and
// writing comes back by itself with the room.
func diskDrill(ctx context.Context, s settings) (string, error) {
	disk, unmount, err := smallDisk(256 << 20)
	if errors.Is(err, os.ErrPermission) {
		return "not run: it needs root, to mount a small disk", nil
	} else if err != nil {
		return "", err
	}
	defer unmount()
	st, err := stack.NewIn(ctx, disk, s.binary)
	if err != nil {
		return "", err
	}
	defer st.Close()

	h := &history{}
	writing, stopWriting := context.WithCancel(ctx)
	defer stopWriting()
	var writers sync.WaitGroup
	for w := range 4 {
		writers.Go(func() { write(writing, st, h, fmt.Sprintf("disk-%d-%d", s.seed, w)) })
	}
	pause(ctx, time.Second)
	var slowest time.Duration
	for range s.rounds(5, 2) {
		filler, err := fillDisk(disk)
		if err != nil {
			return "", err
		}
		if err := watchFull(ctx, st, s); err != nil {
			return "", err
		}
		if err := os.Remove(filler); err != nil {
			return "", err
		}
		back, err := writesAgain(ctx, st, fmt.Sprintf("again-%d-%d", s.seed, time.Now().UnixNano()), h)
		if err != nil {
			return "", err
		}
		slowest = max(slowest, back)
	}
	stopWriting()
	writers.Wait()
	figures, err := h.check(ctx, st)
	return fmt.Sprintf("writing again %s after there was room, %s", slowest.Round(time.Millisecond), figures), err
}

func smallDisk(size int) (dir string, unmount func(), err error) {
	if dir, err = os.MkdirTemp("", "daawo-disk-"); err != nil {
		return "", nil, err
	}
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%d,mode=755", size)); err != nil {
		_ = os.Remove(dir)
		return "", nil, &os.PathError{Op: "mount", Path: dir, Err: err}
	}
	return dir, func() { _ = syscall.Unmount(dir, syscall.MNT_DETACH); _ = os.Remove(dir) }, nil
}

// fillDisk takes all room that is left.
func fillDisk(dir string) (string, error) {
	name := filepath.Join(dir, "filler")
	f, err := os.Create(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	for size := 1 << 20; size > 0; {
		if _, err := f.Write(make([]byte, size)); err != nil {
			size /= 2
		}
	}
	return name, nil
}

// watchFull checks what the server says on a full disk.
func watchFull(ctx context.Context, st *stack.Stack, s settings) error {
	pause(ctx, time.Second) // the server looks four times a second
	api := st.Get("API_URL")
	for i := range s.rounds(20, 5) {
		for _, path := range []string{"/healthz", "/", "/so/report/", "/rest/v1/resources?select=id&apikey=" + st.Get("ANON_KEY")} {
			if code, _ := get(ctx, api+path); code != 200 {
				return fmt.Errorf("%s answered %d on a full disk", path, code)
			}
		}
		if o, _, text := submit(ctx, st, fmt.Sprintf("full-%d-%d", s.seed, i)); o == accepted {
			return fmt.Errorf("a report was acknowledged on a full disk: %s", text)
		}
		pause(ctx, 100*time.Millisecond)
	}
	return nil
}

// writesAgain says after how long a report is acknowledged.
func writesAgain(ctx context.Context, st *stack.Stack, key string, h *history) (time.Duration, error) {
	for begun := time.Now(); ; pause(ctx, 20*time.Millisecond) {
		o, r, text := submit(ctx, st, key)
		if o == accepted {
			h.add(entry{key: key, outcome: o, reference: r.Reference})
			return time.Since(begun), nil
		}
		if took := time.Since(begun); took > 20*time.Second || ctx.Err() != nil {
			return took, fmt.Errorf("no report is taken %s after there was room: %s", took.Round(time.Second), text)
		}
	}
}
