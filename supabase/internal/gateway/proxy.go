package gateway

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"time"
)

// Proxy forwards requests to a service that runs elsewhere. If the service does not listen yet, it
// retries the connection for startTimeout; that is safe for every method, because nothing was sent.
// It supports upgrades (WebSocket), streams and trailers.
func Proxy(target *url.URL, startTimeout time.Duration, log *slog.Logger) http.Handler {
	transport := &http.Transport{
		DialContext:           retryingDialer(startTimeout),
		MaxIdleConnsPerHost:   64,
		IdleConnTimeout:       90 * time.Second,
		ResponseHeaderTimeout: 155 * time.Second, // a function may take 150 s
		DisableCompression:    true,              // forward the bytes unchanged
	}
	return &httputil.ReverseProxy{
		Transport:     transport,
		FlushInterval: -1,
		Rewrite: func(p *httputil.ProxyRequest) {
			p.SetURL(target)
			for _, name := range []string{"X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto",
				"X-Forwarded-Port", "X-Forwarded-Prefix"} {
				if v := p.In.Header.Get(name); v != "" {
					p.Out.Header.Set(name, v)
				}
			}
		},
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			if errors.Is(err, context.Canceled) {
				panic(http.ErrAbortHandler) // the client has disconnected
			}
			log.WarnContext(r.Context(), "service unreachable", "target", target.Host, "error", err)
			w.Header().Set("Retry-After", "1")
			writeError(w, http.StatusServiceUnavailable, "The service is not available. Try again in a moment.")
		},
	}
}

// retryingDialer dials again, at growing intervals, while the connection is refused or the name
// does not resolve.
func retryingDialer(timeout time.Duration) func(context.Context, string, string) (net.Conn, error) {
	dialer := &net.Dialer{Timeout: 5 * time.Second, KeepAlive: 30 * time.Second}
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		deadline := time.Now().Add(timeout)
		wait := 50 * time.Millisecond
		for {
			conn, err := dialer.DialContext(ctx, network, address)
			if err == nil || ctx.Err() != nil || time.Now().Add(wait).After(deadline) {
				return conn, err
			}
			select {
			case <-ctx.Done():
				return nil, err
			case <-time.After(wait):
			}
			wait = min(2*wait, time.Second)
		}
	}
}
