package gateway

import (
	"cmp"
	"errors"
	"io"
	"net/http"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/go-chi/httprate"

	"daawo/supabase/internal/base/network"
)

// Limits limits the requests of one client and of all clients together.
type Limits struct {
	AuthBody int64 // bytes of a request body to auth
	RESTBody int64 // bytes of a request body to REST, GraphQL, meta and Realtime
	// requests of each service served at once, others get 503; functions and Realtime have their
	// own limits
	InFlight int
	// requests of one home line through a trusted proxy, served at once by all services; as many as
	// a line may have connections without a proxy
	PerLine int

	Rate     int // requests of one address to each service in ten seconds; negative means no limit
	AuthRate int // the same for auth

	Stall   time.Duration // how long a client may send or read nothing
	MinRate int64         // bytes per second of a request body, after a credit of one Stall
}

// defaultLimits are for a small public server. Thousands of clients may share one address behind a
// carrier's NAT, so the rates are high enough for them and stop only floods.
var defaultLimits = Limits{
	AuthBody: 1 << 20,
	RESTBody: 32 << 20,
	InFlight: 256,
	PerLine:  512,
	Rate:     2000,
	AuthRate: 300,
	Stall:    10 * time.Second,
	MinRate:  512,
}

func (l Limits) withDefaults() Limits {
	d := defaultLimits
	return Limits{
		AuthBody: cmp.Or(l.AuthBody, d.AuthBody),
		RESTBody: cmp.Or(l.RESTBody, d.RESTBody),
		InFlight: cmp.Or(l.InFlight, d.InFlight),
		PerLine:  cmp.Or(l.PerLine, d.PerLine),
		Rate:     cmp.Or(l.Rate, d.Rate),
		AuthRate: cmp.Or(l.AuthRate, d.AuthRate),
		Stall:    cmp.Or(l.Stall, d.Stall),
		MinRate:  cmp.Or(l.MinRate, d.MinRate),
	}
}

// limitInFlight limits the requests that next serves at once; 0 means no limit. Each service has
// its own limit, so that load on one service does not affect the others.
func limitInFlight(limit int, next http.Handler) http.Handler {
	if limit == 0 {
		return next
	}
	slots := make(chan struct{}, limit)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case slots <- struct{}{}:
			defer func() { <-slots }()
			next.ServeHTTP(w, r)
		default:
			w.Header().Set("Retry-After", "1")
			writeError(w, http.StatusServiceUnavailable, "Too many concurrent requests; retry later.")
		}
	})
}

// rateWindow is the time over which limitRate counts requests.
const rateWindow = 10 * time.Second

// limitRate limits the requests of one address and of its networks per rateWindow. A negative rate
// means no limit. A request that is refused does not count for larger networks, so one address
// cannot use up the limit of its neighbours.
func limitRate(rate int) func(http.Handler) http.Handler {
	if rate < 0 {
		return func(next http.Handler) http.Handler { return next }
	}
	refuse := httprate.WithLimitHandler(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "10")
		writeError(w, http.StatusTooManyRequests, "Too many requests from this address. Try again in ten seconds.")
	})
	return func(next http.Handler) http.Handler {
		for _, share := range slices.Backward(network.Shares) { // the smallest network is asked first
			limited := httprate.LimitBy(rate*share, rateWindow, func(r *http.Request) (string, error) {
				return networkKey(r, share), nil
			}, refuse)(next)
			unlimited := next
			next = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if networkKey(r, share) == "" {
					unlimited.ServeHTTP(w, r)
					return
				}
				limited.ServeHTTP(w, r)
			})
		}
		return next
	}
}

// limitBody limits the body of a request. 0 means no limit, for services with their own.
func limitBody(limit int64, next http.Handler) http.Handler {
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
			body = &limitedBody{ReadCloser: body, reply: re}
		}
		r.Body = body
		next.ServeHTTP(w, r)
	})
}

// limitedBody overrides the service's reply with 413 when the body exceeds the limit.
type limitedBody struct {
	io.ReadCloser
	reply *reply
}

func (b *limitedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	var tooLarge *http.MaxBytesError
	if errors.As(err, &tooLarge) {
		b.reply.override.Store(&refusal{http.StatusRequestEntityTooLarge, "The request is too large."})
	}
	return n, err
}

// pacedBody aborts a request with a body that arrives too slowly. The client has a credit of stall.
// Waiting for the client uses it up and n bytes restore n/minRate seconds, capped at stall, so an
// initial burst earns no credit. Time between reads does not count, because services may read
// slowly. The end of the body removes the deadline. A service that replies early may still read in
// another goroutine while the reply calls setDeadline.
type pacedBody struct {
	io.ReadCloser
	reply   *reply
	stall   time.Duration
	minRate int64

	mu    sync.Mutex
	used  time.Duration // of the credit
	ended bool
}

// errSlow is the read error that a service gets when the body arrives too slowly.
var errSlow = errors.New("the request body arrived too slowly")

func (b *pacedBody) Read(p []byte) (int, error) {
	b.setDeadline()
	start := time.Now()
	n, err := b.ReadCloser.Read(p)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.used += time.Since(start) - time.Duration(n)*time.Second/time.Duration(b.minRate)
	b.used = max(b.used, 0)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		b.reply.override.Store(&refusal{http.StatusRequestTimeout, "The request arrived too slowly."})
		return n, errSlow
	}
	if err == io.EOF {
		b.ended = true
		_ = b.reply.control.SetReadDeadline(time.Time{})
	}
	return n, err
}

// setDeadline sets the deadline for the next read. It is also called before the reply, because
// net/http then reads the rest of the body without a deadline of its own.
func (b *pacedBody) setDeadline() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ended {
		return
	}
	// On failure (the writers of tests have no deadlines) there is no limit.
	_ = b.reply.control.SetReadDeadline(time.Now().Add(b.stall - b.used))
}
