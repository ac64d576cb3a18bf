package rest

import (
	"io"
	"net/http"
	"time"
)

// timedBody is a request body whose Read fails when the client sends nothing for the time-out.
type timedBody struct {
	io.ReadCloser
	conn    *http.ResponseController
	timeout time.Duration
}

// Read sets the deadline of the connection for each read. It removes the deadline at the end of the
// body, because the server goes on to read from the connection to notice a client that disconnects.
func (b *timedBody) Read(p []byte) (int, error) {
	_ = b.conn.SetReadDeadline(time.Now().Add(b.timeout)) // a ResponseWriter without deadlines has no time-out
	n, err := b.ReadCloser.Read(p)
	if err == io.EOF { // after another error the connection closes; without a deadline it would wait for the rest
		_ = b.conn.SetReadDeadline(time.Time{})
	}
	return n, err
}
