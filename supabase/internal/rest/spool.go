package rest

import (
	"bufio"
	"io"
	"net/http"
	"os"
)

// A result without a known small bound on its rows is not made one value by Postgres: it comes row by row and is gathered
// in a spool, in memory up to spoolRoom bytes and beyond that in a file. So however long it is, neither Postgres nor this
// process holds it whole; the reply still has its status, range and length before its first byte, an error in the last
// row is still an error reply, and a slow reader keeps neither a connection nor a snapshot.
const spoolRoom = 1 << 20

// manyRows is the limit up to which a result is one value.
const manyRows = 1000

// spool gathers the body of a reply.
type spool struct {
	head   []byte
	file   *os.File // what follows head; nil when nothing does
	beyond *bufio.Writer
	length int64 // of both
	room   *room // lends the memory of head, nil for none
}

// begin makes the room's memory the spool's until it is closed.
func (s *spool) begin(r *room) { s.room, s.head = r, r.body[:0] }

// whole takes a body that is one value.
func (s *spool) whole(p []byte) {
	s.head, s.length = append(s.head, p...), int64(len(p))
}

func (s *spool) write(p []byte) error {
	s.length += int64(len(p))
	if s.file == nil {
		if len(s.head)+len(p) <= spoolRoom {
			s.head = append(s.head, p...)
			return nil
		}
		if err := s.spill(); err != nil {
			return err
		}
	}
	_, err := s.beyond.Write(p)
	return err
}

// spill opens a file that has no name any more: whatever happens to the process, nothing stays behind.
func (s *spool) spill() error {
	f, err := os.CreateTemp("", "daawo-rest-")
	if err != nil {
		return err
	}
	if err := os.Remove(f.Name()); err != nil {
		_ = f.Close() // the first error is told
		return err
	}
	s.file, s.beyond = f, bufio.NewWriterSize(f, 64<<10)
	return nil
}

// finish makes the spool ready for sending.
func (s *spool) finish() error {
	if s.file == nil {
		return nil
	}
	if err := s.beyond.Flush(); err != nil {
		return err
	}
	_, err := s.file.Seek(0, io.SeekStart)
	return err
}

// send writes the body. It has no error: when the client is gone there is nobody to tell.
func (s *spool) send(w http.ResponseWriter) {
	if _, err := w.Write(s.head); err != nil || s.file == nil {
		return
	}
	_, _ = io.Copy(w, s.file) // the client may be gone
}

func (s *spool) close() {
	if s.room != nil {
		s.room.body, s.room = s.head, nil
	}
	if s.file != nil {
		_ = s.file.Close() // it was only ours
	}
}
