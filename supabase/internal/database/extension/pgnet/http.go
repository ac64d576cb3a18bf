package pgnet

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"
)

// Server sends the requests of the extension http while the statement waits. It speaks the protocol
// of Postgres on a unix socket, so that the extension reaches it with dblink's function in C.
type Server struct {
	listener *net.UnixListener
	file     string
	made     fs.FileInfo // of file
	http     *client
	log      *slog.Logger
	ctx      context.Context // ends all requests
	cancel   context.CancelFunc
	conns    sync.WaitGroup
}

// Serve begins to answer in the folder of Postgres' socket. That folder is private to the user that
// runs Postgres, so no other user of the machine can send requests.
func Serve(socketDir string, targets Targets, log *slog.Logger) (*Server, error) {
	dir := filepath.Join(socketDir, "http")
	file := filepath.Join(dir, ".s.PGSQL.1")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	// left by a process that was killed, or of the one that this process replaces
	if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: file, Net: "unix"})
	if err != nil {
		return nil, err
	}
	l.SetUnlinkOnClose(false)
	made, err := os.Stat(file)
	if err = errors.Join(err, os.Chmod(file, 0o666)); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	s := &Server{listener: l, file: file, made: made, http: newClient(targets), log: log}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	s.conns.Go(s.accept)
	return s, nil
}

// Close ends all requests, and removes the socket unless it is another process's.
func (s *Server) Close(context.Context) error {
	s.cancel()
	err := s.listener.Close()
	s.conns.Wait()
	s.http.close()
	if now, e := os.Stat(s.file); e == nil && os.SameFile(now, s.made) {
		err = errors.Join(err, os.Remove(s.file), os.Remove(filepath.Dir(s.file)))
	}
	return err
}

func (s *Server) accept() {
	for {
		conn, err := s.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			s.log.Warn("http: accepting a connection failed; retrying", "error", err)
			select {
			case <-s.ctx.Done():
			case <-time.After(time.Second):
			}
			continue
		}
		s.conns.Go(func() { s.serve(conn) })
	}
}

// serve answers the statements of one connection. The end of the connection ends its request.
func (s *Server) serve(conn net.Conn) {
	ctx, cancel := context.WithCancel(s.ctx)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	defer conn.Close()
	wire := pgproto3.NewBackend(conn, conn)
	if err := greet(conn, wire); err != nil {
		return
	}
	queries := make(chan string)
	go func() {
		defer cancel()
		for {
			m, err := wire.Receive()
			if err != nil {
				return
			}
			query, ok := m.(*pgproto3.Query)
			if !ok { // Terminate
				return
			}
			select {
			case queries <- query.String:
			case <-ctx.Done():
				return
			}
		}
	}()
	for {
		select {
		case <-ctx.Done():
			return
		case query := <-queries:
			for _, m := range reply(s.answer(ctx, query)) {
				wire.Send(m)
			}
			if wire.Flush() != nil {
				return
			}
		}
	}
}

// greet accepts a client without a password.
func greet(conn net.Conn, wire *pgproto3.Backend) error {
	for {
		m, err := wire.ReceiveStartupMessage()
		if err != nil {
			return err
		}
		switch m.(type) {
		case *pgproto3.StartupMessage:
			wire.Send(&pgproto3.AuthenticationOk{})
			wire.Send(&pgproto3.ParameterStatus{Name: "client_encoding", Value: "UTF8"})
			wire.Send(&pgproto3.ReadyForQuery{TxStatus: 'I'})
			return wire.Flush()
		case *pgproto3.SSLRequest, *pgproto3.GSSEncRequest:
			if _, err := conn.Write([]byte{'N'}); err != nil {
				return err
			}
		default:
			return errors.New("not a client of the extension http")
		}
	}
}

// columns are an answer's columns.
var columns = []string{"status", "content_type", "headers", "content", "error"}

// reply returns the messages of a result with one row. Nil is null.
func reply(row [][]byte) []pgproto3.BackendMessage {
	const textOID = 25
	description := &pgproto3.RowDescription{}
	for _, name := range columns {
		description.Fields = append(description.Fields,
			pgproto3.FieldDescription{Name: []byte(name), DataTypeOID: textOID, DataTypeSize: -1, TypeModifier: -1})
	}
	return []pgproto3.BackendMessage{description, &pgproto3.DataRow{Values: row},
		&pgproto3.CommandComplete{CommandTag: []byte("SELECT 1")}, &pgproto3.ReadyForQuery{TxStatus: 'I'}}
}

// call is a request of the extension http.
type call struct {
	Method      string            `json:"method"`
	URI         string            `json:"uri"`
	Headers     [][2]string       `json:"headers"`
	ContentType string            `json:"content_type"`
	Content     *string           `json:"content"`
	Options     map[string]string `json:"options"`
	Limit       float64           `json:"limit"` // milliseconds that the statement may take; 0 is no limit
}

// answer sends a request and returns the columns of its answer.
func (s *Server) answer(ctx context.Context, text string) [][]byte {
	var c call
	err := json.Unmarshal([]byte(text), &c)
	if err == nil {
		var row [][]byte
		if row, err = s.send(ctx, c); err == nil {
			return row
		}
	}
	return [][]byte{nil, nil, nil, nil, []byte(err.Error())}
}

// defaultTimeout is pg_net's default.
const defaultTimeout = 5 * time.Second

func (s *Server) send(ctx context.Context, c call) ([][]byte, error) {
	timeout, err := c.timeout()
	if err != nil {
		return nil, err
	}
	var t timing
	ctx, cancel := context.WithTimeout(t.trace(ctx), timeout)
	defer cancel()
	got, content, err := s.http.fetch(ctx, c.outgoing())
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		//lint:ignore ST1005 callers know the texts of curl
		return nil, fmt.Errorf("Operation timed out after %d milliseconds", timeout.Milliseconds())
	case err != nil:
		return nil, errors.New(describe(err))
	}
	headers := [][2]string{}
	for name, values := range got.Header {
		for _, value := range values {
			headers = append(headers, [2]string{name, value})
		}
	}
	list, err := json.Marshal(headers)
	if err != nil {
		return nil, err
	}
	var kind []byte
	if value := got.Header.Get("Content-Type"); value != "" {
		kind = []byte(strings.ToValidUTF8(value, "\uFFFD"))
	}
	return [][]byte{[]byte(strconv.Itoa(got.StatusCode)), kind, list, []byte(text(string(content))), nil}, nil
}

// outgoing returns the request for the client.
func (c call) outgoing() outgoing {
	out := outgoing{method: c.Method, url: c.URI, header: http.Header{}}
	out.header.Set("User-Agent", cmp.Or(c.Options["CURLOPT_USERAGENT"], httpAgent))
	if c.Content != nil {
		out.body = []byte(*c.Content)
	}
	if c.ContentType != "" {
		out.header.Set("Content-Type", c.ContentType)
	}
	for _, h := range c.Headers {
		out.header.Add(h[0], h[1])
	}
	return out
}

// httpAgent is the default of User-Agent.
const httpAgent = "pgsql-http/1.6"

// timeout returns how long the request may take: not longer than the statement, because dblink
// waits for the end of the request before it ends a cancelled statement.
func (c call) timeout() (time.Duration, error) {
	timeout := defaultTimeout
	for _, option := range []struct {
		name string
		unit time.Duration
	}{{"CURLOPT_TIMEOUT", time.Second}, {"CURLOPT_TIMEOUT_MS", time.Millisecond}} {
		text := c.Options[option.name]
		if text == "" {
			continue
		}
		n, err := strconv.ParseUint(text, 10, 31)
		if err != nil {
			return 0, fmt.Errorf("%s: %q is no number", option.name, text)
		}
		if timeout = time.Duration(n) * option.unit; n == 0 || timeout > longest {
			timeout = longest
		}
	}
	if limit := time.Duration(c.Limit * float64(time.Millisecond)); limit > 0 {
		timeout = min(timeout, limit)
	}
	return timeout, nil
}
