package front

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"syscall"
	"time"

	"daawo/supabase/internal/app/installation"
	"daawo/supabase/internal/base/config"
	"daawo/supabase/internal/gateway"
)

// Limits of the public port. The gateway limits the speed of bodies and replies.
const (
	MaxConnections = 4096
	maxPerAddress  = 512      // connections of one address, unless it is a proxy
	maxHeader      = 32 << 10 // bytes; Go replies 431 to more
	headerTimeout  = 10 * time.Second
	idleTimeout    = 2 * time.Minute
)

// httpServer returns an http.Server with the limits of the public port.
func httpServer(h http.Handler, logger *slog.Logger) *http.Server {
	return &http.Server{
		Handler:           h,
		ReadHeaderTimeout: headerTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          log.New(debugWriter{logger}, "", 0),
	}
}

// debugWriter receives the log of net/http. Clients cause most of its messages (broken handshakes,
// resets) and they contain addresses, so it logs only that there was an error, at the level debug.
type debugWriter struct{ log *slog.Logger }

func (w debugWriter) Write(p []byte) (int, error) {
	w.log.Debug("connection", "event", "error")
	return len(p), nil
}

// connLimits returns the limits of a port that unknown clients can reach.
func connLimits(cfg *config.Config) gateway.ConnLimits {
	total := connectionsFor(openFiles())
	return gateway.ConnLimits{Total: total, PerAddress: min(maxPerAddress, max(total/4, 1)), Proxies: cfg.Proxies}
}

// ownFiles is the number of open files that the program needs besides connections: databases, logs,
// its own files.
const ownFiles = 256

// connectionsFor returns the number of connections for a limit of open files (RLIMIT_NOFILE). A
// connection may need a second file, for a body on its way or for the service behind it.
func connectionsFor(files uint64) int {
	if files >= ownFiles+2*MaxConnections {
		return MaxConnections
	}
	return max(int(files)-ownFiles, 64) / 2
}

// openFiles returns the limit of open files of this process. Go has raised it to the hard limit at
// the start.
func openFiles() uint64 {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil {
		return ownFiles + 2*MaxConnections
	}
	return uint64(limit.Cur)
}

// served is a listener with its server.
type served struct {
	server   *http.Server
	limited  gateway.Listener
	replaced atomic.Bool // another process accepts the connections
}

// quietBeforeClose is how long a connection must have had no request before a replaced process
// closes it: longer than a client with work needs for its next request, which gets a reply and the
// word that the connection ends.
const quietBeforeClose = time.Second

// serve serves HTTP, or HTTPS if secure is not nil, on a listener until close is called.
func serve(s *http.Server, l net.Listener, limits gateway.ConnLimits, secure *tls.Config, failed func(error)) *served {
	v := &served{server: s, limited: gateway.LimitListener(l, limits)}
	s.ConnState = v.limited.ConnState
	s.Handler = v.handler(s.Handler)
	l = v.limited
	if secure != nil {
		l = tls.NewListener(l, secure) // outermost: net/http must see that it speaks TLS, for HTTP/2 and Request.TLS
	}
	go func() {
		if err := s.Serve(l); !errors.Is(err, http.ErrServerClosed) && !v.replaced.Load() {
			failed(err)
		}
	}()
	return v
}

// handler ends each connection with its next reply when another process accepts the connections.
// HTTP/2 ends its connection with GOAWAY, after the requests in flight.
func (v *served) handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if v.replaced.Load() && r.Header.Get("Upgrade") == "" {
			w.Header().Set("Connection", "close")
		}
		next.ServeHTTP(w, r)
	})
}

// standDown stops accepting, because another process accepts the connections of this socket.
func (v *served) standDown() {
	v.replaced.Store(true)
	v.limited.StopAccepting()
}

// close waits for the requests in flight, but not longer than installation.DrainTimeout. After
// standDown it also waits for the next request of connections that are in use.
func (v *served) close(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, installation.DrainTimeout)
	defer cancel()
	if v.replaced.Load() {
		v.limited.AwaitQuiet(ctx, quietBeforeClose)
	}
	if err := v.server.Shutdown(ctx); err != nil {
		_ = v.server.Close()
		return fmt.Errorf("requests in flight did not end within %v and were aborted", installation.DrainTimeout)
	}
	return nil
}

// Serve serves HTTP on a listener until the stack closes, and stands down when another
// process serves.
func Serve(in installation.Installation, name string, h http.Handler, l net.Listener, limits gateway.ConnLimits,
	secure *tls.Config) {
	v := serve(httpServer(h, in.Log), l, limits, secure, in.Fail)
	in.OnStandDown(v.standDown)
	in.OnClose(name, v.close)
}
