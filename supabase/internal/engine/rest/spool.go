package rest

import (
	"bufio"
	"io"
	"net/http"
	"os"
	"sync"
)

// maxSpoolMemory is the size in bytes up to which a spool is held in memory.
const maxSpoolMemory = 1 << 20

// maxAggregatedRows is the largest row limit for which Postgres returns the result as one value.
const maxAggregatedRows = 1000

// spool holds the body of a reply: up to maxSpoolMemory bytes in memory, the rest in a file.
//
// A result without a small row limit comes from Postgres row by row. The spool lets neither
// Postgres nor this process hold it whole. The status, range and length are still known before the
// first byte, an error in the last row is still an error reply, and a slow client holds neither a
// connection nor a snapshot.
type spool struct {
	head   []*chunk // full, except the last
	last   int      // bytes used of the last chunk
	file   *os.File // the bytes after head; nil when there are none
	tail   *bufio.Writer
	length int64 // of head and file
}

// chunk is a piece of a spool. Chunks are pooled and never grow, so a large reply leaves no garbage
// and copies no byte twice.
type chunk [32 << 10]byte

var chunks = sync.Pool{New: func() any { return new(chunk) }}

// set stores a body that is one value.
func (s *spool) set(p []byte) {
	s.hold(p)
	s.length += int64(len(p))
}

// hold copies p into chunks.
func (s *spool) hold(p []byte) {
	for len(p) > 0 {
		if len(s.head) == 0 || s.last == len(chunk{}) {
			s.head, s.last = append(s.head, chunks.Get().(*chunk)), 0
		}
		n := copy(s.head[len(s.head)-1][s.last:], p)
		s.last, p = s.last+n, p[n:]
	}
}

func (s *spool) write(p []byte) error {
	if s.file == nil {
		if s.length+int64(len(p)) <= maxSpoolMemory {
			s.set(p)
			return nil
		}
		if err := s.spill(); err != nil {
			return err
		}
	}
	s.length += int64(len(p))
	_, err := s.tail.Write(p)
	return err
}

// spill opens a temporary file and removes its name, so that no file is left if the process dies.
func (s *spool) spill() error {
	f, err := os.CreateTemp("", "daawo-rest-")
	if err != nil {
		return err
	}
	if err := os.Remove(f.Name()); err != nil {
		_ = f.Close() // the first error is returned
		return err
	}
	s.file, s.tail = f, bufio.NewWriterSize(f, 64<<10)
	return nil
}

// finish flushes the spool and prepares it for sending.
func (s *spool) finish() error {
	if s.file == nil {
		return nil
	}
	if err := s.tail.Flush(); err != nil {
		return err
	}
	_, err := s.file.Seek(0, io.SeekStart)
	return err
}

// send writes the body. Errors are ignored: they mean that the client has disconnected.
func (s *spool) send(w http.ResponseWriter) {
	for i, c := range s.head {
		p := c[:]
		if i == len(s.head)-1 {
			p = c[:s.last]
		}
		if _, err := w.Write(p); err != nil {
			return
		}
	}
	if s.file != nil {
		_, _ = io.Copy(w, s.file) // the client may have disconnected
	}
}

// close returns the chunks to their pool and closes the file. It may be called twice.
func (s *spool) close() {
	for _, c := range s.head {
		chunks.Put(c)
	}
	s.head, s.last = nil, 0
	if s.file != nil {
		_ = s.file.Close() // the file has no name and no other user
	}
}
