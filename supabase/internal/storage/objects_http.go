package storage

import (
	"encoding/json"
	"math"
	"strings"
	"time"

	"daawo/supabase/internal/storage/objects"
	"daawo/supabase/internal/wire"
)

// objectReply is a whole row as the API shows it.
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

func showObject(o *objects.Object) objectReply {
	return objectReply{Name: o.Name, Bucket: o.Bucket, Owner: value(o.Owner), OwnerID: value(o.OwnerID), Version: value(o.Version), ID: o.ID,
		UpdatedAt: stamp(o.UpdatedAt), CreatedAt: stamp(o.CreatedAt), AccessedAt: stamp(o.AccessedAt),
		Metadata: o.Metadata, UserMetadata: o.UserMetadata}
}

func value(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func stamp(t *time.Time) *string {
	if t == nil {
		return nil
	}
	s := objects.Timestamp(*t)
	return &s
}

// entryReply is a row of a listing; only the second listing has the key.
type entryReply struct {
	Key        string          `json:"key,omitempty"`
	Name       string          `json:"name"`
	ID         *string         `json:"id"`
	UpdatedAt  *string         `json:"updated_at"`
	CreatedAt  *string         `json:"created_at"`
	AccessedAt *string         `json:"last_accessed_at"`
	Metadata   json.RawMessage `json:"metadata"`
}

func showEntries(list []objects.Entry) []entryReply {
	out := make([]entryReply, len(list))
	for i, e := range list {
		out[i] = entryReply{e.Key, e.Name, e.ID, stamp(e.UpdatedAt), stamp(e.CreatedAt), stamp(e.AccessedAt), e.Metadata}
	}
	return out
}

func (c *call) list() error {
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
	entries, err := c.e.store.Search(c.r.Context(), c.caller, c.bucket, s)
	if err != nil {
		return err
	}
	return c.send(showEntries(entries))
}

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
	f.with(by)
	return column, order
}

func (c *call) listV2() error {
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
	page, err := c.e.store.List(c.r.Context(), c.caller, c.bucket, p)
	if err != nil {
		return err
	}
	return c.send(struct {
		HasNext bool         `json:"hasNext"`
		Next    string       `json:"nextCursor,omitempty"`
		NextKey string       `json:"nextCursorKey,omitempty"`
		Folders []entryReply `json:"folders"`
		Objects []entryReply `json:"objects"`
	}{page.More, page.Next, page.NextKey, showEntries(page.Folders), showEntries(page.Objects)})
}

func (c *call) deleteOne() error {
	if err := c.e.store.Delete(c.r.Context(), c.caller, c.bucket, c.name); err != nil {
		return err
	}
	return c.message("Successfully deleted")
}

func (c *call) deleteMany() error {
	f, err := c.body()
	if err != nil {
		return err
	}
	f.require("prefixes")
	names, _ := f.texts("prefixes", false, 1, 0)
	if f.err != nil {
		return f.err
	}
	gone, err := c.e.store.DeleteMany(c.r.Context(), c.caller, c.bucket, names)
	if err != nil {
		return err
	}
	out := make([]objectReply, len(gone))
	for i := range gone {
		out[i] = showObject(&gone[i])
	}
	return c.send(out)
}

func (c *call) move() error {
	f, err := c.body()
	if err != nil {
		return err
	}
	f.require("bucketId", "sourceKey", "destinationKey")
	from, source, to, target := f.text("bucketId"), f.text("sourceKey"), f.text("destinationBucket"), f.text("destinationKey")
	if f.err != nil {
		return f.err
	}
	if to == "" {
		to = from
	}
	if _, err := c.e.store.Move(c.r.Context(), c.caller, from, source, to, target); err != nil {
		return err
	}
	return c.message("Successfully moved")
}

func (c *call) copyObject() error {
	f, err := c.body()
	if err != nil {
		return err
	}
	f.require("sourceKey", "bucketId", "destinationKey")
	p := objects.Copy{FromBucket: f.text("bucketId"), FromName: f.text("sourceKey"), ToBucket: f.text("destinationBucket"),
		ToName: f.text("destinationKey"), Owner: c.caller.Subject, Upsert: c.flag("X-Upsert"), KeepMetadata: true, Preserve: true}
	if m := f.object("metadata"); m != nil {
		if s, ok := m.textOr("cacheControl"); ok {
			p.CacheControl = &s
		}
		if s, ok := m.textOr("mimetype"); ok {
			p.MimeType = &s
		}
		f.with(m)
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
	p.UserMetadata = userMetadata(c.r.Header.Get("X-Metadata"))
	o, err := c.e.store.Copy(c.r.Context(), c.caller, p)
	if err != nil {
		return err
	}
	return c.send(struct {
		ID  string `json:"Id"`
		Key string `json:"Key"`
		objectReply
	}{o.ID, p.ToBucket + "/" + p.ToName, showObject(o)})
}

// maxSeconds keeps the expiry of a token inside of JavaScript's dates.
const maxSeconds = (1<<53 - 1) / 1000

func expiresIn(f *fields) int64 {
	n := f.integer("expiresIn", 1, 1<<53)
	if n == nil {
		return 0
	}
	if *n > maxSeconds-time.Now().Unix() && f.err == nil {
		f.err = objects.ErrInvalidParameter("expiresIn")
	}
	return *n
}

func (c *call) signOne() error {
	f, err := c.body()
	if err != nil {
		return err
	}
	f.require("expiresIn")
	seconds := expiresIn(f)
	nested := f.object("transform")
	var transform transformation
	if nested != nil {
		transform = readTransformation(nested)
		f.with(nested)
	}
	if f.err != nil {
		return f.err
	}
	if err := objects.CheckName(c.name); err != nil {
		return err
	}
	if _, err := c.e.store.Object(c.r.Context(), c.caller, c.bucket, c.name); err != nil {
		return err
	}
	u := objects.SignedURL{URL: c.bucket + "/" + c.name, Scope: objects.ScopeDownload}
	path := "/object/sign/"
	if c.e.images != nil && nested != nil {
		segments, err := transform.Segments(true)
		if err != nil {
			return err
		}
		u.Transformations, u.Format = strings.Join(segments, ","), transform.Format
		if u.Transformations != "" {
			path = "/render/image/sign/"
		}
	}
	token, err := c.e.store.Sign(u, seconds)
	if err != nil {
		return err
	}
	return c.send(struct {
		URL string `json:"signedURL"`
	}{path + inPath(u.URL) + "?token=" + token})
}

// inPath keeps a name from ending the path of a URL early. The rest is left as it is, as clients expect.
func inPath(s string) string { return strings.ReplaceAll(s, "?", "%3F") }

func (c *call) signMany() error {
	f, err := c.body()
	if err != nil {
		return err
	}
	f.require("expiresIn", "paths")
	seconds := expiresIn(f)
	paths, _ := f.texts("paths", false, 1, 1000)
	if f.err != nil {
		return f.err
	}
	found, err := c.e.store.Found(c.r.Context(), c.caller, c.bucket, paths)
	if err != nil {
		return err
	}
	type signed struct {
		Error *string `json:"error"`
		Path  string  `json:"path"`
		URL   *string `json:"signedURL"`
	}
	out := make([]signed, len(paths))
	for i, path := range paths {
		out[i].Path = path
		if !found[path] {
			missing := "Either the object does not exist or you do not have access to it"
			out[i].Error = &missing
			continue
		}
		u := objects.SignedURL{URL: c.bucket + "/" + path, Scope: objects.ScopeDownload}
		token, err := c.e.store.Sign(u, seconds)
		if err != nil {
			return err
		}
		link := "/object/sign/" + inPath(u.URL) + "?token=" + token
		out[i].URL = &link
	}
	return c.send(out)
}

func (c *call) signUpload() error {
	if err := objects.CheckName(c.name); err != nil {
		return err
	}
	upsert := c.flag("X-Upsert")
	err := c.e.store.CanUpload(c.r.Context(), c.caller, objects.Upload{Bucket: c.bucket, Name: c.name, Owner: c.caller.Subject, Upsert: upsert,
		UserMetadata: userMetadata(c.r.Header.Get("X-Metadata")), Declared: c.declared(c.r.Header.Get("Content-Type"))})
	if err != nil {
		return err
	}
	u := objects.SignedURL{URL: c.bucket + "/" + c.name, Scope: objects.ScopeUpload, Owner: c.caller.Subject, Upsert: &upsert}
	token, err := c.e.store.Sign(u, int64(c.e.signedUpload/time.Second))
	if err != nil {
		return err
	}
	return c.send(struct {
		URL   string `json:"url"`
		Token string `json:"token"`
	}{"/object/upload/sign/" + inPath(u.URL) + "?token=" + token, token})
}

func errNotEnabled(message string) *wire.Error {
	return wire.Errorf(409, "FeatureNotEnabled", "The feature %s is not enabled for this resource", message)
}
