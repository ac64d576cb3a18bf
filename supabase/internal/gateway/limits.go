package gateway

import (
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/go-chi/httprate"
)

// Limits bounds what one client, and all clients together, may ask for.
type Limits struct {
	AuthBody int64 // bytes of a request to auth
	RESTBody int64 // bytes of a request to REST
	InFlight int   // requests of each service served at once, more are answered 503; functions and realtime count their own

	Rate     int // API requests of one address in ten seconds; negative means no limit
	AuthRate int // the same for auth

	Stall   time.Duration // time in which a client must send or take something
	MinRate int64         // bytes a second that a body must arrive with, but for one Stall
}

// defaultLimits are for a small public server. Thousands of readers may share one address behind a carrier's NAT, so
// the rates stop floods and not crowds.
var defaultLimits = Limits{
	AuthBody: 1 << 20,
	RESTBody: 32 << 20,
	InFlight: 256,
	Rate:     2000,
	AuthRate: 300,
	Stall:    10 * time.Second,
	MinRate:  512,
}

func (l Limits) withDefaults() Limits {
	d := defaultLimits
	set(&d.AuthBody, l.AuthBody)
	set(&d.RESTBody, l.RESTBody)
	set(&d.InFlight, l.InFlight)
	set(&d.Rate, l.Rate)
	set(&d.AuthRate, l.AuthRate)
	set(&d.Stall, l.Stall)
	set(&d.MinRate, l.MinRate)
	return d
}

func set[T comparable](to *T, v T) {
	var zero T
	if v != zero {
		*to = v
	}
}

// concurrent bounds the requests of a service that are served at once. Each service has places of its own: whoever fills
// those of one does not keep reports from arriving.
func (g *gateway) concurrent(service string) func(http.Handler) http.Handler {
	switch service {
	case "realtime", // sockets stay open for hours, and Realtime counts them itself
		"functions": // each has places and a queue of its own: nobody who floods one takes the places of the others
		return func(next http.Handler) http.Handler { return next }
	}
	places := make(chan struct{}, g.Limits.InFlight)
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			select {
			case places <- struct{}{}:
				defer func() { <-places }()
				next.ServeHTTP(w, r)
			default:
				w.Header().Set("Retry-After", "1")
				writeError(w, http.StatusServiceUnavailable, "Too many requests are being served. Try again in a moment.")
			}
		})
	}
}

// rated bounds the requests of one address.
func (g *gateway) rated(service string) func(http.Handler) http.Handler {
	rate := g.Limits.Rate
	if service == "auth" {
		rate = g.Limits.AuthRate
	}
	if rate < 0 {
		return func(next http.Handler) http.Handler { return next }
	}
	return httprate.LimitBy(rate, 10*time.Second, clientKey,
		httprate.WithLimitHandler(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "10")
			writeError(w, http.StatusTooManyRequests, "Too many requests from this address. Try again in ten seconds.")
		}),
	)
}

// clientKey counts a client by its address (an IPv6 one by its network), which forwarded has put into RemoteAddr when a
// trusted proxy told it. It is held in memory for the window and nowhere else.
func clientKey(r *http.Request) (string, error) {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		host = r.RemoteAddr
	}
	return httprate.CanonicalizeIP(host), nil
}

// sized bounds the body of a request; 0 leaves that to the service, which has limits of its own.
func sized(limit int64, next http.Handler) http.Handler {
	if limit == 0 {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength > limit {
			writeError(w, http.StatusRequestEntityTooLarge, "The request is too large.")
			return
		}
		body := http.MaxBytesReader(w, r.Body, limit)
		if re, ok := w.(*reply); ok {
			body = &sizedBody{ReadCloser: body, to: re}
		}
		r.Body = body
		next.ServeHTTP(w, r)
	})
}

// sizedBody notes that the limit was met, so that the client is told 413 whatever the service makes of it.
type sizedBody struct {
	io.ReadCloser
	to *reply
}

func (b *sizedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		b.to.instead = &refusal{http.StatusRequestEntityTooLarge, "The request is too large."}
	}
	return n, err
}

// pacedBody cuts a client that trickles its body. It has stall to wait for; waiting uses that up, and n bytes give back
// n/minRate of it, never beyond stall: who began fast has nothing saved for later. Only the time in which the client is
// waited for counts, since a service may read as slowly as it likes. Reading to the end lifts the deadline, since the
// connection is then waited on for other reasons.
type pacedBody struct {
	io.ReadCloser
	to      *reply
	stall   time.Duration
	minRate int64
	used    time.Duration // of stall
	ended   bool
}

// errSlow is what a service sees of a client that was too slow.
var errSlow = errors.New("the request body arrived too slowly")

func (b *pacedBody) Read(p []byte) (int, error) {
	b.pace()
	begun := time.Now()
	n, err := b.ReadCloser.Read(p)
	b.used += time.Since(begun) - time.Duration(n)*time.Second/time.Duration(b.minRate)
	b.used = max(b.used, 0)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		b.to.instead = &refusal{http.StatusRequestTimeout, "The request arrived too slowly."}
		return n, errSlow
	}
	if err == io.EOF {
		b.ended = true
		_ = b.to.control.SetReadDeadline(time.Time{})
	}
	return n, err
}

// pace sets the deadline of the next byte. It is set before the reply, too: net/http reads what a service has left of a
// body, and would wait for it as long as the client likes.
func (b *pacedBody) pace() {
	if b.ended {
		return
	}
	// A writer without deadlines (in tests) has none; the body is then read without pace.
	_ = b.to.control.SetReadDeadline(time.Now().Add(b.stall - b.used))
}
