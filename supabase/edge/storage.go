package edge

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"
)

// storageTimeout bounds one request to the storage service, the transfer of the object included.
const storageTimeout = 45 * time.Second

// maxDownload bounds what Download reads into memory, in bytes.
const maxDownload = 64 << 20

// Upload stores an object with the service's rights. If an object of that name exists, it returns
// an *Error with status 409.
func (e *Env) Upload(ctx context.Context, bucket, name, contentType string, content []byte) error {
	_, err := e.storage(ctx, http.MethodPost, objectPath(bucket, name), http.Header{"Content-Type": {contentType}},
		content)
	return err
}

// NewObject is an object for Store.
type NewObject struct {
	Bucket, Name, ContentType string
	Metadata                  map[string]string // the user's metadata of the object; nil for none
	Content                   []byte
}

// Store is Upload with metadata.
func (e *Env) Store(ctx context.Context, o NewObject) error {
	header := http.Header{"Content-Type": {o.ContentType}}
	if o.Metadata != nil {
		text, err := json.Marshal(o.Metadata)
		if err != nil {
			return err
		}
		header.Set("X-Metadata", base64.StdEncoding.EncodeToString(text))
	}
	_, err := e.storage(ctx, http.MethodPost, objectPath(o.Bucket, o.Name), header, o.Content)
	return err
}

// Replace stores an object with the service's rights, whether or not one of that name exists.
func (e *Env) Replace(ctx context.Context, bucket, name, contentType string, content []byte) error {
	header := http.Header{"Content-Type": {contentType}, "X-Upsert": {"true"}}
	_, err := e.storage(ctx, http.MethodPost, objectPath(bucket, name), header, content)
	return err
}

// Download returns the content of an object, read with the service's rights. A missing object is an
// *Error with status 404, one above 64 MiB an error.
func (e *Env) Download(ctx context.Context, bucket, name string) ([]byte, error) {
	return e.storage(ctx, http.MethodGet, objectPath(bucket, name), http.Header{}, nil)
}

// Remove deletes objects of a bucket with the service's rights. Missing objects are not an error.
func (e *Env) Remove(ctx context.Context, bucket string, names []string) error {
	body, err := json.Marshal(map[string][]string{"prefixes": names})
	if err != nil {
		return err
	}
	_, err = e.storage(ctx, http.MethodDelete, "object/"+url.PathEscape(bucket),
		http.Header{"Content-Type": {"application/json"}}, body)
	return err
}

func objectPath(bucket, name string) string {
	return "object/" + url.PathEscape(bucket) + "/" + (&url.URL{Path: name}).EscapedPath()
}

// storage makes one request to the storage service and returns the body of a successful reply.
// Failures carry the service's own status, which it sends as a string in the body (nearly all its
// error replies have status 400).
func (e *Env) storage(ctx context.Context, method, path string, header http.Header, body []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, storageTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, e.Get("SUPABASE_URL")+"/storage/v1/"+path,
		bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	key := e.Get("SUPABASE_SERVICE_ROLE_KEY")
	req.Header = header
	req.Header.Set("Apikey", key)
	req.Header.Set("Authorization", "Bearer "+key)
	res, err := (&http.Client{Transport: traced{e, http.DefaultTransport}}).Do(req)
	if err != nil {
		return nil, fmt.Errorf("storage: %w", err)
	}
	defer res.Body.Close()
	if res.StatusCode >= 300 {
		return nil, storageError(res)
	}
	reply, err := io.ReadAll(io.LimitReader(res.Body, maxDownload+1))
	if err != nil {
		return nil, fmt.Errorf("storage: %w", err)
	}
	if len(reply) > maxDownload {
		return nil, fmt.Errorf("storage: the object is larger than %d bytes", maxDownload)
	}
	return reply, nil
}

// storageError reads an error reply of the storage service.
func storageError(res *http.Response) error {
	reply, err := io.ReadAll(io.LimitReader(res.Body, 1<<16))
	if err != nil {
		return fmt.Errorf("storage: %w", err)
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
