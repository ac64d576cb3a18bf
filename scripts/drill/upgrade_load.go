package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"daawo/scripts/server"

	"github.com/coder/websocket"
)

// wire is an HTTP/1.1 client with one connection, which it keeps as long as the server does. Unlike
// http.Client it repeats no request.
type wire struct {
	address string
	conn    net.Conn
	r       *bufio.Reader
}

// send sends a request and returns the status and the body of the whole reply.
func (w *wire) send(r *http.Request) (int, []byte, error) {
	if w.conn == nil {
		conn, err := net.DialTimeout("tcp", w.address, 30*time.Second)
		if err != nil {
			return 0, nil, fmt.Errorf("refused: %w", err)
		}
		w.conn, w.r = conn, bufio.NewReader(conn)
	}
	if err := w.conn.SetDeadline(time.Now().Add(30 * time.Second)); err != nil {
		return 0, nil, err
	}
	if err := r.Write(w.conn); err != nil {
		w.close()
		return 0, nil, fmt.Errorf("cut while sending: %w", err)
	}
	res, err := http.ReadResponse(w.r, r)
	if err != nil {
		w.close()
		return 0, nil, fmt.Errorf("cut before the reply: %w", err)
	}
	body, err := io.ReadAll(res.Body)
	_ = res.Body.Close()
	if res.Close || err != nil {
		w.close()
	}
	if err != nil {
		return 0, nil, fmt.Errorf("cut in the reply: %w", err)
	}
	return res.StatusCode, body, nil
}

func (w *wire) close() {
	if w.conn != nil {
		_ = w.conn.Close()
		w.conn = nil
	}
}

// client sends one request after the other until ctx ends. Each second client makes a connection
// for each request.
func (l *upgradeLoad) client(ctx context.Context, st *server.Stack, kind string, n int,
	next func(i int) (*http.Request, error)) {
	l.running.Go(func() {
		w := &wire{address: server.HostOf(st.Get("API_URL"))}
		defer w.close()
		for i := 0; ctx.Err() == nil; i++ {
			r, err := next(i)
			if err != nil {
				l.count(kind, 0, err)
				return
			}
			begun := time.Now()
			status, body, err := w.send(r)
			if err == nil && status != http.StatusOK {
				err = fmt.Errorf("status %d: %s", status, body)
			}
			if kind == "report" {
				l.remember(r.Header.Get("Idempotency-Key"), body, err)
			}
			if strings.HasSuffix(kind, "upload") && err == nil {
				l.mu.Lock()
				l.files = append(l.files, strings.TrimPrefix(r.URL.Path, "/storage/v1/object/resources/"))
				l.mu.Unlock()
			}
			l.count(kind, time.Since(begun), err)
			if n%2 == 1 {
				w.close()
			}
			pause(ctx, 10*time.Millisecond)
		}
	})
}

// report returns the requests of one writer.
func (l *upgradeLoad) report(st *server.Stack, prefix string) func(i int) (*http.Request, error) {
	return func(i int) (*http.Request, error) {
		key := fmt.Sprintf("%s-%d", prefix, i)
		body, err := json.Marshal(map[string]any{"product_name": key, "issue_description": "drill",
			"location": "Banaadir, Hodan"})
		if err != nil {
			return nil, err
		}
		r, err := request(st, http.MethodPost, "/functions/v1/submit-report", strings.NewReader(string(body)))
		if err == nil {
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("Idempotency-Key", key)
			r.Header.Set("X-Forwarded-For", addressOf(key))
		}
		return r, err
	}
}

// remember records the reply to a report.
func (l *upgradeLoad) remember(key string, body []byte, err error) {
	e := entry{key: key}
	var saved reply
	if err == nil && json.Unmarshal(body, &saved) == nil && saved.Reference != "" {
		e.outcome, e.reference = accepted, saved.Reference
	}
	l.history.add(e)
}

func (l *upgradeLoad) count(kind string, wait time.Duration, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.counts[kind]++
	if kind != "slow upload" {
		l.waits = append(l.waits, wait)
	}
	if err != nil {
		l.lost[kind]++
		if l.first == "" {
			l.first = kind + ": " + err.Error()
		}
	}
}

// listen holds a WebSocket of Realtime and opens it again when the server closes it.
func (l *upgradeLoad) listen(ctx context.Context, st *server.Stack) {
	url := strings.Replace(st.Get("API_URL"), "http", "ws", 1) + "/realtime/v1/websocket?vsn=1.0.0&apikey=" +
		st.Get("ANON_KEY")
	for ctx.Err() == nil {
		conn, res, err := websocket.Dial(ctx, url, nil)
		if err != nil {
			if ctx.Err() == nil {
				l.count("WebSocket", 0, fmt.Errorf("refused: %w %v", err, res))
			}
			return
		}
		l.count("WebSocket", 0, nil)
		for err == nil {
			_, _, err = conn.Read(ctx)
		}
		if ctx.Err() == nil {
			l.mu.Lock()
			l.goodbye[websocket.CloseStatus(err)]++
			l.mu.Unlock()
		}
		_ = conn.CloseNow()
	}
}

// stop ends the load and waits for its replies.
func (l *upgradeLoad) stop() {
	l.cancel()
	l.running.Wait()
}

// check returns the figures of the load, and an error if a request was refused or cut, or data is
// lost or doubled.
func (l *upgradeLoad) check(ctx context.Context, st *server.Stack) (string, error) {
	stored, err := l.history.check(ctx, st)
	conn, derr := st.DB(ctx)
	if derr != nil {
		return stored, errors.Join(err, derr)
	}
	defer conn.Close(ctx)
	var missing int
	const q = `select count(*) from unnest($1::text[]) name where not exists (select from storage.objects o where o.bucket_id = 'resources' and o.name = unnest.name)`
	if derr := conn.QueryRow(ctx, strings.Replace(q, "unnest.name", "name.name", 1),
		l.files).Scan(&missing); derr != nil {
		return stored, errors.Join(err, derr)
	}
	all, lost := 0, 0
	var parts []string
	for _, kind := range slices.Sorted(maps.Keys(l.counts)) {
		all += l.counts[kind]
		lost += l.lost[kind]
		parts = append(parts, fmt.Sprintf("%s %d", kind, l.counts[kind]))
	}
	unclean := 0
	for code, n := range l.goodbye {
		if code != websocket.StatusGoingAway {
			unclean += n
		}
	}
	figures := fmt.Sprintf("%d requests (%s), refused or cut %d, p50 %s, p99 %s, longest %s; reports: %s; %d files acknowledged, missing %d; WebSockets closed %d, without a close frame %d",
		all, strings.Join(parts, ", "), lost, percentile(l.waits, 0.5).Round(time.Millisecond),
		percentile(l.waits, 0.99).Round(time.Millisecond), percentile(l.waits, 1).Round(time.Millisecond), stored,
		len(l.files), missing, l.goodbye[websocket.StatusGoingAway]+unclean, unclean)
	switch {
	case err != nil:
		return figures, err
	case lost > 0:
		return figures, fmt.Errorf("a request failed: %s", l.first)
	case missing > 0 || unclean > 0:
		return figures, errors.New("a file is missing, or a WebSocket was cut")
	}
	return figures, nil
}
