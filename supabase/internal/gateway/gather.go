package gateway

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"os"
	"sync"
)

// Bodies are taken in whole before a service sees them, as Supabase's own gateway does: a client that trickles its body
// then holds a connection and nothing else, and never one of the places in which requests are served.
const (
	inMemory = 16 << 10  // bytes of a body that are kept in memory; a report without a photo is smaller
	inFile   = 32 << 20  // bytes that go to a file without a name; what is longer is read by the service as it comes
	allFiles = 256 << 20 // bytes that all such files may have together
)

// gatherer knows how much is in files, and how much of it is each client's.
type gatherer struct {
	g    *gateway
	mu   sync.Mutex
	used int64
	of   map[string]int64 // by clientKey; who has nothing is not in it
}

// take counts n more bytes of a client, if there is room for them. A client may have a quarter of what is still free: 51 MB
// when it is alone, less the more of the room others have, so that a newcomer always gets some. A fixed share would be too
// small for the many behind a carrier's address, or eight clients would have all.
func (ga *gatherer) take(client string, n int64) bool {
	ga.mu.Lock()
	defer ga.mu.Unlock()
	if 4*(ga.of[client]+n) > allFiles-ga.used-n {
		return false
	}
	ga.of[client] += n
	ga.used += n
	return true
}

// give takes back what was counted.
func (ga *gatherer) give(client string, n int64) {
	ga.mu.Lock()
	defer ga.mu.Unlock()
	ga.used -= n
	if ga.of[client] -= n; ga.of[client] == 0 {
		delete(ga.of, client)
	}
}

// before takes in the body, then lets the service begin.
func (ga *gatherer) before(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Body == nil || r.Body == http.NoBody {
			next.ServeHTTP(w, r)
			return
		}
		var head bytes.Buffer
		n, err := io.CopyN(&head, r.Body, inMemory)
		if n == inMemory && err == nil {
			ga.spool(w, r, head.Bytes(), next)
			return
		}
		if err != io.EOF { // CopyN says so of a shorter body
			unreadable(w)
			return
		}
		r.Body = io.NopCloser(&head)
		next.ServeHTTP(w, r)
	})
}

// spool takes in a longer body.
func (ga *gatherer) spool(w http.ResponseWriter, r *http.Request, head []byte, next http.Handler) {
	file, err := os.CreateTemp("", "daawo-body-")
	if err == nil {
		err = os.Remove(file.Name()) // it lives as long as it is open
	}
	if err != nil {
		ga.g.Log.ErrorContext(r.Context(), "no temporary file can be made", "error", err)
		ga.busy(w)
		return
	}
	client, _ := clientKey(r) // it never fails
	counted := &countedFile{file: file, by: ga, client: client}
	defer counted.release()
	_, err = io.CopyN(counted, r.Body, inFile)
	switch {
	case counted.err != nil:
		ga.g.Log.ErrorContext(r.Context(), "a request cannot be taken in", "error", counted.err)
		ga.busy(w)
		return
	case err != nil && err != io.EOF:
		unreadable(w)
		return
	}
	whole := err == io.EOF
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		ga.busy(w)
		return
	}
	parts := []io.Reader{bytes.NewReader(head), file}
	if !whole {
		parts = append(parts, r.Body)
	}
	r.Body = io.NopCloser(io.MultiReader(parts...))
	next.ServeHTTP(w, r)
}

func (ga *gatherer) busy(w http.ResponseWriter) {
	w.Header().Set("Retry-After", "5")
	writeError(w, http.StatusServiceUnavailable, "There is no room for the request at the moment. Try again soon.")
}

// unreadable answers for a body that broke off. One that was too slow or too large has had its answer chosen already.
func unreadable(w http.ResponseWriter) {
	writeError(w, http.StatusBadRequest, "The request's body broke off.")
}

var errNoRoom = errors.New("too many large requests are arriving")

// countedFile counts what is written to it. The file is not embedded: io.Copy would find its ReadFrom and go around Write.
type countedFile struct {
	file   *os.File
	by     *gatherer
	client string
	mine   int64
	err    error
}

func (f *countedFile) Write(p []byte) (int, error) {
	if !f.by.take(f.client, int64(len(p))) {
		f.err = errNoRoom
		return 0, f.err
	}
	f.mine += int64(len(p))
	n, err := f.file.Write(p)
	f.err = err
	return n, err
}

func (f *countedFile) release() {
	f.by.give(f.client, f.mine)
	_ = f.file.Close() // it is gone with its name
}
