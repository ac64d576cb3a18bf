package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"daawo/scripts/server"
)

// unruly holds the sources of misbehaving functions.
var unruly = map[string]string{
	"panics":  `func handle(http.ResponseWriter, *http.Request, *edge.Env) error { panic("on purpose") }`,
	"reads":   `func handle(_ http.ResponseWriter, r *http.Request, _ *edge.Env) error { _, err := io.Copy(io.Discard, r.Body); return err }`,
	"crowded": `func handle(http.ResponseWriter, *http.Request, *edge.Env) error { time.Sleep(100 * time.Millisecond); return nil }`,
	"waits":   `func handle(_ http.ResponseWriter, r *http.Request, _ *edge.Env) error { <-r.Context().Done(); return r.Context().Err() }`,
	"loops":   `func handle(http.ResponseWriter, *http.Request, *edge.Env) error { for { } }`,
}

const unrulySource = `package %s

import (
	"io"
	"net/http"
	"time"

	"daawo/supabase/edge"
)

var Func = edge.Func{Timeout: 3 * time.Second, MaxWaiting: 1000, MaxWait: time.Second, Handler: handle}

var _ = io.Discard

%s
`

// visitor numbers the callers.
var visitor atomic.Int64

// unrulyDrill builds a server with the misbehaving functions and calls a normal function before and
// during their calls.
func unrulyDrill(ctx context.Context, s settings) (string, error) {
	p, err := newProject(ctx)
	defer p.close()
	if err != nil {
		return "", err
	}
	if err := p.newFunction(ctx, s.binary, "hello", ""); err != nil {
		return "", err
	}
	for name, handler := range unruly {
		if err := p.newFunction(ctx, s.binary, name, fmt.Sprintf(unrulySource, name, handler)); err != nil {
			return "", err
		}
	}
	binary := filepath.Join(p.dir, "unruly")
	if err := p.command(ctx, p.dir, "go", "build", "-trimpath", "-tags", "nodynamic", "-o", binary,
		"./supabase"); err != nil {
		return "", err
	}
	st, err := server.New(ctx, binary)
	if err != nil {
		return "", err
	}
	defer st.Close()

	window := time.Duration(s.rounds(10, 3)) * time.Second
	if _, err := ordinary(ctx, st, 2*time.Second); err != nil { // warm up
		return "", err
	}
	calm, err := ordinary(ctx, st, window)
	if err != nil {
		return "", err
	}
	goroutines, err := metric(ctx, st, "go_goroutines")
	if err != nil {
		return "", err
	}
	figures := []string{fmt.Sprintf("p99 alone %s", calm)}
	var broken []error
	for _, c := range []struct {
		name   string
		misuse func(context.Context, *server.Stack) error
	}{
		{"panics", every(20*time.Millisecond, "panics", 500, "")},
		{"100 MB", every(time.Second, "reads", 413, strings.Repeat("x", 100<<20))},
		{"10,000", crowd(s.rounds(10_000, 2_000))},
		{"leaving", leave},
		{"loops", loops},
	} {
		misusing, end := context.WithTimeout(ctx, window)
		var misuse sync.WaitGroup
		var wrong error
		misuse.Go(func() { wrong = c.misuse(misusing, st) })
		p99, err := ordinary(ctx, st, window)
		end()
		misuse.Wait()
		figures = append(figures, fmt.Sprintf("during %s %s", c.name, p99))
		if p99 > 2*calm+2*time.Millisecond {
			err = errors.Join(err, fmt.Errorf("%s: other clients waited more than twice as long", c.name))
		}
		broken = append(broken, err, wrong)
		if c.name == "leaving" { // the goroutine of a loop cannot be stopped, so count before that case
			broken = append(broken, settled(ctx, st, goroutines))
		}
	}
	return strings.Join(figures, ", "), errors.Join(broken...)
}

// ordinary calls hello as four clients and returns the 99th percentile.
func ordinary(ctx context.Context, st *server.Stack, howLong time.Duration) (time.Duration, error) {
	took, err := fourClients(ctx, howLong, func(ctx context.Context, _ int) error {
		if a := callFunction(ctx, st, "hello", `{"name":"Amina"}`); a.status != http.StatusOK {
			return fmt.Errorf("hello returned %d %s %v to a normal client", a.status, a.body, a.err)
		}
		return nil
	})
	return percentile(took, 0.99).Round(100 * time.Microsecond), err
}

// every calls a function at a steady rate. At least one call is required, and each must return the
// status.
func every(pace time.Duration, name string, want int, body string) func(context.Context, *server.Stack) error {
	return func(ctx context.Context, st *server.Stack) error {
		seen := 0
		for ; ctx.Err() == nil; pause(ctx, pace) {
			a := callFunction(context.WithoutCancel(ctx), st, name, body)
			if a.status == 0 && want == http.StatusRequestEntityTooLarge {
				continue // the server may close the connection after it refused the body
			}
			if a.status != want {
				return fmt.Errorf("%s returned %d %s %v, want %d", name, a.status, a.body, a.err, want)
			}
			seen++
		}
		if seen == 0 {
			return fmt.Errorf("%s never returned %d", name, want)
		}
		return nil
	}
}

// crowd makes n calls within two seconds and waits for all replies. Each call must succeed or be
// told to retry.
func crowd(n int) func(context.Context, *server.Stack) error {
	return func(ctx context.Context, st *server.Stack) error {
		var calls sync.WaitGroup
		var served, refused, other atomic.Int64
		var one atomic.Value // one of the other replies
		for i := range n {
			calls.Go(func() {
				a := callFunction(context.WithoutCancel(ctx), st, "crowded", "")
				switch {
				case a.status == 200:
					served.Add(1)
				case a.status == 503 && a.header.Get("Retry-After") != "":
					refused.Add(1)
				default:
					other.Add(1)
					one.Store(fmt.Sprintf("%d %s %v", a.status, a.body, a.err))
				}
			})
			if i%(n/200) == 0 {
				pause(ctx, 10*time.Millisecond)
			}
		}
		calls.Wait()
		switch {
		case other.Load() > 0:
			return fmt.Errorf("%d of %d calls had an unexpected reply, such as %v", other.Load(), n, one.Load())
		case served.Load() == 0:
			return fmt.Errorf("none of %d calls was served", n)
		}
		return nil
	}
}

// leave has clients disconnect from a function that waits for that.
func leave(ctx context.Context, st *server.Stack) error {
	var clients sync.WaitGroup
	defer clients.Wait()
	for ; ctx.Err() == nil; pause(ctx, 10*time.Millisecond) {
		clients.Go(func() {
			short, cancel := context.WithTimeout(context.WithoutCancel(ctx), 50*time.Millisecond)
			defer cancel()
			callFunction(short, st, "waits", "{}")
		})
	}
	return nil
}

// loops calls a function that never ends. The first calls reach the time limit, later calls are
// refused at once.
func loops(ctx context.Context, st *server.Stack) error {
	seen := map[int]int{}
	for ; ctx.Err() == nil; pause(ctx, 100*time.Millisecond) {
		a := callFunction(context.WithoutCancel(ctx), st, "loops", "{}")
		if a.status != http.StatusGatewayTimeout && a.status != 546 {
			return fmt.Errorf("loops returned %d %s %v", a.status, a.body, a.err)
		}
		seen[a.status]++
	}
	if seen[http.StatusGatewayTimeout] == 0 {
		return fmt.Errorf("loops returned %v, want 504", seen)
	}
	return nil
}

// settled waits until the number of goroutines is back at its earlier value.
func settled(ctx context.Context, st *server.Stack, before float64) error {
	client.CloseIdleConnections()
	var now float64
	for range 100 {
		var err error
		if now, err = metric(ctx, st, "go_goroutines"); err != nil {
			return err
		}
		if now <= before+10 { // the number varies because of pools
			return nil
		}
		pause(ctx, 200*time.Millisecond)
	}
	return fmt.Errorf("%.0f goroutines are left, want about %.0f", now, before)
}
