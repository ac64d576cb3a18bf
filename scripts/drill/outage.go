package main

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"time"

	"daawo/scripts/server"
)

// outageDrill stops a server's database for a while. The database belongs to a second stack, so
// that the server cannot restart it.
func outageDrill(ctx context.Context, s settings) (string, error) {
	database, err := server.New(ctx, s.binary)
	if err != nil {
		return "", err
	}
	defer database.Close()
	database.Args = append(database.Args, "--db-port", server.PortOf(server.DatabaseHost(database.Get("DB_URL"))))
	server, err := server.New(ctx, s.binary, "DATABASE_URL="+database.Get("DB_URL"))
	if err != nil {
		return "", err
	}
	defer server.Close()

	h := &history{}
	if err := served(ctx, server, h, s.seed); err != nil {
		return "", err
	}
	writing, stopWriting := context.WithCancel(ctx)
	var writers sync.WaitGroup
	for w := range 4 {
		writers.Go(func() { write(writing, server, h, fmt.Sprintf("outage-%d-%d", s.seed, w)) })
	}
	pause(ctx, time.Second)
	database.Stop()
	limit := 100 * time.Millisecond
	if s.short { // the short form shares the CPU with other tests
		limit = 2 * time.Second
	}
	slowest, err := watchOutage(ctx, server, h, s.seed, time.Duration(s.rounds(60, 3))*time.Second, limit)
	if err == nil {
		err = database.Start(ctx)
	}
	back := time.Now()
	if err == nil {
		err = server.Ready(ctx)
	}
	recovery := time.Since(back)
	pause(ctx, time.Second)
	stopWriting()
	writers.Wait()
	if err != nil {
		return "", err
	}
	figures, err := h.check(ctx, database)
	return fmt.Sprintf("down %d s, slowest 503 %s, ready again after %s, %s", s.rounds(60, 3),
		slowest.Round(time.Millisecond), recovery.Round(time.Millisecond), figures), err
}

// watchOutage checks the server's replies without its database. The caller has already stopped the
// database.
func watchOutage(ctx context.Context, st *server.Stack, h *history, seed int64, howLong,
	limit time.Duration) (slowest time.Duration, err error) {
	for end := time.Now().Add(howLong); time.Now().Before(end); pause(ctx, 200*time.Millisecond) {
		for path, want := range map[string]int{"/readyz": 503, "/healthz": 200, "/": 200, "/so/report/": 200} {
			if code := get(ctx, st, path); code != want {
				return slowest, fmt.Errorf("%s returned %d without a database, want %d", path, code, want)
			}
		}
		for _, p := range probes {
			begun := time.Now()
			code, header := p.ask(ctx, st, h, fmt.Sprintf("away-%d-%d", seed, begun.UnixNano()))
			took := time.Since(begun)
			slowest = max(slowest, took)
			if code != http.StatusServiceUnavailable || header.Get("Retry-After") == "" {
				return slowest, fmt.Errorf("%s returned %d (Retry-After %q) without a database", p.what, code,
					header.Get("Retry-After"))
			}
			if took > limit {
				return slowest, fmt.Errorf("%s got its 503 only after %s", p.what, took)
			}
		}
	}
	return slowest, nil
}
