package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"daawo/scripts/server"

	"github.com/jackc/pgx/v5"
)

// retryDrill sends one key fifty times at once. Then it sends one key before and after a kill near
// the commit; every third kill is certain to fall between the commit and the reply. All requests
// with a key must get one row, one reference and the same bytes.
func retryDrill(ctx context.Context, s settings) (string, error) {
	st, err := server.New(ctx, s.binary)
	if err != nil {
		return "", err
	}
	defer st.Close()
	h := &history{}

	bodies, err := atOnce(ctx, st, fmt.Sprintf("burst-%d", s.seed), 50, h)
	if err != nil {
		return "", err
	}
	for _, body := range bodies[1:] {
		if !bytes.Equal(body, bodies[0]) {
			return "", fmt.Errorf("two clients with the same key got different replies:\n%s\n%s", bodies[0], body)
		}
	}

	random := rand.New(rand.NewPCG(uint64(s.seed), 2))
	rounds := s.rounds(30, 3)
	cut, committed := 0, 0
	for round := range rounds {
		key := fmt.Sprintf("cut-%d-%d", s.seed, round)
		var first outcome
		var firstBody []byte
		var sending sync.WaitGroup
		if round%3 == 0 {
			if err := killAfterCommit(ctx, st,
				func() { sending.Go(func() { first, _, firstBody = submit(ctx, st, key) }) }); err != nil {
				return "", err
			}
		} else {
			sending.Go(func() { first, _, firstBody = submit(ctx, st, key) })
			time.Sleep(time.Duration(random.IntN(12_000)) * time.Microsecond)
			st.KillServer()
		}
		sending.Wait()
		if err := st.Start(ctx); err != nil {
			return "", err
		}
		rows, err := rowsOf(ctx, st, key)
		if err != nil {
			return "", err
		}
		got, r, body := submit(ctx, st, key)
		if got != accepted {
			return "", fmt.Errorf("the retry of %s got the reply %s", key, body)
		}
		if first == accepted && !bytes.Equal(body, firstBody) {
			return "", fmt.Errorf("the retry got a different reply:\n%s\n%s", firstBody, body)
		}
		if first != accepted {
			cut++
			committed += rows
		}
		h.add(entry{key: key, outcome: accepted, reference: r.Reference})
	}
	figures, err := h.check(ctx, st)
	if err == nil && committed == 0 && !s.short {
		err = errors.New("no reply was cut after its commit: the drill is inconclusive")
	}
	return fmt.Sprintf("50 equal replies to one key, %d of %d replies cut, %d of them after the commit, %s", cut,
		rounds, committed, figures), err
}

// killAfterCommit kills the server after a report is committed but before the server knows it. It
// sets a synchronous standby that does not exist. The commit is then on disk, but Postgres never
// confirms it.
func killAfterCommit(ctx context.Context, st *server.Stack, send func()) error {
	conn, err := superuser(ctx, st)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	for _, sql := range []string{`alter system set synchronous_standby_names = 'missing'`, `select pg_reload_conf()`} {
		if _, err := conn.Exec(ctx, sql); err != nil {
			return err
		}
	}
	pause(ctx, 100*time.Millisecond) // until every process has reloaded
	send()
	waiting := false
	for deadline := time.Now().Add(5 * time.Second); !waiting &&
		time.Now().Before(deadline); pause(ctx, 5*time.Millisecond) {
		err := conn.QueryRow(ctx,
			`select exists (select from pg_stat_activity where application_name = 'daawo-functions' and wait_event = 'SyncRep')`).Scan(&waiting)
		if err != nil {
			return err
		}
	}
	if !waiting {
		return errors.New("the report's commit does not wait for the standby")
	}
	// Do not reload: the reset is for the next start.
	if _, err := conn.Exec(ctx, `alter system reset synchronous_standby_names`); err != nil {
		return err
	}
	st.KillServer()
	return nil
}

// superuser connects over the socket. Lines 5 and 4 of postmaster.pid hold its folder and port.
func superuser(ctx context.Context, st *server.Stack) (*pgx.Conn, error) {
	text, err := os.ReadFile(filepath.Join(st.Data(), "postgres", "postmaster.pid"))
	if err != nil {
		return nil, err
	}
	lines := strings.Split(string(text), "\n")
	if len(lines) < 5 {
		return nil, fmt.Errorf("postmaster.pid is incomplete: %q", text)
	}
	return pgx.Connect(ctx, fmt.Sprintf("host=%s port=%s user=supabase_admin dbname=postgres", lines[4], lines[3]))
}

// rowsOf counts the reports with a key.
func rowsOf(ctx context.Context, st *server.Stack, key string) (n int, err error) {
	conn, err := st.DB(ctx)
	if err != nil {
		return 0, err
	}
	defer conn.Close(ctx)
	return n, conn.QueryRow(ctx, `select count(*) from public.reports where product_name = $1`, key).Scan(&n)
}

// atOnce sends the same key n times concurrently. Every request must be acknowledged.
func atOnce(ctx context.Context, st *server.Stack, key string, n int, h *history) ([][]byte, error) {
	bodies := make([][]byte, n)
	outcomes := make([]outcome, n)
	references := make([]string, n)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			var r reply
			outcomes[i], r, bodies[i] = submit(ctx, st, key)
			references[i] = r.Reference
		})
	}
	all.Wait()
	for i, o := range outcomes {
		if o != accepted {
			return nil, errors.New("one of the equal requests got the reply " + string(bodies[i]))
		}
	}
	h.add(entry{key: key, outcome: accepted, reference: references[0]})
	return bodies, nil
}
