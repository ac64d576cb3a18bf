package images

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"
)

// retries is the number of retries when imgproxy is busy or unreachable.
const retries = 5

// headerTimeout is how long imgproxy may take to send the headers of its reply.
const headerTimeout = 15 * time.Second

// newClient returns a client with a timeout for connecting and for the reply headers. Only the
// request's context limits the body.
func newClient(timeout time.Duration) *http.Client {
	return &http.Client{Transport: &http.Transport{DialContext: (&net.Dialer{Timeout: timeout}).DialContext,
		TLSHandshakeTimeout: timeout, ResponseHeaderTimeout: timeout, MaxIdleConnsPerHost: 8,
		IdleConnTimeout: time.Minute}}
}

// Close closes idle connections to imgproxy.
func (r *Renderer) Close() { r.client.CloseIdleConnections() }

// ProxyError is an error reply of imgproxy with a message that clients may see.
type ProxyError struct {
	Status  int
	Message string
}

func (e *ProxyError) Error() string { return e.Message }

// renderByProxy requests the picture from imgproxy, which fetches the source itself.
func (r *Renderer) renderByProxy(ctx context.Context, s Source, t Transform, accept string) (*Picture, error) {
	source, err := r.backend.URL(ctx, s.Key)
	if err != nil {
		return nil, err
	}
	if !strings.HasPrefix(source, "local://") {
		source = url.QueryEscape(source)
	}
	segments, err := t.Segments(false)
	if err != nil {
		return nil, err
	}
	address := strings.TrimSuffix(r.proxy, "/") + "/" +
		strings.Join(append(append([]string{"public"}, segments...), "plain", source), "/")
	wait := 50 * time.Millisecond
	for attempt := 0; ; attempt++ {
		res, err := r.get(ctx, address, accept)
		busy := err == nil && (res.StatusCode == 408 || res.StatusCode == 429 || res.StatusCode >= 500)
		if (err != nil || busy) && attempt < retries && ctx.Err() == nil {
			if err == nil {
				res.Body.Close()
			}
			select {
			case <-time.After(wait):
			case <-ctx.Done():
				return nil, ctx.Err()
			}
			wait = min(2*wait, time.Second)
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("imgproxy: %w", err)
		}
		if res.StatusCode != http.StatusOK {
			defer res.Body.Close()
			text, _ := io.ReadAll(io.LimitReader(res.Body, 4096))
			return nil, proxyError(res.StatusCode, strings.TrimSpace(string(text)))
		}
		modified, _ := http.ParseTime(res.Header.Get("Last-Modified"))
		return &Picture{Body: res.Body, Size: res.ContentLength, ContentType: res.Header.Get("Content-Type"),
			Modified: modified}, nil
	}
}

func (r *Renderer) get(ctx context.Context, address, accept string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	if accept != "" {
		req.Header.Set("Accept", accept)
	}
	return r.client.Do(req)
}

// proxyMessages maps imgproxy's messages about sources to the errors that clients see.
var proxyMessages = []struct {
	pattern *regexp.Regexp
	err     RequestError
}{
	{regexp.MustCompile(`(?i)image is not compatible with\b|source image type not supported|invalid TIFF format:|` +
		`XML parse error:|^invalid source image$|^broken or unsupported image$`), ErrUnsupported},
	{regexp.MustCompile(`(?i)source image frame resolution is too big`), ErrFrame},
	{regexp.MustCompile(`(?i)source image resolution is too big`), ErrTooLarge},
	{regexp.MustCompile(`(?i)source image file is too big`), ErrFileTooBig},
}

func proxyError(status int, text string) error {
	for _, m := range proxyMessages {
		if m.pattern.MatchString(text) {
			return m.err
		}
	}
	message := "Internal error"
	switch {
	case regexp.MustCompile(`(?i)^source image is unreachable$|can't download source image\b`).MatchString(text):
		message = "Unable to download source image"
	case status == http.StatusNotFound:
		message = "Not found"
	case status == http.StatusTooManyRequests:
		message = "Too many requests"
	case status == http.StatusForbidden:
		message = "Image transformation request was rejected"
	case status < 500:
		message = "Invalid image request"
	}
	return &ProxyError{status, message}
}
