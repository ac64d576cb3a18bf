package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"math/rand/v2"
	"mime/multipart"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"daawo/scripts/server"
)

const (
	memoryLimit = 300 << 20 // bytes that the container has, with Postgres
	photoForms  = 40        // posted at once
)

// memoryDrill posts photo forms at once to a server in a container of 300 MB. The limit is
// simulated: the server finds it where cgroups version 2 have it, and the drill measures the memory
// that a cgroup counts and cannot reclaim.
func memoryDrill(ctx context.Context, s settings) (string, error) {
	program, remove, err := inContainer(s.binary)
	if err != nil {
		return "", err
	}
	defer remove()
	st, err := server.New(ctx, program)
	if err != nil {
		return "", err
	}
	defer st.Close()
	if got, err := metric(ctx, st, "go_gc_gomemlimit_bytes"); err != nil || got != memoryLimit/2 {
		return "", fmt.Errorf("the Go runtime has a limit of %.0f bytes, want half of the container's %d: %w", got,
			memoryLimit, err)
	}
	photo, err := phonePhoto(s.seed)
	if err != nil {
		return "", err
	}
	var peak atomic.Int64
	measuring, stop := context.WithCancel(ctx)
	var measured sync.WaitGroup
	measured.Go(func() {
		for measuring.Err() == nil {
			peak.Store(max(peak.Load(), unreclaimable(st.PID())))
			time.Sleep(5 * time.Millisecond)
		}
	})
	before := unreclaimable(st.PID())
	results := make([]error, photoForms)
	var posts sync.WaitGroup
	var busy atomic.Int64
	for i := range results {
		posts.Go(func() {
			n, err := postPhotoForm(ctx, st, i, photo)
			busy.Add(int64(n))
			results[i] = err
		})
	}
	posts.Wait()
	failed := slices.DeleteFunc(results, func(err error) bool { return err == nil })
	failure := awaitJobs(ctx, st)
	if len(failed) > 0 {
		failure = errors.Join(failure, fmt.Errorf("%d forms failed: %w", len(failed), failed[0]))
	}
	stop()
	measured.Wait()
	figures := fmt.Sprintf("%d forms with a photo of %.1f MB at once, %d times asked to try again: memory %d MB before, at most %d MB of %d",
		photoForms, float64(len(photo))/(1<<20), busy.Load(), before>>20, peak.Load()>>20, memoryLimit>>20)
	if peak.Load() > memoryLimit {
		failure = errors.Join(failure, errors.New("the container would have run out of memory"))
	}
	return figures, failure
}

// inContainer returns a program that runs binary with the memory limit of a container.
func inContainer(binary string) (program string, remove func(), err error) {
	if os.Getuid() != 0 {
		return "", nil, fmt.Errorf("%w: needs root to mount the simulated limit", errNotRun)
	}
	if _, err := exec.LookPath("unshare"); err != nil {
		return "", nil, fmt.Errorf("%w: needs unshare (util-linux)", errNotRun)
	}
	if binary, err = filepath.Abs(binary); err != nil {
		return "", nil, err
	}
	dir, err := os.MkdirTemp("", "daawo-container-")
	if err != nil {
		return "", nil, err
	}
	remove = func() { _ = os.RemoveAll(dir) }
	program = filepath.Join(dir, "daawo")
	script := fmt.Sprintf("#!/bin/sh\nexec unshare -m sh -c 'mount --bind %s /sys/fs/cgroup && exec %s \"$@\"' sh \"$@\"\n", filepath.Join(dir, "cgroup"), binary)
	err = errors.Join(os.Mkdir(filepath.Join(dir, "cgroup"), 0o755), os.Chmod(dir, 0o755),
		os.WriteFile(filepath.Join(dir, "cgroup", "memory.max"), fmt.Appendln(nil, memoryLimit), 0o644),
		os.WriteFile(program, []byte(script), 0o755))
	if err != nil {
		remove()
	}
	return program, remove, err
}

// phonePhoto returns a JPEG of 12 megapixels and about 4 MB, as phones make them.
func phonePhoto(seed int64) ([]byte, error) {
	r := rand.New(rand.NewPCG(uint64(seed), 1))
	img := image.NewGray(image.Rect(0, 0, 4000, 3000))
	for y := range 3000 {
		for x := range 4000 {
			img.SetGray(x, y, color.Gray{Y: uint8(100 + x/80 + y/100 + r.IntN(32))})
		}
	}
	for quality := 95; quality > 20; quality -= 2 {
		var b bytes.Buffer
		if err := jpeg.Encode(&b, img, &jpeg.Options{Quality: quality}); err != nil {
			return nil, err
		}
		if b.Len() < 4300<<10 {
			return b.Bytes(), nil
		}
	}
	return nil, errors.New("no quality makes a photo of 4 MB")
}

// postPhotoForm posts a complete form with a photo, as a browser without JavaScript does, until it
// is accepted. It returns how often the server was busy.
func postPhotoForm(ctx context.Context, st *server.Stack, i int, photo []byte) (busy int, err error) {
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for name, value := range map[string]string{
		"product_name": fmt.Sprintf("memory %d", i), "issue_description": "The skin burns.",
		"phone": "+252 61 234 5678", "location": "Banaadir",
	} {
		_ = w.WriteField(name, value)
	}
	part, err := w.CreatePart(map[string][]string{"Content-Disposition": {`form-data; name="photo"; filename="IMG.jpg"`}, "Content-Type": {"image/jpeg"}})
	if err != nil {
		return 0, err
	}
	_, _ = part.Write(photo)
	_ = w.Close()
	for n := 0; ; n++ {
		a := call{path: "/functions/v1/submit-report", method: http.MethodPost, from: fmt.Sprintf("192.0.2.%d", i+1),
			kind: w.FormDataContentType(), body: b.Bytes(), header: map[string]string{"Accept": "text/html"},
			within: 10 * time.Minute}.send(ctx, st) // only memory counts here
		switch {
		case a.err != nil:
			return n, a.err
		case a.status == http.StatusOK:
			return n, nil
		case a.status != http.StatusServiceUnavailable: // the server is busy; a visitor tries again
			return n, fmt.Errorf("form %d: status %d: %s", i, a.status, a.body)
		}
		if pause(ctx, time.Second); ctx.Err() != nil {
			return n, ctx.Err()
		}
	}
}

// awaitJobs waits until no job is left: photos are encoded again after the reply.
func awaitJobs(ctx context.Context, st *server.Stack) error {
	conn, err := st.DB(ctx)
	if err != nil {
		return err
	}
	defer conn.Close(ctx)
	for end := time.Now().Add(10 * time.Minute); ; time.Sleep(100 * time.Millisecond) {
		var left int
		if err := conn.QueryRow(ctx,
			`select count(*) from river.river_job where state in ('available', 'running', 'retryable')`).Scan(&left); err != nil || left == 0 {
			return err
		}
		if time.Now().After(end) {
			return fmt.Errorf("%d jobs are left after ten minutes", left)
		}
	}
}

// unreclaimable returns the bytes of a process and its descendants that a cgroup counts and the
// kernel cannot drop: anonymous memory, and the shared memory once.
func unreclaimable(root int) int64 {
	children := map[int][]int{}
	anon, shared := map[int]int64{}, map[int]int64{}
	names, _ := filepath.Glob("/proc/[0-9]*/status") // a valid pattern
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			continue // the process has ended
		}
		pid, parent := 0, 0
		for line := range strings.Lines(string(text)) {
			fields := strings.Fields(line)
			if len(fields) < 2 {
				continue
			}
			n, err := strconv.Atoi(fields[1])
			if err != nil {
				continue
			}
			switch fields[0] {
			case "Pid:":
				pid = n
			case "PPid:":
				parent = n
			case "RssAnon:":
				anon[pid] = int64(n) << 10
			case "RssShmem:":
				shared[pid] = int64(n) << 10
			}
		}
		children[parent] = append(children[parent], pid)
	}
	total, most := int64(0), int64(0)
	for queue := []int{root}; len(queue) > 0; queue = queue[1:] {
		pid := queue[0]
		total += anon[pid]
		most = max(most, shared[pid])
		queue = append(queue, children[pid]...)
	}
	return total + most
}
