// Package files copies files to and from the buckets of a stack, over its storage API.
package files

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"path"
	"strings"
)

// Client calls the storage API.
type Client struct {
	URL string // of the API, with /storage/v1
	Key string // service_role key
}

// Path is a place in storage, such as ss:///bucket/folder/name.
type Path struct {
	Bucket string // "" for the list of buckets
	Name   string // of the object or folder, without a slash at its ends
	Folder bool   // the text ends with a slash
}

// ParsePath reads a path. ok is false if it is not one of storage, but of this machine.
func ParsePath(text string) (p Path, ok bool) {
	rest, ok := strings.CutPrefix(text, "ss://")
	if !ok {
		return p, false
	}
	p.Folder = strings.HasSuffix(rest, "/")
	p.Bucket, p.Name, _ = strings.Cut(strings.Trim(rest, "/"), "/")
	return p, true
}

// String returns the path as ParsePath reads it.
func (p Path) String() string {
	return "ss:///" + strings.TrimSuffix(p.Bucket+"/"+p.Name, "/")
}

// Entry is an object or a folder.
type Entry struct {
	Name   string // relative to the listed folder
	Folder bool
}

// call sends a request and decodes the JSON of the reply into reply, if it is not nil.
func (c Client) call(ctx context.Context, method, target string, content io.Reader, header map[string]string,
	reply any) error {
	body, err := c.open(ctx, method, target, content, header)
	if err != nil {
		return err
	}
	defer body.Close()
	if reply == nil {
		return nil
	}
	return json.NewDecoder(body).Decode(reply)
}

// open sends a request and returns the body of the reply.
func (c Client) open(ctx context.Context, method, target string, content io.Reader,
	header map[string]string) (io.ReadCloser, error) {
	r, err := http.NewRequestWithContext(ctx, method, c.URL+target, content)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Authorization", "Bearer "+c.Key)
	r.Header.Set("Apikey", c.Key)
	for name, value := range header {
		r.Header.Set(name, value)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	if res.StatusCode < 300 {
		return res.Body, nil
	}
	defer res.Body.Close()
	var refusal Error
	text, err := io.ReadAll(io.LimitReader(res.Body, 1<<16))
	if err == nil && json.Unmarshal(text, &refusal) != nil {
		refusal.Message = res.Status
	}
	return nil, errors.Join(err, refusal)
}

// Error is a refusal of storage.
type Error struct {
	Message string `json:"message"`
	Status  string `json:"statusCode"`
}

func (e Error) Error() string { return e.Message }

// send is call with a JSON body.
func (c Client) send(ctx context.Context, method, target string, body, reply any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	return c.call(ctx, method, target, bytes.NewReader(text), map[string]string{"Content-Type": "application/json"},
		reply)
}

// escaped returns the path of an object in a URL.
func escaped(bucket, name string) string {
	return "/" + url.PathEscape(bucket) + "/" + (&url.URL{Path: name}).EscapedPath()
}

// Buckets returns the ids of all buckets.
func (c Client) Buckets(ctx context.Context) (ids []string, err error) {
	var all []struct{ ID string }
	err = c.call(ctx, http.MethodGet, "/bucket", nil, nil, &all)
	for _, b := range all {
		ids = append(ids, b.ID)
	}
	return ids, err
}

// PutBucket creates a bucket or changes its rules. fields are named as in the storage API.
func (c Client) PutBucket(ctx context.Context, id string, fields map[string]any) (created bool, err error) {
	err = c.call(ctx, http.MethodGet, "/bucket/"+url.PathEscape(id), nil, nil, nil)
	if err == nil {
		return false, c.send(ctx, http.MethodPut, "/bucket/"+url.PathEscape(id), fields, nil)
	}
	if refusal, ok := errors.AsType[Error](err); !ok || refusal.Status != "404" {
		return false, err
	}
	return true, c.send(ctx, http.MethodPost, "/bucket", fields, nil)
}

// pageSize is the number of entries that one request lists.
const pageSize = 100

// List returns the entries of a folder.
func (c Client) List(ctx context.Context, p Path) (entries []Entry, err error) {
	for {
		var page []struct {
			Name string
			ID   *string
		}
		err := c.send(ctx, http.MethodPost, "/object/list/"+url.PathEscape(p.Bucket), map[string]any{
			"prefix": p.Name, "limit": pageSize, "offset": len(entries),
			"sortBy": map[string]string{"column": "name", "order": "asc"},
		}, &page)
		if err != nil {
			return nil, err
		}
		for _, e := range page {
			entries = append(entries, Entry{e.Name, e.ID == nil})
		}
		if len(page) < pageSize {
			return entries, nil
		}
	}
}

// Walk calls visit with each object below a folder, by its name relative to the folder.
func (c Client) Walk(ctx context.Context, p Path, visit func(name string) error) error {
	entries, err := c.List(ctx, p)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !e.Folder {
			if err := visit(e.Name); err != nil {
				return err
			}
			continue
		}
		below := Path{Bucket: p.Bucket, Name: strings.TrimPrefix(p.Name+"/"+e.Name, "/")}
		if err := c.Walk(ctx, below, func(name string) error { return visit(e.Name + "/" + name) }); err != nil {
			return err
		}
	}
	return nil
}

// Upload stores an object, and replaces one of that name. contentType may be "": then the ending of
// the name decides.
func (c Client) Upload(ctx context.Context, p Path, content io.Reader, contentType, cacheControl string) error {
	if contentType == "" {
		contentType = mime.TypeByExtension(path.Ext(p.Name))
	}
	contentType = cmp.Or(contentType, "application/octet-stream")
	err := c.call(ctx, http.MethodPost, "/object"+escaped(p.Bucket, p.Name), content,
		map[string]string{"Content-Type": contentType, "Cache-Control": cacheControl, "X-Upsert": "true"}, nil)
	if err != nil {
		return fmt.Errorf("%s: %w", p, err)
	}
	return nil
}

// Download writes the content of an object.
func (c Client) Download(ctx context.Context, p Path, to io.Writer) error {
	body, err := c.open(ctx, http.MethodGet, "/object"+escaped(p.Bucket, p.Name), nil, nil)
	if err != nil {
		return fmt.Errorf("%s: %w", p, err)
	}
	defer body.Close()
	_, err = io.Copy(to, body)
	return err
}

// Move gives an object another name in its bucket.
func (c Client) Move(ctx context.Context, from, to Path) error {
	err := c.send(ctx, http.MethodPost, "/object/move",
		map[string]string{"bucketId": from.Bucket, "sourceKey": from.Name, "destinationKey": to.Name}, nil)
	if err != nil {
		return fmt.Errorf("%s: %w", from, err)
	}
	return nil
}

// Remove deletes objects of a bucket and returns the names of those that existed.
func (c Client) Remove(ctx context.Context, bucket string, names []string) (removed []string, err error) {
	for len(names) > 0 {
		n := min(pageSize, len(names))
		var gone []struct{ Name string }
		if err := c.send(ctx, http.MethodDelete, "/object/"+url.PathEscape(bucket),
			map[string][]string{"prefixes": names[:n]}, &gone); err != nil {
			return removed, err
		}
		for _, o := range gone {
			removed = append(removed, o.Name)
		}
		names = names[n:]
	}
	return removed, nil
}
