package database

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strconv"
	"sync"
	"time"

	"daawo/supabase/internal/app/datadir"
	"daawo/supabase/internal/app/handover"
	"daawo/supabase/internal/app/installation"
)

// Codes of the first message of a connection in Postgres' protocol.
const (
	codeCancel     = 80877102
	codeTLS        = 80877103
	codeGSS        = 80877104
	tlsRecord      = 0x16 // first byte of a TLS handshake, with sslnegotiation=direct
	maxStartup     = 10_000
	startLimit     = 10 * time.Second // for the handshake and the first message
	maxConnections = 100              // connections at once; Postgres allows fewer
)

// tlsFront serves TLS on the port of Postgres and passes the connections on to the embedded server,
// which listens on loopback without TLS: its OpenSSL no longer gets security fixes. Without TLS,
// only programs of this machine may connect.
type tlsFront struct {
	listener net.Listener
	config   *tls.Config
	target   string
	log      *slog.Logger
	slots    chan struct{}
	open     sync.WaitGroup
	life     context.Context
}

// openTLSFront listens on the port of Postgres. target is the address of the embedded server.
func openTLSFront(in installation.Installation, sockets *handover.Sockets, target string) (*tlsFront, error) {
	pair, err := certificate(in)
	if err != nil {
		return nil, fmt.Errorf("--db-tls: %w", err)
	}
	l, err := sockets.Listen(handover.DatabaseSocket, in.Config.Host, in.Config.DB.Port, in.MayMove("db-port"))
	if err != nil {
		return nil, err
	}
	life, cancel := context.WithCancel(context.Background())
	f := &tlsFront{
		listener: l, target: target, log: in.Log, slots: make(chan struct{}, maxConnections), life: life,
		config: &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12,
			NextProtos: []string{"postgresql"}},
	}
	f.open.Go(f.accept)
	in.OnClose("database TLS", func(context.Context) error {
		cancel()
		err := l.Close()
		f.open.Wait()
		return err
	})
	return f, nil
}

// certificate returns the certificate of [api.tls], or a local one.
func certificate(in installation.Installation) (tls.Certificate, error) {
	if in.Config.API.TLS.Enabled {
		return in.Certificate()
	}
	return datadir.Certificate(in.Data, "database")
}

func (f *tlsFront) accept() {
	for {
		conn, err := f.listener.Accept()
		if err != nil {
			return // closed
		}
		select {
		case f.slots <- struct{}{}:
			f.open.Go(func() {
				defer func() { <-f.slots }()
				defer conn.Close()
				if err := f.serve(conn); err != nil && f.life.Err() == nil {
					f.log.Debug("database connection", "error", err)
				}
			})
		default:
			_ = conn.Close() // too many
		}
	}
}

// peeked is a connection whose first bytes have been read into a buffer.
type peeked struct {
	net.Conn
	r *bufio.Reader
}

// Read reads the buffered bytes first.
func (p peeked) Read(b []byte) (int, error) { return p.r.Read(b) }

// serve answers the request for TLS and passes the connection on.
func (f *tlsFront) serve(raw net.Conn) error {
	if err := raw.SetDeadline(time.Now().Add(startLimit)); err != nil {
		return err
	}
	var conn net.Conn = peeked{raw, bufio.NewReader(raw)}
	for secure := false; ; {
		r := conn.(peeked).r
		first, err := r.Peek(1)
		if err != nil {
			return err
		}
		if first[0] == tlsRecord && !secure {
			conn, secure = f.secured(conn), true
			continue
		}
		head, err := r.Peek(8)
		if err != nil {
			return err
		}
		length, code := binary.BigEndian.Uint32(head), binary.BigEndian.Uint32(head[4:])
		switch {
		case length < 8 || length > maxStartup:
			return errors.New("not a connection of Postgres")
		case code == codeTLS && !secure, code == codeGSS:
			if _, err := r.Discard(8); err != nil {
				return err
			}
			answer := []byte("S")
			if code == codeGSS {
				answer = []byte("N")
			}
			if _, err := conn.Write(answer); err != nil {
				return err
			}
			if code == codeTLS {
				if r.Buffered() > 0 {
					return errors.New("bytes before the TLS handshake") // another party could have inserted them
				}
				conn, secure = f.secured(conn), true
			}
		case !secure && code != codeCancel && !fromLoopback(raw):
			_, err := conn.Write(fatal("28000", "this server accepts only connections with TLS: use sslmode=require"))
			return err
		default:
			return f.pass(conn, raw)
		}
	}
}

// secured returns the connection with TLS. The handshake happens at the first read.
func (f *tlsFront) secured(conn net.Conn) net.Conn {
	t := tls.Server(conn, f.config)
	return peeked{t, bufio.NewReader(t)}
}

func fromLoopback(conn net.Conn) bool {
	addr, ok := conn.RemoteAddr().(*net.TCPAddr)
	return ok && addr.IP.IsLoopback()
}

// fatal returns an error message of Postgres' protocol.
func fatal(code, message string) []byte {
	body := "SFATAL\x00VFATAL\x00C" + code + "\x00M" + message + "\x00\x00"
	return append(binary.BigEndian.AppendUint32([]byte("E"), uint32(len(body)+4)), body...)
}

// pass copies between the client and the server until one of them ends.
func (f *tlsFront) pass(client net.Conn, raw net.Conn) error {
	server, err := net.DialTimeout("tcp", f.target, startLimit)
	if err != nil {
		_, _ = client.Write(fatal("57P03", "the database does not reply"))
		return err
	}
	defer server.Close()
	if err := raw.SetDeadline(time.Time{}); err != nil {
		return err
	}
	stop := context.AfterFunc(f.life, func() { _, _ = raw.Close(), server.Close() })
	defer stop()
	done := make(chan error, 2)
	go func() { _, err := io.Copy(server, client); _ = server.(*net.TCPConn).CloseWrite(); done <- err }()
	go func() { _, err := io.Copy(client, server); _ = raw.Close(); done <- err }()
	err = <-done
	_ = raw.Close()
	_ = server.Close()
	<-done
	return err
}

// port returns the port on which the front listens.
func (f *tlsFront) port() int { return handover.Port(f.listener) }

// address returns the loopback address of a port.
func address(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }
