package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"net/http"
	"sync"

	"daawo/scripts/server"
)

// outcome is the client's knowledge about one report after the last reply.
type outcome int

const (
	unknown  outcome = iota // no reply, or a 5xx: at most one row
	accepted                // 2xx: exactly one row
	refused                 // 4xx: no row; and an error, because the drills send only valid reports
	undone                  // a restore went back to before the report: no row
)

// entry is one report from its sender's point of view.
type entry struct {
	key       string // Idempotency-Key, also the product's name, to find the row
	outcome   outcome
	reference string
}

// history records the reports of a drill's writers.
type history struct {
	mu      sync.Mutex
	entries []entry
	tries   int // attempts of the writers
	failed  int // attempts without a reply or with a 5xx
}

func (h *history) add(e entry) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.entries = append(h.entries, e)
}

// tried counts an attempt of a writer.
func (h *history) tried(got outcome, status int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.tries++; got == unknown && status != http.StatusTooManyRequests {
		h.failed++
	}
}

// reply is the reply of submit-report.
type reply struct {
	status    int // 0 if there was no reply
	header    http.Header
	ID        string `json:"id"`
	Reference string `json:"reference"`
}

// submit sends one report with the key and returns the outcome, the reply and its body.
func submit(ctx context.Context, st *server.Stack, key string) (outcome, reply, []byte) {
	body, _ := json.Marshal(map[string]any{
		"name": nil, "phone": "+252 61 234 5678", "product_name": key, "batch_number": nil, "expiry_date": nil,
		"where_bought": nil, "issue_description": "drill", "location": "Banaadir, Hodan", "photo_url": nil,
	})
	a := call{path: "/functions/v1/submit-report", method: http.MethodPost, key: st.Get("ANON_KEY"),
		from: addressOf(key), kind: "application/json", body: body, header: map[string]string{"Idempotency-Key": key}}.send(ctx, st)
	r := reply{status: a.status, header: a.header}
	switch {
	case a.status == 0 || a.status >= 500 || a.status == http.StatusTooManyRequests:
		return unknown, r, a.body
	case a.status >= 400:
		return refused, r, a.body
	}
	if json.Unmarshal(a.body, &r) != nil || r.Reference == "" {
		return unknown, r, a.body
	}
	return accepted, r, a.body
}

// addressOf gives every report its own client address, because the rate limit per client is not
// under test.
func addressOf(key string) string {
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(key))
	n := sum.Sum32()
	return fmt.Sprintf("10.%d.%d.%d", byte(n>>16), byte(n>>8), byte(n))
}

// check compares the history with the tables. It returns counts, and an error if a guarantee was
// broken.
func (h *history) check(ctx context.Context, st *server.Stack) (string, error) {
	conn, err := st.DB(ctx)
	if err != nil {
		return "", err
	}
	defer conn.Close(ctx)
	rows, err := conn.Query(ctx, `
		select r.product_name, r.reference,
		       exists (select from river.river_job j where j.args -> 'link' ->> 'value' = r.reference)
		from public.reports r`)
	if err != nil {
		return "", err
	}
	defer rows.Close()
	type row struct {
		reference string
		job       bool
	}
	stored := map[string][]row{}
	for rows.Next() {
		var name string
		var r row
		if err := rows.Scan(&name, &r.reference, &r.job); err != nil {
			return "", err
		}
		stored[name] = append(stored[name], r)
	}
	if err := rows.Err(); err != nil {
		return "", err
	}

	h.mu.Lock()
	defer h.mu.Unlock()
	var acknowledged, open, refusals, lost, doubled, wrong, withoutJob, unwanted int
	for _, e := range h.entries {
		found := stored[e.key]
		if len(found) > 1 {
			doubled++
		}
		switch e.outcome {
		case accepted:
			acknowledged++
			if len(found) == 0 {
				lost++
			} else if found[0].reference != e.reference {
				wrong++
			}
		case refused, undone:
			if e.outcome == refused {
				refusals++
			}
			if len(found) > 0 {
				unwanted++
			}
		case unknown:
			open++
		}
		for _, r := range found {
			if !r.job {
				withoutJob++
			}
		}
	}
	figures := fmt.Sprintf("%d acknowledged, %d unknown, lost %d, doubled %d, without job %d", acknowledged, open, lost,
		doubled, withoutJob)
	if lost+doubled+wrong+withoutJob+refusals+unwanted > 0 {
		return figures, fmt.Errorf("lost %d, doubled %d, wrong reference %d, without job %d, valid but refused %d, "+
			"stored although refused or undone %d",
			lost, doubled, wrong, withoutJob, refusals, unwanted)
	}
	if acknowledged == 0 {
		return figures, errors.New("no report was acknowledged: the drill is inconclusive")
	}
	return figures, nil
}
