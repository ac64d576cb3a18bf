package objects

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"time"

	"daawo/supabase/internal/engine/storage/backend"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Object is a row of storage.objects.
type Object struct {
	ID           string
	Bucket       string
	Name         string
	Owner        *string
	OwnerID      *string
	Version      *string
	Metadata     json.RawMessage // set by the server; null for rows inserted by hand
	UserMetadata json.RawMessage // set by the uploader, or null
	CreatedAt    *time.Time
	UpdatedAt    *time.Time
	AccessedAt   *time.Time
}

const prefixedColumns = `o.id::text, o.bucket_id, o.name, o.owner::text, o.owner_id, o.version, o.metadata,
	o.user_metadata, o.created_at, o.updated_at, o.last_accessed_at`

const objectColumns = `id::text, bucket_id, name, owner::text, owner_id, version, metadata, user_metadata, created_at,
	updated_at, last_accessed_at`

func scanObject(r pgx.CollectableRow) (o Object, err error) {
	return o, r.Scan(&o.ID, &o.Bucket, &o.Name, &o.Owner, &o.OwnerID, &o.Version, &o.Metadata, &o.UserMetadata,
		&o.CreatedAt, &o.UpdatedAt, &o.AccessedAt)
}

// Key returns the key of the object's bytes in the backend.
func (o *Object) Key() backend.Key {
	k := backend.Key{Bucket: o.Bucket, Name: o.Name}
	if o.Version != nil {
		k.Version = *o.Version
	}
	return k
}

// Metadata is the content of the column metadata, with storage-api's keys.
type Metadata struct {
	ETag          string `json:"eTag,omitempty"`
	Size          *int64 `json:"size,omitempty"`
	MimeType      string `json:"mimetype,omitempty"`
	CacheControl  string `json:"cacheControl,omitempty"`
	LastModified  string `json:"lastModified,omitempty"`
	ContentLength *int64 `json:"contentLength,omitempty"`
	Status        int    `json:"httpStatusCode,omitempty"`
	XRobotsTag    string `json:"xRobotsTag,omitempty"`
}

// Meta reads the column metadata and ignores invalid values, because a user with write access to
// the table can store any JSON. ok is false if a value is missing that is needed to serve the
// bytes.
func (o *Object) Meta() (m Metadata, ok bool) {
	if json.Unmarshal(o.Metadata, &m) == nil && m.complete() { // written by this server
		return m, true
	}
	var raw map[string]json.RawMessage
	if json.Unmarshal(o.Metadata, &raw) != nil {
		return m, false
	}
	text := func(name string) (s string) {
		if json.Unmarshal(raw[name], &s) != nil {
			return ""
		}
		return s
	}
	number := func(name string) *int64 {
		var n int64
		if json.Unmarshal(raw[name], &n) == nil && raw[name] != nil {
			return &n
		}
		if n, err := strconv.ParseInt(text(name), 10, 64); err == nil && n >= 0 {
			return &n
		}
		return nil
	}
	m = Metadata{ETag: text("eTag"), Size: number("size"), MimeType: text("mimetype"),
		CacheControl: text("cacheControl"), LastModified: text("lastModified"), ContentLength: number("contentLength"),
		XRobotsTag: text("xRobotsTag")}
	var milliseconds int64
	if m.LastModified == "" && json.Unmarshal(raw["lastModified"], &milliseconds) == nil && milliseconds != 0 {
		m.LastModified = Timestamp(time.UnixMilli(milliseconds))
	}
	if status := number("httpStatusCode"); status != nil {
		m.Status = int(*status)
	}
	return m, m.complete()
}

func (m Metadata) complete() bool {
	return m.ETag != "" && m.Size != nil && *m.Size >= 0 && m.MimeType != ""
}

// Modified parses LastModified. It returns the zero time if that is not a time.
func (m Metadata) Modified() time.Time {
	for _, layout := range []string{time.RFC3339Nano, http.TimeFormat, time.DateOnly, time.DateTime} {
		if t, err := time.Parse(layout, m.LastModified); err == nil {
			return t
		}
	}
	return time.Time{}
}

// Timestamp formats a time as JavaScript does in JSON.
func Timestamp(t time.Time) string { return string(AppendTimestamp(nil, t)) }

// AppendTimestamp appends a time as JavaScript writes it in JSON.
func AppendTimestamp(b []byte, t time.Time) []byte {
	t = t.UTC()
	year, month, day := t.Date()
	if year < 0 || year > 9999 {
		return t.AppendFormat(b, "2006-01-02T15:04:05.000Z")
	}
	hour, minute, second := t.Clock()
	b = appendDigits(b, year, 4)
	b = appendDigits(append(b, '-'), int(month), 2)
	b = appendDigits(append(b, '-'), day, 2)
	b = appendDigits(append(b, 'T'), hour, 2)
	b = appendDigits(append(b, ':'), minute, 2)
	b = appendDigits(append(b, ':'), second, 2)
	b = appendDigits(append(b, '.'), t.Nanosecond()/1e6, 3)
	return append(b, 'Z')
}

// appendDigits appends n with leading zeros.
func appendDigits(b []byte, n, width int) []byte {
	var digits [4]byte
	for i := width - 1; i >= 0; i-- {
		digits[i] = byte('0' + n%10)
		n /= 10
	}
	return append(b, digits[:width]...)
}

// MetadataOf returns the column metadata of a stored version.
func MetadataOf(m backend.Meta) Metadata {
	return Metadata{ETag: m.ETag, Size: &m.Size, MimeType: m.ContentType, CacheControl: m.CacheControl,
		LastModified: Timestamp(m.Modified), ContentLength: &m.Size, Status: 200}
}

const selectObject = `select ` + objectColumns + ` from storage.objects where bucket_id = $1 and name = $2`

// Object reads an object that the caller may see.
func (s *Store) Object(ctx context.Context, c Caller, bucket, name string) (*Object, error) {
	var o *Object
	err := s.pipeline(ctx, c.Role, setCaller(c.readSession()), objectRow(&o, selectObject, text(bucket), text(name)))
	if err == nil && o == nil {
		return nil, ErrNoKey()
	}
	return o, err
}

// UseCurrent passes the object that load returns to use. A concurrent upload can delete the bytes
// of that version before use reads them. If use fails with backend.ErrNotFound and load now returns
// another version, UseCurrent tries that one.
func UseCurrent(load func() (*Object, error), use func(*Object) error) error {
	o, err := load()
	if err != nil {
		return err
	}
	for {
		err := use(o)
		if !errors.Is(err, backend.ErrNotFound) {
			return err
		}
		current, loadErr := load()
		if loadErr != nil || current.Key() == o.Key() {
			return err
		}
		o = current
	}
}

// Visible returns the set of the given names that exist and that the caller may see.
func (s *Store) Visible(ctx context.Context, c Caller, bucket string, names []string) (map[string]bool, error) {
	found, err := rows(ctx, s.base, c, pgx.RowTo[string],
		`select name from storage.objects where bucket_id = $1 and name = any($2)`, bucket, names)
	if err != nil {
		return nil, err
	}
	set := make(map[string]bool, len(found))
	for _, name := range found {
		set[name] = true
	}
	return set, nil
}

// PublicObject reads an object of a public bucket, for any caller.
func (s *Store) PublicObject(ctx context.Context, c Caller, bucket, name string) (*Object, error) {
	if CheckName(name) != nil {
		name = "" // no object has this name
	}
	public, o, err := s.readable(ctx, c, false, bucket, name)
	if err != nil {
		return nil, err
	}
	if !public {
		return nil, errNoBucket()
	}
	if o == nil {
		return nil, ErrNoKey()
	}
	return o, nil
}

// ReadableObject reads an object of a public bucket, or one of a private bucket that an
// authenticated caller may see.
func (s *Store) ReadableObject(ctx context.Context, c Caller, authenticated bool, bucket, name string) (*Object,
	error) {
	invalid := CheckName(name)
	if invalid != nil {
		name = ""
	}
	public, o, err := s.readable(ctx, c, authenticated, bucket, name)
	switch {
	case err != nil:
		return nil, err
	case !public && !authenticated:
		return nil, errNoBucket()
	case invalid != nil:
		return nil, invalid
	case o == nil:
		return nil, ErrNoKey()
	}
	return o, nil
}

// readable queries in one round trip whether the bucket is public and, if it has the object, the
// object. In a private bucket, authorize makes it return the object only if the caller may see it.
// It returns errNoBucket if the bucket does not exist.
func (s *Store) readable(ctx context.Context, c Caller, authorize bool, bucket, name string) (public bool, o *Object,
	err error) {
	found := false
	var asService, asCaller *Object
	first := statement(`
		select coalesce(b.public, false), `+prefixedColumns+`
		  from storage.buckets b left join storage.objects o on o.bucket_id = b.id and o.name = $2
		 where b.id = $1`, text(bucket), text(name))
	first.Formats = append([]int16{0}, objectFormats...)
	first.read = func(rows *pgconn.ResultReader) (err error) {
		if !rows.NextRow() {
			return nil
		}
		v := rows.Values()
		if v[1] != nil {
			asService, err = readObject(v[1:])
		}
		public, found = string(v[0]) == "t", err == nil
		return err
	}
	steps := []step{setCaller(Caller{}.Service().readSession()), first}
	authorize = authorize && c.Role != "service_role"
	if authorize {
		steps = append(steps, setCaller(c.readSession()), objectRow(&asCaller, selectObject, text(bucket), text(name)))
	}
	err = s.pipeline(ctx, c.Role, steps...)
	switch {
	case found && public:
		return true, asService, nil // even if the database refused the caller's role
	case err != nil:
		return false, nil, err
	case !found:
		return false, nil, errNoBucket()
	case authorize:
		return false, asCaller, nil
	}
	return false, asService, nil
}
