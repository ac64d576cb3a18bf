package objects

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"time"

	"daawo/supabase/internal/storage/backend"

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
	Metadata     json.RawMessage // the system's, null for rows made by hand
	UserMetadata json.RawMessage // the uploader's, or null
	CreatedAt    *time.Time
	UpdatedAt    *time.Time
	AccessedAt   *time.Time
}

const prefixedColumns = `o.id::text, o.bucket_id, o.name, o.owner::text, o.owner_id, o.version, o.metadata, o.user_metadata, o.created_at, o.updated_at, o.last_accessed_at`

const objectColumns = `id::text, bucket_id, name, owner::text, owner_id, version, metadata, user_metadata, created_at, updated_at, last_accessed_at`

func scanObject(r pgx.CollectableRow) (o Object, err error) {
	return o, r.Scan(&o.ID, &o.Bucket, &o.Name, &o.Owner, &o.OwnerID, &o.Version, &o.Metadata, &o.UserMetadata,
		&o.CreatedAt, &o.UpdatedAt, &o.AccessedAt)
}

// Key is where the object's bytes are.
func (o *Object) Key() backend.Key {
	k := backend.Key{Bucket: o.Bucket, Name: o.Name}
	if o.Version != nil {
		k.Version = *o.Version
	}
	return k
}

// Metadata is the form of the column metadata, with storage-api's keys.
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

// Meta reads the column metadata leniently: whoever may write rows may write anything into it. ok is false when it does
// not say what serving the bytes needs to know.
func (o *Object) Meta() (m Metadata, ok bool) {
	if json.Unmarshal(o.Metadata, &m) == nil && m.complete() { // as we write it
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
	m = Metadata{ETag: text("eTag"), Size: number("size"), MimeType: text("mimetype"), CacheControl: text("cacheControl"),
		LastModified: text("lastModified"), ContentLength: number("contentLength"), XRobotsTag: text("xRobotsTag")}
	if status := number("httpStatusCode"); status != nil {
		m.Status = int(*status)
	}
	return m, m.complete()
}

func (m Metadata) complete() bool {
	return m.ETag != "" && m.Size != nil && *m.Size >= 0 && m.MimeType != ""
}

// Modified is LastModified as a time; the zero time when it is none.
func (m Metadata) Modified() time.Time {
	t, _ := time.Parse(time.RFC3339Nano, m.LastModified)
	return t
}

// Timestamp is a time as JavaScript writes it into JSON.
func Timestamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// MetadataOf describes a stored version for the column.
func MetadataOf(m backend.Meta) Metadata {
	return Metadata{ETag: m.ETag, Size: &m.Size, MimeType: m.ContentType, CacheControl: m.CacheControl,
		LastModified: Timestamp(m.Modified), ContentLength: &m.Size, Status: 200}
}

const selectObject = `select ` + objectColumns + ` from storage.objects where bucket_id = $1 and name = $2`

// Object reads an object that the caller may see.
func (s *Store) Object(ctx context.Context, c Caller, bucket, name string) (*Object, error) {
	var o *Object
	err := s.pipeline(ctx, c.Role, as(c.reader()), objectRow(&o, selectObject, text(bucket), text(name)))
	if err == nil && o == nil {
		return nil, ErrNoKey()
	}
	return o, err
}

// Read has use do what it does with the bytes of the object that load reads. An upload that replaces the object deletes
// the bytes that load has seen; so when use finds none, they are asked for again as long as the object has others.
func Read(load func() (*Object, error), use func(*Object) error) error {
	o, err := load()
	if err != nil {
		return err
	}
	for {
		err := use(o)
		if !errors.Is(err, backend.ErrNotFound) {
			return err
		}
		now, gone := load()
		if gone != nil || now.Key() == o.Key() {
			return err
		}
		o = now
	}
}

// Found names the objects among names that the caller may see.
func (s *Store) Found(ctx context.Context, c Caller, bucket string, names []string) (map[string]bool, error) {
	found, err := rows(ctx, s, c, pgx.RowTo[string], `select name from storage.objects where bucket_id = $1 and name = any($2)`, bucket, names)
	if err != nil {
		return nil, err
	}
	set := make(map[string]bool, len(found))
	for _, name := range found {
		set[name] = true
	}
	return set, nil
}

// PublicObject reads an object of a bucket that is public, whoever asks.
func (s *Store) PublicObject(ctx context.Context, c Caller, bucket, name string) (*Object, error) {
	if CheckName(name) != nil {
		name = "" // there is none of this name
	}
	public, o, err := s.readable(ctx, c, false, bucket, name)
	if err != nil {
		return nil, err
	}
	if !public {
		return nil, ErrNoBucket()
	}
	if o == nil {
		return nil, ErrNoKey()
	}
	return o, nil
}

// ReadableObject reads an object of a public bucket, or one of a private bucket that an authenticated caller may see.
func (s *Store) ReadableObject(ctx context.Context, c Caller, authenticated bool, bucket, name string) (*Object, error) {
	invalid := CheckName(name)
	if invalid != nil {
		name = ""
	}
	public, o, err := s.readable(ctx, c, authenticated, bucket, name)
	switch {
	case err != nil:
		return nil, err
	case !public && !authenticated:
		return nil, ErrNoBucket()
	case invalid != nil:
		return nil, invalid
	case o == nil:
		return nil, ErrNoKey()
	}
	return o, nil
}

// readable asks in one round trip whether the bucket is public, and for the object: in a public bucket anybody's, in a
// private one what the caller may see when asked is true. A bucket that is not there is an error.
func (s *Store) readable(ctx context.Context, c Caller, asked bool, bucket, name string) (public bool, o *Object, err error) {
	found := false
	var everybodys, callers *Object
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
			everybodys, err = readObject(v[1:])
		}
		public, found = string(v[0]) == "t", err == nil
		return err
	}
	steps := []step{as(Caller{}.Service().reader()), first}
	asked = asked && c.Role != "service_role"
	if asked {
		steps = append(steps, as(c.reader()), objectRow(&callers, selectObject, text(bucket), text(name)))
	}
	err = s.pipeline(ctx, c.Role, steps...)
	switch {
	case found && public:
		return true, everybodys, nil // whatever the database makes of the caller's role
	case err != nil:
		return false, nil, err
	case !found:
		return false, nil, ErrNoBucket()
	case asked:
		return false, callers, nil
	}
	return false, everybodys, nil
}
