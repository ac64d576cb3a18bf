package gateway

import (
	"io"
	"math"
	"net/http"
	"os"
	"sync/atomic"
	"time"
)

// reply is the ResponseWriter of every request. It records the status, lets the layers change
// headers just before they are sent, and aborts the connection of a client that does not read a
// chunk within stall.
type reply struct {
	http.ResponseWriter
	control       *http.ResponseController
	hooks         []func(http.Header, int)
	service       *service
	privilege     string // see privilegeOf
	status        int
	https         bool   // the client uses HTTPS
	formErrorPage []byte // for the gateway's own errors; nil means JSON
	stall         time.Duration
	cancelled     <-chan struct{} // closed when the client has disconnected or ended its side of the connection
	refused       bool            // override was sent
	body          *pacedBody      // nil without a request body
	// override replaces the service's reply to an incomplete request body. The reader of the body
	// sets it.
	override atomic.Pointer[refusal]
}

// refusal is an error reply of the gateway itself.
type refusal struct {
	status  int
	message string
}

// chunk is how many bytes are written under one deadline. A client slower than chunk/stall counts
// as stalled.
const chunk = 16 << 10

// onHeader registers a function that may change the headers just before they are sent.
func (w *reply) onHeader(hook func(http.Header, int)) { w.hooks = append(w.hooks, hook) }

func (w *reply) WriteHeader(status int) {
	if status >= 100 && status < 200 && status != http.StatusSwitchingProtocols {
		w.ResponseWriter.WriteHeader(status)
		return
	}
	if w.status != 0 {
		return
	}
	if override := w.override.Swap(nil); override != nil {
		w.refuse(override)
		return
	}
	if w.body != nil {
		w.body.setDeadline()
	}
	if status >= 500 && w.left() {
		status = statusClientClosed // the service failed because its request was cancelled
	}
	w.status = status
	for _, hook := range w.hooks {
		hook(w.Header(), status)
	}
	w.ResponseWriter.WriteHeader(status)
}

// left reports whether the client has disconnected or ended its side of the connection. net/http
// then cancels the request.
func (w *reply) left() bool {
	select {
	case <-w.cancelled:
		return true
	default:
		return false
	}
}

// refuse sends the gateway's error instead of the service's reply.
func (w *reply) refuse(override *refusal) {
	w.refused = true
	for _, name := range []string{"Content-Length", "Content-Encoding", "Content-Type", "Etag"} {
		w.Header().Del(name)
	}
	w.Header().Set("Connection", "close")
	contentType, body := errorBody(w, override.message)
	w.Header().Set("Content-Type", contentType)
	w.WriteHeader(override.status)
	_, _ = w.ResponseWriter.Write(body) // the client may have disconnected
}

func (w *reply) Write(p []byte) (written int, err error) {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	if w.refused {
		return len(p), nil
	}
	for {
		part := p[written:min(len(p), written+chunk)]
		w.extendDeadline()
		n, err := w.ResponseWriter.Write(part)
		written += n
		if err != nil || written == len(p) {
			return written, err
		}
	}
}

// ReadFrom lets the kernel copy a file to the connection (sendfile) if the layers below support it.
// It uses larger chunks with the same deadline.
func (w *reply) ReadFrom(src io.Reader) (written int64, err error) {
	below, ok := w.ResponseWriter.(io.ReaderFrom)
	file, left := src, int64(math.MaxInt64)
	if part, limited := src.(*io.LimitedReader); limited {
		file, left = part.R, part.N
		defer func() { part.N = left }()
	}
	if _, isFile := file.(*os.File); !ok || !isFile {
		return io.Copy(struct{ io.Writer }{w}, src)
	}
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	if w.refused {
		return io.Copy(io.Discard, src)
	}
	for left > 0 {
		size := min(fileChunks*chunk, left)
		w.extendDeadline()
		n, err := below.ReadFrom(&io.LimitedReader{R: file, N: size})
		written, left = written+n, left-n
		if err != nil || n < size {
			return written, err
		}
	}
	return written, nil
}

// fileChunks is the size of a chunk of a file, in chunks of other replies.
const fileChunks = 2

// extendDeadline gives the client another stall to read. It has no effect on a writer without
// deadlines, as in tests.
func (w *reply) extendDeadline() { _ = w.control.SetWriteDeadline(time.Now().Add(w.stall)) }

// Flush sends buffered data. Services find it by type assertion.
func (w *reply) Flush() {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	w.extendDeadline()
	_ = w.control.Flush() // not every writer supports it
}

// Unwrap lets http.ResponseController reach the connection, for upgrades.
func (w *reply) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// writeText writes a plain text reply, as Supabase's gateway does for key errors.
func writeText(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(text)) // the client may have disconnected
}

// writeError writes an error reply of the gateway itself.
func writeError(w http.ResponseWriter, status int, message string) {
	contentType, body := errorBody(w, message)
	w.Header().Set("Content-Type", contentType)
	w.WriteHeader(status)
	_, _ = w.Write(body) // the client may have disconnected
}
