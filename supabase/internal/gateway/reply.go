package gateway

import (
	"io"
	"math"
	"net/http"
	"os"
	"time"
)

// reply is the ResponseWriter of every request: it remembers the status, lets the layers adjust headers at the last
// moment, and gives a client that does not read ten seconds for each piece before the connection is cut.
type reply struct {
	http.ResponseWriter
	control *http.ResponseController
	hooks   []func(http.Header, int)
	service string
	as      string // what gives the request more power than others have: powers
	status  int
	https   bool // the visitor came by HTTPS
	page    bool // errors are shown by a browser
	stall   time.Duration
	refused bool
	body    *pacedBody // nil when there is none
	instead *refusal   // replaces what the service says about a body that it was not given whole
}

// refusal is an answer of the gateway's own.
type refusal struct {
	status  int
	message string
}

// piece is how much is written under one deadline. A client slower than piece/stall is taken for a stalled one.
const piece = 16 << 10

// before has a function look at the headers and the status just before they are sent.
func (w *reply) before(hook func(http.Header, int)) { w.hooks = append(w.hooks, hook) }

func (w *reply) WriteHeader(status int) {
	if status >= 100 && status < 200 && status != http.StatusSwitchingProtocols {
		w.ResponseWriter.WriteHeader(status)
		return
	}
	if w.status != 0 {
		return
	}
	if w.instead != nil {
		w.refuse()
		return
	}
	if w.body != nil {
		w.body.pace()
	}
	w.status = status
	for _, hook := range w.hooks {
		hook(w.Header(), status)
	}
	w.ResponseWriter.WriteHeader(status)
}

// refuse sends the gateway's own answer in place of the service's.
func (w *reply) refuse() {
	instead := w.instead
	w.instead = nil
	w.refused = true
	for _, name := range []string{"Content-Length", "Content-Encoding", "Content-Type", "Etag"} {
		w.Header().Del(name)
	}
	w.Header().Set("Connection", "close")
	contentType, body := errorBody(w, instead.message)
	w.Header().Set("Content-Type", contentType)
	w.WriteHeader(instead.status)
	_, _ = w.ResponseWriter.Write(body) // the client may be gone
}

func (w *reply) Write(p []byte) (written int, err error) {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	if w.refused {
		return len(p), nil
	}
	for {
		part := p[written:min(len(p), written+piece)]
		w.extend()
		n, err := w.ResponseWriter.Write(part)
		written += n
		if err != nil || written == len(p) {
			return written, err
		}
	}
}

// ReadFrom lets the kernel copy a file to the connection (sendfile) where the layers below can, in larger pieces. They get
// no more time: a client that takes nothing is given up as soon as with other replies.
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
		ask := min(filePieces*piece, left)
		w.extend()
		n, err := below.ReadFrom(&io.LimitedReader{R: file, N: ask})
		written, left = written+n, left-n
		if err != nil || n < ask {
			return written, err
		}
	}
	return written, nil
}

// filePieces is how many pieces of a file are given to the kernel at once.
const filePieces = 2

// extend moves the moment at which a stalled client is given up. A writer without deadlines (in tests) has none.
func (w *reply) extend() { _ = w.control.SetWriteDeadline(time.Now().Add(w.stall)) }

// Flush sends what is buffered: services ask for it by type assertion.
func (w *reply) Flush() {
	if w.status == 0 {
		w.WriteHeader(http.StatusOK)
	}
	w.extend()
	_ = w.control.Flush() // not every writer can
}

// Unwrap lets http.ResponseController reach the connection, for upgrades.
func (w *reply) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// plain answers with one line of text, as Supabase's gateway does for keys.
func plain(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(text)) // the client may be gone
}

// writeError answers what the gateway itself refuses.
func writeError(w http.ResponseWriter, status int, message string) {
	contentType, body := errorBody(w, message)
	w.Header().Set("Content-Type", contentType)
	w.WriteHeader(status)
	_, _ = w.Write(body) // the client may be gone
}
