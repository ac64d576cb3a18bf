package edge

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
)

// closer ends a request's context together with its body.
type closer struct {
	io.ReadCloser
	cancel context.CancelFunc
}

func (c closer) Close() error {
	defer c.cancel()
	return c.ReadCloser.Close()
}

// Upload stores an object with the service's rights. An object of that name that exists already is an *Error with 409.
func (e *Env) Upload(ctx context.Context, bucket, name, contentType string, content []byte) error {
	return e.storage(ctx, http.MethodPost, "object/"+url.PathEscape(bucket)+"/"+url.PathEscape(name), contentType, content)
}

// Remove deletes objects of a bucket with the service's rights; missing ones are no error.
func (e *Env) Remove(ctx context.Context, bucket string, names []string) error {
	body, err := json.Marshal(map[string][]string{"prefixes": names})
	if err != nil {
		return err
	}
	return e.storage(ctx, http.MethodDelete, "object/"+url.PathEscape(bucket), "application/json", body)
}

// storage makes one request to the storage service. Its failures carry the service's own status, which it sends as a
// string in the body (nearly every reply of it is a plain 400).
func (e *Env) storage(ctx context.Context, method, path, contentType string, body []byte) error {
	ctx, cancel := context.WithTimeout(ctx, clientTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, e.Get("SUPABASE_URL")+"/storage/v1/"+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	key := e.Get("SUPABASE_SERVICE_ROLE_KEY")
	req.Header.Set("Apikey", key)
	req.Header.Set("Authorization", "Bearer "+key)
	req.Header.Set("Content-Type", contentType)
	if e.Traceparent != "" {
		req.Header.Set("Traceparent", e.Traceparent)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return fmt.Errorf("storage: %w", err)
	}
	defer res.Body.Close()
	reply, err := io.ReadAll(io.LimitReader(res.Body, 1<<16))
	if err != nil {
		return fmt.Errorf("storage: %w", err)
	}
	if res.StatusCode < 300 {
		return nil
	}
	var failed struct {
		StatusCode json.Number `json:"statusCode"`
		Error      string      `json:"error"`
		Message    string      `json:"message"`
	}
	failure := &Error{Status: res.StatusCode, Code: "storage", Message: http.StatusText(res.StatusCode)}
	if json.Unmarshal(reply, &failed) == nil && failed.Message != "" {
		failure.Code, failure.Message = failed.Error, failed.Message
		if n, err := failed.StatusCode.Int64(); err == nil && n >= 400 {
			failure.Status = int(n)
		}
	}
	return failure
}
