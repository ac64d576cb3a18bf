package storage

import (
	"encoding/json"
	"math"
	"regexp"
	"slices"
	"strconv"

	"daawo/supabase/internal/storage/objects"
)

// bucketReply is a bucket as the API shows it.
type bucketReply struct {
	ID               string   `json:"id"`
	Name             string   `json:"name"`
	Owner            string   `json:"owner"`
	Public           bool     `json:"public"`
	Type             string   `json:"type,omitempty"`
	FileSizeLimit    *int64   `json:"file_size_limit"`
	AllowedMimeTypes []string `json:"allowed_mime_types"`
	CreatedAt        string   `json:"created_at"`
	UpdatedAt        string   `json:"updated_at"`
}

func showBucket(b objects.Bucket, kind string) bucketReply {
	r := bucketReply{ID: b.ID, Name: b.Name, Public: b.Public, Type: kind, FileSizeLimit: b.SizeLimit, AllowedMimeTypes: b.AllowedTypes,
		CreatedAt: objects.Timestamp(b.CreatedAt), UpdatedAt: objects.Timestamp(b.UpdatedAt)}
	if b.Owner != nil {
		r.Owner = *b.Owner
	}
	return r
}

// bucketFields reads public, file_size_limit and allowed_mime_types.
func bucketFields(f *fields) objects.BucketFields {
	out := objects.BucketFields{Public: f.boolean("public")}
	if v, ok := f.m["file_size_limit"]; ok && f.err == nil {
		out.SetSizeLimit = true
		out.SizeLimit = sizeLimit(f, v)
	}
	if list, set := f.texts("allowed_mime_types", true, 0, 0); set {
		out.SetTypes = true
		out.AllowedTypes = slices.DeleteFunc(list, func(s string) bool { return s == "" })
	}
	return out
}

// sizeLimit reads bytes as a number, or a text such as 20MB; null lifts the limit.
func sizeLimit(f *fields, v any) *int64 {
	if v == nil {
		return nil
	}
	if s, ok := v.(string); ok {
		if sizePattern.MatchString(s) {
			n, err := objects.ParseSize(s)
			if err != nil && f.err == nil {
				f.err = err
			}
			return &n
		}
	}
	n, isNumber := asInteger(v)
	switch {
	case isNumber && n >= 0:
		return &n
	case isNumber:
		f.fail(`%[1]s/file_size_limit must be >= 0, %[1]s/file_size_limit must match pattern "%[2]s", %[1]s/file_size_limit must match a schema in anyOf`, f.at, sizePattern)
	default:
		f.fail(`%[1]s/file_size_limit must be integer, %[1]s/file_size_limit must match pattern "%[2]s", %[1]s/file_size_limit must match a schema in anyOf`, f.at, sizePattern)
	}
	return nil
}

func (c *call) createBucket() error {
	f, err := c.body()
	if err != nil {
		return err
	}
	f.require("name")
	name, id := f.text("name"), f.text("id")
	kind := ""
	public := bucketFields(f)
	if _, ok := f.m["type"]; ok {
		kind = f.text("type", "STANDARD", "ANALYTICS")
	}
	if f.err != nil {
		return f.err
	}
	if id == "" {
		id = name
	}
	if kind == "ANALYTICS" {
		return errNotEnabled("Iceberg buckets are not enabled for this tenant")
	}
	if err := c.e.store.CreateBucket(c.r.Context(), c.caller, id, name, public); err != nil {
		return err
	}
	return c.send(struct {
		Name string `json:"name"`
	}{name})
}

func (c *call) getBucket() error {
	b, err := c.e.store.Bucket(c.r.Context(), c.caller, c.bucket)
	if err != nil {
		return err
	}
	return c.send(showBucket(*b, ""))
}

func (c *call) listBuckets() error {
	q := c.query()
	var p objects.BucketPage
	p.Limit, p.Offset = toInt(q.integer("limit", 1, math.MaxInt32)), toInt(q.integer("offset", 0, math.MaxInt32))
	if _, ok := q.m["sortColumn"]; ok {
		p.Column = q.text("sortColumn", "id", "name", "created_at", "updated_at")
	}
	if _, ok := q.m["sortOrder"]; ok {
		p.Descending = q.text("sortOrder", "asc", "desc") == "desc"
	}
	p.Search = q.text("search")
	if q.err != nil {
		return q.err
	}
	list, err := c.e.store.Buckets(c.r.Context(), c.caller, p)
	if err != nil {
		return err
	}
	kind := "STANDARD"
	if olderThan(supabasePy, c.r.Header.Get("X-Client-Info"), 2, 18, 0) || olderThan(storage3, c.r.UserAgent(), 0, 12, 1) {
		kind = "" // these versions fail on a field they do not know
	}
	out := make([]bucketReply, len(list))
	for i, b := range list {
		out[i] = showBucket(b, kind)
	}
	return c.send(out)
}

func toInt(n *int64) *int {
	if n == nil {
		return nil
	}
	i := int(*n)
	return &i
}

var (
	supabasePy = regexp.MustCompile(`(?i)supabase-py/(\d+)\.(\d+)\.(\d+)`)
	storage3   = regexp.MustCompile(`(?i)supabase-py/storage3 v(\d+)\.(\d+)\.(\d+)`)
)

func olderThan(client *regexp.Regexp, agent string, version ...int) bool {
	m := client.FindStringSubmatch(agent)
	if m == nil {
		return false
	}
	for i, want := range version {
		if have, err := strconv.Atoi(m[i+1]); err != nil || have != want {
			return err == nil && have < want
		}
	}
	return false
}

func (c *call) updateBucket() error {
	f, err := c.body()
	if err != nil {
		return err
	}
	if len(f.m) == 0 {
		return invalid("body must NOT have fewer than 1 properties")
	}
	changes := bucketFields(f)
	if changes.Public == nil && !changes.SetSizeLimit && !changes.SetTypes {
		f.fail("body must have required property 'public', body must have required property 'file_size_limit', body must have required property 'allowed_mime_types', body must match a schema in anyOf")
	}
	if f.err != nil {
		return f.err
	}
	if err := c.e.store.UpdateBucket(c.r.Context(), c.caller, c.bucket, changes); err != nil {
		return err
	}
	return c.message("Successfully updated")
}

func (c *call) deleteBucket() error {
	if err := c.e.store.DeleteBucket(c.r.Context(), c.caller, c.bucket); err != nil {
		return err
	}
	return c.message("Successfully deleted")
}

func (c *call) emptyBucket() error {
	if err := c.e.store.EmptyBucket(c.r.Context(), c.caller, c.bucket); err != nil {
		return err
	}
	return c.message("Empty bucket has been queued. Completion may take up to an hour.")
}

func (c *call) health() error {
	return c.send(struct {
		Healthy bool `json:"healthy"`
	}{c.e.store.Healthy(c.r.Context()) == nil})
}

// encode is json.Marshal without the escapes that only HTML needs.
func encode(v any) ([]byte, error) {
	var b jsonBuffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return b[:len(b)-1], nil
}

type jsonBuffer []byte

func (b *jsonBuffer) Write(p []byte) (int, error) {
	*b = append(*b, p...)
	return len(p), nil
}
