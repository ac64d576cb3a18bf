package realtime

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"

	"github.com/coder/websocket"

	"daawo/supabase/internal/engine/realtime/phoenix"
)

const (
	readBuffer    = 1 << 10   // bytes of each connection; larger messages are read into their own memory
	controlBuffer = 256       // bytes; a control frame fits
	maxMessage    = 5_000_000 // bytes of a message of a client, as upstream
)

// accept opens a socket. It replies to errors as upstream does. When it returns, the goroutine of
// the request ends, so that an idle socket keeps nothing of the layers above.
func (e *Engine) accept(w http.ResponseWriter, r *http.Request) {
	version, ok := phoenix.ParseVersion(r.URL.Query().Get("vsn"))
	if !ok {
		w.WriteHeader(http.StatusForbidden)
		return
	}
	identity, status, err := e.admit(r)
	if err != nil {
		e.metrics.refused.Inc()
		e.delay(r, e.o.HandshakeErrorDelay)
		replyJSON(w, status, map[string]string{"error": err.Error()})
		return
	}
	up := &upgrade{ResponseWriter: w}
	conn, err := websocket.Accept(up, r, &websocket.AcceptOptions{
		InsecureSkipVerify: true, // the key authorizes the client; pages of every origin may have one, as upstream
		CompressionMode:    websocket.CompressionDisabled,
	})
	if err != nil { // Accept has replied
		e.freePlace(lineOf(r))
		e.o.Log.Debug("handshake", "error", err)
		return
	}
	conn.SetReadLimit(maxMessage)
	s := &socket{
		e: e, conn: conn, out: up.out, version: version, claims: identity, headers: customHeaders(r.Header),
		channels: map[string]*channel{}, emptySince: e.o.Now(), networks: networksOf(r), line: lineOf(r),
	}
	s.out.slow = e.metrics.slow.Inc
	s.heard.Store(e.o.Now().UnixNano())
	if !e.add(s) {
		s.goAway()
		return
	}
	go s.run()
}

// clientError is an error whose text is for the client, in upstream's words.
type clientError string

func (e clientError) Error() string { return string(e) }

// admit checks whether a client may connect, and reserves its place among the sockets, which add
// takes or freePlace frees. On error it returns the status of the reply.
func (e *Engine) admit(r *http.Request) (c *claims, status int, err error) {
	settings := e.settings.Load()
	token := r.Header.Get("X-Api-Key")
	if token == "" {
		token = r.URL.Query().Get("apikey")
	}
	if settings.Suspended {
		return nil, http.StatusForbidden, clientError("Realtime was disabled for this tenant")
	}
	if token == "" {
		return nil, http.StatusUnauthorized, clientError("API key is missing")
	}
	c, err = e.authorize(token)
	if err != nil {
		var refused *tokenError
		if errors.As(err, &refused) {
			err = clientError(refused.handshake)
		}
		return nil, http.StatusUnauthorized, err
	}
	if !e.reservePlace(settings, lineOf(r)) {
		return nil, http.StatusTooManyRequests, clientError("Too many connected users")
	}
	if settings.JoinsInTotal && e.joins.exceeded() {
		e.freePlace(lineOf(r))
		return nil, http.StatusTooManyRequests, clientError("Too many joins per second")
	}
	return c, 0, nil
}

// reservePlace reserves a place for a socket whose handshake begins. Otherwise clients that connect
// at the same time would exceed the limit together. A home line gets a part of the places: behind a
// proxy the port does not limit its connections.
func (e *Engine) reservePlace(settings *Settings, line netip.Addr) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.sockets)+e.opening >= settings.MaxConnections ||
		line.IsValid() && e.lines[line] >= settings.MaxConnectionsPerLine {
		return false
	}
	e.opening++
	if line.IsValid() {
		e.lines[line]++
	}
	return true
}

// freePlace frees a reserved place.
func (e *Engine) freePlace(line netip.Addr) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.opening--
	e.lines.leave(line)
}

// lineSockets counts the sockets of each home line, also those whose handshake runs.
type lineSockets map[netip.Addr]int

// leave uncounts a socket of a line.
func (l lineSockets) leave(line netip.Addr) {
	if l[line]--; l[line] <= 0 {
		delete(l, line)
	}
}

// add registers a socket in its reserved place, unless the engine is closed.
func (e *Engine) add(s *socket) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.opening--
	if e.closed {
		e.lines.leave(s.line)
		return false
	}
	e.sockets[s] = struct{}{}
	e.wait.Add(1)
	return true
}

func (e *Engine) remove(s *socket) {
	e.mu.Lock()
	delete(e.sockets, s)
	e.lines.leave(s.line)
	e.mu.Unlock()
	e.wait.Done()
}

// delay waits, unless the client disconnects or the engine closes.
func (e *Engine) delay(r *http.Request, wait time.Duration) {
	if wait <= 0 {
		return
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-r.Context().Done():
	case <-e.ctx.Done():
	}
}

// customHeaders returns the headers that policies see: those that begin with x-, as upstream.
func customHeaders(all http.Header) http.Header {
	var custom http.Header
	for name, values := range all {
		if strings.HasPrefix(name, "X-") {
			if custom == nil {
				custom = http.Header{}
			}
			custom[name] = values
		}
	}
	return custom
}

// upgrade is a ResponseWriter whose connection has small buffers and writes to a queue.
type upgrade struct {
	http.ResponseWriter
	out *queue
}

// Hijack implements http.Hijacker.
func (u *upgrade) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, rw, err := http.NewResponseController(u.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err
	}
	if err := conn.SetDeadline(time.Time{}); err != nil {
		_ = conn.Close()
		return nil, nil, err
	}
	early, _ := rw.Reader.Peek(rw.Reader.Buffered()) // cannot fail: it is buffered
	u.out = &queue{conn: conn}
	queued := &queuedConn{Conn: conn, out: u.out, early: bytes.Clone(early)}
	return queued, bufio.NewReadWriter(bufio.NewReaderSize(queued, readBuffer),
		bufio.NewWriterSize(queued, controlBuffer)), nil
}

// replyJSON replies with v as JSON.
func replyJSON(w http.ResponseWriter, status int, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		http.Error(w, http.StatusText(http.StatusInternalServerError), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_, _ = w.Write(body) // the client may have disconnected
}
