package objects

import (
	"context"
	"encoding/json"
	"io"
	"time"

	"daawo/supabase/internal/storage/backend"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
)

// Upload is one object to be written.
type Upload struct {
	Bucket, Name string
	Owner        string // the uploader's subject
	Upsert       bool
	Body         io.Reader
	ContentType  string
	CacheControl string
	XRobotsTag   string
	UserMetadata json.RawMessage // an object, or nil
	// Declared is what the request says about itself, for policies that look at metadata.
	Declared Declared
	// Limit is the largest size in bytes; more fails with ErrTooLarge.
	Limit int64
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

func upsert(ctx context.Context, tx pgx.Tx, bucket, name, owner, version string, metadata, user any) (*Object, error) {
	r, err := tx.Query(ctx, upsertObject, name, bucket, ownerUUID(owner), ownerID(owner), metadata, user, version)
	if err != nil {
		return nil, err
	}
	o, err := pgx.CollectExactlyOneRow(r, scanObject)
	return &o, err
}

// userJSON keeps an absent document apart from the document null.
func userJSON(m json.RawMessage) any {
	if m == nil {
		return nil
	}
	return m
}

// CanUpload asks row level security whether the caller may write the object, without writing it.
func (s *Store) CanUpload(ctx context.Context, c Caller, u Upload) error {
	metadata, err := json.Marshal(u.Declared.json())
	if err != nil {
		return err
	}
	err = s.probe(ctx, c, func(tx pgx.Tx) error {
		if u.Upsert {
			_, err := upsert(ctx, tx, u.Bucket, u.Name, u.Owner, "1", metadata, userJSON(u.UserMetadata))
			return err
		}
		_, err := tx.Exec(ctx, insertObject, u.Name, u.Bucket, ownerUUID(u.Owner), ownerID(u.Owner), metadata, userJSON(u.UserMetadata), "1")
		return err
	})
	if !u.Upsert && isCode(err, "ResourceAlreadyExists") {
		return errExists("KeyAlreadyExists").WithCause(err)
	}
	return err
}

// Upload writes the bytes and then the row.
func (s *Store) Upload(ctx context.Context, c Caller, u Upload) (*Object, error) {
	if err := CheckName(u.Name); err != nil {
		return nil, err
	}
	key := backend.Key{Bucket: u.Bucket, Name: u.Name, Version: uuid.NewString()}
	if err := key.Check(); err != nil {
		return nil, mapError(err)
	}
	if err := s.CanUpload(ctx, c, u); err != nil {
		return nil, err
	}
	body := &limited{r: u.Body, left: u.Limit}
	meta, err := s.Backend.Put(ctx, key, body, backend.Options{ContentType: u.ContentType, CacheControl: u.CacheControl})
	if body.exceeded {
		err = ErrTooLarge("object")
	}
	if err != nil {
		s.forget(ctx, key)
		return nil, mapError(err)
	}
	m := MetadataOf(meta)
	m.XRobotsTag = u.XRobotsTag
	user := u.UserMetadata
	if user == nil {
		user = json.RawMessage(`{}`)
	}
	return s.Complete(ctx, c, key, u.Owner, m, user)
}

// Complete makes the row of a stored version name it, and deletes the bytes of the version that it replaces. It runs to
// its end even when the request that caused it has gone.
func (s *Store) Complete(ctx context.Context, c Caller, key backend.Key, owner string, m Metadata, user json.RawMessage) (*Object, error) {
	ctx = context.WithoutCancel(ctx)
	metadata, err := json.Marshal(m)
	if err != nil {
		return nil, err
	}
	var previous, object *Object
	s.step("write row")
	err = s.tx(ctx, c.Service(), func(tx pgx.Tx) error {
		if err := lock(ctx, tx, key.Bucket, key.Name, 5*time.Second); err != nil {
			return err
		}
		if previous, err = current(ctx, tx, key.Bucket, key.Name); err != nil {
			return err
		}
		object, err = upsert(ctx, tx, key.Bucket, key.Name, owner, key.Version, metadata, userJSON(user))
		s.step("commit row")
		return err
	})
	s.step("row written")
	if err != nil {
		s.forget(ctx, key)
		return nil, err
	}
	if previous != nil && previous.Key() != key {
		s.deleteBytes(ctx, *previous)
	}
	return object, nil
}

// current locks the row of an object and reads it; nil when there is none.
func current(ctx context.Context, tx pgx.Tx, bucket, name string) (*Object, error) {
	r, err := tx.Query(ctx, `select `+objectColumns+` from storage.objects where bucket_id = $1 and name = $2 for update`, bucket, name)
	if err != nil {
		return nil, err
	}
	found, err := pgx.CollectRows(r, scanObject)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return &found[0], nil
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
