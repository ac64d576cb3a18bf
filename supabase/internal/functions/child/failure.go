package child

import (
	"context"
	"io"
	"net/http"
)

type failureKey struct{}

// WithFailure returns a context for a call to a proxy whose error handler is Failed. Afterwards
// failure has the error of a call that got no reply.
func WithFailure(ctx context.Context) (_ context.Context, failure *error) {
	failure = new(error)
	return context.WithValue(ctx, failureKey{}, failure), failure
}

// Failed keeps the error of a call instead of replying. It is the error handler of a ReverseProxy
// whose calls have a context of WithFailure.
func Failed(_ http.ResponseWriter, r *http.Request, err error) {
	*r.Context().Value(failureKey{}).(*error) = err
}

// Body is the body of a call that may be sent again as long as it was not read. Close leaves it
// open, because a ReverseProxy closes the body of a call that it could not send.
type Body struct {
	io.ReadCloser
	used bool
}

// BodyOf takes the body of a call, or returns nil if it has none.
func BodyOf(r *http.Request) *Body {
	if r.Body == nil || r.Body == http.NoBody {
		return nil
	}
	return &Body{ReadCloser: r.Body}
}

// Give sets the body of a copy of the call.
func (b *Body) Give(r *http.Request) {
	if b != nil {
		r.Body = b
	}
}

// Unread reports whether the call can be sent again.
func (b *Body) Unread() bool { return b == nil || !b.used }

// Read implements io.Reader.
func (b *Body) Read(p []byte) (int, error) {
	b.used = true
	return b.ReadCloser.Read(p)
}

// Close implements io.Closer.
func (b *Body) Close() error { return nil }
