package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"net/http"
	"sync"
	"time"

	"daawo/scripts/stack"
)

// outcome is what a client knows about one report after its last answer.
type outcome int

const (
	unknown  outcome = iota // no answer, or a 5xx: it may be there, once at most
	accepted                // 2xx: it must be there, exactly once
	refused                 // 4xx: it must not be there; and no drill sends a report that deserves one
	undone                  // a restore went back behind it: it must not be there
)

// entry is one report as its sender remembers it.
type entry struct {
	key       string // Idempotency-Key, also the product's name, so that the row can be found
	outcome   outcome
	reference string
}

// history is shared by the writers of a drill.
type history struct {
	mu      sync.Mutex
	entries []entry
	tries   int // of writers
	failed  int // of these tries: those that no answer came to, or a 5xx
}

func (h *history) add(e entry) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.entries = append(h.entries, e)
}

// tried counts a writer's try.
func (h *history) tried(got outcome, status int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.tries++; got == unknown && status != http.StatusTooManyRequests {
		h.failed++
	}
}

var client = &http.Client{
	Timeout:   10 * time.Second,
	Transport: &http.Transport{MaxIdleConnsPerHost: 64},
}

// reply is what submit-report answers.
type reply struct {
	status    int // 0 when no answer came
	header    http.Header
	ID        string `json:"id"`
	Reference string `json:"reference"`
}

// submit sends one report with the key and says what came back.
func submit(ctx context.Context, st *stack.Stack, key string) (outcome, reply, []byte) {
	body, _ := json.Marshal(map[string]any{
		"name": nil, "phone": "+252 61 234 5678", "product_name": key, "batch_number": nil, "expiry_date": nil,
		"where_bought": nil, "issue_description": "drill", "location": "Banaadir, Hodan", "photo_url": nil,
	})
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, st.Get("API_URL")+"/functions/v1/submit-report", bytes.NewReader(body))
	if err != nil {
		return unknown, reply{}, nil
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("apikey", st.Get("ANON_KEY"))
	req.Header.Set("Authorization", "Bearer "+st.Get("ANON_KEY"))
	req.Header.Set("Idempotency-Key", key)
	req.Header.Set("X-Forwarded-For", addressOf(key))
	res, err := client.Do(req)
	if err != nil {
		return unknown, reply{}, nil
	}
	defer res.Body.Close()
	r := reply{status: res.StatusCode, header: res.Header}
	text, err := io.ReadAll(io.LimitReader(res.Body, 1<<20))
	switch {
	case err != nil || res.StatusCode >= 500 || res.StatusCode == http.StatusTooManyRequests:
		return unknown, r, text
	case res.StatusCode >= 400:
		return refused, r, text
	}
	if json.Unmarshal(text, &r) != nil || r.Reference == "" {
		return unknown, r, text
	}
	return accepted, r, text
}

// addressOf gives every report a sender's address of its own, as thousands of visitors have: the limit of reports per
// client is not what a drill tests.
func addressOf(key string) string {
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(key))
	n := sum.Sum32()
	return fmt.Sprintf("10.%d.%d.%d", byte(n>>16), byte(n>>8), byte(n))
}

// check compares the history with the tables. It returns what is there, and an error for each promise that was broken.
func (h *history) check(ctx context.Context, st *stack.Stack) (string, error) {
	conn, err := st.DB(ctx)
	if err != nil {
		return "", err
	}
	defer conn.Close(ctx)
	rows, err := conn.Query(ctx, `
		select r.product_name, r.reference,
		       exists (select from river.river_job j where j.args ->> 'report_id' = r.id::text)
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
	var acknowledged, open, refusals, lost, doubled, wrong, withoutJob, there int
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
				there++
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
	figures := fmt.Sprintf("%d acknowledged, %d unknown, lost %d, doubled %d, without job %d", acknowledged, open, lost, doubled, withoutJob)
	if lost+doubled+wrong+withoutJob+refusals+there > 0 {
		return figures, fmt.Errorf("lost %d, doubled %d, other reference %d, without job %d, refused although whole %d, there although refused or undone %d",
			lost, doubled, wrong, withoutJob, refusals, there)
	}
	if acknowledged == 0 {
		return figures, errors.New("no report was acknowledged: the drill proves nothing")
	}
	return figures, nil
}

// get fetches a page and says its status.
func get(ctx context.Context, url string) (int, http.Header) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0, nil
	}
	res, err := client.Do(req)
	if err != nil {
		return 0, nil
	}
	defer res.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, 1<<20))
	return res.StatusCode, res.Header
}
