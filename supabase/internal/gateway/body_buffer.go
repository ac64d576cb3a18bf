package gateway

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"os"
	"sync"
)

const (
	bufferMemory = 16 << 10  // bytes of each body that are kept in memory
	bufferFile   = 32 << 20  // bytes of each body that are kept in an unlinked file; the service streams the rest
	bufferTotal  = 256 << 20 // bytes of all such files together
)

// bodyBuffer reads request bodies before the service sees them, as Supabase's own gateway does. A
// client that trickles its body then holds a connection, but none of the service's request slots.
type bodyBuffer struct {
	log *slog.Logger

	mu       sync.Mutex
	used     int64            // bytes in files
	byClient map[string]int64 // the same by homeKey; clients with 0 bytes are removed
}

func newBodyBuffer(log *slog.Logger) *bodyBuffer {
	return &bodyBuffer{log: log, byClient: map[string]int64{}}
}

// reserve counts n more bytes in files of a client. It returns false if the client would have more
// than a quarter of the free space. A single client gets 51 MB, and less as others use more, so
// that a new client always finds some. A fixed share would be too small for many clients behind one
// address, or too large for a few.
func (b *bodyBuffer) reserve(client string, n int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if 4*(b.byClient[client]+n) > bufferTotal-b.used-n {
		return false
	}
	b.byClient[client] += n
	b.used += n
	return true
}

// release undoes reserve.
func (b *bodyBuffer) release(client string, n int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.used -= n
	if b.byClient[client] -= n; b.byClient[client] == 0 {
		delete(b.byClient, client)
	}
}

// before reads the body, then calls next.
func (b *bodyBuffer) before(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Body == nil || r.Body == http.NoBody {
			next.ServeHTTP(w, r)
			return
		}
		var head bytes.Buffer
		n, err := io.CopyN(&head, r.Body, bufferMemory)
		if n == bufferMemory && err == nil {
			b.spool(w, r, head.Bytes(), next)
			return
		}
		if err != io.EOF { // CopyN returns io.EOF for a shorter body
			writeBodyError(w)
			return
		}
		r.Body = io.NopCloser(&head)
		next.ServeHTTP(w, r)
	})
}

// spool reads a longer body into a file, then calls next.
func (b *bodyBuffer) spool(w http.ResponseWriter, r *http.Request, head []byte, next http.Handler) {
	file, err := os.CreateTemp("", "daawo-body-")
	if err == nil {
		err = os.Remove(file.Name()) // its content lives until Close
	}
	if err != nil {
		b.log.ErrorContext(r.Context(), "cannot create temporary file", "error", err)
		writeBusy(w)
		return
	}
	counted := newSpoolFile(file, b, homeKey(r))
	defer counted.close()
	_, err = io.CopyN(counted, r.Body, bufferFile)
	switch {
	case counted.err != nil:
		b.log.ErrorContext(r.Context(), "cannot buffer request body", "error", counted.err)
		writeBusy(w)
		return
	case err != nil && err != io.EOF:
		writeBodyError(w)
		return
	}
	whole := err == io.EOF
	content, err := counted.reader()
	if err != nil {
		writeBusy(w)
		return
	}
	parts := []io.Reader{bytes.NewReader(head), content}
	if !whole {
		parts = append(parts, r.Body)
	}
	r.Body = io.NopCloser(io.MultiReader(parts...))
	next.ServeHTTP(w, r)
}

func writeBusy(w http.ResponseWriter) {
	w.Header().Set("Retry-After", "5")
	writeError(w, http.StatusServiceUnavailable, "Server is busy; retry later.")
}

// writeBodyError answers a request whose body ended early. For a body that was too slow or too
// large, reply.override replaces this answer.
func writeBodyError(w http.ResponseWriter) {
	writeError(w, http.StatusBadRequest, "Request body ended unexpectedly.")
}

var errBufferFull = errors.New("no space in the body buffer for this client")

// spoolFile reserves space for what is written to it. The bytes on disk are encrypted with a key
// that is only in memory: they may be a photo with its position or a phone number, and the disk may
// keep blocks of deleted files. The file is not embedded, because io.Copy would then use its
// ReadFrom and bypass Write.
type spoolFile struct {
	file     *os.File
	buffer   *bodyBuffer
	client   string
	reserved int64
	err      error

	block   cipher.Block
	writing cipher.Stream
	scratch []byte
}

func newSpoolFile(file *os.File, b *bodyBuffer, client string) *spoolFile {
	key := make([]byte, 32)
	_, _ = rand.Read(key)          // never fails (crypto/rand)
	block, _ := aes.NewCipher(key) // never fails for this length
	f := &spoolFile{file: file, buffer: b, client: client, block: block}
	f.writing = f.stream()
	return f
}

// stream returns the key stream. Each key encrypts one file once, so the counter may start at zero.
func (f *spoolFile) stream() cipher.Stream {
	return cipher.NewCTR(f.block, make([]byte, aes.BlockSize))
}

func (f *spoolFile) Write(p []byte) (int, error) {
	if !f.buffer.reserve(f.client, int64(len(p))) {
		f.err = errBufferFull
		return 0, f.err
	}
	f.reserved += int64(len(p))
	if len(f.scratch) < len(p) {
		f.scratch = make([]byte, len(p))
	}
	f.writing.XORKeyStream(f.scratch, p)
	n, err := f.file.Write(f.scratch[:len(p)])
	f.err = err
	return n, err
}

// reader returns a reader of all that was written.
func (f *spoolFile) reader() (io.Reader, error) {
	_, err := f.file.Seek(0, io.SeekStart)
	return cipher.StreamReader{S: f.stream(), R: f.file}, err
}

func (f *spoolFile) close() {
	f.buffer.release(f.client, f.reserved)
	_ = f.file.Close() // the file is already unlinked
}
