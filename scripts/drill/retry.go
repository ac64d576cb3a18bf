package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"daawo/scripts/stack"
)

// retryDrill sends one key fifty times at once, and one key before and after a kill that falls somewhere between the
// commit and the reply: one row, the same reference and the same bytes for everybody.
func retryDrill(ctx context.Context, s settings) (string, error) {
	st, err := stack.New(ctx, s.binary)
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
			return "", fmt.Errorf("two clients with one key were told different things:\n%s\n%s", bodies[0], body)
		}
	}

	random := rand.New(rand.NewPCG(uint64(s.seed), 2))
	rounds := s.rounds(30, 3)
	cut := 0
	for round := range rounds {
		key := fmt.Sprintf("cut-%d-%d", s.seed, round)
		var first outcome
		var firstBody []byte
		var sending sync.WaitGroup
		sending.Go(func() { first, _, firstBody = submit(ctx, st, key) })
		time.Sleep(time.Duration(random.IntN(12_000)) * time.Microsecond)
		st.KillServer()
		sending.Wait()
		if err := st.Start(ctx); err != nil {
			return "", err
		}
		got, r, body := submit(ctx, st, key)
		if got != accepted {
			return "", fmt.Errorf("the retry of %s was answered %s", key, body)
		}
		if first == accepted && !bytes.Equal(body, firstBody) {
			return "", fmt.Errorf("the retry was told something else:\n%s\n%s", firstBody, body)
		}
		if first != accepted {
			cut++
		}
		h.add(entry{key: key, outcome: accepted, reference: r.Reference})
	}
	figures, err := h.check(ctx, st)
	return fmt.Sprintf("50 equal replies to one key, %d of %d replies cut, %s", cut, rounds, figures), err
}

// atOnce sends the same key n times concurrently; every one must be acknowledged.
func atOnce(ctx context.Context, st *stack.Stack, key string, n int, h *history) ([][]byte, error) {
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
			return nil, errors.New("one of the equal requests was answered " + string(bodies[i]))
		}
	}
	h.add(entry{key: key, outcome: accepted, reference: references[0]})
	return bodies, nil
}
