package pgnet

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync"
	"time"
)

// Limits of one request.
const (
	maxBody      = 4 << 20 // bytes of a response
	maxHeader    = 64 << 10
	maxRedirects = 30
	longest      = 10 * time.Minute // the longest timeout; a request with timeout 0 has it too
	userAgent    = "pg_net/0.20.4"
)

// response is a row of net._http_response. Nil is null.
type response struct {
	status      *int
	contentType *string
	headers     map[string]string
	content     *string
	timedOut    bool
	failure     *string
}

type client struct {
	targets   Targets
	transport *http.Transport
}

func newClient(targets Targets) *client {
	dialer := &net.Dialer{ControlContext: targets.check}
	return &client{targets, &http.Transport{
		DialContext:            targets.dial(dialer),
		DisableCompression:     true, // as pg_net, which stores the body as it came
		ForceAttemptHTTP2:      true,
		MaxIdleConns:           16,
		IdleConnTimeout:        30 * time.Second,
		MaxResponseHeaderBytes: maxHeader,
	}}
}

func (c *client) close() { c.transport.CloseIdleConnections() }

// do sends a request, with the results and messages of pg_net.
func (c *client) do(ctx context.Context, r request) response {
	timeout := time.Duration(r.Timeout) * time.Millisecond
	if timeout <= 0 || timeout > longest {
		timeout = longest
	}
	var t timing
	ctx, cancel := context.WithTimeout(t.trace(ctx), timeout)
	defer cancel()
	got, err := c.attempt(ctx, r)
	switch {
	case err == nil:
		return got
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return response{timedOut: true, failure: new(t.describe(timeout))}
	}
	return response{failure: new(describe(err))}
}

var (
	errURL = errors.New("URL using bad/illegal format or missing URL")
	//lint:ignore ST1005 callers know the texts of curl
	errProtocol = errors.New("Unsupported protocol")
	errTooLarge = fmt.Errorf("the response is larger than %d MB", maxBody>>20)
)

// attempt sends a request of pg_net, whose response is text.
func (c *client) attempt(ctx context.Context, r request) (response, error) {
	out := outgoing{method: r.Method, url: r.URL, body: r.Body, header: http.Header{}}
	out.header.Set("User-Agent", userAgent)
	for name, value := range r.Headers {
		out.header.Set(name, value)
	}
	reply, content, err := c.fetch(ctx, out)
	if err != nil {
		return response{}, err
	}
	return newResponse(reply, content), nil
}

// outgoing is a request.
type outgoing struct {
	method, url string
	header      http.Header
	body        []byte
}

// fetch sends a request, follows redirects, and returns the response with its body.
func (c *client) fetch(ctx context.Context, out outgoing) (*http.Response, []byte, error) {
	target, err := url.Parse(out.url)
	switch {
	case err != nil || target.Host == "" && target.Scheme == "":
		return nil, nil, errURL
	case target.Scheme != "http" && target.Scheme != "https":
		return nil, nil, errProtocol
	case target.Host == "":
		return nil, nil, errURL
	}
	var body io.Reader
	if out.body != nil {
		body = bytes.NewReader(out.body)
	}
	req, err := http.NewRequestWithContext(ctx, strings.ToUpper(out.method), target.String(), body)
	if err != nil {
		return nil, nil, errURL
	}
	if host := out.header.Get("Host"); host != "" {
		req.Host = host
		out.header.Del("Host")
	}
	req.Header = out.header
	if req.Header.Get("Accept") == "" {
		req.Header.Set("Accept", "*/*")
	}
	c.targets.reroute(req)
	hc := http.Client{Transport: c.transport, CheckRedirect: func(next *http.Request, via []*http.Request) error {
		if len(via) >= maxRedirects {
			//lint:ignore ST1005 callers know the texts of curl
			return errors.New("Number of redirects hit maximum amount")
		}
		c.targets.reroute(next)
		return nil
	}}
	reply, err := hc.Do(req)
	if err != nil {
		return nil, nil, err
	}
	defer reply.Body.Close()
	content, err := io.ReadAll(io.LimitReader(reply.Body, maxBody+1))
	if err == nil && len(content) > maxBody {
		err = errTooLarge
	}
	return reply, content, err
}

func newResponse(reply *http.Response, content []byte) response {
	got := response{status: &reply.StatusCode, headers: map[string]string{}}
	for name, values := range reply.Header {
		got.headers[name] = text(values[len(values)-1])
	}
	if kind := reply.Header.Get("Content-Type"); kind != "" {
		kind = text(kind)
		got.contentType = &kind
	}
	if body := text(string(content)); body != "" {
		got.content = &body
	}
	return got
}

// text returns what a column of type text can hold: valid UTF-8 up to the first
// zero byte.
func text(s string) string {
	s, _, _ = strings.Cut(s, "\x00")
	return strings.ToValidUTF8(s, "\uFFFD")
}

// describe returns the message of libcurl for an error that it knows, because
// programs compare them.
func describe(err error) string {
	var dns *net.DNSError
	var op *net.OpError
	var refused *refusedError
	switch {
	case errors.As(err, &refused):
		return refused.Error()
	case errors.As(err, &dns):
		return "Couldn't resolve host name"
	case errors.As(err, &op) && op.Op == "dial":
		return "Couldn't connect to server"
	}
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		err = wrapped.Err // without the URL, which can hold a secret
	}
	return err.Error()
}

// timing measures the phases of a request.
type timing struct {
	mu                    sync.Mutex
	start, resolved, open time.Time
}

func (t *timing) trace(ctx context.Context) context.Context {
	t.start = time.Now()
	note := func(at *time.Time) {
		t.mu.Lock()
		defer t.mu.Unlock()
		*at = time.Now()
	}
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		DNSDone: func(httptrace.DNSDoneInfo) { note(&t.resolved) },
		GotConn: func(httptrace.GotConnInfo) { note(&t.open) },
	})
}

// describe returns pg_net's message of a timeout.
func (t *timing) describe(timeout time.Duration) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	now := time.Now()
	resolved, open := t.resolved, t.open
	if resolved.IsZero() {
		resolved = t.start // an address, or a name that was not resolved in time
	}
	var handshake, exchange time.Duration
	if open.IsZero() {
		handshake = now.Sub(resolved)
	} else {
		handshake, exchange = max(0, open.Sub(resolved)), now.Sub(open)
	}
	return fmt.Sprintf(
		"Timeout of %d ms reached. Total time: %f ms (DNS time: %f ms, TCP/SSL handshake time: %f ms, HTTP "+
			"Request/Response time: %f ms)",
		timeout.Milliseconds(), ms(now.Sub(t.start)), ms(resolved.Sub(t.start)), ms(handshake), ms(exchange))
}
