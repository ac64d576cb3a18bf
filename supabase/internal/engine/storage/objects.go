package storage

import (
	"encoding/json"
	"math"
	"strconv"
	"time"

	"daawo/supabase/internal/engine/storage/objects"
)

// objectReply is an object in a JSON reply.
type objectReply struct {
	Name         string          `json:"name"`
	Bucket       string          `json:"bucket_id"`
	Owner        string          `json:"owner"`
	OwnerID      string          `json:"owner_id"`
	Version      string          `json:"version"`
	ID           string          `json:"id"`
	UpdatedAt    *string         `json:"updated_at"`
	CreatedAt    *string         `json:"created_at"`
	AccessedAt   *string         `json:"last_accessed_at"`
	Metadata     json.RawMessage `json:"metadata"`
	UserMetadata json.RawMessage `json:"user_metadata"`
}

func newObjectReply(o *objects.Object) objectReply {
	return objectReply{Name: o.Name, Bucket: o.Bucket, Owner: value(o.Owner), OwnerID: value(o.OwnerID),
		Version: value(o.Version), ID: o.ID, UpdatedAt: timestamp(o.UpdatedAt), CreatedAt: timestamp(o.CreatedAt),
		AccessedAt: timestamp(o.AccessedAt), Metadata: o.Metadata, UserMetadata: o.UserMetadata}
}

// value returns "" for nil.
func value(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// timestamp formats a time as JavaScript does; nil stays nil.
func timestamp(t *time.Time) *string {
	if t == nil {
		return nil
	}
	s := objects.Timestamp(*t)
	return &s
}

// objectHandler lists, deletes, moves and copies objects.
type objectHandler struct{ store *objects.Store }

func (h objectHandler) list(c *call) error {
	f, err := c.body()
	if err != nil {
		return err
	}
	f.require("prefix")
	s := objects.Search{Prefix: f.text("prefix")}
	if n := f.integer("limit", 1, math.MaxInt32); n != nil {
		s.Limit = int(*n)
	}
	if n := f.integer("offset", 0, math.MaxInt32); n != nil {
		s.Offset = int(*n)
	}
	s.Column, s.Order = sortBy(f, "name", "updated_at", "created_at", "last_accessed_at")
	s.Search = f.text("search")
	if f.err != nil {
		return f.err
	}
	entries, err := h.store.Search(c.r.Context(), c.caller, c.bucket, s)
	if err != nil {
		return err
	}
	c.sendList(func(b []byte) []byte { return appendEntries(b, entries) })
	return nil
}

// sortBy reads the member sortBy.
func sortBy(f *fields, columns ...string) (column, order string) {
	by := f.object("sortBy")
	if by == nil {
		return "", ""
	}
	by.require("column")
	column = by.text("column", columns...)
	if _, ok := by.m["order"]; ok {
		order = by.text("order", "asc", "desc")
	}
	f.adoptError(by)
	return column, order
}

func (h objectHandler) listV2(c *call) error {
	f, err := c.body()
	if err != nil {
		return err
	}
	p := objects.List{Prefix: f.text("prefix")}
	if n := f.integer("limit", 1, math.MaxInt32); n != nil {
		p.Limit = int(*n)
	}
	p.Cursor = f.text("cursor")
	if b := f.boolean("with_delimiter"); b != nil && *b {
		p.Delimiter = "/"
	}
	p.Column, p.Order = sortBy(f, "name", "updated_at", "created_at")
	if f.err != nil {
		return f.err
	}
	page, err := h.store.List(c.r.Context(), c.caller, c.bucket, p)
	if err != nil {
		return err
	}
	c.sendList(func(b []byte) []byte {
		b = strconv.AppendBool(append(b, `{"hasNext":`...), page.More)
		if page.Next != "" {
			b = appendString(append(b, `,"nextCursor":`...), page.Next)
		}
		if page.NextKey != "" {
			b = appendString(append(b, `,"nextCursorKey":`...), page.NextKey)
		}
		b = appendEntries(append(b, `,"folders":`...), page.Folders)
		b = appendEntries(append(b, `,"objects":`...), page.Objects)
		return append(b, '}')
	})
	return nil
}

func (h objectHandler) delete(c *call) error {
	if err := h.store.Delete(c.r.Context(), c.caller, c.bucket, c.name, ""); err != nil {
		return err
	}
	return c.message("Successfully deleted")
}

func (h objectHandler) deleteMany(c *call) error {
	f, err := c.body()
	if err != nil {
		return err
	}
	f.require("prefixes")
	names, _ := f.texts("prefixes", false, 1, 0)
	if f.err != nil {
		return f.err
	}
	deleted, err := h.store.DeleteMany(c.r.Context(), c.caller, c.bucket, names)
	if err != nil {
		return err
	}
	out := make([]objectReply, len(deleted))
	for i := range deleted {
		out[i] = newObjectReply(&deleted[i])
	}
	return c.send(out)
}

func (h objectHandler) move(c *call) error {
	f, err := c.body()
	if err != nil {
		return err
	}
	f.require("bucketId", "sourceKey", "destinationKey")
	from, source, to, target := f.text("bucketId"), f.text("sourceKey"), f.text("destinationBucket"),
		f.text("destinationKey")
	if f.err == nil {
		f.err = objects.CheckBucketName(from)
	}
	if f.err != nil {
		return f.err
	}
	if to == "" {
		to = from
	}
	if _, err := h.store.Move(c.r.Context(), c.caller, from, source, to, target); err != nil {
		return err
	}
	return c.message("Successfully moved")
}

func (h objectHandler) copy(c *call) error {
	f, err := c.body()
	if err != nil {
		return err
	}
	f.require("sourceKey", "bucketId", "destinationKey")
	if f.err == nil {
		f.err = objects.CheckBucketName(f.text("bucketId"))
	}
	p := objects.Copy{FromBucket: f.text("bucketId"), FromName: f.text("sourceKey"),
		ToBucket: f.text("destinationBucket"), ToName: f.text("destinationKey"), Owner: c.caller.Subject,
		Upsert: c.flag("X-Upsert"), KeepMetadata: true, Preserve: true}
	if m := f.object("metadata"); m != nil {
		if s, ok := m.textOr("cacheControl"); ok {
			p.CacheControl = &s
		}
		if s, ok := m.textOr("mimetype"); ok {
			p.MimeType = &s
		}
		f.adoptError(m)
	}
	if b := f.boolean("copyMetadata"); b != nil {
		p.KeepMetadata = *b
	}
	if f.err != nil {
		return f.err
	}
	if p.ToBucket == "" {
		p.ToBucket = p.FromBucket
	}
	if p.UserMetadata, err = userMetadata(c.r.Header.Get("X-Metadata")); err != nil {
		return err
	}
	o, err := h.store.Copy(c.r.Context(), c.caller, p)
	if err != nil {
		return err
	}
	return c.send(struct {
		ID  string `json:"Id"`
		Key string `json:"Key"`
		objectReply
	}{o.ID, p.ToBucket + "/" + p.ToName, newObjectReply(o)})
}
