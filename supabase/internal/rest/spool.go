package rest

import (
	"bufio"
	"io"
	"net/http"
	"os"
)

// maxSpoolMemory is the size in bytes up to which a spool is held in memory.
const maxSpoolMemory = 1 << 20

// maxAggregatedRows is the largest row limit for which Postgres returns the result as one value.
const maxAggregatedRows = 1000

// spool holds the body of a reply: up to maxSpoolMemory bytes in memory, the rest in a file.
//
// A result without a small row limit comes from Postgres row by row. The spool lets neither Postgres nor this process
// hold it whole. The status, range and length are still known before the first byte, an error in the last row is still
// an error reply, and a slow client holds neither a connection nor a snapshot.
type spool struct {
	head    []byte
	file    *os.File // the bytes after head; nil when there are none
	tail    *bufio.Writer
	length  int64    // of head and file
	buffers *buffers // the owner of the memory of head; nil for none
}

// begin makes the spool use the body of b until it is closed.
func (s *spool) begin(b *buffers) { s.buffers, s.head = b, b.body[:0] }

// set stores a body that is one value.
func (s *spool) set(p []byte) {
	s.head, s.length = append(s.head, p...), int64(len(p))
}

func (s *spool) write(p []byte) error {
	s.length += int64(len(p))
	if s.file == nil {
		if len(s.head)+len(p) <= maxSpoolMemory {
			s.head = append(s.head, p...)
			return nil
		}
		if err := s.spill(); err != nil {
			return err
		}
	}
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
	if _, err := w.Write(s.head); err != nil || s.file == nil {
		return
	}
	_, _ = io.Copy(w, s.file) // the client may have disconnected
}

// close returns the memory to its buffers and closes the file. It may be called twice.
func (s *spool) close() {
	if s.buffers != nil {
		s.buffers.body, s.buffers = s.head, nil
	}
	if s.file != nil {
		_ = s.file.Close() // the file has no name and no other user
	}
}
