package child

import (
	"net/http"
	"net/http/httputil"
	"net/url"
)

// Proxy forwards calls to the process behind a Unix socket.
type Proxy struct {
	proxy     httputil.ReverseProxy
	transport *socketTransport
}

// NewProxy returns a proxy. hide takes from the header of a call what the process may not learn. It
// may be nil. failed replies to calls to which the process did not.
func NewProxy(socket string, hide func(http.Header),
	failed func(http.ResponseWriter, *http.Request, error)) *Proxy {
	transport := &socketTransport{path: socket}
	return &Proxy{httputil.ReverseProxy{
		Transport:     transport,
		FlushInterval: 0, // see fromChild
		BufferPool:    &copyBuffers,
		Rewrite: func(r *httputil.ProxyRequest) {
			toChild(r)
			if hide != nil {
				hide(r.Out.Header)
			}
		},
		ModifyResponse: fromChild,
		ErrorHandler:   failed,
	}, transport}
}

// ServeHTTP forwards a call.
func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) { p.proxy.ServeHTTP(w, r) }

// Client returns a client for requests of this program to the process.
func (p *Proxy) Client() *http.Client { return &http.Client{Transport: p.transport} }

// Close closes the connections without a call.
func (p *Proxy) Close() { p.transport.CloseIdleConnections() }

// toChild forwards a call with the gateway's headers about the client, which a ReverseProxy
// removes.
func toChild(r *httputil.ProxyRequest) {
	r.SetURL(&url.URL{Scheme: "http", Host: "functions"})
	r.Out.Host = r.In.Host
	for _, name := range []string{"X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Forwarded-Port",
		"X-Forwarded-Prefix"} {
		if v := r.In.Header.Get(name); v != "" {
			r.Out.Header.Set(name, v)
		}
	}
}

// fromChild makes a ReverseProxy pass a reply on as it comes, if its body is not here yet: a
// ReverseProxy flushes each part of a body whose length it does not know. Doing so for a short
// reply takes a goroutine and a second write to the client.
func fromChild(res *http.Response) error {
	if body, ok := res.Body.(*socketBody); ok && !body.arrived {
		res.ContentLength = -1
	}
	return nil
}
