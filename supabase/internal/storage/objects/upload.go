package objects

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"time"

	"daawo/supabase/internal/db"
	"daawo/supabase/internal/storage/backend"

	"github.com/google/uuid"
)

// Upload is one object to be written.
type Upload struct {
	Bucket, Name string
	Owner        string // the uploader's subject
	Upsert       bool
	ContentType  string
	CacheControl string
	XRobotsTag   string
	UserMetadata json.RawMessage // an object, or nil
	// Declared is what the request says about itself, for policies that look at metadata.
	Declared Declared
}

// Declared is the metadata a policy sees before the bytes are there.
type Declared struct {
	MimeType string          `json:"mimetype,omitempty"`
	Length   *int64          `json:"contentLength,omitempty"`
	Full     json.RawMessage `json:"-"` // replaces the two above
}

func (d Declared) json() any {
	if d.Full != nil {
		return d.Full
	}
	return d
}

const insertObject = `insert into storage.objects (name, bucket_id, owner, owner_id, metadata, user_metadata, version)
values ($1, $2, $3, $4, $5, $6, $7)`

const upsertObject = insertObject + `
on conflict (name, bucket_id) do update
set metadata = excluded.metadata, user_metadata = coalesce(excluded.user_metadata, objects.user_metadata), version = excluded.version,
    owner = coalesce(excluded.owner, objects.owner), owner_id = coalesce(excluded.owner_id, objects.owner_id)
returning ` + objectColumns

// upsert writes the row of a version. An absent user document (nil) is not the document null.
func upsert(to **Object, bucket, name, owner, version string, metadata, user json.RawMessage) step {
	return objectRow(to, upsertObject, text(name), text(bucket), maybe(ownerUUID(owner)), maybe(ownerID(owner)), metadata, user, text(version))
}

// attempt writes the row as the uploader would, and takes it back.
func (u *Upload) attempt(c Caller) ([]step, error) {
	metadata, err := json.Marshal(u.Declared.json())
	if err != nil {
		return nil, err
	}
	write := statement(insertObject, text(u.Name), text(u.Bucket), maybe(ownerUUID(u.Owner)), maybe(ownerID(u.Owner)), metadata, u.UserMetadata, text("1"))
	if u.Upsert {
		var row *Object
		write = upsert(&row, u.Bucket, u.Name, u.Owner, "1", metadata, u.UserMetadata)
	}
	return []step{as(c.pg()), write, statement(`rollback`)}, nil
}

// refusal is why the database refused the attempt.
func (u *Upload) refusal(err error) error {
	if !u.Upsert && isCode(err, "ResourceAlreadyExists") {
		return errExists("KeyAlreadyExists").WithCause(err)
	}
	return err
}

// CanUpload asks row level security whether the caller may write the object, without writing it.
func (s *Store) CanUpload(ctx context.Context, c Caller, u Upload) error {
	steps, err := u.attempt(c)
	if err != nil {
		return err
	}
	return u.refusal(s.pipeline(ctx, c.Role, append([]step{statement(`begin`)}, steps...)...))
}

// Admission is the answer to whether an upload may be: the bucket that it goes to, and the way to go on.
type Admission struct {
	Bucket *Bucket
	store  *Store
	caller Caller
	upload Upload
	key    backend.Key
	denied error
}

// Admit reads the bucket and asks row level security whether the caller may write the object, in one round trip. It
// fails when there is no such bucket; that the caller may not write, or that the name is none, is said by Upload, after
// what the bucket says about sizes and types.
func (s *Store) Admit(ctx context.Context, c Caller, u Upload) (*Admission, error) {
	a := &Admission{store: s, caller: c, upload: u, key: backend.Key{Bucket: u.Bucket, Name: u.Name, Version: uuid.NewString()}}
	if a.denied = CheckName(u.Name); a.denied == nil {
		a.denied = MapError(a.key.Check())
	}
	var err error
	if a.denied != nil {
		a.Bucket, err = s.Bucket(ctx, c.Service(), u.Bucket)
		return a, err
	}
	attempt, err := u.attempt(c)
	if err != nil {
		return nil, err
	}
	asked := false
	steps := append([]step{statement(`begin`), as(Caller{}.Service().reader()), bucketRow(&a.Bucket, &asked, u.Bucket)}, attempt...)
	err = s.pipeline(ctx, c.Role, steps...)
	switch {
	case !asked:
		return nil, err
	case a.Bucket == nil:
		return nil, ErrNoBucket()
	}
	a.denied = u.refusal(err)
	return a, nil
}

// Upload writes the bytes, of which more than limit fail with ErrTooLarge, and then the row.
func (a *Admission) Upload(ctx context.Context, body io.Reader, limit int64) (*Object, error) {
	if a.denied != nil {
		return nil, a.denied
	}
	s, u := a.store, a.upload
	bounded := &limited{r: body, left: limit}
	meta, err := s.Backend.Put(ctx, a.key, bounded, backend.Options{ContentType: u.ContentType, CacheControl: u.CacheControl})
	if bounded.exceeded {
		err = ErrTooLarge("object")
	}
	if err != nil {
		s.forget(ctx, a.key)
		return nil, MapError(err)
	}
	m := MetadataOf(meta)
	m.XRobotsTag = u.XRobotsTag
	user := u.UserMetadata
	if user == nil {
		user = json.RawMessage(`{}`)
	}
	o, err := s.Complete(ctx, a.caller, a.key, u.Owner, m, user)
	if err != nil {
		s.refuse(ctx, a.key, err)
	}
	return o, err
}

// Complete makes the row of a stored version name it, and deletes the bytes of the version that it replaces. It runs to
// its end even when the request that caused it has gone. On an error the new bytes stay: who can send them again at once
// has them deleted with refuse, and for who sent them in many requests they wait to be completed again.
func (s *Store) Complete(ctx context.Context, c Caller, key backend.Key, owner string, m Metadata, user json.RawMessage) (*Object, error) {
	metadata, err := json.Marshal(m)
	if err != nil {
		return nil, err
	}
	return s.name(ctx, c, key, owner, metadata, user)
}

// name is Complete with the metadata as it shall be stored: one transaction and one round trip.
func (s *Store) name(ctx context.Context, c Caller, key backend.Key, owner string, metadata, user json.RawMessage) (*Object, error) {
	ctx = context.WithoutCancel(ctx)
	service := c.Service()
	var previous, object *Object
	s.step("write row")
	err := s.pipeline(ctx, service.Role,
		as(service.pg(lockTimeout)),
		lock(key.Bucket, key.Name),
		objectRow(&previous, selectObject+` for update`, text(key.Bucket), text(key.Name)),
		upsert(&object, key.Bucket, key.Name, owner, key.Version, metadata, user))
	s.step("row written")
	if err = lockError(err); err != nil {
		return nil, err
	}
	if previous != nil && previous.Key() != key {
		s.deleteBytes(ctx, *previous)
	}
	return object, nil
}

// refuse deletes the bytes of a version that the database has certainly refused to name. When the connection broke, or
// the server was stopped, while the transaction was under way, the row may name them all the same: then they are the
// sweeper's, which asks.
func (s *Store) refuse(ctx context.Context, key backend.Key, err error) {
	if e, ok := db.AsPgError(err); ok && !strings.HasPrefix(e.Code, "08") && !strings.HasPrefix(e.Code, "57P0") ||
		errors.Is(err, db.ErrUnavailable) || isCode(err, "NoSuchKey") {
		s.forget(ctx, key)
	}
}

// forget deletes the bytes of a version that no row will name. What cannot be deleted now is the sweeper's.
func (s *Store) forget(ctx context.Context, key backend.Key) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
	defer cancel()
	if err := s.Backend.Delete(ctx, key); err != nil {
		s.log.WarnContext(ctx, "storage: bytes left to the sweeper", "error", err)
	}
}

func (s *Store) deleteBytes(ctx context.Context, gone ...Object) {
	if len(gone) == 0 {
		return
	}
	s.step("delete bytes")
	keys := make([]backend.Key, len(gone))
	for i := range gone {
		keys[i] = gone[i].Key()
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
	defer cancel()
	if err := s.Backend.Delete(ctx, keys...); err != nil {
		s.log.WarnContext(ctx, "storage: bytes left to the sweeper", "error", err)
	}
}

// limited fails as soon as more than left bytes were read.
type limited struct {
	r        io.Reader
	left     int64
	exceeded bool
}

func (l *limited) Read(p []byte) (int, error) {
	if l.exceeded {
		return 0, ErrTooLarge("object")
	}
	// One byte more than allowed is asked for, to tell an exact fit from too much.
	if int64(len(p)) > l.left+1 {
		p = p[:l.left+1]
	}
	n, err := l.r.Read(p)
	l.left -= int64(n)
	if l.left < 0 {
		l.exceeded = true
		return 0, ErrTooLarge("object")
	}
	return n, err
}
