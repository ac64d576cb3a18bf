package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"daawo/scripts/server"
)

// soakDrill runs the site's mix of requests with the memory of a 1 GB server and checks that
// nothing grows.
func soakDrill(ctx context.Context, s settings) (string, error) {
	st, err := server.New(ctx, s.binary, "GOMEMLIMIT=256MiB")
	if err != nil {
		return "", err
	}
	defer st.Close()

	length := s.soak
	if s.short {
		length = 8 * time.Second
	}
	h := &history{}
	var requests, failures atomic.Int64
	load, stopLoad := context.WithTimeout(ctx, length)
	defer stopLoad()
	var visitors sync.WaitGroup
	for w := range 2 {
		visitors.Go(func() { write(load, st, h, fmt.Sprintf("soak-%d-%d", s.seed, w)) })
	}
	for v := range 6 {
		visitors.Go(func() { visit(load, st, v, &requests, &failures) })
	}

	// The first tenth warms up caches and pools. Growth is measured after it.
	pause(ctx, length/10)
	memoryEarly := privateMB(st.PID())
	goroutinesEarly, early := metric(ctx, st, "go_goroutines")
	<-load.Done()
	memoryLate := privateMB(st.PID())
	goroutinesLate, late := metric(ctx, st, "go_goroutines")
	visitors.Wait()
	if err := errors.Join(ctx.Err(), early, late); err != nil {
		return "", err
	}

	figures, err := h.check(ctx, st)
	failed := failures.Load() + int64(h.failed)
	figures = fmt.Sprintf("%s, %d requests, %d failed, memory %d → %d MB, goroutines %.0f → %.0f, %s",
		length, requests.Load()+int64(h.tries), failed, memoryEarly, memoryLate, goroutinesEarly, goroutinesLate,
		figures)
	switch {
	case err != nil:
		return figures, err
	case failed > 0:
		return figures, fmt.Errorf("%d requests failed, %d of them attempts to send a report", failed, h.failed)
	case !s.short && memoryLate > memoryEarly+memoryEarly/3+16: // the short form is too short for the garbage collector
		return figures, fmt.Errorf("memory grows")
	case goroutinesLate > goroutinesEarly+40:
		return figures, fmt.Errorf("goroutines grow")
	}
	return figures, nil
}

// visit opens pages as visitors do. A 429 counts as a reply; a 5xx or no reply is a failure.
func visit(ctx context.Context, st *server.Stack, who int, requests, failures *atomic.Int64) {
	paths := []string{
		"/", "/so/", "/learn/antibiotics-guide/", "/so/report/", "/resources/", "/no-such-page/",
		"/rest/v1/resources?select=*&is_active=eq.true&order=created_at.desc&apikey=" + st.Get("ANON_KEY"),
		"/rest/v1/reports?select=*&apikey=" + st.Get("ANON_KEY"),
	}
	for n := who; ctx.Err() == nil; n++ {
		code := get(ctx, st, paths[n%len(paths)])
		if ctx.Err() != nil {
			return
		}
		requests.Add(1)
		if code == 0 || code >= http.StatusInternalServerError {
			failures.Add(1)
		}
		pause(ctx, 10*time.Millisecond)
	}
}
