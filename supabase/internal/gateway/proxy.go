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

// Proxy serves a service that runs elsewhere. While nothing listens there yet it waits, up to patience: a request
// that could not be delivered can be sent again whatever its method. Upgrades (WebSocket), streams and trailers pass.
func Proxy(target *url.URL, patience time.Duration, log *slog.Logger) http.Handler {
	transport := &http.Transport{
		DialContext:           patientDialer(patience),
		MaxIdleConnsPerHost:   64,
		IdleConnTimeout:       90 * time.Second,
		ResponseHeaderTimeout: 155 * time.Second, // a function may take 150 s
		DisableCompression:    true,              // bytes pass as they are
	}
	return &httputil.ReverseProxy{
		Transport:     transport,
		FlushInterval: -1,
		Rewrite: func(p *httputil.ProxyRequest) {
			p.SetURL(target)
			for _, name := range []string{"X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Forwarded-Port", "X-Forwarded-Prefix"} {
				if v := p.In.Header.Get(name); v != "" {
					p.Out.Header.Set(name, v)
				}
			}
		},
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			if errors.Is(err, context.Canceled) {
				panic(http.ErrAbortHandler) // the client is gone
			}
			log.WarnContext(r.Context(), "a service does not answer", "target", target.Host, "error", err)
			w.Header().Set("Retry-After", "1")
			writeError(w, http.StatusServiceUnavailable, "The service is not available. Try again in a moment.")
		},
	}
}

// patientDialer dials again while the connection is refused or the name is not there yet, at growing intervals.
func patientDialer(patience time.Duration) func(context.Context, string, string) (net.Conn, error) {
	dialer := &net.Dialer{Timeout: 5 * time.Second, KeepAlive: 30 * time.Second}
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		deadline := time.Now().Add(patience)
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
