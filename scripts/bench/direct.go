package main

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"sync"
)

// direct is an http.RoundTripper that writes a request and reads its reply in the goroutine of the
// caller. The transport of net/http has two goroutines per connection, whose switches cost more
// processor time than a server's short reply. The servers share the cores with the client, so a
// cheap client hides less of the difference between them.
type direct struct {
	mu   sync.Mutex
	idle map[string][]*directConn // by host; the last is the most recently used
}

type directConn struct {
	net.Conn
	reader *bufio.Reader
	writer *bufio.Writer
}

func (d *direct) RoundTrip(r *http.Request) (*http.Response, error) {
	for {
		conn, used, err := d.take(r.URL.Host)
		if err != nil {
			return nil, err
		}
		res, err := conn.send(r)
		if err == nil {
			res.Body = &directBody{ReadCloser: res.Body,
				release: func(whole bool) { d.release(r.URL.Host, conn, whole && !res.Close) }}
			return res, nil
		}
		_ = conn.Close()
		if !used || r.Context().Err() != nil {
			return nil, err
		}
		// The server has closed a connection that was idle for too long.
		if r.GetBody != nil {
			if r.Body, err = r.GetBody(); err != nil {
				return nil, err
			}
		}
	}
}

// take returns an idle connection or a new one.
func (d *direct) take(host string) (conn *directConn, used bool, err error) {
	d.mu.Lock()
	if n := len(d.idle[host]); n > 0 {
		conn, d.idle[host] = d.idle[host][n-1], d.idle[host][:n-1]
	}
	d.mu.Unlock()
	if conn != nil {
		return conn, true, nil
	}
	c, err := net.Dial("tcp", host)
	if err != nil {
		return nil, false, err
	}
	return &directConn{c, bufio.NewReader(c), bufio.NewWriter(c)}, false, nil
}

func (d *direct) release(host string, conn *directConn, reusable bool) {
	if !reusable {
		_ = conn.Close()
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.idle[host] = append(d.idle[host], conn)
}

// send sends a request and reads the header of the reply.
func (c *directConn) send(r *http.Request) (*http.Response, error) {
	deadline, _ := r.Context().Deadline() // zero for none
	if err := c.SetDeadline(deadline); err != nil {
		return nil, err
	}
	if err := r.Write(c.writer); err != nil {
		return nil, err
	}
	if err := c.writer.Flush(); err != nil {
		return nil, err
	}
	return http.ReadResponse(c.reader, r)
}

// directBody is the body of a reply. Close releases its connection.
type directBody struct {
	io.ReadCloser
	release func(whole bool)
	once    sync.Once
}

func (b *directBody) Close() error {
	n, err := io.Copy(io.Discard, io.LimitReader(b.ReadCloser, 1)) // a body that was read to its end has no more
	b.once.Do(func() { b.release(n == 0 && err == nil) })
	return err
}
