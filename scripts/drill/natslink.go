package main

import (
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// broker is a NATS server that can be killed and started again at the same address.
type broker struct {
	port   int
	server *server.Server
}

func (b *broker) address() string { return fmt.Sprintf("127.0.0.1:%d", b.port) }

// start starts the server, at the port of the last start.
func (b *broker) start() error {
	port := b.port
	if port == 0 {
		port = server.RANDOM_PORT
	}
	s, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: port, NoLog: true, NoSigs: true})
	if err != nil {
		return err
	}
	s.Start()
	if !s.ReadyForConnections(10 * time.Second) {
		return errors.New("NATS does not start")
	}
	b.server, b.port = s, s.Addr().(*net.TCPAddr).Port
	return nil
}

func (b *broker) stop() {
	if b.server != nil {
		b.server.Shutdown()
		b.server.WaitForShutdown()
	}
}

// link forwards connections to a target. It can be cut, as when a host is gone, or silent, as when
// a network drops packets.
type link struct {
	listener net.Listener
	target   string

	mu    sync.Mutex
	wake  *sync.Cond
	cut   bool
	quiet bool
	conns map[net.Conn]bool
}

func newLink(target string) (*link, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	k := &link{listener: l, target: target, conns: map[net.Conn]bool{}}
	k.wake = sync.NewCond(&k.mu)
	go k.accept()
	return k, nil
}

func (k *link) address() string { return k.listener.Addr().String() }

func (k *link) accept() {
	for {
		conn, err := k.listener.Accept()
		if err != nil {
			return
		}
		go k.forward(conn)
	}
}

// forward connects a client to the target and copies in both directions.
func (k *link) forward(client net.Conn) {
	if !k.add(client) {
		return
	}
	defer k.remove(client)
	target, err := net.DialTimeout("tcp", k.target, 5*time.Second)
	if err != nil {
		return
	}
	if !k.add(target) {
		return
	}
	defer k.remove(target)
	back := make(chan struct{})
	go func() {
		defer close(back)
		k.copy(client, target)
	}()
	k.copy(target, client)
	<-back
}

// add registers a connection, or closes it if the link is cut.
func (k *link) add(conn net.Conn) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.cut {
		_ = conn.Close()
		return false
	}
	k.conns[conn] = true
	return true
}

func (k *link) remove(conn net.Conn) {
	k.mu.Lock()
	defer k.mu.Unlock()
	delete(k.conns, conn)
	_ = conn.Close()
}

// copy copies until one side ends, and then closes both.
func (k *link) copy(to, from net.Conn) {
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		k.mu.Lock()
		for k.quiet && !k.cut {
			k.wake.Wait()
		}
		k.mu.Unlock()
		if err == nil {
			_, err = to.Write(buffer[:n])
		}
		if err != nil {
			_, _ = to.Close(), from.Close()
			return
		}
	}
}

// set cuts the link, silences it, or heals it.
func (k *link) set(cut, quiet bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.cut, k.quiet = cut, quiet
	if cut {
		for conn := range k.conns {
			_ = conn.Close()
		}
	}
	k.wake.Broadcast()
}

func (k *link) close() {
	_ = k.listener.Close()
	k.set(true, false)
}
