package app

import (
	"bytes"
	"io"
	"net/http"
)

// handlerTransport sends requests to a handler in this process. It buffers replies in memory, so
// they must be small.
type handlerTransport struct{ handler http.Handler }

func (t handlerTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	w := &bufferedReply{header: http.Header{}, status: http.StatusOK}
	in := r.Clone(r.Context())
	in.RemoteAddr, in.RequestURI = "127.0.0.1:0", r.URL.RequestURI()
	if in.Body == nil {
		in.Body = http.NoBody
	}
	t.handler.ServeHTTP(w, in)
	return &http.Response{
		Status: http.StatusText(w.status), StatusCode: w.status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: w.header, Body: io.NopCloser(&w.body), ContentLength: int64(w.body.Len()), Request: r,
	}, nil
}

// bufferedReply is an http.ResponseWriter.
type bufferedReply struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (w *bufferedReply) Header() http.Header         { return w.header }
func (w *bufferedReply) WriteHeader(status int)      { w.status = status }
func (w *bufferedReply) Write(p []byte) (int, error) { return w.body.Write(p) }
