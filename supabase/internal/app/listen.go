package app

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"syscall"
	"time"

	"daawo/supabase/internal/gateway"
)

// Bounds of the public port. Bodies and replies are paced by the gateway.
const (
	maxConnections = 4096
	maxOfOne       = 512      // connections of one address, unless it is a proxy's
	maxHeader      = 32 << 10 // bytes; Go answers 431 beyond it
	headerTimeout  = 10 * time.Second
	idleTimeout    = 2 * time.Minute
	drainTimeout   = 10 * time.Second // how long a shutdown waits for requests in flight
)

// listen opens a port. When it is taken and another will do, a free one is picked.
func listen(host string, port uint16, anyPort bool) (net.Listener, error) {
	l, err := net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(int(port))))
	if errors.Is(err, syscall.EADDRINUSE) && anyPort {
		l, err = net.Listen("tcp", net.JoinHostPort(host, "0"))
	}
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("port %d is taken by another program: stop it, or choose another with --port (0 picks a free one)", port)
	case errors.Is(err, syscall.EACCES):
		return nil, fmt.Errorf("port %d may not be opened by this user: ports below 1024 need root or the capability CAP_NET_BIND_SERVICE", port)
	}
	return l, err
}

// portOf is the port that a listener got.
func portOf(l net.Listener) int { return l.Addr().(*net.TCPAddr).Port }

// server is an http.Server with our bounds.
func server(h http.Handler, logger *slog.Logger) *http.Server {
	return &http.Server{
		Handler:           h,
		ReadHeaderTimeout: headerTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          log.New(debugWriter{logger}, "", 0),
	}
}

// debugWriter keeps what clients provoke (broken handshakes, resets) out of the operator's sight, and addresses with it.
type debugWriter struct{ log *slog.Logger }

func (w debugWriter) Write(p []byte) (int, error) {
	w.log.Debug("connection", "event", "error")
	return len(p), nil
}

// visitors are the bounds of a port that strangers reach.
func (a *App) visitors() gateway.ConnLimits {
	return gateway.ConnLimits{Total: maxConnections, PerAddress: maxOfOne, Proxies: a.cfg.Proxies}
}

// serve answers on a listener, by HTTPS when secure is given, until close is called, which lets requests in flight end.
func serve(s *http.Server, l net.Listener, b gateway.ConnLimits, secure *tls.Config, failed func(error)) (closeIt func(context.Context) error) {
	l, s.ConnState = gateway.LimitListener(l, b)
	if secure != nil {
		l = tls.NewListener(l, secure) // outermost: net/http must see that it speaks TLS, for HTTP/2 and Request.TLS
	}
	go func() {
		if err := s.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			failed(err)
		}
	}()
	return func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, drainTimeout)
		defer cancel()
		if err := s.Shutdown(ctx); err != nil {
			_ = s.Close()
			return errors.New("requests were cut off: they did not end in time")
		}
		return nil
	}
}
