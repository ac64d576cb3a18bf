package storage

import (
	"encoding/json"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"daawo/supabase/internal/base/apierror"
	"daawo/supabase/internal/engine/storage/objects"
)

// bucketReply is a bucket in a JSON reply.
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

func newBucketReply(b objects.Bucket, kind string) bucketReply {
	r := bucketReply{ID: b.ID, Name: b.Name, Public: b.Public, Type: kind, FileSizeLimit: b.SizeLimit,
		AllowedMimeTypes: b.AllowedTypes, CreatedAt: objects.Timestamp(b.CreatedAt),
		UpdatedAt: objects.Timestamp(b.UpdatedAt)}
	if b.Owner != nil {
		r.Owner = *b.Owner
	}
	return r
}

// bucketFields reads the members public, file_size_limit and allowed_mime_types.
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

// sizeLimit reads a number of bytes or a string such as "20MB"; null and "" remove the limit.
func sizeLimit(f *fields, v any) *int64 {
	number := `must pass "finite" keyword validation`
	if list, ok := v.([]any); ok && len(list) == 1 {
		if v = list[0]; isNumber(v) { // converted to a string only
			failSizeLimit(f, "must be integer")
			return nil
		}
	}
	if v == nil || v == "" {
		return nil
	}
	if s, ok := v.(string); ok && sizePattern.MatchString(s) {
		n, err := objects.ParseSize(s)
		if err != nil && f.err == nil {
			f.err = err
		}
		return &n
	}
	switch n, ok := asInteger(v); {
	case ok && n >= 0:
		return &n
	case ok:
		failSizeLimit(f, "must be >= 0")
	case v == "Infinity", v == "+Infinity", v == "-Infinity":
		failSizeLimit(f, number)
	case isNumber(v):
		failSizeLimit(f, "must be integer")
	default:
		failSizeLimit(f, "must be integer", number)
	}
	return nil
}

// isNumber reports whether v is a JSON number within the range of float64.
func isNumber(v any) bool {
	n, ok := v.(json.Number)
	if ok {
		_, err := n.Float64()
		ok = err == nil
	}
	return ok
}

// failSizeLimit fails with storage-api's list of clauses, which ends with the clauses for a size as
// a string.
func failSizeLimit(f *fields, clauses ...string) {
	last := `must match pattern "` + sizePattern.String() + `"`
	switch v := f.m["file_size_limit"].(type) {
	case []any:
		if len(v) != 1 {
			last = "must be string"
		}
	case map[string]any:
		last = "must be string"
	}
	at := f.at + "/file_size_limit "
	f.fail("%s", at+strings.Join(append(clauses, last, "must match a schema in anyOf"), ", "+at))
}

// bucketHandler handles buckets.
type bucketHandler struct{ store *objects.Store }

func (h bucketHandler) create(c *call) error {
	f, err := c.body()
	if err != nil {
		return err
	}
	f.require("name")
	name, id := f.text("name"), f.text("id")
	kind := ""
	properties := bucketFields(f)
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
	if err := h.store.Buckets.Create(c.r.Context(), c.caller, id, name, properties); err != nil {
		return err
	}
	return c.send(struct {
		Name string `json:"name"`
	}{name})
}

func (h bucketHandler) get(c *call) error {
	b, err := h.store.Buckets.Get(c.r.Context(), c.caller, c.bucket)
	if err != nil {
		return err
	}
	return c.send(newBucketReply(*b, ""))
}

func (h bucketHandler) list(c *call) error {
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
	list, err := h.store.Buckets.List(c.r.Context(), c.caller, p)
	if err != nil {
		return err
	}
	kind := "STANDARD"
	if olderThan(supabasePy, c.r.Header.Get("X-Client-Info"), 2, 18, 0) ||
		olderThan(storage3, c.r.UserAgent(), 0, 12, 1) {
		kind = "" // these versions fail on an unknown field
	}
	out := make([]bucketReply, len(list))
	for i, b := range list {
		out[i] = newBucketReply(b, kind)
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

// User agents of clients that need a different reply in older versions.
var (
	supabasePy = regexp.MustCompile(`(?i)supabase-py/(\d+)\.(\d+)\.(\d+)`)
	storage3   = regexp.MustCompile(`(?i)supabase-py/storage3 v(\d+)\.(\d+)\.(\d+)`)
)

// olderThan reports whether agent names the client with an older version.
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

func (h bucketHandler) update(c *call) error {
	f, err := c.body()
	if err != nil {
		return err
	}
	if len(f.m) == 0 {
		return invalid("body must NOT have fewer than 1 properties")
	}
	changes := bucketFields(f)
	if changes.Public == nil && !changes.SetSizeLimit && !changes.SetTypes {
		f.fail("body must have required property 'public', body must have required property 'file_size_limit', " +
			"body must have required property 'allowed_mime_types', body must match a schema in anyOf")
	}
	if f.err != nil {
		return f.err
	}
	if err := h.store.Buckets.Update(c.r.Context(), c.caller, c.bucket, changes); err != nil {
		return err
	}
	return c.message("Successfully updated")
}

func (h bucketHandler) delete(c *call) error {
	if err := h.store.Buckets.Delete(c.r.Context(), c.caller, c.bucket); err != nil {
		return err
	}
	return c.message("Successfully deleted")
}

func (h bucketHandler) empty(c *call) error {
	if err := h.store.Buckets.Empty(c.r.Context(), c.caller, c.bucket); err != nil {
		return err
	}
	return c.message("Empty bucket has been queued. Completion may take up to an hour.")
}

func errNotEnabled(message string) *apierror.Error {
	return apierror.Errorf(409, "FeatureNotEnabled", "The feature %s is not enabled for this resource", message)
}
