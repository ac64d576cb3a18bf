package host

import (
	"bufio"
	"cmp"
	"maps"
	"net"
	"net/http"
	"strconv"
	"sync"
)

// reply is the ResponseWriter of a handler. It records the status. After abandon the writes of the
// handler fail. The handler sets headers in a map of its own, which is copied when the reply
// begins, so a late handler cannot change the real headers.
type reply struct {
	http.ResponseWriter
	header    http.Header
	mu        sync.Mutex
	code      int
	abandoned bool
	settled   bool
	broken    bool             // the function failed after its reply began; the connection must be aborted
	ended     func(status int) // ends the span of the call; later calls have no effect
}

// Header returns the handler's headers.
func (w *reply) Header() http.Header { return w.header }

// WriteHeader sends the status once.
func (w *reply) WriteHeader(code int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.writeHeader(code)
}

func (w *reply) writeHeader(code int) {
	if w.abandoned || w.code != 0 {
		return
	}
	if code >= 200 || code == http.StatusSwitchingProtocols {
		w.code = code
	}
	maps.Copy(w.ResponseWriter.Header(), w.header)
	w.ResponseWriter.WriteHeader(code)
}

// Write sends a part of the body.
func (w *reply) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.abandoned {
		return 0, http.ErrHandlerTimeout
	}
	w.writeHeader(http.StatusOK)
	return w.ResponseWriter.Write(b)
}

// FlushError sends buffered data, for streams.
func (w *reply) FlushError() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.abandoned {
		return http.ErrHandlerTimeout
	}
	w.writeHeader(http.StatusOK)
	return http.NewResponseController(w.ResponseWriter).Flush()
}

// Flush is FlushError for users of http.Flusher.
func (w *reply) Flush() { _ = w.FlushError() }

// Hijack lets the function take the connection, for WebSockets.
func (w *reply) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.abandoned {
		return nil, nil, http.ErrHandlerTimeout
	}
	conn, buffer, err := http.NewResponseController(w.ResponseWriter).Hijack()
	if err == nil {
		w.code = http.StatusSwitchingProtocols
	}
	return conn, buffer, err
}

// begun reports whether the status has been sent.
func (w *reply) begun() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.code != 0
}

// end sends an empty reply if the handler sent none.
func (w *reply) end() {
	if !w.begun() {
		w.WriteHeader(http.StatusOK)
	}
}

// status returns the status that was sent, 0 for none.
func (w *reply) status() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.code
}

// abandon makes further writes of the handler fail and lets fn reply instead, before it returns. It
// does neither and returns false if the handler has begun its reply or settle was called.
func (w *reply) abandon(fn func(late http.ResponseWriter)) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.code != 0 || w.settled {
		return false
	}
	w.abandoned, w.code = true, http.StatusGatewayTimeout
	fn(w.ResponseWriter)
	return true
}

// settle ends the time in which abandon has an effect. It returns false if abandon has taken the
// reply from the handler.
func (w *reply) settle() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.settled = true
	return !w.abandoned
}

// wholeReply collects a reply and sends it whole, with its length, so that the client needs no end
// of the handler. The connection is not used again.
type wholeReply struct {
	http.ResponseWriter
	code int
	body []byte
}

// WriteHeader keeps the status.
func (w *wholeReply) WriteHeader(code int) {
	w.code = cmp.Or(w.code, code)
}

// Write keeps a part of the body.
func (w *wholeReply) Write(b []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	w.body = append(w.body, b...)
	return len(b), nil
}

func (w *wholeReply) send() {
	w.Header().Set("Content-Length", strconv.Itoa(len(w.body)))
	w.Header().Set("Connection", "close")
	w.ResponseWriter.WriteHeader(cmp.Or(w.code, http.StatusInternalServerError))
	_, _ = w.ResponseWriter.Write(w.body) // the parent may have given up
	_ = http.NewResponseController(w.ResponseWriter).Flush()
}
