package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"daawo/scripts/server"
)

// callersEach is the number of concurrent callers of each probe: more than any service has
// connections.
const callersEach = 30

// held is a set of services whose tables one transaction locks. wait is how long the services let a
// caller wait: auth limits the whole request, the others limit the wait for a connection.
type held struct {
	tables string
	wait   time.Duration
	probes []probe
}

// slack is the tolerance for a busy machine.
const slack = time.Second

// poolDrill locks the tables of every service in one transaction while many callers send requests.
// The first callers use all connections, and the others are told to retry. All requests succeed
// once the lock is released.
func poolDrill(ctx context.Context, s settings) (string, error) {
	st, err := server.New(ctx, s.binary)
	if err != nil {
		return "", err
	}
	defer st.Close()
	h := &history{}
	if err := served(ctx, st, h, s.seed); err != nil {
		return "", err
	}
	accounts, others := held{"auth.users", 10 * time.Second, nil},
		held{"public.resources, public.reports, storage.buckets, storage.objects", 5 * time.Second, nil}
	for _, p := range probes {
		if p.path == listOfAccounts {
			accounts.probes = append(accounts.probes, p)
		} else {
			others.probes = append(others.probes, p)
		}
	}
	total := exhaustion{}
	rounds := s.rounds(5, 1)
	for round := range rounds {
		errs := make([]error, 2)
		var both sync.WaitGroup
		for i, what := range []held{accounts, others} {
			both.Go(func() {
				errs[i] = what.exhaust(ctx, st, h, fmt.Sprintf("pool-%d-%d-%d", s.seed, round, i),
					&total)
			})
		}
		both.Wait()
		if err := errors.Join(errs...); err != nil {
			return "", err
		}
	}
	figures, err := h.check(ctx, st)
	return fmt.Sprintf("%d times all connections in use: %d waited and were served, %d were told to retry after at most %s, served again after %s, %s",
		rounds, total.served, total.refused, total.slowest.Round(time.Millisecond),
		total.recovery.Round(time.Millisecond), figures), err
}

// exhaustion sums the results of the callers.
type exhaustion struct {
	mu                sync.Mutex
	served, refused   int
	slowest, recovery time.Duration
}

// verdict is the reply to one caller.
type verdict struct {
	probe probe
	code  int
	retry string
	took  time.Duration
}

// refused reports whether the caller was told when to retry. 544 is storage-api's code for 504.
func (v verdict) refused() bool {
	return (v.code == http.StatusServiceUnavailable || v.code == http.StatusGatewayTimeout || v.code == 544) &&
		v.retry != ""
}

func (v verdict) String() string {
	return fmt.Sprintf("%s: %d after %s (Retry-After %q)", v.probe.what, v.code, v.took.Round(time.Millisecond),
		v.retry)
}

func (w held) exhaust(ctx context.Context, st *server.Stack, h *history, key string, total *exhaustion) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	conn, err := st.DB(ctx)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx)) // also ends the transaction
	if _, err := conn.Exec(ctx, `begin; lock table `+w.tables+` in access exclusive mode`); err != nil {
		return err
	}
	verdicts := make(chan verdict, callersEach*len(w.probes))
	var callers sync.WaitGroup
	for i, p := range w.probes {
		for n := range callersEach {
			callers.Go(func() {
				begun := time.Now()
				code, header := p.ask(ctx, st, h, fmt.Sprintf("%s-%d-%d", key, i, n))
				verdicts <- verdict{probe: p, code: code, retry: header.Get("Retry-After"), took: time.Since(begun)}
			})
		}
	}
	// After this, callers without a connection have a reply. Callers with a connection wait for the
	// lock.
	errs := []error{checkWithoutDatabase(ctx, st, w.wait+slack)}
	early := make([]verdict, len(verdicts))
	for i := range early {
		early[i] = <-verdicts
	}
	free := time.Now()
	if _, err := conn.Exec(ctx, `rollback`); err != nil {
		return err
	}
	errs = append(errs, answered(ctx, st, h, key+"-again", w.probes))
	recovery := time.Since(free)
	callers.Wait()
	close(verdicts)

	total.mu.Lock()
	defer total.mu.Unlock()
	total.recovery = max(total.recovery, recovery)
	refused := map[string]int{}
	for _, v := range early {
		refused[v.probe.what]++
		total.refused++
		total.slowest = max(total.slowest, v.took)
		if !v.refused() {
			errs = append(errs, fmt.Errorf("without a connection, %s", v))
		}
	}
	for v := range verdicts {
		total.served++
		if v.code != http.StatusOK {
			errs = append(errs, fmt.Errorf("after the lock was released, %s", v))
		}
	}
	for _, p := range w.probes {
		if refused[p.what] == 0 {
			errs = append(errs, fmt.Errorf("%s: none of %d callers was refused: the connections were not all in use",
				p.what, callersEach))
		}
	}
	return errors.Join(errs...)
}

// checkWithoutDatabase checks for a while that requests that need no database are served.
func checkWithoutDatabase(ctx context.Context, st *server.Stack, howLong time.Duration) error {
	for end := time.Now().Add(howLong); time.Now().Before(end); pause(ctx, 100*time.Millisecond) {
		for _, path := range []string{"/healthz", "/", "/so/report/"} {
			if code := get(ctx, st, path); code != http.StatusOK {
				return fmt.Errorf("%s returned %d while all connections were in use", path, code)
			}
		}
	}
	return nil
}
