package fnhost

import (
	"bufio"
	"maps"
	"net"
	"net/http"
	"sync"
)

// reply is the ResponseWriter a handler gets. It remembers the status, and it can be taken away from a handler that is
// too late: from then on the handler's writes fail. The handler's headers are a map of their own, copied when the reply
// begins, so that a late handler cannot touch the real ones.
type reply struct {
	http.ResponseWriter
	header    http.Header
	mu        sync.Mutex
	code      int
	abandoned bool
	broken    bool // the function failed within its reply: the rest of it must not look whole
}

// Header gives the handler's headers.
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

// FlushError sends what is buffered, for streams.
func (w *reply) FlushError() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.abandoned {
		return http.ErrHandlerTimeout
	}
	w.writeHeader(http.StatusOK)
	return http.NewResponseController(w.ResponseWriter).Flush()
}

// Flush is FlushError for those who ask for an http.Flusher.
func (w *reply) Flush() { _ = w.FlushError() }

// Hijack hands the connection over, for WebSockets.
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

// begun says whether the status has been sent.
func (w *reply) begun() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.code != 0
}

// end sends an empty reply when the handler sent none.
func (w *reply) end() {
	if !w.begun() {
		w.WriteHeader(http.StatusOK)
	}
}

// status is what was sent, 0 for nothing.
func (w *reply) status() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.code
}

// abandon takes the reply away from the handler and gives it to the caller, unless the handler was faster.
func (w *reply) abandon() http.ResponseWriter {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.code != 0 {
		return nil
	}
	w.abandoned, w.code = true, http.StatusGatewayTimeout
	return w.ResponseWriter
}
